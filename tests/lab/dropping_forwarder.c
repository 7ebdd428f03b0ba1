/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A forwarder that drops known frames:
 * dropping_forwarder EAL... -- MAC MAC BYTES FLOWS NUMBER STARVED
 *
 * Frames leave by the other of two ports, addressed to the MAC given for it. Of frames of BYTES
 * (without FCS) it drops number NUMBER of each of the first FLOWS flows (tester/frame.h). At number
 * NUMBER of the first flow of frames of STARVED bytes it takes every free buffer, and each that is
 * freed within HOLD_MS: a frame that is sent frees an earlier one.
 */
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>
#include <rte_pause.h>

enum { PORTS = 2, BURST = 32, RING = 512, FLOW = 42, NUMBER = 46, POOL = 8192, HOLD_MS = 20 };

static struct rte_ether_addr to[PORTS], from[PORTS];
static struct rte_mempool *pool;
static struct rte_mbuf *held[POOL];
static unsigned long bytes, flows, number, starved;
static unsigned int n_held;
static uint64_t free_at;

static void fail(const char *what)
{
	rte_exit(EXIT_FAILURE, "%s\n", what);
}

static int is_one_of(const struct rte_mbuf *m, unsigned long of_bytes, unsigned long of_flows)
{
	uint32_t flow, seen;
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);

	if (m->data_len != of_bytes)
		return 0;
	memcpy(&flow, frame + FLOW, sizeof(flow));
	memcpy(&seen, frame + NUMBER, sizeof(seen));
	return (flow & 0xffffff) < of_flows && seen == number;
}

static void take_free(void)
{
	while (n_held < POOL && (held[n_held] = rte_pktmbuf_alloc(pool)) != NULL)
		n_held++;
}

static void open_port(uint16_t port)
{
	struct rte_eth_conf conf = {0};

	if (rte_eth_dev_configure(port, 1, 1, &conf) < 0 ||
	    rte_eth_rx_queue_setup(port, 0, RING, 0, NULL, pool) < 0 ||
	    rte_eth_tx_queue_setup(port, 0, RING, 0, NULL) < 0 || rte_eth_dev_start(port) < 0)
		fail("port");
	rte_eth_macaddr_get(port, &from[port]);
}

static void turn(uint16_t port)
{
	const uint16_t out = (uint16_t)(1 - port);
	struct rte_mbuf *mbufs[BURST];
	uint16_t kept = 0;
	const uint16_t n = rte_eth_rx_burst(port, 0, mbufs, BURST);

	for (uint16_t i = 0; i < n; i++) {
		struct rte_ether_hdr *head = rte_pktmbuf_mtod(mbufs[i], struct rte_ether_hdr *);
		if (is_one_of(mbufs[i], starved, 1))
			free_at = rte_get_timer_cycles() + rte_get_timer_hz() / 1000 * HOLD_MS;
		if (is_one_of(mbufs[i], bytes, flows)) {
			rte_pktmbuf_free(mbufs[i]);
			continue;
		}
		head->dst_addr = to[out];
		head->src_addr = from[out];
		mbufs[kept++] = mbufs[i];
	}
	for (uint16_t sent = 0; sent < kept;)
		sent = (uint16_t)(sent + rte_eth_tx_burst(out, 0, mbufs + sent,
							  (uint16_t)(kept - sent)));
}

static int forward(void *unused)
{
	(void)unused;
	for (;;) {
		for (uint16_t port = 0; port < PORTS; port++)
			turn(port);
		if (rte_get_timer_cycles() < free_at) {
			take_free();
		} else if (n_held > 0) {
			rte_pktmbuf_free_bulk(held, n_held);
			n_held = 0;
		}
		rte_pause();
	}
	return 0;
}

int main(int argc, char **argv)
{
	const int eal = rte_eal_init(argc, argv);

	if (eal < 0 || argc - eal != PORTS + 5 || rte_eth_dev_count_avail() != PORTS)
		fail("usage");
	argv += eal + 1;
	for (uint16_t port = 0; port < PORTS; port++)
		if (rte_ether_unformat_addr(argv[port], &to[port]) < 0)
			fail("address");
	bytes = strtoul(argv[PORTS], NULL, 10);
	flows = strtoul(argv[PORTS + 1], NULL, 10);
	number = strtoul(argv[PORTS + 2], NULL, 10);
	starved = strtoul(argv[PORTS + 3], NULL, 10);
	pool = rte_pktmbuf_pool_create("pool", POOL, 256, 0, RTE_MBUF_DEFAULT_BUF_SIZE,
				       (int)rte_socket_id());
	if (pool == NULL)
		fail("pool");
	for (uint16_t port = 0; port < PORTS; port++)
		open_port(port);
	rte_eal_mp_remote_launch(forward, NULL, SKIP_MAIN);
	rte_eal_mp_wait_lcore();
	return EXIT_SUCCESS;
}
