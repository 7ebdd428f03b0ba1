/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command queue: entries of 64 bytes whose longer input and output lie in chained blocks of
 * 512 (struct mlx5_cmd_layout and mlx5_cmd_prot_block,
 * drivers/net/ethernet/mellanox/mlx5/core/cmd.c).
 */
#include "firmware.h"

enum { ENTRY = 64, BLOCK = 512, NEXT = 560, BLOCK_ALL = 576, INLINE = 16, LONGEST = 1 << 20 };
enum { DELIVERED = 0, BAD_LENGTH = 0x8 << 1 };

static enum status accept_it(struct command *command)
{
	return OK;
}

/* The first command of a driver: one that took the firmware for dead has taken nothing back. */
static enum status enable(struct command *command)
{
	uint16_t which = IFC_GET(enable_hca_in, command->in, function_id);

	if (which == 0 || command->function->is_vf) {
		function_forget(command->function);
	}
	command->function->enabled = true;
	return OK;
}

static enum status initialise(struct command *command)
{
	command->function->initialised = true;
	return OK;
}

/* All that the driver left is gone; the pages are kept until it takes them. */
static enum status teardown(struct command *command)
{
	function_forget(command->function);
	command->function->initialised = false;
	return OK;
}

static enum status disable(struct command *command)
{
	uint16_t which = IFC_GET(disable_hca_in, command->in, function_id);

	if (which == 0 || command->function->is_vf) {
		function_forget(command->function);
		command->function->enabled = false;
	}
	return OK;
}

static enum status query_issi(struct command *command)
{
	/* Interface step sequence id 1, as all cards since ConnectX-4. */
	IFC_SET(query_issi_out, command->out, supported_issi_dw0, 2);
	return OK;
}

static enum status set_issi(struct command *command)
{
	return IFC_GET(set_issi_in, command->in, current_issi) == 1 ? OK : BAD_PARAM;
}

static enum status query_adapter(struct command *command)
{
	uint8_t *block = IFC_PTR(query_adapter_out, command->out, query_adapter_struct);

	IFC_SET(query_adapter_param_block, block, ieee_vendor_id, 0x2c9);
	memcpy(IFC_PTR(query_adapter_param_block, block, vsd_contd_psid), FIRMWARE_PSID, 16);
	return OK;
}

static enum status query_special_contexts(struct command *command)
{
	IFC_SET(query_special_contexts_out, command->out, resd_lkey, 0x100);
	return OK;
}

/* What is settable of the capabilities is what the driver was told: nothing that changes. */
static const struct handler {
	uint16_t op;
	enum status (*run)(struct command *command);
} handlers[] = {
	{ 0x100, capability_query },
	{ 0x101, query_adapter },
	{ 0x102, initialise },
	{ 0x103, teardown },
	{ 0x104, enable },
	{ 0x105, disable },
	{ 0x107, pages_query },
	{ 0x108, pages_manage },
	{ 0x109, accept_it }, /* SET_HCA_CAP */
	{ 0x10a, query_issi },
	{ 0x10b, set_issi },
	{ 0x10d, accept_it }, /* SET_DRIVER_VERSION */
	{ 0x203, query_special_contexts },
	{ 0x301, event_create },
	{ 0x302, event_destroy },
	{ 0x400, completion_create },
	{ 0x401, completion_destroy },
	{ 0x403, completion_modify },
	{ 0x740, vport_command },
	{ 0x750, vport_command },
	{ 0x751, vport_command },
	{ 0x752, vport_command },
	{ 0x753, vport_command },
	{ 0x754, vport_command },
	{ 0x755, vport_command },
	{ 0x76f, vport_command },
	{ 0x770, vport_command },
	{ 0x771, counter_command },
	{ 0x772, counter_command },
	{ 0x773, counter_command },
	{ 0x782, scheduling_command },
	{ 0x783, scheduling_command },
	{ 0x785, scheduling_command },
	{ 0x805, register_access },
	{ 0x827, tunnel_port_command },
	{ 0x828, tunnel_port_command },
	{ 0x829, accept_it }, /* SET_L2_TABLE_ENTRY: for hosts that share a port, which ours do
				 not */
	{ 0x82b, accept_it },
	{ 0x840, lag_command },
	{ 0x841, lag_command },
	{ 0x842, lag_command },
	{ 0x843, lag_command },
	{ 0x900, rss_command },
	{ 0x901, rss_command },
	{ 0x902, rss_command },
	{ 0x904, queue_create },
	{ 0x905, queue_modify },
	{ 0x906, queue_destroy },
	{ 0x907, queue_query },
	{ 0x908, queue_create },
	{ 0x909, queue_modify },
	{ 0x90a, queue_destroy },
	{ 0x90b, queue_query },
	{ 0x912, tis_command },
	{ 0x913, tis_command },
	{ 0x914, tis_command },
	{ 0x916, rss_command },
	{ 0x917, rss_command },
	{ 0x918, rss_command },
	{ 0x92f, flow_root },
	{ 0x930, flow_table },
	{ 0x931, flow_table },
	{ 0x93c, flow_table },
	{ 0x933, flow_group },
	{ 0x934, flow_group },
	{ 0x936, flow_entry },
	{ 0x938, flow_entry },
	{ 0x939, flow_counter },
	{ 0x93a, flow_counter },
	{ 0x93b, flow_counter },
	{ 0x93d, encapsulation_command },
	{ 0x93e, encapsulation_command },
	{ 0x940, rewrite_command },
	{ 0x941, rewrite_command },
};

/* False: the driver never gets an answer. */
static bool run(struct command *command)
{
	enum status status = BAD_OP;
	enum fault_verdict fault;

	command->op = IFC_GET(query_hca_cap_in, command->in, opcode);
	command->mod = IFC_GET(query_hca_cap_in, command->in, op_mod);
	fault = fault_of_command(command);
	if (fault != FAULT_NONE) {
		return fault == FAULT_FAILS;
	}
	for (size_t at = 0; at < ARRAY_SIZE(handlers) && status == BAD_OP; at++) {
		if (handlers[at].op == command->op) {
			status = handlers[at].run(command);
		}
	}
	if (status == BAD_OP) {
		status = object_plain(command);
	}
	if (status == BAD_OP) {
		refused(command->function, BAD_OP, "opcode", command->op);
	}
	if (status != OK) {
		memset(command->out, 0, command->out_bytes);
		command->out[0] = status;
		/* Syndrome: the opcode, so that the driver's log says which. */
		stl_be_p(command->out + 4, command->op);
	}
	return true;
}

/* Copy the rest of input or output through its chain of blocks. */
static bool chain(
	struct function *function, uint64_t block, uint8_t *bytes, uint32_t count, bool out)
{
	for (uint32_t done = INLINE; done < count; done += BLOCK) {
		uint8_t next[8];
		uint32_t part = MIN(BLOCK, count - done);

		if (!block || (out ? !function_write(function, block, bytes + done, part)
				   : !function_read(function, block, bytes + done, part))) {
			return false;
		}
		if (!function_read(function, block + NEXT, next, 8)) {
			return false;
		}
		block = ldq_be_p(next);
	}
	return true;
}

static void run_entry(struct function *function, uint32_t number)
{
	uint64_t at = function->commands + number * ENTRY;
	uint8_t entry[ENTRY], data[28] = { 0 };
	/* A driver waits for the event only where its queue was there before the command. */
	bool event = event_wanted(function, EVENT_COMMAND);
	uint32_t in_bytes, out_bytes;

	if (!function_read(function, at, entry, ENTRY) || !(entry[63] & 1)) {
		return;
	}
	in_bytes = ldl_be_p(entry + 4);
	out_bytes = ldl_be_p(entry + 0x38);
	if (in_bytes < INLINE || in_bytes > LONGEST || out_bytes < 8 || out_bytes > LONGEST) {
		entry[63] = BAD_LENGTH;
	} else {
		/* Handlers may read and write the whole of a fixed layout. */
		g_autofree uint8_t *in = g_malloc0(in_bytes + PAGE);
		g_autofree uint8_t *out = g_malloc0(out_bytes + 4 * PAGE);
		struct command command = { function, in, out, in_bytes, out_bytes };

		memcpy(in, entry + 0x10, INLINE);
		if (!chain(function, ldq_be_p(entry + 8), in, in_bytes, false)) {
			entry[63] = BAD_LENGTH;
		} else {
			if (!run(&command)) {
				return;
			}
			memcpy(entry + 0x20, out, INLINE);
			chain(function, ldq_be_p(entry + 0x30), out, out_bytes, true);
			entry[63] = DELIVERED;
		}
	}
	function_write(function, at + 0x20, entry + 0x20, INLINE);
	function_write(function, at + 63, entry + 63, 1);
	if (event) {
		stl_be_p(data, 1u << number);
		event_post(function, EVENT_COMMAND, 0, data);
	}
}

void command_doorbell(struct function *function, uint32_t bits)
{
	/* After a reset of the function there is no queue until the driver says where it is. */
	for (uint32_t number = 0; function->commands && number < COMMANDS; number++) {
		if (bits >> number & 1) {
			run_entry(function, number);
		}
	}
}
