/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * VF-LAG: both ports of the card as one to what its switches send.
 *
 * Each send queue has a port of its own, by its TIS; the driver maps these to the ports that are
 * up. A queue whose TIS is strict stays with its own port, as those of the PFs: the host's bond
 * chose already.
 */
#include "model.h"

enum { QUEUE_AFFINITY = 0, REMAP = 1 };

static struct lag {
	bool active;
	const struct function *owner;
	uint8_t context[IFC_BYTES(lagc)];
} lag;

static enum status take(struct command *command, const uint8_t *context)
{
	uint8_t one = IFC_GET(lagc, context, tx_remap_affinity_1);
	uint8_t two = IFC_GET(lagc, context, tx_remap_affinity_2);

	if (IFC_GET(lagc, context, port_select_mode) != QUEUE_AFFINITY) {
		return refused(command->function, BAD_PARAM, "LAG that selects ports by mode",
			IFC_GET(lagc, context, port_select_mode));
	}
	if (IFC_GET(lagc, context, fdb_selection_mode)) {
		return refused(command->function, BAD_PARAM, "LAG with one FDB", 1);
	}
	if (one < 1 || one > PORTS || two < 1 || two > PORTS) {
		return BAD_PARAM;
	}
	memcpy(lag.context, context, sizeof(lag.context));
	return OK;
}

enum status lag_command(struct command *command)
{
	struct function *function = command->function;
	enum status status;

	if (function->is_vf) {
		return BAD_OP;
	}
	if (command->op == 0x840) {
		if (lag.active) {
			return BAD_STATE;
		}
		status = take(command, IFC_PTR(create_lag_in, command->in, ctx));
		lag.active = status == OK;
		lag.owner = function;
		return status;
	}
	if (!lag.active) {
		return BAD_STATE;
	}
	switch (command->op) {
	case 0x841:
		if (IFC_GET(modify_lag_in, command->in, field_select) != REMAP) {
			return refused(function, BAD_PARAM, "MODIFY_LAG field",
				IFC_GET(modify_lag_in, command->in, field_select));
		}
		return take(command, IFC_PTR(modify_lag_in, command->in, ctx));
	case 0x842:
		memcpy(IFC_PTR(query_lag_out, command->out, ctx), lag.context,
			sizeof(lag.context));
		return OK;
	default:
		lag.active = false;
		return OK;
	}
}

/* The function that made it is gone or was reset. */
void lag_forget(const struct function *function)
{
	if (lag.owner == function) {
		lag.active = false;
	}
}

enum status tis_command(struct command *command)
{
	struct function *function = command->function;
	const uint8_t *context = IFC_PTR(create_tis_in, command->in, ctx);
	const uint8_t *bitmask = IFC_PTR(modify_tis_in, command->in, bitmask);
	bool is_new = command->op == 0x912;
	struct tis *tis;

	switch (command->op) {
	case 0x912:
		tis = object_add(function, TIS, sizeof(*tis), 1);
		IFC_SET(create_tis_out, command->out, tisn, tis->object.id);
		break;
	case 0x913:
		tis = object_find(
			function, TIS, IFC_GET(modify_tis_in, command->in, tisn));
		context = IFC_PTR(modify_tis_in, command->in, ctx);
		break;
	default:
		return object_remove(
			function, TIS, IFC_GET(destroy_tis_in, command->in, tisn));
	}
	if (!tis) {
		return BAD_RESOURCE;
	}
	if (is_new || IFC_GET(modify_tis_bitmask, bitmask, strict_lag_tx_port_affinity)) {
		tis->is_strict = IFC_GET(tisc, context, strict_lag_tx_port_affinity);
	}
	if (is_new || IFC_GET(modify_tis_bitmask, bitmask, lag_tx_port_affinity)) {
		tis->port = IFC_GET(tisc, context, lag_tx_port_affinity);
	}
	return OK;
}

/* The port that a frame for the cable of `adapter` leaves by. */
struct adapter *lag_port(struct adapter *adapter, const struct packet *packet)
{
	struct function *sender = packet->from->function;
	struct work_queue *queue =
		sender ? object_find(sender, SEND_QUEUE, packet->sqn) : NULL;
	struct tis *tis = queue ? object_find(sender, TIS, queue->tis) : NULL;
	uint32_t port;

	if (!lag.active || !tis || tis->is_strict) {
		return adapter;
	}
	/* A queue without a port of its own has one by its number. */
	port = tis->port ? tis->port : 1 + packet->sqn % PORTS;
	return adapter_number(port == 1 ? IFC_GET(lagc, lag.context, tx_remap_affinity_1)
					: IFC_GET(lagc, lag.context, tx_remap_affinity_2));
}
