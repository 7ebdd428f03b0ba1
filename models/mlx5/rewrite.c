/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lists of changes to a frame and its registers, which entries of flow tables name (in the
 * kernel: modify header contexts). Registers go with a frame from table to table.
 */
#include "flows.h"

enum { SET = 1, ADD = 2, COPY = 3, ACTION = 8, MAX_ACTIONS = 16 };
enum { REGISTER_B = 0x50, REGISTER_C_0 = 0x51, REGISTER_C_7 = 0x58 };

struct rewrite {
	struct object object;
	uint32_t actions;
	uint8_t action[MAX_ACTIONS][ACTION];
};

/* The register of a field's number; NULL: it is not one, or not one that the model has. */
static uint32_t *register_of(struct packet *packet, uint32_t field)
{
	if (field == REGISTER_B) {
		return &packet->register_b;
	}
	return field >= REGISTER_C_0 && field <= REGISTER_C_7
		       ? &packet->register_c[field - REGISTER_C_0]
		       : NULL;
}

static bool is_known(const uint8_t *action)
{
	struct packet none = { 0 };

	switch (IFC_GET(set_action_in, action, action_type)) {
	case SET:
		return register_of(&none, IFC_GET(set_action_in, action, field));
	case COPY:
		return register_of(&none, IFC_GET(copy_action_in, action, src_field)) &&
		       register_of(&none, IFC_GET(copy_action_in, action, dst_field));
	}
	return false;
}

enum status rewrite_command(struct command *command)
{
	struct function *function = command->function;
	uint32_t count =
		IFC_GET(alloc_modify_header_context_in, command->in, num_of_actions);
	const uint8_t *actions =
		IFC_PTR(alloc_modify_header_context_in, command->in, actions);
	struct rewrite *rewrite;

	if (command->op == 0x941) {
		return object_remove(function, REWRITE_LIST,
			IFC_GET(dealloc_modify_header_context_in, command->in,
				modify_header_id));
	}
	if (count > MAX_ACTIONS) {
		return NO_RESOURCE;
	}
	if (actions + count * ACTION > command->in + command->in_bytes) {
		return BAD_INPUT_LENGTH;
	}
	for (uint32_t at = 0; at < count; at++) {
		if (!is_known(actions + at * ACTION)) {
			return refused(function, BAD_PARAM, "rewrite",
				ldl_be_p(actions + at * ACTION));
		}
	}
	rewrite = object_add(function, REWRITE_LIST, sizeof(*rewrite), 1);
	rewrite->actions = count;
	memcpy(rewrite->action, actions, count * ACTION);
	IFC_SET(alloc_modify_header_context_out, command->out, modify_header_id,
		rewrite->object.id);
	return OK;
}

/* `bits` bits of `from` into `into`, each counted from the lowest; 0 bits are all 32. */
static uint32_t merged(uint32_t into, uint32_t at, uint32_t from, uint32_t bits)
{
	uint32_t mask = bits == 0 ? ~0u : (1u << bits) - 1;

	return (into & ~(mask << at)) | (from & mask) << at;
}

bool rewrite_run(struct function *owner, uint32_t id, struct packet *packet)
{
	struct rewrite *rewrite = object_find(owner, REWRITE_LIST, id);

	if (!rewrite) {
		return false;
	}
	for (uint32_t at = 0; at < rewrite->actions; at++) {
		const uint8_t *action = rewrite->action[at];
		uint32_t *to;

		if (IFC_GET(set_action_in, action, action_type) == SET) {
			to = register_of(packet, IFC_GET(set_action_in, action, field));
			*to = merged(*to, IFC_GET(set_action_in, action, offset),
				IFC_GET(set_action_in, action, data),
				IFC_GET(set_action_in, action, length));
		} else {
			uint32_t from = *register_of(
				packet, IFC_GET(copy_action_in, action, src_field));

			to = register_of(packet, IFC_GET(copy_action_in, action, dst_field));
			*to = merged(*to, IFC_GET(copy_action_in, action, dst_offset),
				from >> IFC_GET(copy_action_in, action, src_offset),
				IFC_GET(copy_action_in, action, length));
		}
	}
	return true;
}
