/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A trial made of short windows, in one run of one loop: each is sent and drained, and all its
 * frames are accounted for, before the next one leaves. So what one window lost is no other's.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "config.h"
#include "judge.h"
#include "watch.h"

struct worker;

struct window_stream {
	uint64_t offered, refused, no_mbuf;
	uint64_t left; /* not sent in time */
	struct judge_counts counts;
};

/* Cycles; counts are those of this window alone, once it is closed. */
struct window {
	uint64_t length;  /* first departure to the time at which the next would be due */
	uint64_t drain;   /* from the last departure to the last frame that came */
	uint64_t stalled, gap_max; /* between the first departure and the last frame */
	struct window_stream streams[CONFIG_STREAMS_MAX];
	int64_t away_ns[CONFIG_CPUS_MAX]; /* each DUT's thread, while frames were sent */
	int64_t drain_away_ns[CONFIG_CPUS_MAX];
};

struct windows {
	const struct config_trial *config;
	struct window *list;
	unsigned int count;
	unsigned int begun;
	uint64_t quiet;  /* after so long without a frame the rest waits for the trial's settling */
	uint64_t look;   /* a drain that takes longer is told apart from the sending */
	bool looked;
	bool cut;        /* begin no other */
	bool finished;   /* no frame leaves any more */
	bool closed;     /* and the last window is accounted for */
	uint64_t gap_max; /* of all windows */
	struct window before; /* counts when the current window began */
	struct watch_reading reading[CONFIG_CPUS_MAX];
};

/* On the loop's own thread, before its first pass. */
void windows_begin(struct worker *w);

/* After each pass. True if it took time of its own, which is not the loop's. */
bool windows_turn(struct worker *w, uint64_t now);

/* Once the loop has ended: accounts for the last window, with what came while it settled. */
void windows_end(struct worker *w);
