/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A port's own clock in TSC cycles.
 *
 * A slope that was measured over 100 ms is good to some 2 ppm, which is 120 us after a minute. So
 * the clock is read anew in each tenth of a second of a trial, and its slope is taken over all the
 * time since the port was opened: what is left is the error of one reading, about a microsecond.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct state;

/* One moment by both clocks. */
struct stamp_anchor {
	uint64_t stamp;
	uint64_t tsc;
};

struct stamp_clock {
	struct stamp_anchor anchor;
	double tsc_per_stamp;
};

static inline uint64_t stamp_clock_tsc(const struct stamp_clock *c, uint64_t stamp)
{
	const double since = (double)(int64_t)(stamp - c->anchor.stamp) * c->tsc_per_stamp;
	return c->anchor.tsc + (uint64_t)(int64_t)since;
}

/* The clock from `now` on. `first` lies 100 ms or more before it. */
static inline struct stamp_clock stamp_clock_from(struct stamp_anchor first,
						  struct stamp_anchor now)
{
	return (struct stamp_clock){
		.anchor = now,
		.tsc_per_stamp = (double)(now.tsc - first.tsc) /
				 (double)(now.stamp - first.stamp),
	};
}

/*
 * Read each stamping port's clock, for its receive queues; at a trial's start and while it sends.
 * All latencies go into one histogram: where one port cannot stamp, none does.
 */
enum { STAMPS_RENEW_MS = 100 };
void stamps_begin(struct state *s);
bool stamps_in_use(const struct state *s);
void stamps_renew(struct state *s);
