/* SPDX-License-Identifier: BSD-3-Clause */
/* The histogram's quantiles are the exact ones to three significant digits, and its ends exact. */
#include <math.h>
#include <stdlib.h>

#include "../hist.h"
#include "check.h"
#include "random.h"

static int by_size(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

/* Every value lies in the slot that claims it, and slots follow each other without a gap. */
static void slots_cover_every_value_once(void)
{
	struct random r = {3};

	for (unsigned int slot = 0; slot + 1 < HIST_SLOTS; slot++) {
		const uint64_t most = hist_slot_max(slot);
		CHECK_EQUAL(hist_slot(most), slot, "the largest of slot %u", slot);
		CHECK_EQUAL(hist_slot(most + 1), slot + 1, "the next after slot %u", slot);
	}
	CHECK_EQUAL(hist_slot_max(HIST_SLOTS - 1) + 1, UINT64_C(1) << HIST_VALUE_BITS, "the last");
	for (unsigned int i = 0; i < 100000; i++) {
		const uint64_t value = random_next(&r) >> (24 + random_below(&r, 40));
		const uint64_t most = hist_slot_max(hist_slot(value));
		CHECK(most >= value && most - value <= value / 1000);
	}
}

static void quantiles_are_the_exact_ones(struct hist *h, unsigned int n, unsigned int shift,
					 uint64_t seed)
{
	static const unsigned int per_mille[] = {0, 1, 500, 900, 990, 999, 1000};
	struct random r = {seed};
	uint64_t *values = calloc(n, sizeof(*values));

	hist_reset(h);
	for (unsigned int i = 0; i < n; i++) {
		values[i] = random_next(&r) >> (24 + random_below(&r, shift));
		hist_add(h, values[i], 1);
	}
	qsort(values, n, sizeof(*values), by_size);
	for (unsigned int i = 0; i < RTE_DIM(per_mille); i++) {
		const uint64_t rank = ((uint64_t)n * per_mille[i] + 999) / 1000;
		const uint64_t exact = values[rank == 0 ? 0 : rank - 1];
		const uint64_t found = hist_quantile(h, per_mille[i]);
		CHECK(found >= exact && found - exact <= exact / 1000);
	}
	CHECK_EQUAL(h->min, values[0], "min");
	CHECK_EQUAL(h->max, values[n - 1], "max");
	CHECK_EQUAL(hist_quantile(h, 1000), h->max, "the last quantile is the largest value");
	CHECK_EQUAL(h->total, n, "total");
	free(values);
}

static void edges(struct hist *h, struct hist *other)
{
	hist_reset(h);
	CHECK_EQUAL(hist_quantile(h, 500), 0, "nothing was recorded");
	hist_add(h, 0, 1);
	CHECK_EQUAL(hist_quantile(h, 999), 0, "one zero");
	hist_add(h, UINT64_C(1) << 45, 1); /* beyond the slots: kept as the maximum */
	CHECK_EQUAL(h->max, UINT64_C(1) << 45, "max");
	CHECK_EQUAL(h->slots[HIST_SLOTS - 1], 1, "the last slot");

	hist_reset(h);
	hist_add(h, 1000003, 5);
	CHECK_EQUAL(hist_quantile(h, 500), 1000003, "one value is never rounded past itself");
	hist_reset(other);
	hist_add(other, 7, 15);
	hist_merge(other, h);
	CHECK_EQUAL(other->total, 20, "merged");
	CHECK_EQUAL(other->min, 7, "merged");
	CHECK_EQUAL(other->max, 1000003, "merged");
	CHECK_EQUAL(hist_quantile(other, 750), 7, "15 of 20 are 7");
	CHECK_EQUAL(hist_quantile(other, 751), 1000003, "the others are not");
}

int main(void)
{
	static struct hist h, other;

	slots_cover_every_value_once();
	for (uint64_t seed = 1; seed <= 20; seed++) {
		quantiles_are_the_exact_ones(&h, (unsigned int)(1 + seed * seed * 20), 40, seed);
		quantiles_are_the_exact_ones(&h, 1000, 1 + (unsigned int)seed, seed);
	}
	edges(&h, &other);
	return check_end();
}
