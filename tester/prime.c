/* SPDX-License-Identifier: BSD-3-Clause */
#include "prime.h"

#include <string.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>

static const char OF_THE_DUT[] = "see that the DUT forwards to this port and this MAC address";
static const char OF_A_FILTER[] = "let the DUT write this port's MAC address as destination (mac, "
				  "macswap), or trust the VF (ip link set dev PF vf N trust on)";

enum { BURST = 32, ROUNDS = 4, ROUND_MS = 250, CANDIDATES = 8 };

struct tally {
	struct frame_address address[CANDIDATES];
	unsigned int seen[CANDIDATES];
	unsigned int frames;
};

struct frame_address prime_address(const struct port *port)
{
	struct frame_address a;
	memcpy(a.dst, port->config.peer_mac, sizeof(a.dst));
	memcpy(a.src, port->mac.addr_bytes, sizeof(a.src));
	return a;
}

/* Mbufs to fill; of a port of our own as many as find room. */
static int take(const struct port *port, struct rte_mbuf **mbufs, unsigned int *n)
{
	if (port->direct == NULL)
		return rte_pktmbuf_alloc_bulk(port->tx_pool, mbufs, *n);
	*n = direct_tx_take(&port->direct->tx[0], mbufs, *n);
	for (unsigned int i = 0; i < *n; i++)
		mbufs[i]->pkt_len = mbufs[i]->data_len = 0;
	return 0;
}

static void give(const struct port *port, struct rte_mbuf **mbufs, unsigned int n)
{
	if (port->direct != NULL) {
		direct_tx_give(&port->direct->tx[0], mbufs, n);
		return;
	}
	const unsigned int sent = rte_eth_tx_burst(port->id, 0, mbufs, (uint16_t)n);
	rte_pktmbuf_free_bulk(mbufs + sent, n - sent);
}

static int send_some(const struct port *port, const struct config_trial *c, uint8_t stream)
{
	const struct frame_address address = prime_address(port);
	const unsigned int bytes = c->mix[0].frame_bytes - FRAME_FCS_BYTES;
	struct rte_mbuf *mbufs[BURST];
	unsigned int n = RTE_MIN((uint32_t)BURST, c->flows);

	if (take(port, mbufs, &n) < 0)
		return -1;
	for (unsigned int i = 0; i < n; i++) {
		/* Over all flows, so that every queue and every rule of the DUT meets some. */
		const struct frame_fields f = {
			.flow = (uint32_t)((uint64_t)c->flows * i / n), .stream = stream};
		uint8_t head[64];
		uint8_t *data = (uint8_t *)rte_pktmbuf_append(mbufs[i], (uint16_t)bytes);
		frame_write(head, &address, &f, bytes);
		memcpy(data, head, FRAME_HEAD_BYTES);
		memcpy(data + FRAME_HEAD_BYTES, frame_filler + FRAME_HEAD_BYTES,
		       bytes - FRAME_HEAD_BYTES);
	}
	give(port, mbufs, n);
	return 0;
}

static void note(struct tally *tally, const uint8_t *frame)
{
	struct frame_address a;
	memcpy(&a, frame, sizeof(a));
	tally->frames++;
	for (unsigned int i = 0; i < CANDIDATES; i++) {
		if (tally->seen[i] == 0)
			tally->address[i] = a;
		if (memcmp(&tally->address[i], &a, sizeof(a)) == 0) {
			tally->seen[i]++;
			return;
		}
	}
}

static void receive_some(const struct port *port, uint8_t stream, struct tally *tally)
{
	struct rte_mbuf *mbufs[BURST];

	for (uint16_t q = 0; q < port->config.rx_queues; q++) {
		struct direct_queue *direct = port->direct == NULL ? NULL : &port->direct->rx[q];
		const uint16_t n = direct != NULL
					   ? (uint16_t)direct_rx_take(direct, mbufs, BURST)
					   : rte_eth_rx_burst(port->id, q, mbufs, BURST);
		for (uint16_t i = 0; i < n; i++) {
			const uint8_t *frame = rte_pktmbuf_mtod(mbufs[i], const uint8_t *);
			if (mbufs[i]->data_len < FRAME_HEAD_BYTES || !frame_crc_fits(frame))
				continue;
			const struct frame_fields f = frame_fields(frame);
			if (f.trial == 0 && f.stream == stream)
				note(tally, frame);
		}
		if (direct != NULL)
			direct_rx_give(direct);
		else
			rte_pktmbuf_free_bulk(mbufs, n);
	}
}

static int learn(struct tester *t, const struct config_trial *c, unsigned int i,
		 struct failure *failure)
{
	const struct config_stream *stream = &c->streams[i];
	const struct port *from = &t->ports[stream->tx_port], *to = &t->ports[stream->rx_port];
	const unsigned int enough = RTE_MIN((uint32_t)BURST, c->flows);
	struct tally tally = {0};

	for (unsigned int round = 0; round < ROUNDS && tally.frames == 0; round++) {
		if (send_some(from, c, (uint8_t)i) < 0)
			return failure_set(failure, "tester.no_mbuf", from->config.device,
					   "ask for shorter rings", "no mbuf for a first burst");
		for (unsigned int ms = 0; ms < ROUND_MS && tally.frames < enough; ms++) {
			receive_some(to, (uint8_t)i, &tally);
			rte_delay_us_sleep(1000);
		}
	}
	if (tally.frames == 0)
		return failure_set(failure, "trial.nothing_comes_back", to->config.device,
				   to->filters ? OF_A_FILTER : OF_THE_DUT,
				   "sent %u bursts from %s, and no frame of them arrived%s", ROUNDS,
				   from->config.device,
				   to->filters ? "; the port refuses promiscuous mode, and may "
						 "take frames to its own MAC address only" : "");
	unsigned int best = 0;
	for (unsigned int k = 1; k < CANDIDATES; k++)
		if (tally.seen[k] > tally.seen[best])
			best = k;
	t->learned[stream->tx_port] = tally.address[best];
	t->learned_rx_port[stream->tx_port] = stream->rx_port;
	t->is_learned[stream->tx_port] = true;
	return 0;
}

int prime_run(struct tester *t, const struct config_trial *c, struct failure *failure)
{
	for (unsigned int i = 0; i < c->stream_count; i++) {
		const unsigned int from = c->streams[i].tx_port;
		if (t->is_learned[from] && t->learned_rx_port[from] == c->streams[i].rx_port)
			continue;
		if (learn(t, c, i, failure) < 0)
			return -1;
	}
	return 0;
}
