/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * LD_PRELOAD for tests: a port with extended statistics named as drivers name them, firmware and
 * pause. DESCRIBED_CARD is the name that rises by 7 between the readings of the second trial;
 * `unreadable`: they cannot be read from then on; `oerrors`: frames that it failed to send rise
 * then; `mtu`: its driver is mlx5, and the kernel refuses an MTU; `untrusted`: a VF that takes
 * frames to its own address alone.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ethdev.h>

/* Then of other drivers: net/ena, net/vmxnet3, net/bnxt, net/igc, net/netvsc, net/qede, net/virtio,
 * net/ixgbe of DPDK 24.11. */
static const char *const NAMES[] = {
	"rx_good_packets", "rx_phy_packets", "rx_phy_crc_errors", "tx_phy_discard_packets",
	"rx_phy_discard_packets", "rx_prio3_buf_discard_packets", "hairpin_out_of_buffer",
	"rx_management_dropped", "tx_phy_errors", "rx_wqe_errors", "outbound_pci_buffer_overflow",
	"outbound_pci_stalled_rd", "bw_in_allowance_exceeded", "linklocal_allowance_exceeded",
	"conntrack_allowance_available", "tx_drops", "rx_q0_drop_total", "rx_fcs_err_frames",
	"rx_drop_pkts", "rx_align_errors", "vf_rx_phy_discard_packets", "rx_mac_filter_discards",
	"rx_q0_undersize_packets", "rx_l3_l4_xsum_error",
};

int rte_eth_xstats_get_names(uint16_t port, struct rte_eth_xstat_name *names, unsigned int size)
{
	(void)port;
	for (unsigned int i = 0; i < RTE_DIM(NAMES) && i < size; i++)
		snprintf(names[i].name, sizeof(names[i].name), "%s", NAMES[i]);
	return RTE_DIM(NAMES);
}

/* Two readings a trial: the fourth is the one after the second trial. */
int rte_eth_xstats_get_by_id(uint16_t port, const uint64_t *ids, uint64_t *values,
			     unsigned int count)
{
	static unsigned int calls;
	const char *rises = getenv("DESCRIBED_CARD");
	const bool is_after = ++calls >= 4;

	(void)port;
	if (is_after && rises != NULL && strcmp(rises, "unreadable") == 0)
		return -EIO;
	for (unsigned int i = 0; i < count; i++) {
		values[i] = 1000 + ids[i];
		if (is_after && rises != NULL && strcmp(rises, NAMES[ids[i]]) == 0)
			values[i] += 7;
	}
	return (int)count;
}

static bool is_asked(const char *what)
{
	const char *rises = getenv("DESCRIBED_CARD");
	return rises != NULL && strcmp(rises, what) == 0;
}

int rte_eth_stats_get(uint16_t port, struct rte_eth_stats *stats)
{
	static unsigned int calls;
	int (*real)(uint16_t, struct rte_eth_stats *);
	void *symbol = dlsym(RTLD_NEXT, "rte_eth_stats_get");

	memcpy(&real, &symbol, sizeof(real));
	const int rc = real(port, stats);
	if (++calls >= 4 && is_asked("oerrors"))
		stats->oerrors += 3;
	return rc;
}

int rte_eth_dev_info_get(uint16_t port, struct rte_eth_dev_info *info)
{
	int (*real)(uint16_t, struct rte_eth_dev_info *);
	void *symbol = dlsym(RTLD_NEXT, "rte_eth_dev_info_get");

	memcpy(&real, &symbol, sizeof(real));
	const int rc = real(port, info);
	if (is_asked("mtu"))
		info->driver_name = "mlx5_pci";
	return rc;
}

int rte_eth_dev_set_mtu(uint16_t port, uint16_t mtu)
{
	(void)port;
	(void)mtu;
	return -EPERM;
}

int rte_eth_promiscuous_enable(uint16_t port)
{
	(void)port;
	return is_asked("untrusted") ? -EPERM : 0;
}

int rte_eth_dev_fw_version_get(uint16_t port, char *version, size_t size)
{
	(void)port;
	snprintf(version, size, "16.35.2000 (MT_0000000008)");
	return 0;
}

int rte_eth_dev_flow_ctrl_get(uint16_t port, struct rte_eth_fc_conf *pause)
{
	(void)port;
	pause->mode = RTE_ETH_FC_FULL;
	return 0;
}
