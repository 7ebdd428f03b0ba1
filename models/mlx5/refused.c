/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a driver asked and the model does not know: answered with an error, counted, and told,
 * the first time at once and all of it when QEMU ends. So the model cannot flatter.
 */
#include "model.h"

static GHashTable *counts; /* text: how often */
static FILE *told;

static void tell(const char *text, unsigned long times)
{
	FILE *file = told ? told : stderr;

	fprintf(file, "mlx5: refused %lu times: %s\n", times, text);
	fflush(file);
}

static void tell_all(void)
{
	GHashTableIter iterator;
	gpointer text, times;

	if (!counts) {
		return;
	}
	g_hash_table_iter_init(&iterator, counts);
	while (g_hash_table_iter_next(&iterator, &text, &times)) {
		if (GPOINTER_TO_SIZE(times) > 1) {
			tell(text, GPOINTER_TO_SIZE(times));
		}
	}
}

void refused_open(const char *path)
{
	if (path && !told) {
		told = fopen(path, "a");
	}
}

enum status refused(
	struct function *function, enum status status, const char *what, uint32_t which)
{
	g_autofree char *text =
		g_strdup_printf("%s %s 0x%x", function->is_vf ? "VF" : "PF", what, which);
	size_t times;

	if (!counts) {
		counts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
		atexit(tell_all);
	}
	times = GPOINTER_TO_SIZE(g_hash_table_lookup(counts, text)) + 1;
	g_hash_table_insert(counts, g_strdup(text), GSIZE_TO_POINTER(times));
	if (times == 1) {
		tell(text, 1);
	}
	return status;
}
