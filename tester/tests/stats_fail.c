/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * LD_PRELOAD for tests: a port's counters that cannot be read. STATS_FAIL is the number of the call
 * of rte_eth_stats_get() that fails, from 1.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ethdev.h>

int rte_eth_stats_get(uint16_t port, struct rte_eth_stats *stats)
{
	static unsigned long calls;
	int (*real)(uint16_t, struct rte_eth_stats *);
	void *symbol = dlsym(RTLD_NEXT, "rte_eth_stats_get");
	const char *failing = getenv("STATS_FAIL");

	memcpy(&real, &symbol, sizeof(real));
	if (failing != NULL && ++calls == strtoul(failing, NULL, 10))
		return -EIO;
	return real(port, stats);
}
