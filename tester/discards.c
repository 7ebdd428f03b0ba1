/* SPDX-License-Identifier: BSD-3-Clause */
#include "discards.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ethdev.h>

/*
 * mlx5: rx_phy_discard_packets, rx_prioN_buf_discard_packets, rx_phy_crc_errors, …; e1000, ixgbe:
 * rx_crc_errors, rx_missed_packets; i40e, ice: rx_dropped_packets. Not those that say again what
 * rte_eth_stats has (rx_missed_errors, rx_out_of_buffer), nor what was meant for others.
 */
static const char *const PARTS[] = {"discard", "crc_error", "symbol_error", "missed_packets",
				    "dropped", NULL};
static const char *const NOT[] = {"management", "fcoe", "hairpin", NULL};

static bool has_one_of(const char *name, const char *const *parts)
{
	for (; *parts != NULL; parts++)
		if (strstr(name, *parts) != NULL)
			return true;
	return false;
}

bool discards_is_one(const char *name)
{
	return (strncmp(name, "rx_", 3) == 0 || strncmp(name, "tx_", 3) == 0) &&
	       has_one_of(name, PARTS) && !has_one_of(name, NOT);
}

void discards_find(struct discards *d, uint16_t port)
{
	const int size = rte_eth_xstats_get_names(port, NULL, 0);
	struct rte_eth_xstat_name *names;

	d->count = 0;
	if (size <= 0 || (names = calloc((size_t)size, sizeof(*names))) == NULL)
		return;
	const int got = rte_eth_xstats_get_names(port, names, (unsigned int)size);
	for (int i = 0; i < RTE_MIN(got, size) && d->count < DISCARDS_MAX; i++) {
		if (!discards_is_one(names[i].name))
			continue;
		d->id[d->count] = (uint64_t)i;
		snprintf(d->name[d->count], DISCARD_NAME_BYTES, "%s", names[i].name);
		d->count++;
	}
	free(names);
}

int discards_read(const struct discards *d, uint16_t port, uint64_t *values)
{
	if (d->count == 0)
		return 0;
	const int got = rte_eth_xstats_get_by_id(port, d->id, values, d->count);
	if (got < 0)
		return -got;
	return (unsigned int)got == d->count ? 0 : EIO;
}
