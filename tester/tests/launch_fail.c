/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * LD_PRELOAD for tests: the lcore LAUNCH_FAIL takes no work the second time that it is given some,
 * as one that has not ended its last. The first time is rte_eal_init()'s own.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_launch.h>

int rte_eal_remote_launch(lcore_function_t *function, void *argument, unsigned int lcore)
{
	static unsigned long calls;
	int (*real)(lcore_function_t *, void *, unsigned int);
	void *symbol = dlsym(RTLD_NEXT, "rte_eal_remote_launch");
	const char *failing = getenv("LAUNCH_FAIL");

	memcpy(&real, &symbol, sizeof(real));
	if (failing != NULL && lcore == strtoul(failing, NULL, 10) && ++calls == 2)
		return -EBUSY;
	return real(function, argument, lcore);
}
