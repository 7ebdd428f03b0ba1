/* SPDX-License-Identifier: BSD-3-Clause */
/* Work is no absence, however long; a thread that is off its core is away for exactly that long. */
#include <time.h>

#include "../absence.h"
#include "check.h"

/* Here a cycle is a nanosecond. */
enum { HZ = 1000000000, MS = 1000000, SLACK = MS / 2, PLENTY = 100000 };

static uint64_t now_ns(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * HZ + (uint64_t)t.tv_nsec;
}

static bool near(uint64_t found, uint64_t wanted)
{
	return found + SLACK >= wanted && found <= wanted + SLACK;
}

/*
 * So long on its core, whatever else runs there meanwhile. What it took: more, where a hypervisor
 * stopped the core in between, which the thread's clock counts as time on it.
 */
static uint64_t work(uint64_t ns)
{
	const uint64_t begin = now_ns(CLOCK_THREAD_CPUTIME_ID);
	uint64_t taken = 0;
	while (taken < ns)
		taken = now_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
	return taken;
}

/* A pass of some work and a nap. */
struct pass {
	struct absence absence;
	uint64_t ns, work_ns, away;
};

/*
 * What is stopped between two readings of clocks is in one of them alone. So the readings around
 * the pass must follow each other closely; it is passed again where they do not.
 */
static struct pass passed(uint64_t work_ns, long nap_ns, uint64_t frames, uint64_t typical)
{
	const struct timespec nap = {.tv_nsec = nap_ns};
	struct pass p;
	uint64_t around = UINT64_MAX;

	for (int tries = 0; around > SLACK / 4 && tries < 1000; tries++) {
		const uint64_t first = now_ns(CLOCK_MONOTONIC_RAW);
		absence_begin(&p.absence);
		const uint64_t begin = now_ns(CLOCK_MONOTONIC_RAW);
		p.work_ns = work(work_ns);
		if (nap_ns > 0)
			nanosleep(&nap, NULL);
		p.ns = now_ns(CLOCK_MONOTONIC_RAW) - begin;
		p.away = absence_in(&p.absence, p.ns, frames, typical, HZ);
		around = now_ns(CLOCK_MONOTONIC_RAW) - first - p.ns;
	}
	return p;
}

static void work_that_its_frames_explain_is_no_absence(void)
{
	const struct pass p = passed(5 * MS, 0, PLENTY, 1000);

	CHECK(near(p.away, p.ns - p.work_ns));
	CHECK_EQUAL(p.absence.hidden, 0, "work");
	CHECK_EQUAL(p.absence.work, p.ns - p.away, "work");
}

static void time_on_the_core_that_no_frame_explains_is_one(void)
{
	const struct pass p = passed(5 * MS, 0, 32, 100);

	/* All but the millisecond that a port may take to free a ring. */
	CHECK(near(p.absence.hidden, p.work_ns - MS));
}

static void time_off_the_core_is_one_to_its_true_length(void)
{
	struct pass p = passed(MS, 20 * MS, PLENTY, 1000);

	CHECK(near(p.away, p.ns - p.work_ns));
	CHECK(p.absence.off_core >= 19 * MS);
	/* Told once: the next pass has none of it. */
	CHECK(absence_in(&p.absence, 20 * MS, PLENTY, 1000, HZ) < 15 * MS);
}

static void an_absence_is_never_longer_than_its_pass(void)
{
	const struct timespec nap = {.tv_nsec = 20 * MS};
	struct absence a;
	absence_begin(&a);
	nanosleep(&nap, NULL);

	CHECK_EQUAL(absence_in(&a, MS, 0, 0, HZ), MS, "a pass of a millisecond");
}

int main(void)
{
	work_that_its_frames_explain_is_no_absence();
	time_on_the_core_that_no_frame_explains_is_one();
	time_off_the_core_is_one_to_its_true_length();
	an_absence_is_never_longer_than_its_pass();
	return check_end();
}
