/* SPDX-License-Identifier: BSD-3-Clause */
#include "failure.h"

#include <stdarg.h>
#include <stdio.h>

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
	return -1;
}
