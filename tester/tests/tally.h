/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a tester must report of the frames that the relay sends back, found the naive way: one byte
 * for every frame that was ever sent. It shares no code with seqwin.h or judge.c.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { TALLY_STREAMS = 2 };

struct tally_counts {
	uint64_t read;         /* frames of this trial that came from the tester */
	uint64_t in_order;
	uint64_t reordered;
	uint64_t reorder_extent_max;
	uint64_t duplicated;
	uint64_t undecided;
	uint64_t corrupted;
	uint64_t misdelivered;
	uint64_t earlier_trial;
	uint64_t foreign;
};

struct tally {
	uint32_t flows, span; /* sequence numbers run from 0 to span - 1 */
	uint32_t window;      /* frames that the tester remembers of a flow */
	uint8_t *seen;        /* [stream][flow][sequence number] */
	uint32_t *next;       /* [stream][flow] */
	struct tally_counts streams[TALLY_STREAMS];
	uint64_t outside;     /* frames that have no place in the tables: a mistake in the case */
};

/* False if there is no memory. What it held before is freed. */
bool tally_reset(struct tally *t, uint32_t flows, uint32_t span, uint32_t window);

/* An intact frame leaves towards the port where it is due. */
void tally_delivered(struct tally *t, unsigned int stream, uint32_t flow, uint32_t seq);
