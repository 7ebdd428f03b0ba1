/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Builds frames. Compiled once per instruction set; BUILD_FOR names this one.
 *
 * Measured with `make bench` (see docs/benchmarks.md), 64 bytes, to net_null:
 * one XOR and one store a frame from tables, against a frame composed field by field.
 */
#include "tx.h"

#include <assert.h>

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

/* What follows writes data_off to ol_flags, and both lengths, as two stores a frame. */
static_assert(offsetof(struct rte_mbuf, ol_flags) == offsetof(struct rte_mbuf, data_off) + 8, "");
static_assert(offsetof(struct rte_mbuf, data_len) == offsetof(struct rte_mbuf, pkt_len) + 4, "");

struct mbuf_rearm {
	uint16_t data_off;
	uint16_t refcnt;
	uint16_t nb_segs;
	uint16_t port;
	uint64_t ol_flags;
};

/* Frames from here that share their table entries: same size, same round, same hi. */
static inline unsigned int run_of(const struct tx_queue *q, unsigned int n)
{
	unsigned int run = RTE_MIN(n, q->flow_end - q->flow);
	run = RTE_MIN(run, FRAME_LO - q->flow % FRAME_LO);
	if (q->pattern_length == 1)
		return run;
	const uint8_t class = q->pattern[q->position];
	unsigned int same = 1;
	while (same < run && q->position + same < q->pattern_length &&
	       q->pattern[q->position + same] == class)
		same++;
	return same;
}

void JOIN(tx_build_, BUILD_FOR)(struct tx_queue *q, struct rte_mbuf **mbufs, unsigned int n,
				uint64_t now)
{
	const struct frame_tables *t = q->tables;
	const struct mbuf_rearm rearm = {
		.data_off = RTE_PKTMBUF_HEADROOM, .refcnt = 1, .nb_segs = 1, .port = UINT16_MAX};
	vec64 delta = frame_delta(q->seq, now);

	for (unsigned int done = 0, run; done < n; done += run) {
		run = run_of(q, n - done);
		const unsigned int class = q->pattern[q->position];
		const uint64_t bytes = q->class_mbuf_bytes[class];
		const uint64_t lengths = bytes | bytes << 32;
		const vec64 *lo = &t->lo[q->flow % FRAME_LO];
		const vec64 rest = t->base[class] ^ t->hi[q->flow / FRAME_LO] ^ delta;

		for (unsigned int i = 0; i < run; i++) {
			struct rte_mbuf *m = mbufs[done + i];
			uint8_t *data = (uint8_t *)m->buf_addr + RTE_PKTMBUF_HEADROOM;
			memcpy(&m->data_off, &rearm, sizeof(rearm));
			memcpy(&m->pkt_len, &lengths, sizeof(lengths));
			vec_store(data, rest ^ lo[i]);
			if (bytes > 64) /* the filler beyond the head */
				memcpy(data + 64, frame_filler + 64, bytes - 64);
		}
		q->position = (q->position + run) % q->pattern_length;
		q->flow += run;
		if (q->flow == q->flow_end) {
			q->flow = q->flow_first;
			q->seq++;
			delta = frame_delta(q->seq, now);
		}
	}
}
