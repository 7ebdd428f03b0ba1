/* SPDX-License-Identifier: BSD-3-Clause */
#include "absence.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include <rte_common.h>

/*
 * A frame of 1280 bytes costs 400 cycles where a cache line's round trip takes 260, and 2450 where
 * it takes 1274: six times as much, from one moment to the next. And a virtio port that was blocked
 * frees its whole ring in one call: up to 16384 mbufs, in less than a millisecond. Beyond both it
 * is not the frames.
 */
enum { DEARER_MOST = 8, TYPICAL_UNKNOWN = 2500, CALLS_PER_SECOND = 1000 };

static int64_t clock_ns(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void absence_look(struct absence *a)
{
	a->wall = clock_ns(CLOCK_MONOTONIC_RAW); /* what the scheduler counts by as well */
	a->run = clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static int64_t steal_ns(int cpu)
{
	char line[256];
	int64_t ticks = -1;
	FILE *file = fopen("/proc/stat", "re");

	if (file == NULL)
		return -1;
	while (ticks < 0 && fgets(line, sizeof(line), file) != NULL) {
		int n = -1;
		int64_t steal;
		if (sscanf(line, "cpu%d %*d %*d %*d %*d %*d %*d %*d %" SCNd64, &n, &steal) == 2 &&
		    n == cpu)
			ticks = steal;
	}
	fclose(file);
	return ticks < 0 ? -1 : ticks * 1000000000 / sysconf(_SC_CLK_TCK);
}

static struct absence_schedule schedule_now(void)
{
	struct absence_schedule s = {-1, -1, steal_ns(sched_getcpu())};
	FILE *file = fopen("/proc/thread-self/schedstat", "re");

	if (file == NULL)
		return s;
	if (fscanf(file, "%" SCNd64 " %" SCNd64, &s.run_ns, &s.wait_ns) != 2)
		s.run_ns = s.wait_ns = -1;
	fclose(file);
	return s;
}

void absence_begin(struct absence *a)
{
	*a = (struct absence){.before = schedule_now()};
	absence_look(a);
}

void absence_end(struct absence *a)
{
	a->after = schedule_now();
}

int64_t absence_sum(int64_t sum, int64_t before, int64_t after)
{
	return sum < 0 || before < 0 || after < 0 ? -1 : sum + after - before;
}

uint64_t absence_in(struct absence *a, uint64_t pass, uint64_t frames, uint64_t typical,
		    uint64_t hz)
{
	const struct absence then = *a;

	absence_look(a);
	const int64_t off_ns = (a->wall - then.wall) - (a->run - then.run);
	const double off = (double)RTE_MAX(off_ns, 0) / 1e9 * (double)hz;
	const uint64_t off_core = off < (double)pass ? (uint64_t)off : pass;
	const uint64_t on_core = pass - off_core;
	const uint64_t cost = frames * DEARER_MOST * (typical > 0 ? typical : TYPICAL_UNKNOWN);
	const uint64_t most = RTE_MAX(cost, hz / CALLS_PER_SECOND);
	const uint64_t hidden = on_core > most ? on_core - most : 0;

	a->off_core += off_core;
	a->hidden += hidden;
	a->work += on_core - hidden;
	return off_core + hidden;
}
