/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When the next burst is due. Burst n leaves at start + n * interval, in fixed point, so that no
 * error adds up: over 2^32 bursts it stays under one interval.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { PACE_FRACTION_BITS = 20 }; /* 2^44 cycles of trial: more than an hour at 4 GHz */

struct pace {
	uint64_t start;
	uint64_t interval; /* cycles << PACE_FRACTION_BITS; 0: always due */
	uint64_t next;     /* the same unit, since `start` */
};

static inline struct pace pace_of(uint64_t start, double cycles_per_burst, double phase)
{
	const double one = (double)(UINT64_C(1) << PACE_FRACTION_BITS);
	return (struct pace){
		.start = start,
		.interval = (uint64_t)(cycles_per_burst * one + 0.5),
		.next = (uint64_t)(cycles_per_burst * phase * one),
	};
}

static inline bool pace_due(const struct pace *p, uint64_t now)
{
	return now >= p->start && (now - p->start) << PACE_FRACTION_BITS >= p->next;
}

/* The time at which the next burst is due. */
static inline uint64_t pace_next(const struct pace *p)
{
	return p->start + (p->next >> PACE_FRACTION_BITS);
}

static inline void pace_advance(struct pace *p)
{
	p->next += p->interval;
}

/* Of a pace that is always due: not before so many cycles from `now`. */
static inline void pace_hold(struct pace *p, uint64_t now, uint64_t cycles)
{
	p->next = (now - p->start + cycles) << PACE_FRACTION_BITS;
}

/*
 * The loop did not run for a while. What was due in that time would leave as one long burst, which
 * is another load than the one asked for; so the schedule waits with the loop. Returns by how much:
 * never by more than the gap, for what was late before it is a load that the loop cannot keep up.
 */
static inline uint64_t pace_stalled(struct pace *p, uint64_t now, uint64_t gap)
{
	const uint64_t due = pace_next(p);
	uint64_t late = now > due ? now - due : 0;
	late = late < gap ? late : gap;
	p->start += late;
	return late;
}
