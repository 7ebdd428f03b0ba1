/* SPDX-License-Identifier: BSD-3-Clause */
/* Why a request could not be carried out: what, where, found, next. One line of text each. */
#pragma once

struct failure {
	const char *what; /* a slug such as `port.no_device`; NULL: no failure */
	char where[128];
	char found[256];
	char next[256];
};

/* Fills in the failure and returns -1, so that it can stand in a return statement. */
int failure_set(struct failure *f, const char *what, const char *where, const char *next,
		const char *found, ...) __attribute__((format(printf, 5, 6)));

/*
 * DPDK's functions give an errno, which is that of many causes: that a group of the IOMMU is not
 * viable, or a file of firmware is missing, stands in its log alone. Copies what it calls an error
 * from now on; all of it goes to stderr as before. Once, before rte_eal_init().
 */
void failure_log_begin(void);
/* Forgets what was said so far. */
void failure_log_forget(void);
/* Adds the first of what was said since then to what was found, on one line. Returns -1. */
int failure_add_log(struct failure *f);
