/* SPDX-License-Identifier: BSD-3-Clause */
/* A test is a program: it says what does not hold, goes on, and ends with 1 if anything did not. */
#pragma once

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>

static unsigned int check_failed;

/* The first few say enough; a loop over a million cases must not print a million lines. */
enum { CHECK_LINES_MOST = 20 };

#define CHECK(condition)                                                                         \
	do {                                                                                     \
		if (!(condition) && check_failed++ < CHECK_LINES_MOST)                           \
			fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__,        \
				#condition);                                                     \
	} while (0)

/* `about` is printf's format and arguments: which case it is. */
#define CHECK_EQUAL(found, wanted, ...)                                                          \
	do {                                                                                     \
		const uint64_t found_ = (uint64_t)(found), wanted_ = (uint64_t)(wanted);         \
		if (found_ != wanted_ && check_failed++ < CHECK_LINES_MOST) {                    \
			fprintf(stderr, "%s:%d: %s is %" PRIu64 ", not %" PRIu64 ": ", __FILE__, \
				__LINE__, #found, found_, wanted_);                              \
			fprintf(stderr, __VA_ARGS__);                                            \
			fputc('\n', stderr);                                                     \
		}                                                                                \
	} while (0)

static inline int check_end(void)
{
	if (check_failed > 0)
		fprintf(stderr, "%u checks failed\n", check_failed);
	return check_failed > 0;
}
