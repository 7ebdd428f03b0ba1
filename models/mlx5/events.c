/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Event queues: entries of 64 bytes in the host's memory, and an interrupt when one is armed.
 *
 * An entry is the host's while its owner bit is the parity of the round, which starts at 0
 * (next_eqe_sw() in the driver's eq.c).
 */
#include "model.h"
#include "hw/pci/msix.h"

static void end(struct object *object)
{
	memory_end(&((struct event_queue *)object)->memory);
}

enum status event_create(struct command *command)
{
	const uint8_t *context = IFC_PTR(create_eq_in, command->in, eq_context_entry);
	uint32_t pas = IFC_AT(create_eq_in, pas) / 8;
	uint32_t log_size = IFC_GET(eqc, context, log_eq_size);
	uint32_t vector = IFC_GET(eqc, context, intr);
	struct event_queue *queue;

	if (vector >= VECTORS || log_size > 16) {
		return BAD_PARAM;
	}
	queue = object_add(command->function, EVENT_QUEUE, sizeof(*queue), 1);
	queue->object.end = end;
	if (queue->object.id >= EQS ||
		!memory_take(&queue->memory, command->in + pas, command->in_bytes - pas,
			64ull << log_size, 12 + IFC_GET(eqc, context, log_page_size))) {
		object_remove(command->function, EVENT_QUEUE, queue->object.id);
		return NO_RESOURCE;
	}
	queue->log_size = log_size;
	queue->vector = vector;
	queue->mask = ifc_get(command->in, IFC_AT(create_eq_in, event_bitmask), 64);
	IFC_SET(create_eq_out, command->out, eq_number, queue->object.id);
	return OK;
}

enum status event_destroy(struct command *command)
{
	return object_remove(
		command->function, EVENT_QUEUE, IFC_GET(destroy_eq_in, command->in, eq_number));
}

static void post(struct function *function, struct event_queue *queue, uint8_t entry[64])
{
	uint32_t index = queue->produced & ((1u << queue->log_size) - 1);

	entry[63] = queue->produced >> queue->log_size & 1;
	/* The owner bit goes last. */
	function_write(function, memory_at(&queue->memory, index * 64), entry, 63);
	function_write(function, memory_at(&queue->memory, index * 64 + 63), entry + 63, 1);
	queue->produced++;
	if (queue->armed) {
		queue->armed = false;
		msix_notify(&function->pci, queue->vector);
	}
}

bool event_wanted(struct function *function, uint8_t type)
{
	for (uint32_t eqn = 1; eqn < EQS; eqn++) {
		struct event_queue *queue = object_find(function, EVENT_QUEUE, eqn);

		if (queue && queue->mask >> type & 1) {
			return true;
		}
	}
	return false;
}

void event_post(struct function *function, uint8_t type, uint8_t sub, const uint8_t data[28])
{
	for (uint32_t eqn = 1; eqn < EQS; eqn++) {
		struct event_queue *queue = object_find(function, EVENT_QUEUE, eqn);
		uint8_t entry[64] = { 0 };

		if (!queue || !(queue->mask >> type & 1)) {
			continue;
		}
		entry[1] = type;
		entry[3] = sub;
		memcpy(entry + 32, data, 28);
		post(function, queue, entry);
	}
}

void event_complete(struct function *function, uint32_t eqn, uint32_t cqn)
{
	struct event_queue *queue = object_find(function, EVENT_QUEUE, eqn);
	uint8_t entry[64] = { 0 };

	if (queue) {
		stl_be_p(entry + 32 + 24, cqn);
		post(function, queue, entry);
	}
}

void event_arm(struct function *function, uint32_t eqn, uint32_t consumed)
{
	struct event_queue *queue = object_find(function, EVENT_QUEUE, eqn);

	if (!queue) {
		return;
	}
	if (((queue->produced ^ consumed) & 0xffffff) != 0) {
		queue->armed = false;
		msix_notify(&function->pci, queue->vector);
	} else {
		queue->armed = true;
	}
}
