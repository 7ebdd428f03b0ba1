/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which sequence numbers of a flow are still missing.
 *
 * `next` is all that the hot path touches: 4 bytes a flow. The window behind it is looked at only
 * when a frame is not the next one, so a lossless stream never loads it. Its bits are a ring
 * indexed by sequence number; a set bit means skipped and not yet seen. Bits of numbers that
 * passed in order since the last visit (`at` to `next`) are stale and are cleared on the next one.
 */
#pragma once

#include <stdint.h>

#include <rte_common.h>

struct seqwin {
	uint32_t *next;
	uint64_t *bits;       /* `words` per flow */
	uint32_t *at;
	unsigned int words;   /* a power of two: the window is 64 * words frames */
};

enum seqwin_verdict {
	SEQWIN_IN_ORDER,
	SEQWIN_REORDERED,
	SEQWIN_DUPLICATE,
	SEQWIN_UNDECIDED, /* late by more than the window */
};

static inline uint64_t seqwin_bit(uint32_t seq)
{
	return UINT64_C(1) << (seq % 64);
}

static inline uint64_t *seqwin_word(const struct seqwin *w, uint32_t flow, uint32_t seq)
{
	return &w->bits[(uint64_t)flow * w->words + seq / 64 % w->words];
}

/* Marks [from, to) as received or as missing. No more than a window of them has a place. */
static inline void seqwin_mark(struct seqwin *w, uint32_t flow, uint32_t from, uint32_t to,
			       int missing)
{
	const uint32_t window = w->words * 64;
	if (to - from > window)
		from = to - window;
	while (from != to) {
		uint32_t run = RTE_MIN(to - from, 64 - from % 64);
		uint64_t mask = UINT64_MAX >> (64 - run) << (from % 64);
		uint64_t *word = seqwin_word(w, flow, from);
		*word = missing ? *word | mask : *word & ~mask;
		from += run;
	}
}

/* Judges a frame that is not the next one of its flow. `extent`: by how many it was overtaken. */
static inline enum seqwin_verdict seqwin_judge(struct seqwin *w, uint32_t flow, uint32_t seq,
					       uint32_t *extent)
{
	const uint32_t next = w->next[flow];
	const int32_t ahead = (int32_t)(seq - next); /* serial numbers: RFC 1982 */

	*extent = 0;
	seqwin_mark(w, flow, w->at[flow], next, 0);
	w->at[flow] = next;
	if (ahead >= 0) {
		seqwin_mark(w, flow, next, seq, 1);
		seqwin_mark(w, flow, seq, seq + 1, 0);
		w->next[flow] = w->at[flow] = seq + 1;
		return SEQWIN_IN_ORDER;
	}
	if ((uint32_t)-ahead > w->words * 64)
		return SEQWIN_UNDECIDED;
	uint64_t *word = seqwin_word(w, flow, seq);
	if (!(*word & seqwin_bit(seq)))
		return SEQWIN_DUPLICATE;
	*word &= ~seqwin_bit(seq);
	*extent = (uint32_t)-ahead - 1;
	return SEQWIN_REORDERED;
}
