/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * VXLAN (RFC 7348): a frame within UDP. The card puts the headers that a flow names before a
 * frame, takes them away, and looks into frames for the UDP ports that the driver told it.
 */
#include "flows.h"

enum { L2_TO_VXLAN = 0, UDP = 17, UDP_BYTES = 8, VXLAN_BYTES = 8 };
/* Dynamic ports, from which the source port of a flow is taken: RFC 7348, section 5. */
enum { FIRST_SOURCE_PORT = 49152, SOURCE_PORTS = 16384 };

struct encapsulation {
	struct object object;
	uint32_t bytes;
	uint8_t header[ENCAPSULATION_BYTES];
};

enum status tunnel_port_command(struct command *command)
{
	uint16_t *ports = command->function->adapter->vxlan_ports;
	uint16_t port = IFC_GET(add_vxlan_udp_dport_in, command->in, vxlan_udp_port);
	uint16_t wanted = command->op == 0x827 ? 0 : port;

	for (uint32_t at = 0; at < VXLAN_PORTS; at++) {
		if (ports[at] == port && command->op == 0x827) {
			return OK;
		}
	}
	for (uint32_t at = 0; at < VXLAN_PORTS; at++) {
		if (ports[at] == wanted) {
			ports[at] = command->op == 0x827 ? port : 0;
			return OK;
		}
	}
	return command->op == 0x827 ? NO_RESOURCE : BAD_RESOURCE;
}

/* Where the inner frame begins; 0: it is no tunnel of the card's. */
uint32_t tunnel_inner(
	const struct adapter *adapter, const uint8_t *data, const struct headers *headers)
{
	if (!headers->l4 || headers->protocol != UDP) {
		return 0;
	}
	for (uint32_t at = 0; at < VXLAN_PORTS; at++) {
		if (adapter->vxlan_ports[at] &&
			adapter->vxlan_ports[at] == lduw_be_p(data + headers->l4 + 2)) {
			return headers->l4 + UDP_BYTES + VXLAN_BYTES;
		}
	}
	return 0;
}

enum status encapsulation_command(struct command *command)
{
	const uint8_t *context = IFC_PTR(
		alloc_packet_reformat_context_in, command->in, packet_reformat_context);
	uint8_t type = IFC_GET(packet_reformat_context_in, context, reformat_type);
	uint32_t bytes = IFC_GET(packet_reformat_context_in, context, reformat_data_size);
	struct encapsulation *made;
	struct headers headers;

	if (command->op == 0x93e) {
		return object_remove(command->function, ENCAPSULATION,
			IFC_GET(dealloc_packet_reformat_context_in, command->in,
				packet_reformat_id));
	}
	if (type != L2_TO_VXLAN) {
		return refused(command->function, BAD_PARAM, "encapsulation of type", type);
	}
	if (bytes > ENCAPSULATION_BYTES) {
		return BAD_PARAM;
	}
	context = IFC_PTR(packet_reformat_context_in, context, reformat_data);
	if (context + bytes > command->in + command->in_bytes) {
		return BAD_INPUT_LENGTH;
	}
	/* The driver leaves lengths, checksum and source port to the card, and gives the rest. */
	if (!frame_parse(context, bytes, &headers) || !headers.l4 ||
		headers.protocol != UDP || headers.l4 + UDP_BYTES + VXLAN_BYTES != bytes) {
		return BAD_PARAM;
	}
	made = object_add(command->function, ENCAPSULATION, sizeof(*made), 1);
	made->bytes = bytes;
	memcpy(made->header, context, bytes);
	IFC_SET(alloc_packet_reformat_context_out, command->out, packet_reformat_id,
		made->object.id);
	return OK;
}

/* One port for all frames of a flow: by addresses, protocol and ports. */
static uint16_t source_port(const uint8_t *data, uint32_t bytes)
{
	struct headers headers;
	uint32_t sum = 0;

	frame_parse(data, bytes, &headers);
	if (headers.version) {
		sum = frame_sum(data + headers.l3 + (headers.version == 4 ? 12 : 8),
			headers.version == 4 ? 8 : 32, headers.protocol);
	}
	if (headers.l4) {
		sum = frame_sum(data + headers.l4, 4, sum);
	}
	return FIRST_SOURCE_PORT + frame_fold(sum) % SOURCE_PORTS;
}

bool tunnel_encap(struct function *owner, uint32_t id, struct packet *packet)
{
	const struct encapsulation *encap = object_find(owner, ENCAPSULATION, id);
	uint16_t port = source_port(packet->data, packet->bytes);
	uint8_t *data = packet->data, *udp;
	struct headers headers;

	if (!encap || packet->bytes + encap->bytes > MAX_FRAME) {
		return false;
	}
	memmove(data + encap->bytes, data, packet->bytes);
	memcpy(data, encap->header, encap->bytes);
	packet->bytes += encap->bytes;
	frame_parse(data, packet->bytes, &headers);
	udp = data + headers.l4;
	stw_be_p(udp, port);
	stw_be_p(udp + 4, packet->bytes - headers.l4);
	if (headers.version == 4) {
		stw_be_p(data + headers.l3 + 2, packet->bytes - headers.l3);
		frame_set_sums(data, packet->bytes, true, false);
	} else {
		stw_be_p(data + headers.l3 + 4, packet->bytes - headers.l4);
	}
	return true;
}

bool tunnel_decap(struct packet *packet)
{
	struct headers headers;
	uint32_t inner;

	frame_parse(packet->data, packet->bytes, &headers);
	inner = tunnel_inner(packet->from->adapter, packet->data, &headers);
	if (!inner || inner + 14 > packet->bytes) {
		return false;
	}
	packet->bytes -= inner;
	memmove(packet->data, packet->data + inner, packet->bytes);
	return true;
}
