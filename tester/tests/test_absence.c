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

static void work_that_its_frames_explain_is_no_absence(void)
{
	struct absence a;
	absence_begin(&a);
	const uint64_t begin = now_ns(CLOCK_MONOTONIC_RAW);
	const uint64_t taken = work(5 * MS);
	const uint64_t pass = now_ns(CLOCK_MONOTONIC_RAW) - begin;
	const uint64_t away = absence_in(&a, pass, PLENTY, 1000, HZ);

	CHECK(near(away, pass - taken));
	CHECK_EQUAL(a.hidden, 0, "work");
	CHECK_EQUAL(a.work, pass - away, "work");
}

static void time_on_the_core_that_no_frame_explains_is_one(void)
{
	struct absence a;
	absence_begin(&a);
	const uint64_t begin = now_ns(CLOCK_MONOTONIC_RAW);
	const uint64_t taken = work(5 * MS);
	absence_in(&a, now_ns(CLOCK_MONOTONIC_RAW) - begin, 32, 100, HZ);

	/* All but the millisecond that a port may take to free a ring. */
	CHECK(near(a.hidden, taken - MS));
}

static void time_off_the_core_is_one_to_its_true_length(void)
{
	const struct timespec nap = {.tv_nsec = 20 * MS};
	struct absence a;
	absence_begin(&a);
	const uint64_t begin = now_ns(CLOCK_MONOTONIC_RAW);
	const uint64_t taken = work(MS);
	nanosleep(&nap, NULL);
	const uint64_t pass = now_ns(CLOCK_MONOTONIC_RAW) - begin;

	CHECK(near(absence_in(&a, pass, PLENTY, 1000, HZ), pass - taken));
	CHECK(a.off_core >= 19 * MS);
	/* Told once: the next pass has none of it. */
	CHECK(absence_in(&a, 20 * MS, PLENTY, 1000, HZ) < 15 * MS);
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
