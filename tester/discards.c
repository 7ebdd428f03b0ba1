/* SPDX-License-Identifier: BSD-3-Clause */
#include "discards.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ethdev.h>

/*
 * mlx5: rx_phy_discard_packets, rx_prioN_buf_discard_packets, rx_phy_crc_errors, tx_phy_errors
 * (longer than its MTU), …; e1000, ixgbe: rx_crc_errors, rx_missed_packets; i40e, ice, iavf:
 * rx_dropped_packets; bnxt: rx_drop_pkts, rx_fcs_err_frames, rx_align_err_frames; vmxnet3:
 * rx_q0_drop_total; ena: tx_drops. Not those that say again what rte_eth_stats has
 * (rx_missed_errors, rx_out_of_buffer), nor what was meant for others.
 */
static const char *const PARTS[] = {"discard", "drop", "missed_packets", "crc_err", "fcs_err",
				    "symbol_err", "align_err", "code_err", "wqe_err", "phy_err",
				    NULL};
static const char *const NOT[] = {"management", "fcoe", "hairpin", "filter", NULL};
/* Of neither way by their names: mlx5's outbound_pci_buffer_overflow (frames that came and that
 * PCIe did not take), ena's bw_in_allowance_exceeded and its like (of the instance). */
static const char *const WHOLE_CARD[] = {"pci_buffer_overflow", "bw_in_allowance_exceeded",
					 "bw_out_allowance_exceeded", "pps_allowance_exceeded",
					 "conntrack_allowance_exceeded", NULL};

static bool has_one_of(const char *name, const char *const *parts)
{
	for (; *parts != NULL; parts++)
		if (strstr(name, *parts) != NULL)
			return true;
	return false;
}

bool discards_is_one(const char *name)
{
	if (has_one_of(name, WHOLE_CARD))
		return true;
	if (strncmp(name, "vf_", 3) == 0) /* netvsc: of the VF behind it */
		name += 3;
	return (strncmp(name, "rx_", 3) == 0 || strncmp(name, "tx_", 3) == 0) &&
	       has_one_of(name, PARTS) && !has_one_of(name, NOT);
}

void discards_find(struct discards *d, uint16_t port)
{
	const int size = rte_eth_xstats_get_names(port, NULL, 0);
	struct rte_eth_xstat_name *names;

	d->count = 0;
	if (size <= 0 || (names = calloc((size_t)size, sizeof(*names))) == NULL)
		return;
	const int got = rte_eth_xstats_get_names(port, names, (unsigned int)size);
	for (int i = 0; i < RTE_MIN(got, size) && d->count < DISCARDS_MAX; i++) {
		if (!discards_is_one(names[i].name))
			continue;
		d->id[d->count] = (uint64_t)i;
		snprintf(d->name[d->count], DISCARD_NAME_BYTES, "%s", names[i].name);
		d->count++;
	}
	free(names);
}

int discards_read(const struct discards *d, uint16_t port, uint64_t *values)
{
	if (d->count == 0)
		return 0;
	const int got = rte_eth_xstats_get_by_id(port, d->id, values, d->count);
	if (got < 0)
		return -got;
	return (unsigned int)got == d->count ? 0 : EIO;
}
