/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Faults on demand: a port's card fails in one chosen way until it is told to stop.
 *
 * They are the property `fault` of a PF, set while QEMU runs (qom-set), one line of words:
 *
 *   command OPCODE STATUS SYNDROME   each command of that opcode fails so
 *   silent OPCODE                    no command of that opcode is ever answered
 *   health SYNDROME                  the health buffer reports it, and the firmware runs on
 *   fatal SYNDROME                   it asks for its reset, and works on nothing that it was given
 *   full N                           the port has no buffer for each N-th frame of the cable
 *   module out|in|hot                the plugged module, and what the driver is told of it
 *   none                             no fault; the module stays as it is
 *
 * Numbers are hexadecimal. A VF has its PF's faults of commands.
 */
#include "model.h"
#include "qapi/error.h"
#include "qom/object.h"

/* struct health_buffer in the initialisation segment (include/linux/mlx5/device.h). */
enum { HEALTH = 0x200, SEVERITY = HEALTH + 0x38, SYNDROME = HEALTH + 0x3d };
/* RFR: the firmware asks for a reset; the level is valid, and is that of an error. */
enum { RESET_REQUESTED = 1 << 7, LEVEL_VALID = 1 << 3, LEVEL_ERROR = 3 };
/* struct mlx5_eqe_port_module, and enum port_module_event_error_type (core/lib/port.h). */
enum { PLUGGED = 1, UNPLUGGED = 2, IN_ERROR = 3, TOO_HOT = 6 };

static void health(struct function *pf, uint8_t syndrome, bool reset_requested)
{
	pf->segment[SYNDROME] = syndrome;
	pf->segment[SEVERITY] = LEVEL_VALID | LEVEL_ERROR | (reset_requested ? RESET_REQUESTED : 0);
	if (syndrome == 0) {
		pf->segment[SEVERITY] = 0;
	}
}

void fault_in_segment(struct function *pf)
{
	health(pf, pf->fault.health, pf->fault.reset_requested);
}

static void module_told(struct function *pf, uint8_t status, uint8_t error)
{
	uint8_t data[28] = { 0 };

	data[1] = pf->adapter->number - 1;
	data[3] = status;
	data[6] = error;
	event_post(pf, EVENT_PORT_MODULE, 0, data);
}

static void module_is(struct function *pf, bool in)
{
	pf->adapter->port.module = in;
	module_told(pf, in ? PLUGGED : UNPLUGGED, 0);
	port_update(pf->adapter);
}

enum fault_verdict fault_of_command(struct command *command)
{
	const struct fault *fault = &command->function->adapter->pf->fault;

	if (fault->opcode == 0 || fault->opcode != command->op) {
		return FAULT_NONE;
	}
	if (fault->is_silent) {
		return FAULT_SILENT;
	}
	memset(command->out, 0, command->out_bytes);
	command->out[0] = fault->status;
	stl_be_p(command->out + 4, fault->syndrome);
	return FAULT_FAILS;
}

/* The driver frees its queues then, and tells no firmware that it takes for dead. */
static void stop(struct function *pf)
{
	for (uint32_t slot = 0; slot < VPORTS; slot++) {
		struct function *function = pf->adapter->vports[slot].function;

		if (function) {
			function_forget(function);
		}
	}
}

static void set(Object *object, const char *value, Error **errp)
{
	struct function *pf = (struct function *)object;
	struct fault *fault = &pf->fault;
	uint32_t opcode, status, syndrome;
	char word[8];
	int end = 0;

	if (!pf->objects) {
		error_setg(errp, "fault: the card is not there yet");
		return;
	}
	if (sscanf(value, "command %x %x %x%n", &opcode, &status, &syndrome, &end) == 3 &&
		value[end] == 0 && opcode >= 1 && opcode <= 0xffff && status >= 1 && status <= 0xff) {
		fault->opcode = opcode;
		fault->is_silent = false;
		fault->status = status;
		fault->syndrome = syndrome;
		return;
	}
	if (sscanf(value, "silent %x%n", &opcode, &end) == 1 && value[end] == 0 && opcode >= 1 &&
		opcode <= 0xffff) {
		fault->opcode = opcode;
		fault->is_silent = true;
		return;
	}
	if (sscanf(value, "full %x%n", &syndrome, &end) == 1 && value[end] == 0 && syndrome >= 1) {
		fault->full_each = syndrome;
		return;
	}
	if (sscanf(value, "%6[a-z] %x%n", word, &syndrome, &end) == 2 && value[end] == 0 &&
		syndrome >= 1 && syndrome <= 0xff &&
		(strcmp(word, "health") == 0 || strcmp(word, "fatal") == 0)) {
		fault->health = syndrome;
		fault->reset_requested = strcmp(word, "fatal") == 0;
		fault_in_segment(pf);
		if (fault->reset_requested) {
			stop(pf);
		}
		return;
	}
	if (strcmp(value, "module out") == 0 || strcmp(value, "module in") == 0) {
		module_is(pf, strcmp(value, "module in") == 0);
		return;
	}
	if (strcmp(value, "module hot") == 0) {
		module_told(pf, IN_ERROR, TOO_HOT);
		return;
	}
	if (strcmp(value, "none") == 0) {
		memset(fault, 0, sizeof(*fault));
		fault_in_segment(pf);
		return;
	}
	error_setg(errp, "fault: not known: %s", value);
}

static char *get(Object *object, Error **errp)
{
	const struct fault *fault = &((struct function *)object)->fault;

	return g_strdup_printf("opcode 0x%x%s, health 0x%x%s", fault->opcode,
		fault->is_silent ? " silent" : "", fault->health,
		fault->reset_requested ? " fatal" : "");
}

void fault_property(ObjectClass *class)
{
	object_class_property_add_str(class, "fault", get, set);
}
