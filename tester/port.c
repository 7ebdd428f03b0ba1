/* SPDX-License-Identifier: BSD-3-Clause */
#include "port.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_dev.h>
#include <rte_eal.h>
#include <rte_mbuf_dyn.h>
#include <rte_mempool.h>

#include "tx.h"

static const char OF_DRIVER[] = "correct what DPDK says; its guide to the driver "
				"(doc.dpdk.org/guides/nics) lists what it needs";

enum { POOL_CACHE = 512, POOL_SPARE = 4096 };

/*
 * Without hugepages rte_pktmbuf_pool_create() starts every mbuf on a page of its own, so that all
 * their first lines fall into the same few sets of the L1 cache: building a frame then takes three
 * times as long. Vdevs need no contiguous IOVA, so the objects may lie side by side.
 */
static struct rte_mempool *pool_create_packed(const char *name, unsigned int mbufs,
					      uint16_t room, int socket)
{
	struct rte_pktmbuf_pool_private private = {.mbuf_data_room_size = room};
	struct rte_mempool *pool = rte_mempool_create_empty(
		name, mbufs, (unsigned int)sizeof(struct rte_mbuf) + room, POOL_CACHE,
		sizeof(private), socket, RTE_MEMPOOL_F_NO_IOVA_CONTIG);
	if (pool == NULL)
		return NULL;
	rte_pktmbuf_pool_init(pool, &private);
	if (rte_mempool_populate_default(pool) < 0) {
		rte_mempool_free(pool);
		return NULL;
	}
	rte_mempool_obj_iter(pool, rte_pktmbuf_init, NULL);
	return pool;
}

static struct rte_mempool *pool_create(const struct port *port, const char *kind,
				       unsigned int mbufs, uint16_t room)
{
	char name[RTE_MEMPOOL_NAMESIZE];
	int socket = port->numa_node < 0 ? (int)SOCKET_ID_ANY : port->numa_node;

	snprintf(name, sizeof(name), "p%u_%s", port->id, kind);
	if (!rte_eal_has_hugepages())
		return pool_create_packed(name, mbufs, room, socket);
	return rte_pktmbuf_pool_create(name, mbufs, POOL_CACHE, 0, room, socket);
}

static int probe(struct port *port, struct failure *f)
{
	struct rte_dev_iterator iterator;
	const char *device = port->config.device;
	uint16_t id;
	const int rc = rte_dev_probe(device);

	if (rc < 0)
		return failure_set(f, "port.cannot_open", device,
				   "check the name and its arguments; a PCI port must be bound to "
				   "vfio-pci (mlx5 excepted), a socket's folder must exist",
				   "the EAL could not probe it: %s", rte_strerror(-rc));
	RTE_ETH_FOREACH_MATCHING_DEV(id, device, &iterator)
	{
		port->id = id;
		rte_eth_iterator_cleanup(&iterator);
		return 0;
	}
	return failure_set(f, "port.not_ethernet", device, "name an Ethernet device",
			   "the EAL opened it, but it has no Ethernet port");
}

static void stamps_setup(struct port *port, uint64_t rx_offloads)
{
	port->stamp_offset = -1;
	if (!(rx_offloads & RTE_ETH_RX_OFFLOAD_TIMESTAMP) ||
	    rte_mbuf_dyn_rx_timestamp_register(&port->stamp_offset, &port->stamp_flag) < 0)
		return;
	if (port_stamp_now(port, &port->first_stamp) < 0)
		port->stamp_offset = -1;
	else
		rte_delay_us_sleep(100000); /* the least that a slope is taken over */
}

bool port_is_card(const struct port *port)
{
	return port->direct == NULL &&
	       strncmp(port->config.device, "net_", strlen("net_")) != 0;
}

/*
 * virtio frees sent mbufs only once all but `tx_free_thresh` descriptors are in use, and then all
 * of them: in a ring of 16384 the loop stands still for 60 to 130 us, 13 % of the time at 12 Mpps,
 * and the frames that it builds are never in the cache. Freeing past 512 costs 3 us at a time.
 */
static uint16_t tx_free_thresh(const char *driver, uint16_t descriptors)
{
	enum { IN_USE = 512 };
	if (strncmp(driver, "net_virtio", strlen("net_virtio")) != 0 || descriptors <= 2 * IN_USE)
		return 0; /* leave the driver its own */
	return (uint16_t)(descriptors - IN_USE);
}

/*
 * A ring of virtio's may be shorter than what was asked for, and the driver says so to nobody
 * (QEMU's have 256 descriptors, where virtio_dev_info_get() allows 32768): then its own threshold
 * fits.
 */
static int tx_queue_setup(const struct port *port, const struct rte_eth_dev_info *info, uint16_t q)
{
	const unsigned int socket = (unsigned int)RTE_MAX(port->numa_node, 0);
	const uint16_t thresh = tx_free_thresh(info->driver_name, port->tx_descriptors);
	struct rte_eth_txconf tx = info->default_txconf;
	int rc;

	if (thresh != 0) {
		tx.tx_free_thresh = thresh;
		rc = rte_eth_tx_queue_setup(port->id, q, port->tx_descriptors, socket, &tx);
		if (rc != -EINVAL)
			return rc;
		tx.tx_free_thresh = info->default_txconf.tx_free_thresh;
	}
	return rte_eth_tx_queue_setup(port->id, q, port->tx_descriptors, socket, &tx);
}

/*
 * mlx4, and mlx5 before DPDK 22.11.6, 23.11.2 and 24.07, do not give the kernel's port, and by it
 * the card, the MTU that they are configured with (DPDK's commit 10859ecf09).
 */
static bool has_mtu_of_kernel(const char *driver)
{
	return strstr(driver, "mlx") != NULL;
}

/* memif carries what its buffers hold, but tells DPDK that plain Ethernet is all that it takes. */
static bool has_no_mtu(const char *driver)
{
	return strcmp(driver, "net_memif") == 0;
}

/*
 * mlx5 takes 256 where none are asked for, and loses frames in the tester's own ring. The driver
 * lowers what is above its limit (rte_eth_dev_adjust_nb_rx_tx_desc).
 */
static uint16_t usual_descriptors(const struct port *port, uint16_t of_driver)
{
	enum { OF_CARD = 4096, OF_VDEV = 1024 };

	if (port_is_card(port))
		return OF_CARD;
	return of_driver ? of_driver : OF_VDEV;
}

static void card_read(struct port *port)
{
	static const char *const modes[] = {
		[RTE_ETH_FC_NONE] = "none",
		[RTE_ETH_FC_RX_PAUSE] = "rx",
		[RTE_ETH_FC_TX_PAUSE] = "tx",
		[RTE_ETH_FC_FULL] = "full",
	};
	struct rte_eth_fc_conf pause = {0};

	if (rte_eth_dev_fw_version_get(port->id, port->firmware, sizeof(port->firmware)) != 0)
		port->firmware[0] = '\0';
	if (rte_eth_dev_flow_ctrl_get(port->id, &pause) == 0 && pause.mode < RTE_DIM(modes))
		port->pause = modes[pause.mode];
}

/* Its own addresses are of no driver, and no two of them alike. */
static int open_direct(struct port *port, uint16_t frame_bytes_max, struct failure *f)
{
	static uint8_t opened;
	const struct rte_ether_addr mac = {{0x02, 0, 0, 0, 1, opened++}};

	port->direct = direct_open(port->config.device, port->config.tx_queues,
				   port->config.rx_queues, frame_bytes_max, f);
	if (port->direct == NULL)
		return -1;
	snprintf(port->driver, sizeof(port->driver), "own_memif");
	port->mac = mac;
	port->numa_node = -1;
	port->tx_descriptors = port->rx_descriptors = port->direct->ring_frames;
	return 0;
}

static int configure(struct port *port, uint16_t frame_bytes_max, struct failure *f)
{
	const struct config_port *c = &port->config;
	const uint16_t mtu = (uint16_t)(frame_bytes_max - FRAME_FCS_BYTES - RTE_ETHER_HDR_LEN);
	/* Drivers count VLAN tags and headers of their own (virtio: 12 bytes) on top of the MTU.
	 * igb and ixgbe use whole KiB of a buffer (SRRCTL.BSIZEPACKET), i40e and ice 128 bytes: in
	 * a shorter one a frame takes two. */
	enum { DRIVERS_OWN = 64, STEP = 1024 };
	const uint16_t room =
		(uint16_t)(RTE_ALIGN_CEIL(RTE_MAX(2 * STEP, frame_bytes_max + DRIVERS_OWN), STEP) +
			   RTE_PKTMBUF_HEADROOM);
	struct rte_eth_conf conf = {0};
	struct rte_eth_dev_info info;
	int rc = rte_eth_dev_info_get(port->id, &info);

	if (rc < 0)
		return failure_set(f, "port.no_info", c->device, "try another device", "%s",
				   rte_strerror(-rc));
	snprintf(port->driver, sizeof(port->driver), "%s", info.driver_name);
	port->numa_node = rte_eth_dev_socket_id(port->id);
	if (c->tx_queues > info.max_tx_queues || c->rx_queues > info.max_rx_queues)
		return failure_set(f, "port.too_few_queues", c->device, "ask for fewer queues",
				   "it has %u tx and %u rx queues at most", info.max_tx_queues,
				   info.max_rx_queues);
	if (mtu > RTE_ETHER_MTU && !has_no_mtu(info.driver_name)) {
		if (info.max_mtu != 0 && mtu > info.max_mtu)
			return failure_set(f, "port.mtu", c->device, "ask for shorter frames",
					   "its largest MTU is %u, %u is needed", info.max_mtu,
					   mtu);
		conf.rxmode.mtu = mtu;
	}
	if (c->rx_queues > 1) {
		conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
		conf.rx_adv_conf.rss_conf.rss_hf =
			info.flow_type_rss_offloads & (RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP);
		if (conf.rx_adv_conf.rss_conf.rss_hf == 0)
			conf.rxmode.mq_mode = RTE_ETH_MQ_RX_NONE;
	}
	if (c->hardware_stamps)
		conf.rxmode.offloads = info.rx_offload_capa & RTE_ETH_RX_OFFLOAD_TIMESTAMP;
	rc = rte_eth_dev_configure(port->id, c->rx_queues, c->tx_queues, &conf);
	if (rc < 0)
		return failure_set(f, "port.cannot_configure", c->device, OF_DRIVER, "%s",
				   rte_strerror(-rc));
	if (conf.rxmode.mtu != 0 && has_mtu_of_kernel(info.driver_name) &&
	    (rc = rte_eth_dev_set_mtu(port->id, mtu)) < 0)
		return failure_set(f, "port.mtu", c->device,
				   "set the netdev's MTU first (ip link set dev NETDEV mtu N), or "
				   "ask for shorter frames",
				   "MTU %u: %s", mtu, rte_strerror(-rc));

	port->tx_descriptors = c->tx_descriptors;
	if (port->tx_descriptors == 0)
		port->tx_descriptors = usual_descriptors(port, info.default_txportconf.ring_size);
	port->rx_descriptors = c->rx_descriptors;
	if (port->rx_descriptors == 0)
		port->rx_descriptors = usual_descriptors(port, info.default_rxportconf.ring_size);
	rc = rte_eth_dev_adjust_nb_rx_tx_desc(port->id, &port->rx_descriptors,
					      &port->tx_descriptors);
	if (rc < 0)
		return failure_set(f, "port.descriptors", c->device, "ask for other ring sizes",
				   "%s", rte_strerror(-rc));

	/* More than the rings hold: a transmit pool that fits in its ring can run dry for ever. And
	 * one pool for all queues: what came back on one is the next one's to send, while it is in
	 * the first cache. 16 queues of net_ring with a pool each: 12.2 -> 9.0 cycles a frame. */
	const unsigned int spare = POOL_SPARE + TX_BURST_MAX;
	port->tx_pool =
		pool_create(port, "tx", c->tx_queues * (port->tx_descriptors + spare), room);
	if (port->tx_pool == NULL)
		goto no_memory;
	for (uint16_t q = 0; q < c->tx_queues; q++) {
		rc = tx_queue_setup(port, &info, q);
		if (rc < 0)
			return failure_set(f, "port.tx_queue", c->device,
					   "ask for other ring sizes", "queue %u: %s", q,
					   rte_strerror(-rc));
	}
	port->rx_pool =
		pool_create(port, "rx", c->rx_queues * (port->rx_descriptors + spare), room);
	if (port->rx_pool == NULL)
		goto no_memory;
	for (uint16_t q = 0; q < c->rx_queues; q++) {
		rc = rte_eth_rx_queue_setup(port->id, q, port->rx_descriptors,
					    (unsigned int)RTE_MAX(port->numa_node, 0), NULL,
					    port->rx_pool);
		if (rc < 0)
			return failure_set(f, "port.rx_queue", c->device,
					   "ask for other ring sizes", "queue %u: %s", q,
					   rte_strerror(-rc));
	}
	rc = rte_eth_dev_start(port->id);
	if (rc < 0)
		return failure_set(f, "port.cannot_start", c->device, OF_DRIVER, "%s",
				   rte_strerror(-rc));
	/* Some vdevs cannot, and need not; a VF needs its PF's trust. */
	port->filters = rte_eth_promiscuous_enable(port->id) != 0 && port_is_card(port);
	rte_eth_macaddr_get(port->id, &port->mac);
	discards_find(&port->discards, port->id);
	card_read(port);
	stamps_setup(port, conf.rxmode.offloads);
	return 0;

no_memory:
	return failure_set(f, "port.no_memory", c->device,
			   "give the EAL more memory (-m MIB), or ask for shorter rings or frames",
			   "no room for the pools of %u tx and %u rx descriptors",
			   port->tx_descriptors, port->rx_descriptors);
}

int port_open(struct port *port, const struct config_port *config, uint16_t frame_bytes_max,
	      struct failure *failure)
{
	memset(port, 0, sizeof(*port));
	port->config = *config;
	port->frame_bytes_max = frame_bytes_max;
	port->stamp_offset = -1;
	if (direct_is_one(config->device))
		return open_direct(port, frame_bytes_max, failure);
	failure_log_forget();
	if (probe(port, failure) < 0)
		return failure_add_log(failure);
	failure_log_forget();
	if (configure(port, frame_bytes_max, failure) < 0) {
		failure_add_log(failure);
		port_close(port);
		return -1;
	}
	return 0;
}

void port_close(struct port *port)
{
	struct rte_eth_dev_info info;

	if (port->direct != NULL) {
		direct_close(port->direct);
		memset(port, 0, sizeof(*port));
		return;
	}
	const int known = rte_eth_dev_info_get(port->id, &info);

	rte_eth_dev_stop(port->id);
	rte_eth_dev_close(port->id);
	/* A device that stays on its bus counts as probed, and would never get its port back. */
	if (known == 0 && info.device != NULL)
		rte_dev_remove(info.device);
	rte_mempool_free(port->tx_pool);
	rte_mempool_free(port->rx_pool);
	memset(port, 0, sizeof(*port));
}

int port_wait_link(const struct port *port, unsigned int milliseconds, struct failure *failure)
{
	/* By the clock: a look at a memif's server that is slow to answer takes its time, too. */
	const uint64_t end = rte_rdtsc() + rte_get_tsc_hz() / 1000 * milliseconds;

	for (;;) {
		if (port_link(port).link_status)
			return 0;
		if (rte_rdtsc() >= end)
			return failure_set(failure, "port.link_down", port->config.device,
					   "start the DUT, or look at the cable and the other end",
					   "no link after %u ms", milliseconds);
		rte_delay_us_sleep(5000);
	}
}

struct rte_eth_link port_link(const struct port *port)
{
	struct rte_eth_link link = {.link_speed = RTE_ETH_SPEED_NUM_UNKNOWN};

	if (port->direct != NULL)
		link.link_status = direct_link(port->direct);
	else if (rte_eth_link_get_nowait(port->id, &link) < 0)
		link = (struct rte_eth_link){.link_speed = RTE_ETH_SPEED_NUM_UNKNOWN};
	return link;
}

int port_shape(const struct port *port, const struct config_trial *trial, struct failure *failure)
{
	unsigned int longest = 0;

	if (port->direct == NULL)
		return 0;
	for (unsigned int i = 0; i < trial->mix_count; i++)
		longest = RTE_MAX(longest, (unsigned int)trial->mix[i].frame_bytes);
	if (direct_shape(port->direct, longest - FRAME_FCS_BYTES) == 0)
		return 0;
	return failure_set(failure, "port.not_read", port->config.device,
			   "see whether the DUT still forwards",
			   "the DUT left frames of an earlier trial unread");
}

int port_sound(const struct port *port, struct failure *failure)
{
	if (port->direct == NULL || !direct_is_spoilt(port->direct))
		return 0;
	return failure_set(failure, "port.memory_spoilt", port->config.device,
			   "restart the DUT, or join it by --wire memif",
			   "the DUT wrote an index of a ring that its frames cannot give");
}

void port_look(const struct port *port)
{
	(void)port_link(port);
}

int port_stamp_now(const struct port *port, struct stamp_anchor *now)
{
	const uint64_t before = rte_rdtsc();
	if (rte_eth_read_clock(port->id, &now->stamp) < 0)
		return -1;
	now->tsc = before + (rte_rdtsc() - before) / 2;
	return 0;
}

static uint64_t pool_bytes(const struct rte_mempool *pool)
{
	if (pool == NULL)
		return 0;
	return (uint64_t)pool->size * (pool->header_size + pool->elt_size + pool->trailer_size);
}

uint64_t port_pool_bytes(const struct port *port)
{
	if (port->direct != NULL)
		return port->direct->bytes;
	return pool_bytes(port->rx_pool) + pool_bytes(port->tx_pool);
}
