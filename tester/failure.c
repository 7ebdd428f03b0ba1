/* SPDX-License-Identifier: BSD-3-Clause */
#include "failure.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

#include <rte_log.h>

/* Bytes of the UTF-8 sequence at `s`; 0 if it was cut in two. */
static size_t sequence(const char *s)
{
	const unsigned char lead = (unsigned char)*s;
	const size_t bytes = lead < 0x80 ? 1 : lead < 0xc0 ? 0 : lead < 0xe0 ? 2
			   : lead < 0xf0 ? 3 : 4;

	for (size_t i = 1; i < bytes; i++)
		if (((unsigned char)s[i] & 0xc0) != 0x80)
			return 0;
	return bytes;
}

/* What was made to fit may end in half a character, and no JSON string may hold one. */
static void mend(char *text)
{
	for (size_t bytes; *text != '\0'; text += bytes) {
		bytes = sequence(text);
		if (bytes == 0) {
			*text = '?';
			bytes = 1;
		}
	}
}

int failure_set(struct failure *f, const char *what, const char *where, const char *next,
		const char *found, ...)
{
	va_list args;

	f->what = what;
	snprintf(f->where, sizeof(f->where), "%s", where);
	snprintf(f->next, sizeof(f->next), "%s", next);
	va_start(args, found);
	vsnprintf(f->found, sizeof(f->found), found, args);
	va_end(args);
	mend(f->where);
	mend(f->next);
	mend(f->found);
	return -1;
}

enum { KEPT_BYTES = 160 };

/* DPDK's own threads log as well. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char kept[KEPT_BYTES];
static size_t bytes;

/* One line of many, without what would not print. */
static void keep(const char *text, size_t size)
{
	if (bytes > 0 && bytes + 2 < sizeof(kept)) {
		memcpy(kept + bytes, "; ", 2);
		bytes += 2;
	}
	for (size_t i = 0; i < size && bytes + 1 < sizeof(kept); i++) {
		const bool prints = text[i] >= ' ' && text[i] <= '~';
		const bool ends = text[i] == '\n' && i + 1 == size;
		if (!ends)
			kept[bytes++] = prints ? text[i] : ' ';
	}
	kept[bytes] = '\0';
}

static ssize_t log_write(void *cookie, const char *text, size_t size)
{
	(void)cookie;
	fwrite(text, 1, size, stderr);
	fflush(stderr);
	if (rte_log_cur_msg_loglevel() <= (int)RTE_LOG_ERR) {
		pthread_mutex_lock(&lock);
		keep(text, size);
		pthread_mutex_unlock(&lock);
	}
	return (ssize_t)size;
}

void failure_log_begin(void)
{
	FILE *stream = fopencookie(NULL, "w", (cookie_io_functions_t){.write = log_write});

	if (stream != NULL)
		rte_openlog_stream(stream);
}

void failure_log_forget(void)
{
	pthread_mutex_lock(&lock);
	bytes = 0;
	kept[0] = '\0';
	pthread_mutex_unlock(&lock);
}

int failure_add_log(struct failure *f)
{
	const size_t at = strlen(f->found);

	pthread_mutex_lock(&lock);
	if (bytes > 0)
		snprintf(f->found + at, sizeof(f->found) - at, "; DPDK says: %s", kept);
	pthread_mutex_unlock(&lock);
	return -1;
}
