/* SPDX-License-Identifier: BSD-3-Clause */
/* A schedule that does not drift, is never early, and waits with a loop that did not run. */
#include <math.h>

#include "../pace.h"
#include "check.h"

static const uint64_t START = UINT64_C(1) << 50; /* a machine that has been up for days */

static void a_billion_bursts_do_not_drift(double cycles)
{
	struct pace p = pace_of(START, cycles, 0);
	const uint64_t bursts = 1000000000;

	p.next += p.interval * (bursts - 1); /* what as many calls of pace_advance() do */
	pace_advance(&p);
	const double ideal = (double)bursts * cycles;
	/* The promise of pace.h: under one interval, in a trial no longer than it may be. */
	if (ideal < 0x1p44)
		CHECK(fabs((double)(pace_next(&p) - START) - ideal) < fmax(cycles, 500));
}

static void a_burst_is_due_at_its_time_and_not_before(double cycles, double phase)
{
	struct pace p = pace_of(START, cycles, phase);

	CHECK(!pace_due(&p, START - 1));
	for (unsigned int n = 0; n < 100000; n++) {
		const double ideal = (n + phase) * cycles;
		const double due = (double)(pace_next(&p) - START);
		CHECK(fabs(due - ideal) <= 1 + n * 0x1p-20);
		CHECK(pace_due(&p, pace_next(&p) + 1));
		CHECK(pace_next(&p) == START || !pace_due(&p, pace_next(&p) - 1));
		pace_advance(&p);
	}
}

/* Bursts that fell due meanwhile must not leave as one: the whole schedule moves. */
static void a_stall_moves_what_follows(void)
{
	struct pace p = pace_of(START, 1000.5, 0);

	for (unsigned int i = 0; i < 7; i++)
		pace_advance(&p);
	const uint64_t due = pace_next(&p), now = due + 123456;
	CHECK_EQUAL(pace_stalled(&p, now, 123999), 123456, "moved by as much as it was late");
	CHECK_EQUAL(pace_next(&p), now, "and due now");
	pace_advance(&p);
	CHECK(pace_next(&p) - now >= 1000 && pace_next(&p) - now <= 1001);
	CHECK_EQUAL(pace_stalled(&p, now, 5000), 0, "what is not late does not move");
	CHECK(pace_next(&p) - now >= 1000);
	/* A loop that was behind before it stalled is as far behind after it. */
	const uint64_t later = pace_next(&p) + 70000;
	CHECK_EQUAL(pace_stalled(&p, later, 20000), 20000, "moved by the gap alone");
	CHECK_EQUAL(later - pace_next(&p), 50000, "and still late by the rest");
}

static void without_an_interval_it_is_always_due(void)
{
	struct pace p = pace_of(START, 0, 0);

	CHECK(!pace_due(&p, START - 1));
	for (unsigned int i = 0; i < 10; i++) {
		CHECK(pace_due(&p, START));
		pace_advance(&p);
	}
}

static void one_that_is_held_is_not_due_before(void)
{
	struct pace p = pace_of(START, 0, 0);

	pace_hold(&p, START + 1000, 256);
	CHECK(!pace_due(&p, START + 1255));
	CHECK(pace_due(&p, START + 1256));
	pace_advance(&p);
	CHECK(pace_due(&p, START + 1256));
}

int main(void)
{
	static const double cycles[] = {17.44, 100, 8192.0 / 3, 44000.01, 2.6e9 / 3};
	for (unsigned int i = 0; i < sizeof(cycles) / sizeof(cycles[0]); i++) {
		a_billion_bursts_do_not_drift(cycles[i]);
		if (cycles[i] * 1e5 < 0x1p43) {
			a_burst_is_due_at_its_time_and_not_before(cycles[i], 0);
			a_burst_is_due_at_its_time_and_not_before(cycles[i], 0.75);
		}
	}
	a_stall_moves_what_follows();
	without_an_interval_it_is_always_due();
	one_that_is_held_is_not_due_before();
	return check_end();
}
