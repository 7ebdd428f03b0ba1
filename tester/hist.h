/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A histogram in HdrHistogram's layout: buckets that double, each cut into 1024 equal parts, so
 * that any value is kept to three significant digits. Debian 12 has no package of the C library.
 */
#pragma once

#include <stdint.h>

#include <rte_common.h>

enum {
	HIST_PART_BITS = 10,
	HIST_PARTS = 1 << HIST_PART_BITS,
	HIST_VALUE_BITS = 40, /* as many as a stamp has */
	HIST_SLOTS = (HIST_VALUE_BITS - HIST_PART_BITS + 1) * HIST_PARTS,
};

struct hist {
	uint64_t total;
	uint64_t min;
	uint64_t max;
	uint64_t slots[HIST_SLOTS];
};

static inline void hist_reset(struct hist *h)
{
	*h = (struct hist){.min = UINT64_MAX};
}

static inline unsigned int hist_slot(uint64_t value)
{
	if (value < HIST_PARTS)
		return (unsigned int)value;
	unsigned int shift = 63U - (unsigned int)__builtin_clzll(value) - HIST_PART_BITS;
	return ((shift + 1) << HIST_PART_BITS) + (unsigned int)(value >> shift) - HIST_PARTS;
}

/* The largest value that falls into a slot. */
static inline uint64_t hist_slot_max(unsigned int slot)
{
	if (slot < HIST_PARTS)
		return slot;
	unsigned int shift = (slot >> HIST_PART_BITS) - 1;
	uint64_t part = (slot & (HIST_PARTS - 1)) + HIST_PARTS;
	return ((part + 1) << shift) - 1;
}

/* Values of 2^40 and more count in the last slot; `max` keeps them as they are. */
static inline void hist_add(struct hist *h, uint64_t value, uint64_t count)
{
	h->total += count;
	h->min = RTE_MIN(h->min, value);
	h->max = RTE_MAX(h->max, value);
	h->slots[hist_slot(RTE_MIN(value, (UINT64_C(1) << HIST_VALUE_BITS) - 1))] += count;
}

static inline void hist_merge(struct hist *to, const struct hist *from)
{
	to->total += from->total;
	to->min = RTE_MIN(to->min, from->min);
	to->max = RTE_MAX(to->max, from->max);
	for (unsigned int i = 0; i < HIST_SLOTS; i++)
		to->slots[i] += from->slots[i];
}

/* The smallest recorded value that `per_mille` of all do not exceed; 0 if there are none. */
static inline uint64_t hist_part(const struct hist *h, unsigned int part, unsigned int whole)
{
	uint64_t wanted = (h->total * part + whole - 1) / whole, seen = 0;
	for (unsigned int i = 0; i < HIST_SLOTS && h->total > 0; i++) {
		seen += h->slots[i];
		if (seen >= wanted)
			return RTE_MAX(h->min, RTE_MIN(hist_slot_max(i), h->max));
	}
	return 0;
}

static inline uint64_t hist_quantile(const struct hist *h, unsigned int per_mille)
{
	return hist_part(h, per_mille, 1000);
}
