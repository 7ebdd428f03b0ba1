/* SPDX-License-Identifier: BSD-3-Clause */
/* The ports' own counters. One that cannot be read is an error number, and never a zero. */
#pragma once

#include <rte_ethdev.h>

#include "config.h"
#include "port.h"

struct counters {
	struct rte_eth_stats stats[CONFIG_PORTS_MAX];
	uint64_t discards[CONFIG_PORTS_MAX][DISCARDS_MAX]; /* in the order of the port's own */
	int error[CONFIG_PORTS_MAX]; /* errno of a port that could not be read; 0: it could */
};

void counters_read(struct counters *c, const struct port *ports, unsigned int count);
/* Leaves in `stats` what was counted since `before`, where both could be read. */
void counters_subtract(struct counters *c, const struct counters *before, unsigned int count);
