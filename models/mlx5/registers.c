/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Registers of the port: the driver reads and writes the layouts of mlx5_ifc.h by ACCESS_REG, and
 * mstflint's tools the same ones through the gateway (firmware.c). So both see one port.
 */
#include "model.h"

enum { WRITE = 0, READ = 1, DATA = 16 };
enum {
	QTCT = 0x400a,
	QETCR = 0x4005,
	QPTS = 0x4002,
	QPDPM = 0x4013,
	PCAP = 0x5001,
	PMLP = 0x5002,
	PMTU = 0x5003,
	PTYS = 0x5004,
	PAOS = 0x5006,
	PFCC = 0x5007,
	PPCNT = 0x5008,
	PMAOS = 0x5012,
	PPLM = 0x5023,
	PDDR = 0x5031,
	PPAOS = 0x5040,
	PCAM = 0x507f,
	HOST_ENDIANNESS = 0x7004,
	MCIA = 0x9014,
	MCAM = 0x907f,
};
enum { UP = 1, DOWN = 2, ETHERNET = 1 << 2, MAX_MTU = 10240, DIRECT_ATTACH = 7 };
enum { AN_COMPLETE = 1, AN_LINK_DOWN = 4 };
/* Forward error correction, a bit each: enum mlx5e_fec of the driver's en/port.h. */
enum { NO_FEC = 1 << 0, FIRE_CODE = 1 << 1, RS_528 = 1 << 2 };
enum { OF_10_40, OF_25, OF_50, OF_56, OF_100 };

enum { PLUGGED = 1, UNPLUGGED = 2 };

static enum status mtu(struct port *port, uint8_t *data, bool write)
{
	uint16_t wanted = IFC_GET(pmtu_reg, data, admin_mtu);

	if (write) {
		if (wanted > MAX_MTU) {
			return BAD_PARAM;
		}
		port->admin_mtu = wanted;
	}
	IFC_SET(pmtu_reg, data, max_mtu, MAX_MTU);
	IFC_SET(pmtu_reg, data, admin_mtu, port->admin_mtu);
	IFC_SET(pmtu_reg, data, oper_mtu, port->admin_mtu);
	return OK;
}

static enum status type_and_speed(struct adapter *adapter, uint8_t *data, bool write)
{
	struct port *port = &adapter->port;
	uint32_t wanted = IFC_GET(ptys_reg, data, eth_proto_admin);

	if (IFC_GET(ptys_reg, data, proto_mask) != ETHERNET) {
		return BAD_PARAM;
	}
	if (write) {
		/* mstlink names every medium of a speed; the port takes those that it has. */
		wanted &= port_can();
		if (wanted == 0) {
			return BAD_PARAM;
		}
		/* It takes effect when the port is switched off and on, as the driver does. */
		port->eth_admin = wanted;
		port->autonegotiation_off = IFC_GET(ptys_reg, data, an_disable_admin);
		port_update(adapter);
	}
	IFC_SET(ptys_reg, data, an_disable_cap, 1);
	IFC_SET(ptys_reg, data, an_disable_admin, port->autonegotiation_off);
	IFC_SET(ptys_reg, data, an_status,
		port->autonegotiation_off ? 0
		: port->is_up		  ? AN_COMPLETE
					  : AN_LINK_DOWN);
	IFC_SET(ptys_reg, data, eth_proto_capability, port_can());
	IFC_SET(ptys_reg, data, eth_proto_admin, port->eth_admin);
	IFC_SET(ptys_reg, data, eth_proto_oper, port_mode(adapter));
	IFC_SET(ptys_reg, data, eth_proto_lp_advertise,
		port->is_up && !port->autonegotiation_off ? port_can() : 0);
	IFC_SET(ptys_reg, data, connector_type, port->module ? DIRECT_ATTACH : 1);
	return OK;
}

static enum status on_off(struct adapter *adapter, uint8_t *data, bool write)
{
	struct port *port = &adapter->port;

	if (write && IFC_GET(paos_reg, data, ase)) {
		port->admin_up = IFC_GET(paos_reg, data, admin_status) == UP;
		port_update(adapter);
	}
	IFC_SET(paos_reg, data, admin_status, port->admin_up ? UP : DOWN);
	IFC_SET(paos_reg, data, oper_status, port->is_up ? UP : DOWN);
	return OK;
}

static enum status flow_control(struct port *port, uint8_t *data, bool write)
{
	if (write) {
		uint8_t tx = IFC_GET(pfcc_reg, data, prio_mask_tx);
		uint8_t rx = IFC_GET(pfcc_reg, data, prio_mask_rx);

		if (!IFC_GET(pfcc_reg, data, pptx_mask_n)) {
			port->pause_tx = IFC_GET(pfcc_reg, data, pptx);
		}
		if (!IFC_GET(pfcc_reg, data, pprx_mask_n)) {
			port->pause_rx = IFC_GET(pfcc_reg, data, pprx);
		}
		port->pfc_tx = (port->pfc_tx & ~tx) | (IFC_GET(pfcc_reg, data, pfctx) & tx);
		port->pfc_rx = (port->pfc_rx & ~rx) | (IFC_GET(pfcc_reg, data, pfcrx) & rx);
	}
	IFC_SET(pfcc_reg, data, pptx, port->pause_tx);
	IFC_SET(pfcc_reg, data, pprx, port->pause_rx);
	IFC_SET(pfcc_reg, data, pfctx, port->pfc_tx);
	IFC_SET(pfcc_reg, data, pfcrx, port->pfc_rx);
	return OK;
}

/* A bit; 0: the link is down. */
uint8_t fec_active(struct adapter *adapter)
{
	const uint8_t *admin = adapter->port.fec_admin;

	switch (port_speed(adapter)) {
	case 100000:
		return admin[OF_100] ? admin[OF_100] : RS_528;
	case 50000:
		return admin[OF_50] ? admin[OF_50] : RS_528;
	case 25000:
		return admin[OF_25] ? admin[OF_25] : RS_528;
	case 40000:
	case 10000:
		return admin[OF_10_40] ? admin[OF_10_40] : NO_FEC;
	}
	return port_speed(adapter) ? NO_FEC : 0;
}

static enum status fec(struct adapter *adapter, uint8_t *data, bool write)
{
	static const uint8_t can[] = { NO_FEC | FIRE_CODE, NO_FEC | FIRE_CODE | RS_528,
		NO_FEC | FIRE_CODE | RS_528, 0, NO_FEC | RS_528 };
	uint8_t *admin = adapter->port.fec_admin;
	uint8_t wanted[] = { IFC_GET(pplm_reg, data, fec_override_admin_10g_40g),
		IFC_GET(pplm_reg, data, fec_override_admin_25g),
		IFC_GET(pplm_reg, data, fec_override_admin_50g),
		IFC_GET(pplm_reg, data, fec_override_admin_56g),
		IFC_GET(pplm_reg, data, fec_override_admin_100g) };

	for (int speed = OF_10_40; write && speed <= OF_100; speed++) {
		if (wanted[speed] & ~can[speed]) {
			return BAD_PARAM;
		}
		admin[speed] = wanted[speed];
	}
	IFC_SET(pplm_reg, data, fec_override_cap_10g_40g, can[OF_10_40]);
	IFC_SET(pplm_reg, data, fec_override_cap_25g, can[OF_25]);
	IFC_SET(pplm_reg, data, fec_override_cap_50g, can[OF_50]);
	IFC_SET(pplm_reg, data, fec_override_cap_100g, can[OF_100]);
	IFC_SET(pplm_reg, data, fec_override_admin_10g_40g, admin[OF_10_40]);
	IFC_SET(pplm_reg, data, fec_override_admin_25g, admin[OF_25]);
	IFC_SET(pplm_reg, data, fec_override_admin_50g, admin[OF_50]);
	IFC_SET(pplm_reg, data, fec_override_admin_100g, admin[OF_100]);
	IFC_SET(pplm_reg, data, fec_mode_active, fec_active(adapter));
	return OK;
}

/* Which lane of which module the port has. */
static enum status lanes(struct adapter *adapter, uint8_t *data)
{
	IFC_SET(pmlp_reg, data, width, 4);
	for (uint32_t lane = 0; lane < 4; lane++) {
		ifc_set(data, IFC_AT(pmlp_reg, lane0_module_mapping) + lane * 32, 32,
			lane << 16 | (adapter->number - 1));
	}
	return OK;
}

/* Which registers of the port there are, and which of their newer parts. */
static enum status port_features(uint8_t *data)
{
	uint8_t *registers = IFC_PTR(pcam_reg, data, port_access_reg_cap_mask);
	uint8_t *features = IFC_PTR(pcam_reg, data, feature_cap_mask);

	IFC_SET(pcam_regs_5000_to_507f, registers, pplm, 1);
	IFC_SET(pcam_regs_5000_to_507f, registers, ppcnt, 1);
	IFC_SET(pcam_enhanced_features, features, pfcc_mask, 1);
	IFC_SET(pcam_enhanced_features, features, ptys_connector_type, 1);
	IFC_SET(pcam_enhanced_features, features, ppcnt_statistical_group, 1);
	IFC_SET(pcam_enhanced_features, features, per_lane_error_counters, 1);
	return OK;
}

static enum status dscp(struct port *port, uint8_t *data, bool write)
{
	for (uint32_t at = 0; at < ARRAY_SIZE(port->dscp_priority); at++) {
		uint8_t *entry = data + 4 + at * 2; /* struct mlx5_ifc_qpdpm_dscp_reg_bits */

		if (write && entry[0] >> 7) {
			port->dscp_priority[at] = entry[1] & 0xf;
		}
		entry[1] = port->dscp_priority[at];
	}
	return OK;
}

static enum status trust(struct port *port, uint8_t *data, bool write)
{
	if (write) {
		port->trust = IFC_GET(qpts_reg, data, trust_state);
	}
	IFC_SET(qpts_reg, data, trust_state, port->trust);
	return OK;
}

/* Whether a module is plugged in, and works. */
static enum status module_state(struct adapter *adapter, uint8_t *data, bool write)
{
	if (write || IFC_GET(pmaos_reg, data, module) != adapter->number - 1) {
		return BAD_PARAM;
	}
	IFC_SET(pmaos_reg, data, admin_status, UP);
	IFC_SET(pmaos_reg, data, oper_status, adapter->port.module ? PLUGGED : UNPLUGGED);
	return OK;
}

/* The lanes run as the port does, and no pattern is sent over them. */
static enum status test_mode(uint8_t *data, bool write)
{
	if (write) {
		return BAD_PARAM;
	}
	stl_be_p(data, ldl_be_p(data) & ~0xfu);
	return OK;
}

enum status port_register(
	struct function *function, uint16_t which, uint8_t *data, uint32_t bytes, bool write)
{
	struct adapter *adapter = function->adapter;
	struct port *port = &adapter->port;
	enum status status = BAD_PARAM;

	switch (which) {
	case HOST_ENDIANNESS:
		status = OK;
		break;
	case PMTU:
		status = mtu(port, data, write);
		break;
	case PTYS:
		status = type_and_speed(adapter, data, write);
		break;
	case PAOS:
		status = on_off(adapter, data, write);
		break;
	case PFCC:
		status = flow_control(port, data, write);
		break;
	case PPCNT:
		status = statistics_register(adapter, data, bytes);
		break;
	case PPLM:
		status = fec(adapter, data, write);
		break;
	case PDDR:
		status = diagnosis_register(adapter, data, bytes, write);
		break;
	case PMLP:
		status = lanes(adapter, data);
		break;
	case PCAM:
		status = port_features(data);
		break;
	case MCAM:
		/* None of the management registers that it tells of. */
		status = OK;
		break;
	case MCIA:
		status = module_register(adapter, data, bytes);
		break;
	case QPTS:
		status = trust(port, data, write);
		break;
	case QPDPM:
		status = dscp(port, data, write);
		break;
	case PMAOS:
		status = module_state(adapter, data, write);
		break;
	case PPAOS:
		status = test_mode(data, write);
		break;
	default:
		return refused(function, BAD_PARAM, "register", which);
	}
	if (status != OK) {
		refused(function, status, "value of register", which);
	}
	return status;
}

enum status register_access(struct command *command)
{
	uint16_t which = IFC_GET(access_register_in, command->in, register_id);
	bool write = command->mod == WRITE;
	uint32_t bytes = MIN(command->in_bytes, command->out_bytes) - DATA;
	uint8_t *data = command->out + DATA;

	memcpy(data, command->in + DATA, MIN(bytes, command->in_bytes - DATA));
	if (write && command->function->is_vf && which != HOST_ENDIANNESS) {
		/* A VF's driver tries to set its port's MTU and state; firmware keeps them as
		 * they are. */
		write = false;
	}
	return port_register(command->function, which, data, bytes, write);
}
