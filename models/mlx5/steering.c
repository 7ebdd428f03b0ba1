/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A frame's way through flow tables: the entry that matches, what it does, where it goes.
 */
#include "flows.h"

enum { MAX_DEPTH = 32 };

static const struct entry *find(
	struct function *owner, struct table *table, const struct packet *packet)
{
	uint8_t param[PARAM];

	match_layout(packet, param);
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
	if (entry->action & DECAP && !tunnel_decap(packet)) {
		return FLOW_DROP;
	}
	if (entry->action & REWRITE && !rewrite_run(owner, entry->rewrite, packet)) {
		return FLOW_DROP;
	}
	if (entry->action & POP_VLAN) {
		frame_pop_vlan(packet);
	}
	if (entry->action & PUSH_VLAN) {
		frame_push_vlan(packet, entry->vlan >> 16, entry->vlan);
	}
	if (entry->action & ENCAP && !tunnel_encap(owner, entry->encap, packet)) {
		return FLOW_DROP;
	}
	packet->tag = entry->tag;
	if (!(entry->action & FORWARD)) {
		return entry->action & ALLOW ? FLOW_ALLOW : FLOW_DROP;
	}
	for (uint32_t at = 0; at < entry->destinations; at++) {
		/* Each gets a copy: what lies behind it may change it. */
		g_autofree uint8_t *data = g_malloc(packet->bytes + ROOM);
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
	struct adapter *adapter;

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
	default:
		adapter = to->has_owner ? adapter_of(to->owner) : owner->adapter;
		if (adapter) {
			switch_deliver(
				adapter, to->type == TO_UPLINK ? UPLINK : to->id, packet);
		}
	}
}

enum flow_verdict flow_run(struct function *owner, uint32_t table, struct packet *packet,
	struct function *receiver)
{
	return run(owner, table, packet, receiver, 0);
}
