/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bytes changed the way that a bad memory or a bad cable changes them: a few bits anywhere, or a
 * run of neighbouring bytes. Never fewer than one bit, never the length.
 *
 * Three bits and twelve neighbouring bytes are the most that leave a frame recognisable in every
 * case (resembles_ours() in judge.c); a frame with more of its header gone may be anybody's.
 */
#pragma once

#include <stdint.h>
#include <string.h>

#include "random.h"

enum { DAMAGE_BITS_MAX = 3, DAMAGE_RUN_MAX = 12 };

static inline void damage_bits(struct random *r, uint8_t *data, uint32_t bytes)
{
	const uint32_t bits = 1 + random_below(r, DAMAGE_BITS_MAX);
	uint32_t chosen[DAMAGE_BITS_MAX];

	for (uint32_t n = 0; n < bits;) {
		bool fresh = true;
		chosen[n] = random_below(r, bytes * 8);
		for (uint32_t i = 0; i < n; i++)
			fresh &= chosen[i] != chosen[n];
		if (fresh) {
			data[chosen[n] / 8] ^= (uint8_t)(1U << chosen[n] % 8);
			n++;
		}
	}
}

static inline void damage_run(struct random *r, uint8_t *data, uint32_t bytes)
{
	const uint32_t length = 1 + random_below(r, DAMAGE_RUN_MAX);
	uint8_t *from = data + random_below(r, bytes - length + 1);
	uint8_t before[DAMAGE_RUN_MAX];

	memcpy(before, from, length);
	do {
		for (uint32_t i = 0; i < length; i++)
			from[i] = (uint8_t)random_next(r);
	} while (memcmp(before, from, length) == 0);
}

/* `bytes` must be more than DAMAGE_RUN_MAX. */
static inline void damage(struct random *r, uint8_t *data, uint32_t bytes)
{
	if (random_chance(r, 0.5))
		damage_bits(r, data, bytes);
	else
		damage_run(r, data, bytes);
}
