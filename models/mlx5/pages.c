/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pages of the host's memory that a card works with. The model needs none; it asks for a few,
 * as a card does, keeps their addresses and gives them back when the driver takes them. Never
 * written.
 */
#include "model.h"

enum { BOOT_PAGES = 8, INIT_PAGES = 16 };
enum { CANNOT_GIVE, GIVE, TAKE };

enum status pages_query(struct command *command)
{
	struct function *function = command->function;

	/* op_mod: 1 to boot, 2 to initialise, 3 regular. */
	IFC_SET(query_pages_out, command->out, num_pages,
		command->mod == 1   ? BOOT_PAGES
		: command->mod == 2 ? INIT_PAGES
				    : 0);
	(void)function;
	return OK;
}

enum status pages_manage(struct command *command)
{
	GArray *pages = command->function->pages;
	uint32_t count = IFC_GET(manage_pages_in, command->in, input_num_entries);
	uint32_t done = 0, at = IFC_AT(manage_pages_in, pas);

	switch (command->mod) {
	case CANNOT_GIVE:
		return OK;
	case GIVE:
		if (at / 8 + count * 8 > command->in_bytes) {
			return BAD_INPUT_LENGTH;
		}
		for (; done < count; done++) {
			uint64_t page = ifc_get(command->in, at + done * 64, 64);
			g_array_append_val(pages, page);
		}
		return OK;
	case TAKE:
		at = IFC_AT(manage_pages_out, pas);
		while (done < count && pages->len > 0 &&
			at / 8 + (done + 1) * 8 <= command->out_bytes) {
			uint64_t page = g_array_index(pages, uint64_t, pages->len - 1);

			ifc_set(command->out, at + done++ * 64, 64, page);
			g_array_set_size(pages, pages->len - 1);
		}
		IFC_SET(manage_pages_out, command->out, output_num_entries, done);
		return OK;
	}
	return refused(command->function, BAD_PARAM, "MANAGE_PAGES mode", command->mod);
}
