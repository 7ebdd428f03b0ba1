/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the driver makes and destroys, by kind and number. A number that does not exist is an
 * error; what is destroyed is never read or written again.
 */
#include "model.h"

static gpointer key(enum kind kind, uint32_t id)
{
	return GSIZE_TO_POINTER((size_t)kind << 32 | id);
}

void *object_add(struct function *function, enum kind kind, size_t bytes, uint32_t first)
{
	struct object *object = g_malloc0(bytes);

	object->kind = kind;
	object->id = first;
	while (g_hash_table_contains(function->objects, key(kind, object->id))) {
		object->id++;
	}
	g_hash_table_insert(function->objects, key(kind, object->id), object);
	return object;
}

void *object_find(struct function *function, enum kind kind, uint32_t id)
{
	return g_hash_table_lookup(function->objects, key(kind, id));
}

enum status object_remove(struct function *function, enum kind kind, uint32_t id)
{
	return g_hash_table_remove(function->objects, key(kind, id)) ? OK : BAD_RESOURCE;
}

bool memory_take(struct memory *memory, const uint8_t *entries, uint32_t entries_bytes,
	uint64_t bytes, uint32_t shift)
{
	uint32_t count = DIV_ROUND_UP(bytes, 1ull << shift);

	if (count > entries_bytes / 8 || count > 1 << 20) {
		return false;
	}
	memory->shift = shift;
	memory->count = count;
	memory->pages = g_new(uint64_t, count);
	for (uint32_t page = 0; page < count; page++) {
		memory->pages[page] = ldq_be_p(entries + page * 8) & ~0xfffull;
	}
	return true;
}

uint64_t memory_at(const struct memory *memory, uint64_t offset)
{
	return memory->pages[offset >> memory->shift] +
	       (offset & ((1ull << memory->shift) - 1));
}

void memory_end(struct memory *memory)
{
	g_free(memory->pages);
	memory->pages = NULL;
}

/* What has a number and nothing else that the model looks at. */
static const struct plain {
	uint16_t make, destroy;
	enum kind kind;
	uint32_t first;
} plain[] = {
	{ 0x800, 0x801, PROTECTION_DOMAIN, 1 },
	{ 0x816, 0x817, TRANSPORT_DOMAIN, 1 },
	{ 0x802, 0x803, UAR, FIRST_UAR },
	{ 0x200, 0x202, MEMORY_KEY, 1 },
	{ 0x80e, 0x80f, XRC_DOMAIN, 1 },
};

enum status object_plain(struct command *command)
{
	for (size_t at = 0; at < ARRAY_SIZE(plain); at++) {
		const struct plain *one = &plain[at];
		struct object *object;

		if (command->op == one->destroy) {
			return object_remove(command->function, one->kind,
				IFC_GET(dealloc_pd_in, command->in, pd));
		}
		if (command->op == one->make) {
			object = object_add(
				command->function, one->kind, sizeof(*object), one->first);
			/* All of them have it in the last 24 bits of the third word. */
			IFC_SET(alloc_pd_out, command->out, pd, object->id);
			return OK;
		}
	}
	return BAD_OP;
}
