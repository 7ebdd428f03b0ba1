/* SPDX-License-Identifier: BSD-3-Clause */
#include "failure.h"

#include <stdarg.h>
#include <stdio.h>

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
