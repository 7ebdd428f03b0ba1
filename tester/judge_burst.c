/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The hot half of judging. Compiled once per instruction set; BUILD_FOR names this one.
 *
 * Frames of one burst share sequence number, time and size, so after the first of them the rest
 * take one XOR, one comparison and one look at the flow's next number. The latency histogram and
 * the counters are touched once per run, not per frame.
 */
#include "judge.h"

#include <rte_branch_prediction.h>
#include <rte_prefetch.h>

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

enum { AHEAD = 6 };

/* 60 bytes decide; the last four belong to the filler, or to nobody in the shortest frame. */
static const vec64 head_care = {~UINT64_C(0), ~UINT64_C(0), ~UINT64_C(0), ~UINT64_C(0),
				~UINT64_C(0), ~UINT64_C(0), ~UINT64_C(0), 0x00000000ffffffff};

static inline bool filler_differs(const uint8_t *frame, uint64_t lengths)
{
	const uint32_t bytes = (uint32_t)lengths;
	return bytes > FRAME_HEAD_BYTES && memcmp(frame + FRAME_HEAD_BYTES,
						  frame_filler + FRAME_HEAD_BYTES,
						  bytes - FRAME_HEAD_BYTES) != 0;
}

bool JOIN(judge_, BUILD_FOR)(struct judge *j, struct rte_mbuf **mbufs, unsigned int n, uint64_t now)
{
	struct judge_aim *aim = &j->aim;
	const struct rte_mempool *pool = mbufs[0]->pool;
	bool plain = true;

	for (unsigned int i = 0; i < n; i++) {
		struct rte_mbuf *m = mbufs[i];
		if (i + AHEAD < n)
			rte_prefetch0(rte_pktmbuf_mtod(mbufs[i + AHEAD], void *));

		const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
		const uint32_t flow = judge_flow(frame);
		uint64_t lengths;
		memcpy(&lengths, &m->pkt_len, sizeof(lengths));
		lengths &= UINT64_C(0xffffffffffff);
		plain &= m->pool == pool && (uint16_t)lengths == lengths >> 32;

		/* A frame that passes the comparison has the aim's stream and hi: its flow is in range. */
		if (unlikely(lengths != aim->lengths) ||
		    unlikely(vec_any((vec_load(frame) ^ aim->rest ^ aim->lo[flow % FRAME_LO]) &
				     head_care)) ||
		    unlikely(filler_differs(frame, lengths)))
			judge_one(j, m, now);
		else if (likely(aim->next[flow] == aim->seq)) {
			aim->next[flow]++;
			aim->frames++;
		} else
			judge_out_of_turn(j, flow, now);
	}
	judge_flush(j, now);
	return plain;
}
