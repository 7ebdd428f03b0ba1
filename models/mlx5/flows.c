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
#include "model.h"

enum { PARAM = IFC_BYTES(fte_match_param), PART = 64, MAX_DESTINATIONS = 64 };
enum {
	ALLOW = 0x1,
	DROP = 0x2,
	FORWARD = 0x4,
	COUNT = 0x8,
	POP_VLAN = 0x80,
	PUSH_VLAN = 0x100
};
enum { KNOWN_ACTIONS = ALLOW | DROP | FORWARD | COUNT | POP_VLAN | PUSH_VLAN };
enum { TO_VPORT = 0, TO_TABLE = 1, TO_TIR = 2, TO_UPLINK = 8 };
enum { NIC_RECEIVE = 0, EGRESS_ACL = 2, INGRESS_ACL = 3, FDB = 4 };
enum { MAX_DEPTH = 32 };

struct group {
	struct object object;
	uint32_t table, first, last;
	uint8_t mask[PARAM];
};

struct destination {
	uint8_t type;
	uint32_t id;
};

struct entry {
	uint32_t index, group, action, tag, vlan, destinations, counters;
	uint8_t value[PARAM];
	struct destination to[MAX_DESTINATIONS];
	uint32_t count[MAX_DESTINATIONS];
};

struct table {
	struct object object;
	uint8_t type;
	uint32_t miss;	    /* table that a miss goes to; 0: none */
	GPtrArray *entries; /* by index */
};

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

	if (id && !object_find(function, FLOW_TABLE, id)) {
		return BAD_RESOURCE;
	}
	if (type == NIC_RECEIVE && !other) {
		function->receive_root = id;
		return OK;
	}
	if (function->is_vf || number > MAX_VFS) {
		return BAD_PARAM;
	}
	switch (type) {
	case FDB:
		function->adapter->fdb = id;
		return OK;
	case INGRESS_ACL:
		function->adapter->vports[number].ingress = id;
		return OK;
	case EGRESS_ACL:
		function->adapter->vports[number].egress = id;
		return OK;
	}
	return refused(function, BAD_PARAM, "root of flow tables of type", type);
}

#define L2_4(param, field, value)                                                              \
	ifc_set(param,                                                                         \
		IFC_AT(fte_match_param, outer_headers) + IFC_AT(fte_match_set_lyr_2_4, field), \
		IFC_BITS(fte_match_set_lyr_2_4, field), value)
#define MISC(param, field, value)                                                              \
	ifc_set(param,                                                                         \
		IFC_AT(fte_match_param, misc_parameters) + IFC_AT(fte_match_set_misc, field),  \
		IFC_BITS(fte_match_set_misc, field), value)
#define ADDRESS(param, field)                                                                  \
	((uint8_t *)(param) + (IFC_AT(fte_match_param, outer_headers) +                        \
				      IFC_AT(fte_match_set_lyr_2_4, field)) /                  \
				      8)

/* All bits that layout() below may set. */
static const uint8_t *known_bits(void)
{
	static uint8_t known[PARAM];

	if (known[0]) {
		return known;
	}
	L2_4(known, smac_47_16, ~0u);
	L2_4(known, smac_15_0, ~0u);
	L2_4(known, dmac_47_16, ~0u);
	L2_4(known, dmac_15_0, ~0u);
	L2_4(known, ethertype, ~0u);
	L2_4(known, first_prio, ~0u);
	L2_4(known, first_cfi, ~0u);
	L2_4(known, first_vid, ~0u);
	L2_4(known, cvlan_tag, ~0u);
	L2_4(known, svlan_tag, ~0u);
	L2_4(known, ip_version, ~0u);
	L2_4(known, ip_protocol, ~0u);
	L2_4(known, ip_dscp, ~0u);
	L2_4(known, ip_ecn, ~0u);
	L2_4(known, frag, ~0u);
	L2_4(known, tcp_flags, ~0u);
	L2_4(known, tcp_sport, ~0u);
	L2_4(known, tcp_dport, ~0u);
	L2_4(known, udp_sport, ~0u);
	L2_4(known, udp_dport, ~0u);
	memset(ADDRESS(known, src_ipv4_src_ipv6), 0xff, 16);
	memset(ADDRESS(known, dst_ipv4_dst_ipv6), 0xff, 16);
	MISC(known, source_port, ~0u);
	MISC(known, source_sqn, ~0u);
	return known;
}

/* Say in a capability which fields can be matched: known_bits() by their other names. */
void flow_field_caps(uint8_t *properties)
{
	static const char *const both[] = { "ft_field_support", "ft_field_bitmask_support" };

	for (size_t at = 0; at < ARRAY_SIZE(both); at++) {
		uint8_t *fields =
			at == 0 ? IFC_PTR(flow_table_prop_layout, properties, ft_field_support)
				: IFC_PTR(flow_table_prop_layout, properties,
					  ft_field_bitmask_support);
#define CAN(field) IFC_SET(flow_table_fields_supported, fields, field, 1)
		CAN(outer_dmac);
		CAN(outer_smac);
		CAN(outer_ether_type);
		CAN(outer_ip_version);
		CAN(outer_first_prio);
		CAN(outer_first_cfi);
		CAN(outer_first_vid);
		CAN(outer_sip);
		CAN(outer_dip);
		CAN(outer_frag);
		CAN(outer_ip_protocol);
		CAN(outer_ip_ecn);
		CAN(outer_ip_dscp);
		CAN(outer_udp_sport);
		CAN(outer_udp_dport);
		CAN(outer_tcp_sport);
		CAN(outer_tcp_dport);
		CAN(outer_tcp_flags);
		CAN(source_eswitch_port);
#undef CAN
	}
}

static void layout(const struct packet *packet, uint8_t param[PARAM])
{
	const uint8_t *data = packet->data;
	struct headers headers;
	const uint8_t *l3, *l4;

	memset(param, 0, PARAM);
	frame_parse(data, packet->bytes, &headers);
	l3 = data + headers.l3;
	l4 = data + headers.l4;
	L2_4(param, dmac_47_16, ldl_be_p(data));
	L2_4(param, dmac_15_0, lduw_be_p(data + 4));
	L2_4(param, smac_47_16, ldl_be_p(data + 6));
	L2_4(param, smac_15_0, lduw_be_p(data + 10));
	L2_4(param, ethertype, headers.ethertype);
	if (headers.vlans) {
		L2_4(param, cvlan_tag, lduw_be_p(data + 12) == 0x8100);
		L2_4(param, svlan_tag, lduw_be_p(data + 12) == 0x88a8);
		L2_4(param, first_prio, headers.vlan_tci >> 13);
		L2_4(param, first_cfi, headers.vlan_tci >> 12);
		L2_4(param, first_vid, headers.vlan_tci);
	}
	if (headers.version) {
		uint8_t class = headers.version == 4 ? l3[1] : lduw_be_p(l3) >> 4;

		L2_4(param, ip_version, headers.version);
		L2_4(param, ip_protocol, headers.protocol);
		L2_4(param, ip_dscp, class >> 2);
		L2_4(param, ip_ecn, class);
		L2_4(param, frag, headers.fragment);
	}
	if (headers.version == 4) {
		memcpy(ADDRESS(param, src_ipv4_src_ipv6) + 12, l3 + 12, 4);
		memcpy(ADDRESS(param, dst_ipv4_dst_ipv6) + 12, l3 + 16, 4);
	} else if (headers.version == 6) {
		memcpy(ADDRESS(param, src_ipv4_src_ipv6), l3 + 8, 16);
		memcpy(ADDRESS(param, dst_ipv4_dst_ipv6), l3 + 24, 16);
	}
	if (headers.l4 && headers.protocol == 6) {
		L2_4(param, tcp_flags, lduw_be_p(l4 + 12));
		L2_4(param, tcp_sport, lduw_be_p(l4));
		L2_4(param, tcp_dport, lduw_be_p(l4 + 2));
	} else if (headers.l4) {
		L2_4(param, udp_sport, lduw_be_p(l4));
		L2_4(param, udp_dport, lduw_be_p(l4 + 2));
	}
	MISC(param, source_port, packet->from ? packet->from->number : UPLINK);
	MISC(param, source_sqn, packet->sqn);
}

enum status flow_group(struct command *command)
{
	struct function *function = command->function;
	const uint8_t *criteria = IFC_PTR(create_flow_group_in, command->in, match_criteria);
	uint8_t parts = IFC_GET(create_flow_group_in, command->in, match_criteria_enable);
	uint32_t table = IFC_GET(create_flow_group_in, command->in, table_id);
	uint8_t mask[PARAM] = { 0 };
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
		if (mask[at] & ~known_bits()[at]) {
			return refused(function, BAD_PARAM, "match on byte", at);
		}
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

static const struct entry *find(
	struct function *owner, struct table *table, const struct packet *packet)
{
	uint8_t param[PARAM];

	layout(packet, param);
	for (uint32_t at = 0; at < table->entries->len; at++) {
		const struct entry *entry = g_ptr_array_index(table->entries, at);
		const struct group *group = object_find(owner, FLOW_GROUP, entry->group);
		uint32_t byte = 0;

		while (group && byte < PARAM &&
			((param[byte] ^ entry->value[byte]) & group->mask[byte]) == 0) {
			byte++;
		}
		if (byte == PARAM) {
			return entry;
		}
	}
	return NULL;
}

static void send_to(struct function *owner, const struct destination *to, struct packet *packet,
	struct function *receiver, unsigned depth);

static enum flow_verdict run(struct function *owner, uint32_t id, struct packet *packet,
	struct function *receiver, unsigned depth)
{
	struct table *table = object_find(owner, FLOW_TABLE, id);
	const struct entry *entry;

	if (!table || depth > MAX_DEPTH) {
		return FLOW_MISS;
	}
	entry = find(owner, table, packet);
	if (!entry) {
		return table->miss ? run(owner, table->miss, packet, receiver, depth + 1)
				   : FLOW_MISS;
	}
	for (uint32_t at = 0; at < entry->counters; at++) {
		struct flow_counter *counter =
			object_find(owner, FLOW_COUNTER, entry->count[at]);

		if (counter) {
			counter->packets++;
			counter->bytes += packet->bytes;
		}
	}
	if (entry->action & DROP) {
		return FLOW_DROP;
	}
	if (entry->action & POP_VLAN) {
		frame_pop_vlan(packet);
	}
	if (entry->action & PUSH_VLAN) {
		frame_push_vlan(packet, entry->vlan >> 16, entry->vlan);
	}
	packet->tag = entry->tag;
	if (!(entry->action & FORWARD)) {
		return entry->action & ALLOW ? FLOW_ALLOW : FLOW_DROP;
	}
	for (uint32_t at = 0; at < entry->destinations; at++) {
		/* Each gets a copy: what lies behind it may change it. */
		g_autofree uint8_t *data = g_malloc(packet->bytes + 64);
		struct packet copy = *packet;

		memcpy(data, packet->data, packet->bytes);
		copy.data = data;
		send_to(owner, &entry->to[at], &copy, receiver, depth + 1);
	}
	return FLOW_SENT;
}

static void send_to(struct function *owner, const struct destination *to, struct packet *packet,
	struct function *receiver, unsigned depth)
{
	switch (to->type) {
	case TO_TABLE:
		run(owner, to->id, packet, receiver, depth);
		return;
	case TO_TIR:
		if (receiver) {
			receive(receiver, to->id, packet);
		}
		return;
	case TO_UPLINK:
		switch_deliver(owner->adapter, UPLINK, packet);
		return;
	default:
		switch_deliver(owner->adapter, to->id, packet);
	}
}

enum flow_verdict flow_run(struct function *owner, uint32_t table, struct packet *packet,
	struct function *receiver)
{
	return run(owner, table, packet, receiver, 0);
}
