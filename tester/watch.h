/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a polling thread of another program had its core: what the kernel says of it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct watch {
	int pid;
	int tid;
};

/* Counted since its start; -1 where it cannot be read. */
struct watch_reading {
	int64_t began_ns;  /* the clock before all that follows was read */
	int64_t ended_ns;  /* and after it: whoever reads may lose its core too */
	int64_t wait_ns;   /* ready to run while another had its core: waits that are over */
	int64_t runs;      /* how often it was given its core */
	int64_t taken;     /* how often its core was taken from it */
	int64_t sleeps;    /* how often it gave its core up by itself */
	bool out;          /* it waits for its core now */
	int64_t told_ns;   /* what was told already of the wait that lasts */
};

/*
 * Time between two readings in which the thread would have run and did not; -1: it cannot be told.
 * `after` takes from `before` whether the thread is out. A wait that began between the two is told
 * once it is over, or as far as it lasts beyond the second of them.
 *
 * What the thread has run is no evidence: since Linux 4.8 the kernel brings a running thread's time
 * up to date at its clock's tick only (commit a1eb1411b4e4), which is 4 ms with CONFIG_HZ=250, and
 * as long as a window.
 */
int64_t watch_away_ns(const struct watch_reading *before, struct watch_reading *after);

/* Reads again, and says how long each was away since the last reading; `away_ns` may be NULL. */
void watch_all(const struct watch *watch, unsigned int count, struct watch_reading *last,
	       int64_t *away_ns);
