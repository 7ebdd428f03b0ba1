/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <rte_common.h>

static int64_t clock_ns(clockid_t clock)
{
	struct timespec t;
	if (clock_gettime(clock, &t) < 0)
		return -1;
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static FILE *open_task(const struct watch *w, const char *name)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", w->pid, w->tid, name);
	return fopen(path, "re");
}

static int64_t wait_ns(const struct watch *w)
{
	int64_t wait = -1;
	FILE *file = open_task(w, "schedstat");

	if (file == NULL)
		return -1;
	if (fscanf(file, "%*d %" SCNd64, &wait) != 1)
		wait = -1;
	fclose(file);
	return wait;
}

static int64_t sleeps(const struct watch *w)
{
	char line[128];
	int64_t count = -1;
	FILE *file = open_task(w, "status");

	if (file == NULL)
		return -1;
	while (count < 0 && fgets(line, sizeof(line), file) != NULL)
		if (sscanf(line, "voluntary_ctxt_switches: %" SCNd64, &count) != 1)
			count = -1;
	fclose(file);
	return count;
}

struct watch_reading watch_read(const struct watch *w)
{
	struct watch_reading r = {.wait_ns = wait_ns(w), .sleeps = sleeps(w), .cpu_ns = -1};
	clockid_t clock;

	/* A process's clock can be read from outside, to the moment; a thread's cannot. */
	if (clock_getcpuclockid(w->pid, &clock) == 0)
		r.cpu_ns = clock_ns(clock);
	r.wall_ns = clock_ns(CLOCK_MONOTONIC_RAW);
	return r;
}

int64_t watch_away_ns(const struct watch_reading *before, const struct watch_reading *after)
{
	int64_t away = -1;

	if (before->wait_ns >= 0 && after->wait_ns >= 0)
		away = after->wait_ns - before->wait_ns;
	if (before->cpu_ns >= 0 && after->cpu_ns >= 0 && before->sleeps >= 0 &&
	    before->sleeps == after->sleeps)
		away = RTE_MAX(away, after->wall_ns - before->wall_ns -
					     (after->cpu_ns - before->cpu_ns));
	return away;
}

void watch_all(const struct watch *watch, unsigned int count, struct watch_reading *last,
	       int64_t *away_ns)
{
	for (unsigned int i = 0; i < count; i++) {
		const struct watch_reading now = watch_read(&watch[i]);
		if (away_ns != NULL)
			away_ns[i] = watch_away_ns(&last[i], &now);
		last[i] = now;
	}
}
