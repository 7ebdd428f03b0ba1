/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The plugs of the embedded switch: what a function and its PF say of addresses, MTU, link and
 * VLAN of one, and its counters.
 */
#include "model.h"
#include "hw/pci/pcie_sriov.h"

enum { DOWN = 0, UP = 1, AS_PORT = 2 };

struct vport *vport_at(struct adapter *adapter, uint16_t number)
{
	if (number == UPLINK) {
		return &adapter->vports[VPORTS - 1];
	}
	return number <= MAX_VFS ? &adapter->vports[number] : NULL;
}

void vport_reset(struct adapter *adapter, uint32_t slot)
{
	struct vport *vport = &adapter->vports[slot];
	uint16_t number = slot == VPORTS - 1 ? UPLINK : slot;
	const uint8_t *mac = adapter->port.conf.macaddr.a;
	uint8_t *address;

	vport->adapter = adapter;
	vport->number = number;
	memset(vport->nic, 0, sizeof(vport->nic));
	memset(vport->esw, 0, sizeof(vport->esw));
	memset(vport->lists, 0, sizeof(vport->lists));
	vport->admin_state = AS_PORT;
	vport->event_armed = false;
	vport->ingress = vport->egress = 0;
	IFC_SET(nic_vport_context, vport->nic, mtu, 1522);
	/* One for all ports of a card, which is how a driver knows them as one card's. */
	IFC_SET(nic_vport_context, vport->nic, system_image_guid, 0xb83fd2030015b300ull);
	IFC_SET(nic_vport_context, vport->nic, node_guid,
		0xb83fd20300000000ull | mac[3] << 24 | mac[5] << 8 | number);
	if (number == 0) {
		/* VFs have none until their driver or the PF gives one. */
		address = IFC_PTR(nic_vport_context, vport->nic, permanent_address) + 2;
		memcpy(address, mac, 6);
	}
}

bool vport_up(struct vport *vport)
{
	bool of_port = vport->number == 0 || vport->number == UPLINK;

	return of_port || vport->admin_state == AS_PORT ? vport->adapter->port.is_up
							: vport->admin_state == UP;
}

/* The port's link changed: tell every function whose own link it is. */
void vport_links(struct adapter *adapter)
{
	uint8_t data[28] = { 0 };

	data[8] = adapter->number << 4;
	for (uint32_t slot = 0; slot < VPORTS; slot++) {
		struct function *function = adapter->vports[slot].function;

		if (function && function->objects) {
			event_post(function, EVENT_PORT, adapter->port.is_up ? 4 : 1, data);
		}
	}
}

struct vport *vport_of(struct command *command)
{
	struct function *function = command->function;
	uint16_t number = IFC_GET(query_vport_state_in, command->in, vport_number);

	if (!IFC_GET(query_vport_state_in, command->in, other_vport)) {
		return function->vport;
	}
	/* Others are the PF's to ask about. */
	return function->is_vf ? NULL : vport_at(function->adapter, number);
}

static void changed(struct vport *vport)
{
	uint8_t data[28] = { 0 };

	if (vport->event_armed) {
		vport->event_armed = false;
		stw_be_p(data + 2, vport->number);
		event_post(vport->adapter->pf, EVENT_VPORT, 0, data);
	}
}

static enum status query_nic(struct command *command, struct vport *vport)
{
	uint8_t *context =
		IFC_PTR(query_nic_vport_context_out, command->out, nic_vport_context);
	uint8_t type = IFC_GET(query_nic_vport_context_in, command->in, allowed_list_type);
	uint8_t *list = context + sizeof(vport->nic);

	if (type >= ARRAY_SIZE(vport->lists)) {
		return BAD_PARAM;
	}
	memcpy(context, vport->nic, sizeof(vport->nic));
	IFC_SET(nic_vport_context, context, allowed_list_type, type);
	IFC_SET(nic_vport_context, context, allowed_list_size, vport->lists[type].count);
	for (uint32_t at = 0; at < vport->lists[type].count; at++, list += 8) {
		if (list + 8 <= command->out + command->out_bytes) {
			stq_be_p(list, vport->lists[type].entry[at]);
		}
	}
	return OK;
}

static enum status modify_list(
	struct command *command, struct vport *vport, const uint8_t *context)
{
	uint8_t type = IFC_GET(nic_vport_context, context, allowed_list_type);
	uint32_t count = IFC_GET(nic_vport_context, context, allowed_list_size);
	const uint8_t *list = context + sizeof(vport->nic);

	if (type >= ARRAY_SIZE(vport->lists) || count > ADDRESSES) {
		return BAD_PARAM;
	}
	if (list + (type == 2 ? 4 : 8) * count > command->in + command->in_bytes) {
		return BAD_INPUT_LENGTH;
	}
	vport->lists[type].count = count;
	for (uint32_t at = 0; at < count; at++) {
		vport->lists[type].entry[at] =
			type == 2 ? ldl_be_p(list + at * 4) : ldq_be_p(list + at * 8);
	}
	return OK;
}

static enum status modify_nic(struct command *command, struct vport *vport)
{
	const uint8_t *select = IFC_PTR(modify_nic_vport_context_in, command->in, field_select);
	const uint8_t *context =
		IFC_PTR(modify_nic_vport_context_in, command->in, nic_vport_context);
	enum status status = OK;

#define SELECTED(field) IFC_GET(modify_nic_vport_field_select, select, field)
#define TAKE(field)                                                                            \
	IFC_SET(nic_vport_context, vport->nic, field,                                          \
		IFC_GET(nic_vport_context, context, field))
	if (SELECTED(roce_en) && IFC_GET(nic_vport_context, context, roce_en)) {
		return refused(command->function, BAD_PARAM, "RoCE of a vport", vport->number);
	}
	if (SELECTED(mtu)) {
		TAKE(mtu);
	}
	if (SELECTED(min_inline)) {
		TAKE(min_wqe_inline_mode);
	}
	if (SELECTED(disable_uc_local_lb)) {
		TAKE(disable_uc_local_lb);
	}
	if (SELECTED(disable_mc_local_lb)) {
		TAKE(disable_mc_local_lb);
	}
	if (SELECTED(node_guid)) {
		TAKE(node_guid);
	}
	if (SELECTED(port_guid)) {
		TAKE(port_guid);
	}
	if (SELECTED(promisc)) {
		TAKE(promisc_uc);
		TAKE(promisc_mc);
		TAKE(promisc_all);
	}
	if (SELECTED(permanent_address)) {
		memcpy(IFC_PTR(nic_vport_context, vport->nic, permanent_address),
			IFC_PTR(nic_vport_context, context, permanent_address), 8);
	}
	if (SELECTED(addresses_list)) {
		status = modify_list(command, vport, context);
	}
	if (SELECTED(change_event)) {
		vport->event_armed = IFC_GET(nic_vport_context, context, arm_change_event);
	} else if (status == OK && (SELECTED(promisc) || SELECTED(addresses_list))) {
		changed(vport);
	}
	return status;
}

static void put_tally(uint8_t *at, const struct tally *tally)
{
	stq_be_p(at, tally->packets);
	stq_be_p(at + 8, tally->bytes);
}

static void query_counters(struct command *command, const struct vport *vport)
{
#define PUT(field, tally)                                                                      \
	put_tally(IFC_PTR(query_vport_counter_out, command->out, field), tally)
	PUT(received_eth_unicast, &vport->rx.unicast);
	PUT(received_eth_multicast, &vport->rx.multicast);
	PUT(received_eth_broadcast, &vport->rx.broadcast);
	PUT(transmitted_eth_unicast, &vport->tx.unicast);
	PUT(transmitted_eth_multicast, &vport->tx.multicast);
	PUT(transmitted_eth_broadcast, &vport->tx.broadcast);
}

static enum status modify_state(struct command *command, struct vport *vport)
{
	uint8_t state = IFC_GET(modify_vport_state_in, command->in, admin_state);
	uint8_t data[28] = { 0 };

	/* op_mod 2: the cable's plug; PAOS is what switches the port. */
	if (command->mod == 2) {
		return OK;
	}
	if (state > AS_PORT) {
		return BAD_PARAM;
	}
	vport->admin_state = state;
	data[8] = vport->adapter->number << 4;
	if (vport->function && vport->number) {
		event_post(vport->function, EVENT_PORT, vport_up(vport) ? 4 : 1, data);
	}
	return OK;
}

static enum status modify_switch(struct command *command, struct vport *vport)
{
	const uint8_t *select = IFC_PTR(modify_esw_vport_context_in, command->in, field_select);
	const uint8_t *context =
		IFC_PTR(modify_esw_vport_context_in, command->in, esw_vport_context);

	if (command->function->is_vf) {
		return BAD_PARAM;
	}
	if (IFC_GET(esw_vport_context_fields_select, select, vport_svlan_insert) &&
		IFC_GET(esw_vport_context, context, vport_svlan_insert)) {
		return refused(
			command->function, BAD_PARAM, "service VLAN of a vport", vport->number);
	}
#define SWITCH(field)                                                                          \
	IFC_SET(esw_vport_context, vport->esw, field,                                          \
		IFC_GET(esw_vport_context, context, field))
	if (IFC_GET(esw_vport_context_fields_select, select, vport_cvlan_strip)) {
		SWITCH(vport_cvlan_strip);
	}
	if (IFC_GET(esw_vport_context_fields_select, select, vport_cvlan_insert)) {
		SWITCH(vport_cvlan_insert);
		SWITCH(cvlan_cfi);
		SWITCH(cvlan_pcp);
		SWITCH(cvlan_id);
	}
	if (IFC_GET(esw_vport_context_fields_select, select, fdb_to_vport_reg_c_id)) {
		SWITCH(fdb_to_vport_reg_c_id);
	}
	return OK;
}

enum status vport_command(struct command *command)
{
	struct vport *vport = vport_of(command);
	uint8_t *env = IFC_PTR(query_vnic_env_out, command->out, vport_env);

	if (!vport) {
		return BAD_PARAM;
	}
	switch (command->op) {
	case 0x740:
		IFC_SET(query_esw_functions_out, command->out,
			host_params_context.host_num_of_vfs,
			command->function->is_vf ? 0
						 : pcie_sriov_num_vfs(&command->function->pci));
		return OK;
	case 0x750:
		IFC_SET(query_vport_state_out, command->out, admin_state, vport->admin_state);
		IFC_SET(query_vport_state_out, command->out, state,
			command->mod == 2 ? vport->adapter->port.is_up : vport_up(vport));
		return OK;
	case 0x751:
		return modify_state(command, vport);
	case 0x752:
		memcpy(IFC_PTR(query_esw_vport_context_out, command->out, esw_vport_context),
			vport->esw, sizeof(vport->esw));
		return OK;
	case 0x753:
		return modify_switch(command, vport);
	case 0x754:
		return query_nic(command, vport);
	case 0x755:
		return modify_nic(command, vport);
	case 0x76f:
		IFC_SET(vnic_diagnostic_statistics, env, nic_receive_steering_discard,
			vport->steering_discards);
		IFC_SET(vnic_diagnostic_statistics, env, eth_wqe_too_small, vport->too_small);
		return OK;
	case 0x770:
		query_counters(command, vport);
		return OK;
	}
	return BAD_OP;
}
