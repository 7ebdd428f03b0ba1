/* SPDX-License-Identifier: BSD-3-Clause */
/* One lcore's loop: sends what is due, judges what came, and watches its own clock. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "absence.h"
#include "config.h"
#include "judge.h"
#include "tx.h"
#include "windows.h"

struct rx_queue {
	struct direct_queue *direct; /* NULL: frames come through DPDK */
	uint16_t port;
	uint16_t queue;
	uint16_t burst;        /* frames taken at once, at most */
	uint16_t burst_most;
	uint16_t burst_least;  /* that there was */
	struct judge judge;
	uint64_t last_frame;   /* when the last burst came */
	uint64_t silence_max;  /* longest time that nothing came although frames were under way */
	uint64_t silence_sum;  /* of all such times longer than a stall */
	uint64_t quiet_max;    /* longest time between two frames, whatever was sent meanwhile */
	bool came;             /* the first frame ends no such time */
};

/* Time in which the loop's thread was away, cycles. */
struct stalls {
	uint64_t longest; /* or a pass that was too short to look into */
	uint64_t over_limit;
	uint64_t sum;
};

struct worker {
	unsigned int lcore;
	struct tx_queue *tx[CONFIG_WORKER_QUEUES_MAX];
	struct rx_queue *rx[CONFIG_WORKER_QUEUES_MAX];
	unsigned int tx_count;
	unsigned int rx_count;
	tx_build_fn *build;
	judge_fn *judge;
	bool keep_frames_in_step; /* false where the load is `max`: nothing is ever late */

	uint64_t gap_limit;
	struct stalls stalls;  /* between the first frame and the last */
	struct stalls pending; /* since the last frame: they count if another follows */
	bool departed;
	uint64_t busy;         /* cycles of the turns that sent or judged something */
	uint64_t frames;       /* sent and judged in them */
	unsigned int halvings; /* of bursts, for passes that were long by their own work */
	uint64_t lengthen_at;  /* when there is one less; UINT64_MAX: there is none */
	struct absence absence;
	struct windows *windows; /* NULL: one run from beginning to end */
	uint64_t turn;         /* when the current pass began */
	volatile bool stop;
};

/* What passes until the next frame leaves is no stall, and no account goes on. */
void worker_departs_anew(struct worker *w);

/* Runs until `stop`, on its lcore. */
int worker_run(void *worker);
