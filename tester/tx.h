/* SPDX-License-Identifier: BSD-3-Clause */
/* Sending: one transmit queue's share of a stream. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "direct.h"
#include "frame.h"
#include "hist.h"
#include "pace.h"

enum { TX_BURST_MAX = 128, TX_PATTERN_MAX = 1024 };

struct tx_queue {
	/* read in the hot loop */
	const struct frame_tables *tables;
	struct rte_mempool *pool;
	struct direct_queue *direct; /* NULL: frames go through DPDK */
	uint16_t port;
	uint16_t queue;
	uint16_t burst;
	uint16_t burst_most;
	uint32_t flow_first;
	uint32_t flow_end;
	const uint8_t *pattern; /* frame class by position in the mix */
	unsigned int pattern_length;
	const uint16_t *class_mbuf_bytes;
	unsigned int stream;

	/* of each window, where a trial is made of some */
	uint64_t window_frames;
	uint64_t window_cycles;
	uint64_t window_phase; /* of the pace */

	/* of a load that changes within the trial */
	uint64_t then_frames; /* 0: it does not, or has */
	double then_cycles;   /* a burst */
	uint64_t changed_at;  /* 0: not yet */

	/* written in the hot loop, by one lcore */
	struct pace pace;
	uint32_t flow;
	uint32_t seq; /* of every flow of this round: each sends one frame a round */
	unsigned int position;
	uint64_t frames_left;
	uint64_t deadline;
	uint64_t last_departure;
	uint64_t stopped_at; /* 0 while sending */
	uint64_t offered;
	uint64_t refused;
	uint64_t away; /* cycles that a full ring is left alone for, where the load is `max` */
	uint64_t no_mbuf;
	uint64_t burst_max;
	struct hist *intervals;
};

/* Fills `n` mbufs of the queue's pool with the next frames, stamped `now`. */
typedef void tx_build_fn(struct tx_queue *q, struct rte_mbuf **mbufs, unsigned int n, uint64_t now);

tx_build_fn tx_build_portable;
#ifdef HAVE_AVX512
tx_build_fn tx_build_avx512;
#endif
