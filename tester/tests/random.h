/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers that are random enough to inject faults and the same for the same seed (splitmix64). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct random {
	uint64_t state;
};

static inline uint64_t random_next(struct random *r)
{
	uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* A number below `bound`, which must not be 0. */
static inline uint32_t random_below(struct random *r, uint32_t bound)
{
	return (uint32_t)((random_next(r) >> 32) * bound >> 32);
}

static inline double random_share(struct random *r)
{
	return (double)(random_next(r) >> 11) * 0x1p-53;
}

/* True with this probability. */
static inline bool random_chance(struct random *r, double probability)
{
	return random_share(r) < probability;
}
