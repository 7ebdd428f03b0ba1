/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a flow can look at: a frame's headers, where it came from and its registers, laid out as
 * in `fte_match_param`.
 */
#include "flows.h"

#define L2_4(param, field, value) IFC_SET(fte_match_set_lyr_2_4, param, field, value)
#define MISC(param, field, value)                                                              \
	ifc_set(param,                                                                         \
		IFC_AT(fte_match_param, misc_parameters) + IFC_AT(fte_match_set_misc, field),  \
		IFC_BITS(fte_match_set_misc, field), value)
#define MISC_2(param, field, value)                                                            \
	ifc_set(param,                                                                         \
		IFC_AT(fte_match_param, misc_parameters_2) +                                   \
			IFC_AT(fte_match_set_misc2, field),                                    \
		IFC_BITS(fte_match_set_misc2, field), value)
#define ADDRESS(param, field) IFC_PTR(fte_match_set_lyr_2_4, param, field)

static void headers_known(uint8_t *known)
{
	L2_4(known, smac_47_16, ~0u);
	L2_4(known, smac_15_0, ~0u);
	L2_4(known, dmac_47_16, ~0u);
	L2_4(known, dmac_15_0, ~0u);
	L2_4(known, ethertype, ~0u);
	L2_4(known, first_prio, ~0u);
	L2_4(known, first_cfi, ~0u);
	L2_4(known, first_vid, ~0u);
	L2_4(known, cvlan_tag, ~0u);
	L2_4(known, svlan_tag, ~0u);
	L2_4(known, ip_version, ~0u);
	L2_4(known, ip_protocol, ~0u);
	L2_4(known, ip_dscp, ~0u);
	L2_4(known, ip_ecn, ~0u);
	L2_4(known, frag, ~0u);
	L2_4(known, tcp_flags, ~0u);
	L2_4(known, tcp_sport, ~0u);
	L2_4(known, tcp_dport, ~0u);
	L2_4(known, udp_sport, ~0u);
	L2_4(known, udp_dport, ~0u);
	memset(ADDRESS(known, src_ipv4_src_ipv6), 0xff, 16);
	memset(ADDRESS(known, dst_ipv4_dst_ipv6), 0xff, 16);
}

/* All bits that match_layout() below may set. */
static const uint8_t *known_bits(void)
{
	static uint8_t known[PARAM];

	if (known[0]) {
		return known;
	}
	headers_known(IFC_PTR(fte_match_param, known, outer_headers));
	headers_known(IFC_PTR(fte_match_param, known, inner_headers));
	MISC(known, vxlan_vni, ~0u);
	MISC(known, source_port, ~0u);
	MISC(known, source_sqn, ~0u);
	MISC(known, source_eswitch_owner_vhca_id, ~0u);
	MISC_2(known, metadata_reg_c_0, ~0u);
	MISC_2(known, metadata_reg_c_1, ~0u);
	return known;
}

bool match_knows(const uint8_t mask[PARAM], uint32_t *byte)
{
	for (*byte = 0; *byte < PARAM; ++*byte) {
		if (mask[*byte] & ~known_bits()[*byte]) {
			return false;
		}
	}
	return true;
}

/* Say in a capability which fields can be matched: known_bits() by their other names. */
void flow_field_caps(uint8_t *properties)
{
	static const char *const both[] = { "ft_field_support", "ft_field_bitmask_support" };

	for (size_t at = 0; at < ARRAY_SIZE(both); at++) {
		uint8_t *fields =
			at == 0 ? IFC_PTR(flow_table_prop_layout, properties, ft_field_support)
				: IFC_PTR(flow_table_prop_layout, properties,
					  ft_field_bitmask_support);
#define CAN(field) IFC_SET(flow_table_fields_supported, fields, field, 1)
		CAN(outer_dmac);
		CAN(outer_smac);
		CAN(outer_ether_type);
		CAN(outer_ip_version);
		CAN(outer_first_prio);
		CAN(outer_first_cfi);
		CAN(outer_first_vid);
		CAN(outer_sip);
		CAN(outer_dip);
		CAN(outer_frag);
		CAN(outer_ip_protocol);
		CAN(outer_ip_ecn);
		CAN(outer_ip_dscp);
		CAN(outer_udp_sport);
		CAN(outer_udp_dport);
		CAN(outer_tcp_sport);
		CAN(outer_tcp_dport);
		CAN(outer_tcp_flags);
		CAN(source_eswitch_port);
		CAN(outer_vxlan_vni);
		CAN(inner_dmac);
		CAN(inner_smac);
		CAN(inner_ether_type);
		CAN(inner_first_prio);
		CAN(inner_first_cfi);
		CAN(inner_first_vid);
		CAN(inner_sip);
		CAN(inner_dip);
		CAN(inner_frag);
		CAN(inner_ip_protocol);
		CAN(inner_ip_ecn);
		CAN(inner_ip_dscp);
		CAN(inner_udp_sport);
		CAN(inner_udp_dport);
		CAN(inner_tcp_sport);
		CAN(inner_tcp_dport);
		CAN(inner_tcp_flags);
#undef CAN
	}
}

/* The headers of a frame, or of the one within it. */
static void headers_layout(
	const uint8_t *data, const struct headers *headers, uint8_t *param)
{
	const uint8_t *l3 = data + headers->l3, *l4 = data + headers->l4;

	L2_4(param, dmac_47_16, ldl_be_p(data));
	L2_4(param, dmac_15_0, lduw_be_p(data + 4));
	L2_4(param, smac_47_16, ldl_be_p(data + 6));
	L2_4(param, smac_15_0, lduw_be_p(data + 10));
	L2_4(param, ethertype, headers->ethertype);
	if (headers->vlans) {
		L2_4(param, cvlan_tag, lduw_be_p(data + 12) == 0x8100);
		L2_4(param, svlan_tag, lduw_be_p(data + 12) == 0x88a8);
		L2_4(param, first_prio, headers->vlan_tci >> 13);
		L2_4(param, first_cfi, headers->vlan_tci >> 12);
		L2_4(param, first_vid, headers->vlan_tci);
	}
	if (headers->version) {
		uint8_t class = headers->version == 4 ? l3[1] : lduw_be_p(l3) >> 4;

		L2_4(param, ip_version, headers->version);
		L2_4(param, ip_protocol, headers->protocol);
		L2_4(param, ip_dscp, class >> 2);
		L2_4(param, ip_ecn, class);
		L2_4(param, frag, headers->fragment);
	}
	if (headers->version == 4) {
		memcpy(ADDRESS(param, src_ipv4_src_ipv6) + 12, l3 + 12, 4);
		memcpy(ADDRESS(param, dst_ipv4_dst_ipv6) + 12, l3 + 16, 4);
	} else if (headers->version == 6) {
		memcpy(ADDRESS(param, src_ipv4_src_ipv6), l3 + 8, 16);
		memcpy(ADDRESS(param, dst_ipv4_dst_ipv6), l3 + 24, 16);
	}
	if (headers->l4 && headers->protocol == 6) {
		L2_4(param, tcp_flags, lduw_be_p(l4 + 12));
		L2_4(param, tcp_sport, lduw_be_p(l4));
		L2_4(param, tcp_dport, lduw_be_p(l4 + 2));
	} else if (headers->l4) {
		L2_4(param, udp_sport, lduw_be_p(l4));
		L2_4(param, udp_dport, lduw_be_p(l4 + 2));
	}
}

void match_layout(const struct packet *packet, uint8_t param[PARAM])
{
	const struct adapter *adapter = packet->from->adapter;
	struct headers headers;
	uint32_t inner;

	memset(param, 0, PARAM);
	frame_parse(packet->data, packet->bytes, &headers);
	headers_layout(
		packet->data, &headers, IFC_PTR(fte_match_param, param, outer_headers));
	inner = tunnel_inner(adapter, packet->data, &headers);
	if (inner && inner + 14 <= packet->bytes) {
		MISC(param, vxlan_vni, ldl_be_p(packet->data + inner - 4) >> 8);
		frame_parse(packet->data + inner, packet->bytes - inner, &headers);
		headers_layout(packet->data + inner, &headers,
			IFC_PTR(fte_match_param, param, inner_headers));
	}
	MISC(param, source_port, packet->from->number);
	MISC(param, source_sqn, packet->sqn);
	MISC(param, source_eswitch_owner_vhca_id, function_vhca(packet->from->adapter->pf));
	MISC_2(param, metadata_reg_c_0, packet->register_c[0]);
	MISC_2(param, metadata_reg_c_1, packet->register_c[1]);
}
