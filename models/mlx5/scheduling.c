/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How fast a plug of the switch may send: the scheduling elements that the PF's driver makes
 * (drivers/net/ethernet/mellanox/mlx5/core/esw/qos.c) are one root, and below it one for each
 * plug with its limit in Mb/s. Groups and shares are not modelled, and no capability says so.
 *
 * A plug over its rate is not served until its debt is paid: its requests wait in the ring of the
 * driver, as a card's scheduler leaves them there. Nothing is dropped.
 */
#include "model.h"

enum { E_SWITCH = 2, TSAR = 0, OF_VPORT = 1, TAKES_SHARE = 1, TAKES_RATE = 2 };
/* What a plug that was idle may send at once: a timer of an emulated host is late by as much. */
enum { BURST_NS = 5 * SCALE_MS };

static bool has_plugs(struct function *pf, const struct element *root)
{
	GHashTableIter every;
	gpointer value;

	g_hash_table_iter_init(&every, pf->objects);
	while (g_hash_table_iter_next(&every, NULL, &value)) {
		struct element *element = value; /* if it is one */

		if (element->object.kind == SCHEDULING_ELEMENT && element->vport &&
			element->root == root->object.id) {
			return true;
		}
	}
	return false;
}

/* What is asked of a share or, at the root, of a limit, is not done: so it is refused. */
static enum status check(struct command *command, const uint8_t *context, bool is_root)
{
	if (IFC_GET(scheduling_context, context, bw_share)) {
		return refused(command->function, BAD_PARAM, "share of a scheduling element",
			IFC_GET(scheduling_context, context, bw_share));
	}
	if (is_root && IFC_GET(scheduling_context, context, max_average_bw)) {
		return refused(command->function, BAD_PARAM, "limit of the root, Mb/s",
			IFC_GET(scheduling_context, context, max_average_bw));
	}
	return OK;
}

static void plug_ends(struct object *object)
{
	struct element *element = (struct element *)object;

	if (element->vport) {
		element->vport->limit_mbps = 0;
		element->vport->is_scheduled = false;
	}
}

static enum status create(struct command *command)
{
	const uint8_t *context =
		IFC_PTR(create_scheduling_element_in, command->in, scheduling_context);
	uint32_t type = IFC_GET(scheduling_context, context, element_type);
	uint32_t parent = IFC_GET(scheduling_context, context, parent_element_id);
	const uint8_t *attributes = IFC_PTR(scheduling_context, context, element_attributes);
	struct function *pf = command->function;
	struct vport *vport = NULL;
	struct element *element;
	enum status status;

	if (type != TSAR && type != OF_VPORT) {
		return refused(pf, BAD_PARAM, "scheduling element of type", type);
	}
	if (type == TSAR && parent) {
		return refused(pf, BAD_PARAM, "group of scheduling elements below", parent);
	}
	status = check(command, context, type == TSAR);
	if (status != OK) {
		return status;
	}
	if (type == OF_VPORT) {
		struct element *root = object_find(pf, SCHEDULING_ELEMENT, parent);

		vport = vport_at(pf->adapter, IFC_GET(vport_element, attributes, vport_number));
		if (!root || root->vport || !vport || vport->number == UPLINK) {
			return BAD_PARAM;
		}
		if (vport->is_scheduled) {
			return BAD_STATE;
		}
		vport->is_scheduled = true;
		vport->limit_mbps = IFC_GET(scheduling_context, context, max_average_bw);
	}
	element = object_add(pf, SCHEDULING_ELEMENT, sizeof(*element), 1);
	element->object.end = plug_ends;
	element->vport = vport;
	element->root = parent;
	IFC_SET(create_scheduling_element_out, command->out, scheduling_element_id,
		element->object.id);
	return OK;
}

static enum status modify(struct command *command, struct element *element)
{
	const uint8_t *context =
		IFC_PTR(modify_scheduling_element_in, command->in, scheduling_context);
	uint32_t taken = IFC_GET(modify_scheduling_element_in, command->in, modify_bitmask);
	enum status status = check(command, context, !element->vport);

	if (taken & ~(TAKES_SHARE | TAKES_RATE)) {
		return refused(command->function, BAD_PARAM, "fields of a scheduling element", taken);
	}
	if (status == OK && element->vport && taken & TAKES_RATE) {
		element->vport->limit_mbps = IFC_GET(scheduling_context, context, max_average_bw);
	}
	return status;
}

enum status scheduling_command(struct command *command)
{
	/* Hierarchy and number lie alike in all commands about one that there is. */
	uint32_t hierarchy =
		IFC_GET(destroy_scheduling_element_in, command->in, scheduling_hierarchy);
	uint32_t id = IFC_GET(destroy_scheduling_element_in, command->in, scheduling_element_id);
	struct element *element;

	if (command->function->is_vf || hierarchy != E_SWITCH) {
		return refused(
			command->function, BAD_PARAM, "scheduling in hierarchy", hierarchy);
	}
	if (command->op == 0x782) {
		return create(command);
	}
	element = object_find(command->function, SCHEDULING_ELEMENT, id);
	if (!element) {
		return BAD_RESOURCE;
	}
	if (command->op == 0x785) {
		return modify(command, element);
	}
	if (!element->vport && has_plugs(command->function, element)) {
		return BAD_STATE;
	}
	return object_remove(command->function, SCHEDULING_ELEMENT, id);
}

/* Serve the plug's queues again. Those that are gone are not among its objects any more. */
static void again(void *opaque)
{
	struct vport *vport = opaque;
	struct function *function = vport->function;
	g_autofree gpointer *all = NULL;
	unsigned count = 0;

	if (function && function->objects) {
		all = g_hash_table_get_keys_as_array(function->objects, &count);
	}
	for (unsigned at = 0; at < count; at++) {
		struct object *object = g_hash_table_lookup(function->objects, all[at]);

		if (object && object->kind == SEND_QUEUE) {
			transmit(function, object->id);
		}
	}
}

void scheduling_open(struct vport *vport)
{
	vport->timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, again, vport);
}

void scheduling_close(struct vport *vport)
{
	timer_free(vport->timer);
	vport->timer = NULL;
}

/* False: not now; its queues are served again by themselves. */
bool scheduling_may_send(struct vport *vport)
{
	if (!vport->limit_mbps || vport->paid_ns <= qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL)) {
		return true;
	}
	timer_mod(vport->timer, vport->paid_ns);
	return false;
}

/* A frame without its FCS, as the card's counters of a plug have it. */
void scheduling_sent(struct vport *vport, uint32_t bytes)
{
	int64_t now_ns = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);

	if (vport->limit_mbps) {
		vport->paid_ns = MAX(vport->paid_ns, now_ns - BURST_NS) +
				 bytes * 8000ull / vport->limit_mbps;
	}
}
