/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Completion queues. An entry's owner bit is the parity of the round. A queue says one event
 * once it is armed, for entries that came after the index that it was armed with.
 */
#include "model.h"

static void end(struct object *object)
{
	memory_end(&((struct completion_queue *)object)->memory);
}

enum status completion_create(struct command *command)
{
	const uint8_t *context = IFC_PTR(create_cq_in, command->in, cq_context);
	uint32_t pas = IFC_AT(create_cq_in, pas) / 8;
	uint32_t log_size = IFC_GET(cqc, context, log_cq_size);
	uint32_t eqn = IFC_GET(cqc, context, c_eqn_or_apu_element);
	struct completion_queue *queue;

	if (IFC_GET(cqc, context, cqe_sz) != 0) {
		return refused(command->function, BAD_PARAM,
			"completions not of 64 bytes, code", IFC_GET(cqc, context, cqe_sz));
	}
	if (!object_find(command->function, EVENT_QUEUE, eqn) || log_size > 22) {
		return BAD_PARAM;
	}
	queue = object_add(command->function, COMPLETION_QUEUE, sizeof(*queue), 1);
	queue->object.end = end;
	if (!memory_take(&queue->memory, command->in + pas, command->in_bytes - pas,
		    64ull << log_size, 12 + IFC_GET(cqc, context, log_page_size))) {
		object_remove(command->function, COMPLETION_QUEUE, queue->object.id);
		return BAD_INPUT_LENGTH;
	}
	queue->log_size = log_size;
	queue->eqn = eqn;
	queue->period_us = IFC_GET(cqc, context, cq_period);
	queue->max_count = IFC_GET(cqc, context, cq_max_count);
	IFC_SET(create_cq_out, command->out, cqn, queue->object.id);
	return OK;
}

enum status completion_destroy(struct command *command)
{
	return object_remove(
		command->function, COMPLETION_QUEUE, IFC_GET(destroy_cq_in, command->in, cqn));
}

/* Moderation is kept and not acted upon: the model has no time of its own. */
enum status completion_modify(struct command *command)
{
	const uint8_t *context = IFC_PTR(modify_cq_in, command->in, cq_context);
	struct completion_queue *queue = object_find(
		command->function, COMPLETION_QUEUE, IFC_GET(modify_cq_in, command->in, cqn));

	if (!queue) {
		return BAD_RESOURCE;
	}
	if (command->mod != 0) {
		return refused(command->function, BAD_PARAM, "MODIFY_CQ mode", command->mod);
	}
	queue->period_us = IFC_GET(cqc, context, cq_period);
	queue->max_count = IFC_GET(cqc, context, cq_max_count);
	return OK;
}

bool completion_post(struct function *function, uint32_t cqn, uint8_t entry[64], uint8_t opcode)
{
	struct completion_queue *queue = object_find(function, COMPLETION_QUEUE, cqn);
	uint64_t now_ns = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
	uint32_t index;

	if (!queue) {
		return false;
	}
	index = queue->produced & ((1u << queue->log_size) - 1);
	stq_be_p(entry + 48, now_ns);
	entry[63] = opcode << 4 | (queue->produced >> queue->log_size & 1);
	function_write(function, memory_at(&queue->memory, index * 64ull), entry, 63);
	function_write(function, memory_at(&queue->memory, index * 64ull + 63), entry + 63, 1);
	queue->produced++;
	if (queue->armed) {
		queue->armed = false;
		event_complete(function, queue->eqn, cqn);
	}
	return true;
}

void completion_arm(struct function *function, uint32_t cqn, uint32_t consumed)
{
	struct completion_queue *queue = object_find(function, COMPLETION_QUEUE, cqn);

	if (!queue) {
		return;
	}
	if (((queue->produced ^ consumed) & 0xffffff) != 0) {
		queue->armed = false;
		event_complete(function, queue->eqn, cqn);
	} else {
		queue->armed = true;
	}
}
