/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the tester's own card threw away: `imissed` is only a part of it, on mlx5 the frames for
 * which no descriptor was free. Drivers tell the rest as extended statistics, by port, priority and
 * cause. None of it is the DUT's loss.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { DISCARDS_MAX = 128, DISCARD_NAME_BYTES = 64 };

struct discards {
	unsigned int count;
	uint64_t id[DISCARDS_MAX]; /* of DPDK, in the port */
	char name[DISCARDS_MAX][DISCARD_NAME_BYTES];
};

/* Whether an extended statistic of this name counts frames that the card threw away. */
bool discards_is_one(const char *name);
/* Finds those of a port; none where its driver has none. */
void discards_find(struct discards *d, uint16_t port);
/* Reads them. 0, or an errno. */
int discards_read(const struct discards *d, uint16_t port, uint64_t *values);
