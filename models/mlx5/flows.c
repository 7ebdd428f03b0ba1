/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Flow tables: of a function's receive side, of the switch (FDB), and the access lists of its
 * plugs.
 *
 * A table has groups, each a range of entries that look at the same bits. A frame's headers are
 * laid out as in `fte_match_param`, so that an entry matches if (headers & mask) == value. The
 * entry with the lowest index wins. What the model does not look at is refused when a group
 * asks.
 */
#include "flows.h"

static void end_table(struct object *object)
{
	g_ptr_array_free(((struct table *)object)->entries, true);
}

enum status flow_table(struct command *command)
{
	const uint8_t *context = IFC_PTR(create_flow_table_in, command->in, flow_table_context);
	struct function *function = command->function;
	uint8_t type = IFC_GET(create_flow_table_in, command->in, table_type);
	struct table *table;

	if (command->op == 0x931) {
		return object_remove(function, FLOW_TABLE,
			IFC_GET(destroy_flow_table_in, command->in, table_id));
	}
	if (command->op == 0x93c) {
		table = object_find(function, FLOW_TABLE,
			IFC_GET(modify_flow_table_in, command->in, table_id));
		if (!table) {
			return BAD_RESOURCE;
		}
		if (IFC_GET(modify_flow_table_in, command->in, modify_field_select) != 1) {
			return refused(function, BAD_PARAM, "MODIFY_FLOW_TABLE field",
				IFC_GET(modify_flow_table_in, command->in,
					modify_field_select));
		}
		context = IFC_PTR(modify_flow_table_in, command->in, flow_table_context);
	} else {
		if (type != NIC_RECEIVE && type != EGRESS_ACL && type != INGRESS_ACL &&
			type != FDB) {
			return refused(function, BAD_PARAM, "flow table of type", type);
		}
		table = object_add(function, FLOW_TABLE, sizeof(*table), 1);
		table->object.end = end_table;
		table->type = type;
		table->entries = g_ptr_array_new_with_free_func(g_free);
		IFC_SET(create_flow_table_out, command->out, table_id, table->object.id);
	}
	table->miss = IFC_GET(flow_table_context, context, table_miss_action) == 1
			      ? IFC_GET(flow_table_context, context, table_miss_id)
			      : 0;
	return OK;
}

enum status flow_root(struct command *command)
{
	struct function *function = command->function;
	uint8_t type = IFC_GET(set_flow_table_root_in, command->in, table_type);
	bool other = IFC_GET(set_flow_table_root_in, command->in, other_vport);
	uint16_t number =
		other ? IFC_GET(set_flow_table_root_in, command->in, vport_number) : 0;
	/* op_mod 1: as without a root. */
	uint32_t id = command->mod ? 0 : IFC_GET(set_flow_table_root_in, command->in, table_id);
	struct vport *vport;

	if (id && !object_find(function, FLOW_TABLE, id)) {
		return BAD_RESOURCE;
	}
	if (type == NIC_RECEIVE && !other) {
		function->receive_root = id;
		return OK;
	}
	vport = vport_at(function->adapter, number);
	if (function->is_vf || !vport) {
		return BAD_PARAM;
	}
	switch (type) {
	case FDB:
		function->adapter->fdb = id;
		return OK;
	case INGRESS_ACL:
		vport->ingress = id;
		return OK;
	case EGRESS_ACL:
		vport->egress = id;
		return OK;
	}
	return refused(function, BAD_PARAM, "root of flow tables of type", type);
}

enum status flow_group(struct command *command)
{
	struct function *function = command->function;
	const uint8_t *criteria = IFC_PTR(create_flow_group_in, command->in, match_criteria);
	uint8_t parts = IFC_GET(create_flow_group_in, command->in, match_criteria_enable);
	uint32_t table = IFC_GET(create_flow_group_in, command->in, table_id);
	uint8_t mask[PARAM] = { 0 };
	uint32_t unknown;
	struct group *group;

	if (command->op == 0x934) {
		return object_remove(function, FLOW_GROUP,
			IFC_GET(destroy_flow_group_in, command->in, group_id));
	}
	if (!object_find(function, FLOW_TABLE, table)) {
		return BAD_RESOURCE;
	}
	for (uint32_t at = 0; at < PARAM; at++) {
		mask[at] = parts >> (at / PART) & 1 ? criteria[at] : 0;
	}
	if (!match_knows(mask, &unknown)) {
		return refused(function, BAD_PARAM, "match on byte", unknown);
	}
	group = object_add(function, FLOW_GROUP, sizeof(*group), 1);
	group->table = table;
	group->first = IFC_GET(create_flow_group_in, command->in, start_flow_index);
	group->last = IFC_GET(create_flow_group_in, command->in, end_flow_index);
	memcpy(group->mask, mask, PARAM);
	IFC_SET(create_flow_group_out, command->out, group_id, group->object.id);
	return OK;
}

static void remove_entry(struct table *table, uint32_t index)
{
	for (uint32_t at = 0; at < table->entries->len; at++) {
		if (((struct entry *)g_ptr_array_index(table->entries, at))->index == index) {
			g_ptr_array_remove_index(table->entries, at);
			return;
		}
	}
}

static int by_index(gconstpointer one, gconstpointer other)
{
	const struct entry *a = *(struct entry *const *)one, *b = *(struct entry *const *)other;

	return a->index < b->index ? -1 : a->index > b->index;
}

static enum status read_entry(struct command *command, struct entry *entry)
{
	const uint8_t *context = IFC_PTR(set_fte_in, command->in, flow_context);
	const uint8_t *list = IFC_PTR(flow_context, context, destination);
	struct function *function = command->function;

	entry->index = IFC_GET(set_fte_in, command->in, flow_index);
	entry->group = IFC_GET(flow_context, context, group_id);
	entry->action = IFC_GET(flow_context, context, action);
	entry->tag = IFC_GET(flow_context, context, flow_tag);
	entry->rewrite = IFC_GET(flow_context, context, modify_header_id);
	entry->encap = IFC_GET(flow_context, context, packet_reformat_id);
	entry->vlan = ldl_be_p(IFC_PTR(flow_context, context, push_vlan));
	entry->destinations = IFC_GET(flow_context, context, destination_list_size);
	entry->counters = IFC_GET(flow_context, context, flow_counter_list_size);
	memcpy(entry->value, IFC_PTR(flow_context, context, match_value), PARAM);
	if (entry->action & ~KNOWN_ACTIONS) {
		return refused(function, BAD_PARAM, "flow's action", entry->action);
	}
	if (IFC_GET(flow_context, context, extended_destination)) {
		return refused(function, BAD_PARAM, "flow with extended destinations", 1);
	}
	if (entry->destinations + entry->counters > MAX_DESTINATIONS) {
		return NO_RESOURCE;
	}
	for (uint32_t at = 0; at < entry->destinations; at++, list += 8) {
		entry->to[at].type = list[0];
		entry->to[at].id = ldl_be_p(list) & 0xffffff;
		entry->to[at].has_owner = IFC_GET(
			dest_format_struct, list, destination_eswitch_owner_vhca_id_valid);
		entry->to[at].owner = IFC_GET(
			dest_format_struct, list, destination_eswitch_owner_vhca_id);
		if (list[0] != TO_VPORT && list[0] != TO_TABLE && list[0] != TO_TIR &&
			list[0] != TO_UPLINK) {
			return refused(
				function, BAD_PARAM, "flow's destination of type", list[0]);
		}
	}
	for (uint32_t at = 0; at < entry->counters; at++, list += 8) {
		entry->count[at] = ldl_be_p(list);
	}
	return object_find(function, FLOW_GROUP, entry->group) ? OK : BAD_RESOURCE;
}

enum status flow_entry(struct command *command)
{
	struct table *table = object_find(
		command->function, FLOW_TABLE, IFC_GET(set_fte_in, command->in, table_id));
	struct entry *entry;
	enum status status;

	if (!table) {
		return BAD_RESOURCE;
	}
	if (command->op == 0x938) {
		remove_entry(table, IFC_GET(delete_fte_in, command->in, flow_index));
		return OK;
	}
	entry = g_new0(struct entry, 1);
	status = read_entry(command, entry);
	if (status != OK) {
		g_free(entry);
		return status;
	}
	/* What is there already under this index is changed. */
	remove_entry(table, entry->index);
	g_ptr_array_add(table->entries, entry);
	g_ptr_array_sort(table->entries, by_index);
	return OK;
}

enum status flow_counter(struct command *command)
{
	struct function *function = command->function;
	struct flow_counter *counter;
	uint32_t first, count;

	switch (command->op) {
	case 0x939:
		if (IFC_GET(alloc_flow_counter_in, command->in, flow_counter_bulk)) {
			return refused(function, BAD_PARAM, "flow counters in bulk", 1);
		}
		counter = object_add(function, FLOW_COUNTER, sizeof(*counter), 1);
		IFC_SET(alloc_flow_counter_out, command->out, flow_counter_id,
			counter->object.id);
		return OK;
	case 0x93a:
		return object_remove(function, FLOW_COUNTER,
			IFC_GET(dealloc_flow_counter_in, command->in, flow_counter_id));
	}
	first = IFC_GET(query_flow_counter_in, command->in, flow_counter_id);
	count = MAX(1, IFC_GET(query_flow_counter_in, command->in, num_of_counters));
	for (uint32_t at = 0; at < count; at++) {
		uint32_t to = IFC_AT(query_flow_counter_out, flow_statistics) / 8 + at * 16;

		counter = object_find(function, FLOW_COUNTER, first + at);
		if (to + 16 > command->out_bytes) {
			return BAD_OUTPUT_LENGTH;
		}
		if (counter) {
			stq_be_p(command->out + to, counter->packets);
			stq_be_p(command->out + to + 8, counter->bytes);
		}
	}
	return OK;
}
