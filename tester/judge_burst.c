/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The hot half of judging. Compiled once per instruction set; BUILD_FOR names this one.
 *
 * Frames of one burst share sequence number, time and size, and their flows follow each other, so
 * after the first of them the judge knows what the next eight must be, byte for byte. The latency
 * histogram and the counters are touched once per run, not per frame.
 */
#include "judge.h"

#include <rte_branch_prediction.h>
#include <rte_prefetch.h>

#include <assert.h>

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

enum { GROUP = 16 }; /* their next numbers fill one vec64 */

/* pkt_len and data_len; the two bytes behind them are the VLAN's. */
static const uint64_t lengths_care = UINT64_C(0xffffffffffff);

static inline uint64_t lengths_of(const struct rte_mbuf *m)
{
	uint64_t lengths;
	memcpy(&lengths, &m->pkt_len, sizeof(lengths));
	return lengths & lengths_care;
}

/*
 * An mbuf that can go back to its pool as it is: one segment, one reference, its own buffer. Both
 * counts are in one word of the mbuf and are never 0, so the OR of many is 1 only if all are 1.
 */
typedef uint64_t words __attribute__((vector_size(16)));
typedef uint64_t words_unaligned __attribute__((vector_size(16), aligned(1), may_alias));

static_assert(offsetof(struct rte_mbuf, refcnt) == offsetof(struct rte_mbuf, data_off) + 2, "");
static_assert(offsetof(struct rte_mbuf, nb_segs) == offsetof(struct rte_mbuf, data_off) + 4, "");
static_assert(offsetof(struct rte_mbuf, ol_flags) == offsetof(struct rte_mbuf, data_off) + 8, "");

static inline words state_of(const struct rte_mbuf *m)
{
	return *(const words_unaligned *)&m->data_off;
}

static inline bool all_plain(words states)
{
	return (states[0] >> 16 & 0xffffffff) == 0x00010001 &&
	       !(states[1] & (RTE_MBUF_F_INDIRECT | RTE_MBUF_F_EXTERNAL));
}

static inline bool filler_differs(const uint8_t *frame, uint32_t bytes)
{
	return bytes > FRAME_HEAD_BYTES && memcmp(frame + FRAME_HEAD_BYTES,
						  frame_filler + FRAME_HEAD_BYTES,
						  bytes - FRAME_HEAD_BYTES) != 0;
}

static inline vec64 numbers_of(uint32_t seq)
{
	const uint64_t two = seq | (uint64_t)seq << 32;
	return (vec64){two, two, two, two, two, two, two, two};
}

/*
 * Whether a group is not what the aim says next: the following flows in turn, each with its next
 * number. The flow is among the bytes compared, so it need not be read: one load, one XOR and one
 * OR a frame, and one comparison for all of them and their numbers.
 */
static inline bool group_differs(const struct judge_aim *aim, const uint8_t *const *frames)
{
	const vec64 rest = aim->rest;
	const vec64 *lo = aim->lo + aim->turn;
	const uint32_t size = (uint32_t)aim->lengths;
	vec64 bytes = {0};
	bool filler = false;

	for (unsigned int k = 0; k < GROUP; k++)
		bytes |= vec_load(frames[k]) ^ rest ^ lo[k];
	const vec64 numbers = vec_load(aim->next + aim->turn) ^ numbers_of(aim->seq);
	if (unlikely(vec_any((bytes & judge_head_care) | numbers)))
		return true;
	for (unsigned int k = 0; unlikely(size > FRAME_HEAD_BYTES) && k < GROUP; k++)
		filler |= filler_differs(frames[k], size);
	return filler;
}

static inline void group_take(struct judge_aim *aim)
{
	vec_store(aim->next + aim->turn, numbers_of(aim->seq + 1));
	aim->turn += GROUP;
	aim->frames += GROUP;
}

/* One frame of the aim's size, of any of its flows, in turn or not. False if it is none such. */
static inline bool take_one(struct judge *j, const uint8_t *frame, uint64_t now)
{
	struct judge_aim *aim = &j->aim;
	const unsigned int turn = frame[FRAME_OFF_ID] % FRAME_LO;

	if (vec_any((vec_load(frame) ^ aim->rest ^ aim->lo[turn]) & judge_head_care) ||
	    filler_differs(frame, (uint32_t)aim->lengths))
		return false;
	aim->turn = turn + 1;
	if (likely(aim->next[turn] == aim->seq)) {
		aim->next[turn]++;
		aim->frames++;
	} else {
		judge_out_of_turn(j, turn, now);
	}
	return true;
}

bool JOIN(judge_, BUILD_FOR)(struct judge *j, struct rte_mbuf **mbufs, unsigned int n, uint64_t now)
{
	struct judge_aim *aim = &j->aim;
	const uint8_t *frames[JUDGE_BURST_MAX];
	const uintptr_t pool = (uintptr_t)mbufs[0]->pool;
	const uint64_t lengths = lengths_of(mbufs[0]);
	uintptr_t other_pool = 0;
	uint64_t other_lengths = 0;
	words states = {0};
	size_t i;

	/* The frames' data may lie in another core's cache: ask for all of it at once. */
	for (i = 0; i < n; i++) {
		const struct rte_mbuf *m = mbufs[i];
		frames[i] = rte_pktmbuf_mtod(m, const uint8_t *);
		rte_prefetch0(frames[i]);
		other_pool |= (uintptr_t)m->pool ^ pool;
		other_lengths |= lengths_of(m) ^ lengths;
		states |= state_of(m);
	}
	const bool one_size = other_lengths == 0;

	for (i = 0; i < n;) {
		const bool known = lengths_of(mbufs[i]) == aim->lengths &&
				   judge_stamp(frames[i]) == aim->stamp;
		if (likely(known && one_size && i + GROUP <= n && aim->turn + GROUP <= FRAME_LO &&
			   !group_differs(aim, &frames[i]))) {
			group_take(aim);
			i += GROUP;
		} else if ((known && take_one(j, frames[i], now)) ||
			   !judge_aim_at(j, mbufs[i], now)) {
			i++;
		}
	}
	judge_flush(j, now);
	return all_plain(states) && other_pool == 0;
}
