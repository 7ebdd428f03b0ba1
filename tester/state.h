/* SPDX-License-Identifier: BSD-3-Clause */
/* What a trial needs while it runs: its queues, tables, windows and workers. */
#pragma once

#include "stamps.h"
#include "trial.h"

/* Everything that a trial allocates. */
struct state {
	const struct config_trial *config;
	struct tester *tester;
	struct trial_result *result;
	uint16_t class_mbuf_bytes[FRAME_CLASSES_MAX];
	uint8_t pattern[TX_PATTERN_MAX];
	unsigned int pattern_length;
	struct frame_tables sent[CONFIG_STREAMS_MAX];
	struct frame_tables expected[CONFIG_STREAMS_MAX];
	struct tx_queue *tx[CONFIG_PORTS_MAX][CONFIG_QUEUES_MAX];
	struct rx_queue *rx[CONFIG_PORTS_MAX][CONFIG_QUEUES_MAX];
	struct worker workers[CONFIG_WORKERS_MAX];
	struct windows windows; /* of the only worker, if the trial is made of some */
	struct stamp_clock clocks[CONFIG_PORTS_MAX][2]; /* the one in use, and the one before */
	unsigned int clock_turn[CONFIG_PORTS_MAX];
	uint64_t hz;
};

#define EACH_QUEUE(s, kind, q)                                                                   \
	for (unsigned int p_ = 0; p_ < CONFIG_PORTS_MAX; p_++)                                   \
		for (unsigned int q_ = 0; q_ < CONFIG_QUEUES_MAX; q_++)                          \
			for (struct kind##_queue *q = (s)->kind[p_][q_]; q != NULL; q = NULL)

/* 0, or -1 without memory; free it either way. `config`, `tester`, `result` and `hz` are set. */
int state_init(struct state *s);
void state_free(struct state *s);

/* The stream that leaves by this port, or -1. */
int state_stream_from(const struct config_trial *c, unsigned int port);
/* How long the sending of a load that takes `seconds` may take. */
uint64_t state_sending_cycles(const struct state *s, double seconds);
/* Flows of which frames came at two receive queues: judged apart, neither verdict holds. */
uint32_t state_flows_at_two_queues(const struct state *s, unsigned int stream);
/* Frames that a port did not take. */
uint64_t state_refused(const struct state *s, unsigned int port);
