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
