/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Send and receive queues, the tables that spread frames over the latter, and their counters.
 */
#include "model.h"

enum { RESET, READY, ERROR_STATE = 3 };
enum { CYCLIC = 1 };

static bool is_send(const struct command *command)
{
	return command->op <= 0x907;
}

static void end(struct object *object)
{
	memory_end(&((struct work_queue *)object)->memory);
}

enum status queue_create(struct command *command)
{
	bool send = is_send(command);
	unsigned at = send ? IFC_AT(create_sq_in, ctx) : IFC_AT(create_rq_in, ctx);
	const uint8_t *context = command->in + at / 8;
	const uint8_t *wq = send ? IFC_PTR(sqc, context, wq) : IFC_PTR(rqc, context, wq);
	uint32_t cqn = send ? IFC_GET(sqc, context, cqn) : IFC_GET(rqc, context, cqn);
	uint32_t log_size = IFC_GET(wq, wq, log_wq_sz),
		 log_stride = IFC_GET(wq, wq, log_wq_stride);
	const uint8_t *pas = wq + IFC_AT(wq, pas) / 8;
	struct work_queue *queue;

	if (IFC_GET(wq, wq, wq_type) != CYCLIC) {
		return refused(command->function, BAD_PARAM, "work queue of type",
			IFC_GET(wq, wq, wq_type));
	}
	if (!send && IFC_GET(rqc, context, mem_rq_type) != 0) {
		return refused(command->function, BAD_PARAM, "receive queue's memory of type",
			IFC_GET(rqc, context, mem_rq_type));
	}
	if (!object_find(command->function, COMPLETION_QUEUE, cqn) || log_size > 15 ||
		log_stride > 13) {
		return BAD_PARAM;
	}
	queue = object_add(
		command->function, send ? SEND_QUEUE : RECEIVE_QUEUE, sizeof(*queue), 1);
	queue->object.end = end;
	if (!memory_take(&queue->memory, pas, command->in + command->in_bytes - pas,
		    1ull << (log_size + log_stride), 12 + IFC_GET(wq, wq, log_wq_pg_sz))) {
		object_remove(command->function, queue->object.kind, queue->object.id);
		return BAD_INPUT_LENGTH;
	}
	queue->cqn = cqn;
	queue->log_size = log_size;
	queue->log_stride = log_stride;
	queue->doorbell = IFC_GET(wq, wq, dbr_addr);
	if (send) {
		queue->tis = IFC_GET(sqc, context, tis_num_0);
	} else {
		queue->keep_vlan = IFC_GET(rqc, context, vsd);
		queue->counter = IFC_GET(rqc, context, counter_set_id);
	}
	IFC_SET(create_sq_out, command->out, sqn, queue->object.id);
	return OK;
}

enum status queue_modify(struct command *command)
{
	bool send = is_send(command);
	uint32_t id = IFC_GET(modify_sq_in, command->in, sqn);
	struct work_queue *queue =
		object_find(command->function, send ? SEND_QUEUE : RECEIVE_QUEUE, id);
	const uint8_t *context =
		command->in +
		(send ? IFC_AT(modify_sq_in, ctx) : IFC_AT(modify_rq_in, ctx)) / 8;
	uint64_t fields = IFC_GET(modify_rq_in, command->in, modify_bitmask);
	uint8_t from = IFC_GET(modify_sq_in, command->in, sq_state), to;

	if (!queue) {
		return BAD_RESOURCE;
	}
	if (from != queue->state) {
		return BAD_STATE;
	}
	to = send ? IFC_GET(sqc, context, state) : IFC_GET(rqc, context, state);
	if (to == RESET) {
		queue->consumed = 0;
	}
	queue->state = to;
	if (!send && fields & 1u << 1) {
		queue->keep_vlan = IFC_GET(rqc, context, vsd);
	}
	if (!send && fields & 1u << 3) {
		queue->counter = IFC_GET(rqc, context, counter_set_id);
	}
	return OK;
}

enum status queue_destroy(struct command *command)
{
	return object_remove(command->function, is_send(command) ? SEND_QUEUE : RECEIVE_QUEUE,
		IFC_GET(destroy_sq_in, command->in, sqn));
}

enum status queue_query(struct command *command)
{
	bool send = is_send(command);
	struct work_queue *queue = object_find(command->function,
		send ? SEND_QUEUE : RECEIVE_QUEUE, IFC_GET(query_sq_in, command->in, sqn));

	if (!queue) {
		return BAD_RESOURCE;
	}
	if (send) {
		IFC_SET(sqc, IFC_PTR(query_sq_out, command->out, sq_context), state,
			queue->state);
	} else {
		IFC_SET(rqc, IFC_PTR(query_rq_out, command->out, rq_context), state,
			queue->state);
	}
	return OK;
}

static enum status table_fill(struct rq_table *table, const uint8_t *context)
{
	uint32_t size = IFC_GET(rqtc, context, rqt_actual_size);

	if (size == 0 || size > ARRAY_SIZE(table->rq)) {
		return BAD_PARAM;
	}
	table->size = size;
	for (uint32_t at = 0; at < size; at++) {
		table->rq[at] =
			ldl_be_p(context + IFC_AT(rqtc, rq_num) / 8 + at * 4) & 0xffffff;
	}
	return OK;
}

/* What of a TIR changes with which bit of a bitmask: struct mlx5_ifc_modify_tir_bitmask_bits.
 */
static enum status tir_modify(struct command *command)
{
	struct tir *tir =
		object_find(command->function, TIR, IFC_GET(modify_tir_in, command->in, tirn));
	const uint8_t *new = IFC_PTR(modify_tir_in, command->in, ctx);
	const uint8_t *mask = IFC_PTR(modify_tir_in, command->in, bitmask);

	if (!tir) {
		return BAD_RESOURCE;
	}
	if (IFC_GET(modify_tir_bitmask, mask, self_lb_en)) {
		IFC_SET(tirc, tir->context, self_lb_block, IFC_GET(tirc, new, self_lb_block));
	}
	if (IFC_GET(modify_tir_bitmask, mask, hash)) {
		unsigned at = IFC_AT(tirc, rx_hash_fn) / 8;

		IFC_SET(tirc, tir->context, rx_hash_symmetric,
			IFC_GET(tirc, new, rx_hash_symmetric));
		IFC_SET(tirc, tir->context, rx_hash_fn, IFC_GET(tirc, new, rx_hash_fn));
		at = IFC_AT(tirc, rx_hash_toeplitz_key) / 8;
		memcpy(tir->context + at, new + at, 40 + 8);
	}
	if (IFC_GET(modify_tir_bitmask, mask, packet_merge)) {
		return refused(command->function, BAD_PARAM, "MODIFY_TIR packet_merge", 1);
	}
	return OK;
}

enum status rss_command(struct command *command)
{
	struct function *function = command->function;
	struct rq_table *table;
	struct tir *tir;
	enum status status;

	switch (command->op) {
	case 0x900:
		tir = object_add(function, TIR, sizeof(*tir), 1);
		memcpy(tir->context, IFC_PTR(create_tir_in, command->in, ctx),
			sizeof(tir->context));
		IFC_SET(create_tir_out, command->out, tirn, tir->object.id);
		return OK;
	case 0x901:
		return tir_modify(command);
	case 0x902:
		return object_remove(function, TIR, IFC_GET(destroy_tir_in, command->in, tirn));
	case 0x916:
		table = object_add(function, RECEIVE_QUEUE_TABLE, sizeof(*table), 1);
		status = table_fill(table, IFC_PTR(create_rqt_in, command->in, rqt_context));
		if (status != OK) {
			object_remove(function, RECEIVE_QUEUE_TABLE, table->object.id);
			return status;
		}
		IFC_SET(create_rqt_out, command->out, rqtn, table->object.id);
		return OK;
	case 0x917:
		table = object_find(function, RECEIVE_QUEUE_TABLE,
			IFC_GET(modify_rqt_in, command->in, rqtn));
		return table ? table_fill(table, IFC_PTR(modify_rqt_in, command->in, ctx))
			     : BAD_RESOURCE;
	case 0x918:
		return object_remove(function, RECEIVE_QUEUE_TABLE,
			IFC_GET(destroy_rqt_in, command->in, rqtn));
	}
	return BAD_OP;
}

enum status counter_command(struct command *command)
{
	struct function *function = command->function;
	struct queue_counter *counter;

	switch (command->op) {
	case 0x771:
		counter = object_add(function, QUEUE_COUNTER, sizeof(*counter), 1);
		IFC_SET(alloc_q_counter_out, command->out, counter_set_id, counter->object.id);
		return OK;
	case 0x772:
		return object_remove(function, QUEUE_COUNTER,
			IFC_GET(dealloc_q_counter_in, command->in, counter_set_id));
	}
	if (IFC_GET(query_q_counter_in, command->in, aggregate) ||
		IFC_GET(query_q_counter_in, command->in, other_vport)) {
		return refused(function, BAD_PARAM, "QUERY_Q_COUNTER of others", 1);
	}
	counter = object_find(function, QUEUE_COUNTER,
		IFC_GET(query_q_counter_in, command->in, counter_set_id));
	if (!counter) {
		return BAD_RESOURCE;
	}
	IFC_SET(query_q_counter_out, command->out, out_of_buffer, counter->out_of_buffer);
	if (IFC_GET(query_q_counter_in, command->in, clear)) {
		counter->out_of_buffer = 0;
	}
	return OK;
}
