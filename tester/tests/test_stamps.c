/* SPDX-License-Identifier: BSD-3-Clause */
/* A card's clock in TSC cycles: a minute of trial, and readings that are off by a microsecond. */
#include <math.h>

#include "../stamps.h"
#include "check.h"

enum { ERROR_NS = 1000 };
static const double HZ = 2.5e9;    /* of the TSC */
static const double CARD_HZ = 1e9; /* and of the card, as it says */
static const double PPM = 20e-6;   /* by which it is faster in truth */

static double card(double seconds)
{
	return 5e12 + seconds * CARD_HZ * (1 + PPM);
}

/* A reading that takes the TSC to be `error_ns` later than it is. */
static struct stamp_anchor read_at(double seconds, double error_ns)
{
	return (struct stamp_anchor){
		.stamp = (uint64_t)card(seconds),
		.tsc = (uint64_t)(seconds * HZ + error_ns / 1e9 * HZ),
	};
}

/* How far off a stamp of a moment is, in ns. */
static double off_ns(const struct stamp_clock *c, double seconds)
{
	return fabs((double)stamp_clock_tsc(c, (uint64_t)card(seconds)) - seconds * HZ) / HZ * 1e9;
}

int main(void)
{
	const struct stamp_anchor opened = read_at(1, -ERROR_NS);
	const double trial = 1.1;
	const struct stamp_clock once = stamp_clock_from(opened, read_at(trial, ERROR_NS));

	/* One slope over 100 ms: 2 us of 100 ms are 20 ppm, and 1.2 ms after a minute. */
	CHECK(off_ns(&once, trial + 60) > 1e6);
	for (double t = trial; t < trial + 60; t += 0.1) {
		const struct stamp_clock c = stamp_clock_from(opened, read_at(t, ERROR_NS));
		/* The reading's own error, and that of the slope over a tenth of a second. */
		const double slope_ns = 2.0 * ERROR_NS / (t - 1) * 0.1;
		CHECK(off_ns(&c, t + 0.1) <= ERROR_NS + slope_ns + 5);
		CHECK(off_ns(&c, t) <= ERROR_NS + 5);
	}
	/* Before the anchor as after it: frames of the last burst are judged by the new clock. */
	const struct stamp_clock late = stamp_clock_from(opened, read_at(60, 0));
	CHECK(off_ns(&late, 59.9) <= 10);
	return check_end();
}
