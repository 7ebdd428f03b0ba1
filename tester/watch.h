/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a polling thread of another program had its core: what the kernel says of it. */
#pragma once

#include <stdint.h>

struct watch {
	int pid;
	int tid;
};

/* Since their start; -1 where it cannot be read. */
struct watch_reading {
	int64_t wall_ns;
	int64_t cpu_ns;  /* of the whole process, to the moment */
	int64_t wait_ns; /* of the thread: ready to run while another had its core */
	int64_t sleeps;  /* how often the thread gave its core up by itself */
};

struct watch_reading watch_read(const struct watch *watch);

/*
 * Time between two readings in which the thread would have run and did not; -1: it cannot be told.
 * A thread that never slept ran or was kept from it, also by a hypervisor. Of one that slept, only
 * the time is known for which the kernel let it wait.
 */
int64_t watch_away_ns(const struct watch_reading *before, const struct watch_reading *after);

/* Reads anew, and says how long each was away since the last reading; `away_ns` may be NULL. */
void watch_all(const struct watch *watch, unsigned int count, struct watch_reading *last,
	       int64_t *away_ns);
