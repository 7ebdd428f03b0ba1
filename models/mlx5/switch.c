/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The embedded switch: what a function sends goes through its plug's ingress list and VLAN,
 * then through the FDB that the PF's driver filled, then out of the cable or through another
 * plug's egress list and VLAN. Without a FDB, PF and cable are joined.
 */
#include "model.h"

enum { INSERT_IF_NONE = 1, INSERT_ALWAYS = 3, CVLAN = 0x8100 };

static bool tagged(const struct packet *packet)
{
	return packet->bytes >= 18 && lduw_be_p(packet->data + 12) == CVLAN;
}

/* Registers that the switch hands to the plug's own flow tables: those that it is told to. */
static void keep_registers(const struct vport *vport, struct packet *packet)
{
	uint8_t kept = IFC_GET(esw_vport_context, vport->esw, fdb_to_vport_reg_c_id);

	for (uint32_t at = 0; at < ARRAY_SIZE(packet->register_c); at++) {
		packet->register_c[at] = kept >> at & 1 ? packet->register_c[at] : 0;
	}
}

void switch_deliver(struct adapter *adapter, uint16_t number, struct packet *packet)
{
	struct vport *vport = vport_at(adapter, number);

	/* Nothing goes back where it came from. */
	if (!vport || vport == packet->from) {
		return;
	}
	if (number == UPLINK) {
		/* Of a LAG, by another port where this one is down. */
		tally_add(&vport->rx, packet->data, packet->bytes);
		port_send(lag_port(adapter, packet), packet->data, packet->bytes);
		return;
	}
	if (!vport->function || !vport_up(vport)) {
		return;
	}
	if (vport->egress && flow_run(adapter->pf, vport->egress, packet, NULL) == FLOW_DROP) {
		return;
	}
	if (IFC_GET(esw_vport_context, vport->esw, vport_cvlan_strip) && tagged(packet)) {
		frame_pop_vlan(packet);
	}
	tally_add(&vport->rx, packet->data, packet->bytes);
	keep_registers(vport, packet);
	if (flow_run(vport->function, vport->function->receive_root, packet, vport->function) ==
		FLOW_MISS) {
		vport->steering_discards++;
	}
}

void switch_transmit(struct function *function, struct packet *packet)
{
	struct adapter *adapter = function->adapter;
	struct vport *vport = function->vport;
	uint8_t insert = IFC_GET(esw_vport_context, vport->esw, vport_cvlan_insert);

	if (!vport_up(vport)) {
		return;
	}
	if (vport->ingress &&
		flow_run(adapter->pf, vport->ingress, packet, NULL) == FLOW_DROP) {
		return;
	}
	tally_add(&vport->tx, packet->data, packet->bytes);
	if (insert == INSERT_ALWAYS && tagged(packet)) {
		frame_pop_vlan(packet);
	}
	if (insert == INSERT_ALWAYS || (insert == INSERT_IF_NONE && !tagged(packet))) {
		frame_push_vlan(packet, CVLAN,
			IFC_GET(esw_vport_context, vport->esw, cvlan_pcp) << 13 |
				IFC_GET(esw_vport_context, vport->esw, cvlan_id));
	}
	if (adapter->fdb) {
		/* The driver's legacy tables have no entry for strangers: they are out on the wire. */
		if (flow_run(adapter->pf, adapter->fdb, packet, NULL) == FLOW_MISS) {
			port_send(lag_port(adapter, packet), packet->data, packet->bytes);
		}
	} else if (!function->is_vf) {
		port_send(lag_port(adapter, packet), packet->data, packet->bytes);
	}
}

void switch_from_cable(struct adapter *adapter, const uint8_t *bytes, uint32_t count)
{
	static uint8_t data[MAX_FRAME + ROOM];
	struct vport *cable = vport_at(adapter, UPLINK);
	struct packet packet = { data, count, cable };

	memcpy(data, bytes, count);
	if (cable->ingress && flow_run(adapter->pf, cable->ingress, &packet, NULL) == FLOW_DROP) {
		return;
	}
	tally_add(&cable->tx, packet.data, packet.bytes);
	if (adapter->fdb) {
		flow_run(adapter->pf, adapter->fdb, &packet, NULL);
	} else {
		switch_deliver(adapter, 0, &packet);
	}
}
