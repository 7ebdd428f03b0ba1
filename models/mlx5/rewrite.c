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

/* Fields of headers by the driver's numbers: MLX5_ACTION_IN_FIELD_OUT_*, mlx5_ifc.h. */
enum layer { L2, VLAN, IPV4, IPV6, TCP, UDP };
static const struct field {
	uint8_t number, layer, at, bytes; /* `at`: from where its layer begins */
	uint8_t shift, bits;
} fields[] = {
	{ 0x01, L2, 6, 4, 0, 32 }, /* source MAC */
	{ 0x02, L2, 10, 2, 0, 16 },
	{ 0x04, L2, 0, 4, 0, 32 }, /* destination MAC */
	{ 0x05, L2, 4, 2, 0, 16 },
	{ 0x06, IPV4, 1, 1, 2, 6 }, /* DSCP */
	{ 0x06, IPV6, 0, 2, 6, 6 },
	{ 0x08, TCP, 0, 2, 0, 16 },
	{ 0x09, TCP, 2, 2, 0, 16 },
	{ 0x0a, IPV4, 8, 1, 0, 8 }, /* TTL */
	{ 0x0b, UDP, 0, 2, 0, 16 },
	{ 0x0c, UDP, 2, 2, 0, 16 },
	{ 0x0d, IPV6, 8, 4, 0, 32 },
	{ 0x0e, IPV6, 12, 4, 0, 32 },
	{ 0x0f, IPV6, 16, 4, 0, 32 },
	{ 0x10, IPV6, 20, 4, 0, 32 },
	{ 0x11, IPV6, 24, 4, 0, 32 },
	{ 0x12, IPV6, 28, 4, 0, 32 },
	{ 0x13, IPV6, 32, 4, 0, 32 },
	{ 0x14, IPV6, 36, 4, 0, 32 },
	{ 0x15, IPV4, 12, 4, 0, 32 },
	{ 0x16, IPV4, 16, 4, 0, 32 },
	{ 0x17, VLAN, 2, 2, 0, 12 },
	{ 0x47, IPV6, 7, 1, 0, 8 }, /* hop limit */
};

/* The register of a field's number; NULL: it is not one, or not one that the model has. */
static uint32_t *register_of(struct packet *packet, uint32_t number)
{
	if (number == REGISTER_B) {
		return &packet->register_b;
	}
	return number >= REGISTER_C_0 && number <= REGISTER_C_7
		       ? &packet->register_c[number - REGISTER_C_0]
		       : NULL;
}

static bool is_known_field(uint32_t number)
{
	struct packet none = { 0 };

	for (size_t at = 0; at < ARRAY_SIZE(fields); at++) {
		if (fields[at].number == number) {
			return true;
		}
	}
	return register_of(&none, number);
}

static bool is_known(const uint8_t *action)
{
	switch (IFC_GET(set_action_in, action, action_type)) {
	case SET:
	case ADD:
		return is_known_field(IFC_GET(set_action_in, action, field));
	case COPY:
		return is_known_field(IFC_GET(copy_action_in, action, src_field)) &&
		       is_known_field(IFC_GET(copy_action_in, action, dst_field));
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

/* Where the frame has the field; NULL: it has none such. */
static uint8_t *place(
	struct packet *packet, const struct headers *headers, const struct field *field)
{
	switch (field->layer) {
	case L2:
		return packet->data + field->at;
	case VLAN:
		return headers->vlans ? packet->data + 12 + field->at : NULL;
	case IPV4:
	case IPV6:
		return headers->version == (field->layer == IPV4 ? 4 : 6)
			       ? packet->data + headers->l3 + field->at
			       : NULL;
	}
	return headers->l4 && headers->protocol == (field->layer == TCP ? 6 : 17)
		       ? packet->data + headers->l4 + field->at
		       : NULL;
}

static uint32_t word_at(const uint8_t *at, uint8_t bytes)
{
	return bytes == 1 ? *at : bytes == 2 ? lduw_be_p(at) : ldl_be_p(at);
}

static uint32_t get(struct packet *packet, const struct headers *headers, uint32_t number)
{
	const uint32_t *reg = register_of(packet, number);

	for (size_t at = 0; !reg && at < ARRAY_SIZE(fields); at++) {
		const struct field *field = &fields[at];
		const uint8_t *from =
			field->number == number ? place(packet, headers, field) : NULL;

		if (from) {
			return merged(0, 0, word_at(from, field->bytes) >> field->shift,
				field->bits % 32);
		}
	}
	return reg ? *reg : 0;
}

static void put(struct packet *packet, const struct headers *headers, uint32_t number,
	uint32_t value)
{
	uint32_t *reg = register_of(packet, number);

	if (reg) {
		*reg = value;
		return;
	}
	for (size_t at = 0; at < ARRAY_SIZE(fields); at++) {
		const struct field *field = &fields[at];
		uint8_t *to = field->number == number ? place(packet, headers, field) : NULL;
		uint32_t word;

		if (!to) {
			continue;
		}
		word = merged(word_at(to, field->bytes), field->shift, value, field->bits % 32);
		switch (field->bytes) {
		case 1:
			*to = word;
			break;
		case 2:
			stw_be_p(to, word);
			break;
		default:
			stl_be_p(to, word);
		}
	}
}

bool rewrite_run(struct function *owner, uint32_t id, struct packet *packet)
{
	struct rewrite *rewrite = object_find(owner, REWRITE_LIST, id);
	struct headers headers;
	bool l3_right, l4_right;

	if (!rewrite) {
		return false;
	}
	frame_parse(packet->data, packet->bytes, &headers);
	/* A card changes a checksum by what it changes: one that was wrong stays wrong. */
	l3_right = headers.version == 4 && frame_l3_sum(packet->data, &headers) == 0xffff;
	l4_right =
		headers.l4 && frame_l4_sum(packet->data, packet->bytes, &headers) == 0xffff;
	for (uint32_t at = 0; at < rewrite->actions; at++) {
		const uint8_t *action = rewrite->action[at];
		uint32_t to = IFC_GET(set_action_in, action, field);
		uint32_t data = IFC_GET(set_action_in, action, data);

		switch (IFC_GET(set_action_in, action, action_type)) {
		case SET:
			put(packet, &headers, to,
				merged(get(packet, &headers, to),
					IFC_GET(set_action_in, action, offset), data,
					IFC_GET(set_action_in, action, length)));
			break;
		case ADD:
			put(packet, &headers, to, get(packet, &headers, to) + data);
			break;
		default:
			to = IFC_GET(copy_action_in, action, dst_field);
			data = get(packet, &headers,
				IFC_GET(copy_action_in, action, src_field));
			put(packet, &headers, to,
				merged(get(packet, &headers, to),
					IFC_GET(copy_action_in, action, dst_offset),
					data >> IFC_GET(copy_action_in, action, src_offset),
					IFC_GET(copy_action_in, action, length)));
		}
	}
	frame_set_sums(packet->data, packet->bytes, l3_right, l4_right);
	return true;
}
