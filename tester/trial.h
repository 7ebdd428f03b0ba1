/* SPDX-License-Identifier: BSD-3-Clause */
/* One load, once: sets the queues up, runs the workers, and accounts for every frame. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "change.h"
#include "config.h"
#include "counters.h"
#include "hist.h"
#include "port.h"
#include "worker.h"

enum { TRIAL_REASONS_MAX = 12, TRIAL_REASON_BYTES = 160 };

/* Why a trial, or a window of it, is void. */
struct reasons {
	char text[TRIAL_REASONS_MAX][TRIAL_REASON_BYTES];
	unsigned int count;
};

struct tester {
	struct port ports[CONFIG_PORTS_MAX];
	unsigned int port_count;
	struct config_worker worker_config[CONFIG_WORKERS_MAX];
	unsigned int worker_count;
	tx_build_fn *build;
	judge_fn *judge;
	const char *isa;
	/* Addresses as they came back, by tx port; learned once per way through the DUT. */
	struct frame_address learned[CONFIG_PORTS_MAX];
	uint16_t learned_rx_port[CONFIG_PORTS_MAX];
	bool is_learned[CONFIG_PORTS_MAX];
};

struct trial_stream {
	uint64_t intended;
	uint64_t offered;
	uint64_t refused;
	uint64_t unsent_late;
	uint64_t unsent_no_mbuf;
	struct judge_counts counts;
};

/* One window of a trial that is made of some; its times are cycles. */
struct trial_window {
	struct trial_stream streams[CONFIG_STREAMS_MAX];
	double measured_seconds;
	uint64_t drain, stalled, gap_max;
	int64_t watched_away_ns[CONFIG_CPUS_MAX];
	int64_t watched_drain_away_ns[CONFIG_CPUS_MAX];
	struct reasons reasons;
};

struct trial_result {
	struct trial_stream streams[CONFIG_STREAMS_MAX];
	unsigned int stream_count;
	double measured_seconds;
	struct hist *latency;   /* TSC cycles */
	struct hist *intervals; /* TSC cycles */
	bool hardware_stamps;
	double interval_intended_ns;
	uint64_t burst_max;
	uint64_t gap_max, gaps_over_limit, gap_limit, stalled, busy; /* cycles */
	uint64_t silence_max, silence_sum; /* cycles */
	uint64_t drain; /* cycles from the last departure to the last frame that came */
	uint64_t quiet_max;  /* longest time between two frames that came, cycles */
	uint64_t quiet_last; /* from the last frame that came to the end of sending */
	int64_t watched_away_ns[CONFIG_CPUS_MAX];       /* while frames were sent */
	int64_t watched_drain_away_ns[CONFIG_CPUS_MAX]; /* and until they had settled */
	uint64_t busy_frames;
	uint64_t off_core, hidden, long_work, pass_max; /* cycles; of the loops' long passes */
	struct absence_schedule schedule; /* of all loops together, over the trial */
	unsigned int rx_burst_least;
	uint64_t pingpong_before[CONFIG_CPUS_MAX], pingpong_after[CONFIG_CPUS_MAX];
	unsigned int pingpong_count;
	uint64_t core_hz;
	struct counters counters; /* over the trial; a port read but once has an error */
	struct change change; /* of the load, where one was asked for */
	uint64_t state_bytes;
	struct trial_window *windows; /* NULL where it was sent in one go */
	unsigned int window_count;
	struct reasons reasons;
};

struct trial_progress {
	double seconds;
	uint64_t offered;
	uint64_t accepted; /* of those, by the ports */
	uint64_t received;
	uint64_t surplus;  /* frames of this trial that are not received: corrupted, … */
};

/*
 * What the trial asks of the outside: called from time to time on the main lcore; `progress` once a
 * second. `wait` sleeps for up to `milliseconds` and returns true when the trial shall end early.
 */
struct trial_hooks {
	bool (*wait)(void *context, unsigned int milliseconds);
	void (*progress)(void *context, const struct trial_progress *progress);
	void *context;
};

/* 0 with the result filled in, or -1 with the failure. Free with trial_result_free() if 0. */
int trial_run(struct tester *tester, const struct config_trial *config,
	      const struct trial_hooks *hooks, struct trial_result *result,
	      struct failure *failure);
void trial_result_free(struct trial_result *result);
