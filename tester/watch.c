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

static void read_schedstat(const struct watch *w, struct watch_reading *r)
{
	FILE *file = open_task(w, "schedstat");

	r->wait_ns = r->runs = -1;
	if (file == NULL)
		return;
	if (fscanf(file, "%*d %" SCNd64 " %" SCNd64, &r->wait_ns, &r->runs) != 2)
		r->wait_ns = r->runs = -1;
	fclose(file);
}

static void read_switches(const struct watch *w, struct watch_reading *r)
{
	char line[128];
	FILE *file = open_task(w, "status");

	r->sleeps = r->taken = -1;
	if (file == NULL)
		return;
	while (r->taken < 0 && fgets(line, sizeof(line), file) != NULL)
		if (sscanf(line, "voluntary_ctxt_switches: %" SCNd64, &r->sleeps) != 1 &&
		    sscanf(line, "nonvoluntary_ctxt_switches: %" SCNd64, &r->taken) != 1)
			continue;
	fclose(file);
}

/*
 * It is out for each time that it lost its core or gave it up and was not given it again. While it
 * sleeps it does not wait.
 */
static bool is_out(const struct watch_reading *before, const struct watch_reading *after)
{
	const int64_t in = after->runs - before->runs;
	const int64_t taken = after->taken - before->taken;

	return after->taken >= 0 && before->taken >= 0 && after->sleeps == before->sleeps &&
	       taken - in == (before->out ? 0 : 1);
}

int64_t watch_away_ns(const struct watch_reading *before, struct watch_reading *after)
{
	if (before->wait_ns < 0 || after->wait_ns < 0)
		return -1;
	after->out = is_out(before, after);
	/* By these counts the wait is not over, though it may have ended as they were read. */
	if (before->runs == after->runs)
		after->told_ns = before->told_ns;
	if (before->out && after->out && before->runs == after->runs) {
		after->told_ns += after->began_ns - before->ended_ns;
		return after->began_ns - before->ended_ns;
	}
	return RTE_MAX(after->wait_ns - before->wait_ns - before->told_ns, 0);
}

void watch_all(const struct watch *watch, unsigned int count, struct watch_reading *last,
	       int64_t *away_ns)
{
	for (unsigned int i = 0; i < count; i++) {
		struct watch_reading now = {.began_ns = clock_ns(CLOCK_MONOTONIC_RAW)};
		read_schedstat(&watch[i], &now);
		read_switches(&watch[i], &now);
		now.ended_ns = clock_ns(CLOCK_MONOTONIC_RAW);
		if (away_ns != NULL)
			away_ns[i] = watch_away_ns(&last[i], &now);
		last[i] = now;
	}
}
