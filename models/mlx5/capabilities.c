/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the card says that it can. A driver asks only for what stands here: a bit is set when
 * the model does what it means.
 */
#include "firmware.h"

enum { GENERAL = 0, ETHERNET = 1, NIC_TABLES = 7, SWITCH_TABLES = 8, SWITCH = 9, QOS = 12 };
enum { OF_ROOT = 1 << 0, OF_VPORTS = 1 << 1, WEIGHTED = 1 << 0 };
enum { PORT_IB = 0, PORT_ETHERNET = 1, INLINE_NOT_REQUIRED = 2, REGISTER_C_0 = 1 << 0, REWRITES = 16 };

static void general(const struct function *function, uint8_t *cap)
{
	bool pf = !function->is_vf;

#define CAN(field, value) IFC_SET(cmd_hca_cap, cap, field, value)
	/* Who it is. */
	CAN(port_type, settings_ethernet(function->adapter->pf) ? PORT_ETHERNET : PORT_IB);
	CAN(num_ports, 1);
	CAN(native_port_num, function->adapter->number);
	CAN(vhca_id, function_vhca(function));
	CAN(vport_group_manager, pf);
	CAN(eswitch_manager, pf);
	CAN(eth_net_offloads, 1);
	CAN(nic_flow_table, 1);
	CAN(device_frequency_khz, 1000000);
	CAN(lag_master, pf);
	CAN(qos, pf);
	CAN(num_lag_ports, PORTS);
	CAN(lag_tx_port_affinity, 1);
	CAN(driver_version, 1);
	CAN(pcam_reg, 1);
	CAN(mcam_reg, 1);
	/* How many, as powers of two. */
	CAN(log_max_eq, 5);
	CAN(max_num_eqs, EQS - 1);
	CAN(log_max_eq_sz, 16);
	CAN(log_max_cq, 16);
	CAN(log_max_cq_sz, 22);
	CAN(log_max_qp, 16);
	CAN(log_max_qp_sz, 15);
	CAN(log_max_srq, 16);
	CAN(log_max_srq_sz, 15);
	CAN(log_max_mkey, 24);
	CAN(log_max_pd, 16);
	CAN(log_max_transport_domain, 16);
	CAN(log_max_sq, 16);
	CAN(log_max_rq, 16);
	CAN(log_max_tir, 16);
	CAN(log_max_tis, 16);
	CAN(log_max_tis_per_sq, 3);
	CAN(log_max_rqt, 16);
	CAN(log_max_rqt_size, 9);
	CAN(log_max_msg, 30);
	CAN(log_max_klm_list_size, 16);
	CAN(log_max_l2_table, 10);
	CAN(max_flow_counter_15_0, 0xffff);
	CAN(log_max_flow_counter_bulk, 10);
	/* Rings and requests. */
	CAN(log_pg_sz, 12);
	CAN(cqe_version, 1);
	CAN(compact_address_vector, 1);
	CAN(sho, 1);
	CAN(cq_oi, 1);
	CAN(cq_moderation, 1);
	CAN(cq_period_mode_modify, 1);
	CAN(bf, 1);
	CAN(log_bf_reg_size, 9);
	CAN(end_pad, 1);
	CAN(max_wqe_sz_sq, 1024);
	CAN(max_wqe_sz_rq, 512);
	CAN(basic_cyclic_rcv_wqe, 1);
	CAN(log_max_wq_sz, 15);
	CAN(log_min_stride_sz_rq, 4);
	CAN(log_max_stride_sz_rq, 13);
	CAN(log_min_stride_sz_sq, 6);
	CAN(log_max_stride_sz_sq, 10);
	/* Plugs of the switch and what they count. */
	CAN(vport_counters, 1);
	CAN(nic_vport_change_event, 1);
	CAN(port_module_event, pf);
	CAN(nic_receive_steering_discard, 1);
	CAN(eth_wqe_too_small, 1);
	CAN(log_max_current_uc_list, 7);
	CAN(log_max_current_mc_list, 7);
	CAN(log_max_vlan_list, 7);
	CAN(disable_local_lb_uc, 1);
	CAN(disable_local_lb_mc, 1);
#undef CAN
}

static void ethernet(uint8_t *cap)
{
#define CAN(field, value) IFC_SET(per_protocol_networking_offload_caps, cap, field, value)
	CAN(csum_cap, 1);
	CAN(cqe_checksum_full, 1);
	CAN(vlan_cap, 1);
	CAN(wqe_vlan_insert, 1);
	CAN(wqe_inline_mode, INLINE_NOT_REQUIRED);
	CAN(max_lso_cap, 16);
	CAN(rss_ind_tbl_cap, 9);
	CAN(self_lb_en_modifiable, 1);
	CAN(tunnel_stateless_vxlan, 1);
#undef CAN
}

static void tunnels(uint8_t *properties)
{
	IFC_SET(flow_table_prop_layout, properties, reformat, 1);
	IFC_SET(flow_table_prop_layout, properties, decap, 1);
	IFC_SET(flow_table_prop_layout, properties, reformat_and_vlan_action, 1);
	IFC_SET(flow_table_prop_layout, properties, reformat_and_modify_action, 1);
	IFC_SET(flow_table_prop_layout, properties, reformat_and_fwd_to_table, 1);
}

static void tables(uint8_t *properties, bool vlan_actions, uint8_t rewrites)
{
#define CAN(field, value) IFC_SET(flow_table_prop_layout, properties, field, value)
	CAN(ft_support, 1);
	CAN(flow_counter, 1);
	CAN(flow_modify_en, 1);
	CAN(modify_root, 1);
	CAN(identified_miss_table_mode, 1);
	CAN(flow_table_modify, 1);
	CAN(pop_vlan, vlan_actions);
	CAN(push_vlan, vlan_actions);
	CAN(log_max_ft_size, 22);
	CAN(max_ft_level, 64);
	CAN(log_max_ft_num, 16);
	CAN(log_max_flow_counter, 16);
	CAN(log_max_destination, 5);
	CAN(log_max_flow, 20);
	CAN(max_modify_header_actions, rewrites);
#undef CAN
	flow_field_caps(properties);
}

enum status capability_query(struct command *command)
{
	uint8_t *cap = command->out + 16;

	/* Lowest bit: what it can at most, or as set: the same here. */
	switch (command->mod >> 1) {
	case GENERAL:
		general(command->function, cap);
		return OK;
	case ETHERNET:
		ethernet(cap);
		return OK;
	case NIC_TABLES:
		tables(IFC_PTR(flow_table_nic_cap, cap, flow_table_properties_nic_receive),
			false, 0);
		return OK;
	case SWITCH_TABLES:
		IFC_SET(flow_table_eswitch_cap, cap, fdb_to_vport_reg_c_id, REGISTER_C_0);
		tables(IFC_PTR(flow_table_eswitch_cap, cap, flow_table_properties_nic_esw_fdb),
			true, REWRITES);
		tunnels(IFC_PTR(
			flow_table_eswitch_cap, cap, flow_table_properties_nic_esw_fdb));
		tables(IFC_PTR(flow_table_eswitch_cap, cap,
			       flow_table_properties_esw_acl_ingress),
			true, REWRITES);
		tables(IFC_PTR(flow_table_eswitch_cap, cap,
			       flow_table_properties_esw_acl_egress),
			true, 0);
		return OK;
	case SWITCH:
		IFC_SET(e_switch_cap, cap, vport_cvlan_strip, 1);
		IFC_SET(e_switch_cap, cap, vport_cvlan_insert_if_not_exist, 1);
		IFC_SET(e_switch_cap, cap, esw_uplink_ingress_acl, 1);
		IFC_SET(e_switch_cap, cap, merged_eswitch, 1);
		IFC_SET(e_switch_cap, cap, vxlan_encap_decap, 1);
		IFC_SET(e_switch_cap, cap, log_max_packet_reformat_context, 10);
		IFC_SET(e_switch_cap, cap, max_encap_header_size, ENCAPSULATION_BYTES);
		return OK;
	case QOS:
		/* Limits of plugs: no shares, no groups of them. */
		IFC_SET(qos_cap, cap, esw_scheduling, 1);
		IFC_SET(qos_cap, cap, esw_rate_limit, 1);
		IFC_SET(qos_cap, cap, esw_element_type, OF_ROOT | OF_VPORTS);
		IFC_SET(qos_cap, cap, esw_tsar_type, WEIGHTED);
		return OK;
	}
	return refused(command->function, BAD_PARAM, "capabilities of type", command->mod >> 1);
}
