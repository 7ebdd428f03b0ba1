/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * PDDR: what the firmware says of a link, for `ethtool DEVICE`, mstlink and mlxlink. Nothing is kept
 * here: every page is made of what the port and its module are.
 *
 * The troubleshooting page is in mlx5_ifc.h. The others have the layouts of mstflint 4.21,
 * prm_dbs/hca/ext/register_access_table.adb: pddr_operation_info_page_ext, pddr_module_info_ext.
 */
#include "model.h"

enum { OPERATIONAL = 0, TROUBLESHOOTING = 1, MODULE = 3 };
enum { OF_MONITOR = 0, OF_FIRMWARE = 1, LONGEST_MESSAGE = 59 * 4 };
/* phy_mngr_fsm_state and eth_an_fsm_state */
enum { DISABLED = 0, POLLING = 2, ACTIVE = 3 };
enum { NOT_NEGOTIATING = 0, DETECTING = 2, NEGOTIATED = 6 };
enum { ETHERNET = 1 << 2 };
enum { QSFP28 = 0, PASSIVE_CABLE = 3, UNPLUGGED = 4 };

/* Of pddr_advanced_opcode_ext. The driver has a name for each of them too:
 * mlx5e_link_ext_state_opcode_map[] of its en_ethtool.c. The words to 0, 1, 2 and 1024 are those that
 * public outputs of mlxlink have; those to 36 are the register's own. */
static const struct issue {
	uint16_t opcode;
	const char *message;
} none = { 0, "No issue was observed" },
  closed = { 1, "The port is closed by command. Please check that the interface is enabled" },
  no_partner = { 2, "Negotiation failure" },
  no_partner_forced = { 36, "No Partner detected during force mode" },
  unplugged = { 1024, "Cable is unplugged" };

static const struct issue *issue_of(const struct port *port)
{
	if (port->is_up) {
		return &none;
	}
	if (!port->module) {
		return &unplugged;
	}
	if (!port->admin_up) {
		return &closed;
	}
	return port->autonegotiation_off ? &no_partner_forced : &no_partner;
}

static void operational(struct adapter *adapter, uint8_t *page)
{
	const struct port *port = &adapter->port;

	page[1] = ETHERNET << 4;
	page[4] = port->is_up ? ACTIVE : port->admin_up ? POLLING : DISABLED;
	page[5] = port->autonegotiation_off || !port->admin_up ? NOT_NEGOTIATING
		: port->is_up				       ? NEGOTIATED
							       : DETECTING;
	stl_be_p(page + 0x8, port->eth_admin);
	stl_be_p(page + 0xc, port->eth_admin);
	stl_be_p(page + 0x10, port->module ? port_can() : 0);
	stl_be_p(page + 0x14, port_mode(adapter));
	if (port->is_up) {
		/* A number here, a bit in PPLM. */
		stw_be_p(page + 0x1c, ctz32(fec_active(adapter)));
	}
}

static enum status troubleshooting(const struct port *port, uint8_t *page)
{
	const struct issue *issue = issue_of(port);
	uint16_t group = IFC_GET(pddr_troubleshooting_page, page, group_opcode);

	if (group != OF_MONITOR && group != OF_FIRMWARE) {
		return BAD_PARAM;
	}
	IFC_SET(pddr_monitor_opcode, IFC_PTR(pddr_troubleshooting_page, page, status_opcode),
		monitor_opcode, issue->opcode);
	memcpy(IFC_PTR(pddr_troubleshooting_page, page, status_message), issue->message,
		MIN(strlen(issue->message) + 1, LONGEST_MESSAGE));
	return OK;
}

/* What the module's memory says (MCIA), as the firmware sums it up. */
static void module(const struct port *port, uint8_t *page)
{
	uint8_t memory[MODULE_BYTES];

	if (!port->module) {
		page[0x4] = UNPLUGGED << 4;
		return;
	}
	module_memory(memory);
	page[0x0] = memory[147]; /* technology */
	page[0x1] = memory[113]; /* break-out */
	page[0x2] = memory[192]; /* compliance, extended */
	page[0x3] = memory[131]; /* compliance */
	page[0x4] = PASSIVE_CABLE << 4;
	page[0x5] = memory[146]; /* m */
	page[0x6] = QSFP28;
	/* Loss at 12.9, 7 and 5 GHz. */
	page[0xd] = memory[189];
	page[0xe] = memory[188];
	page[0xf] = memory[187];
	memcpy(page + 0x14, memory + 148, 16); /* vendor */
	memcpy(page + 0x24, memory + 168, 16); /* part */
	memcpy(page + 0x36, memory + 184, 2);  /* revision, at the right */
	memcpy(page + 0x3c, memory + 196, 16); /* serial number */
	page[0x9c] = memory[222];	       /* of 250 Mb/s */
	memcpy(page + 0xb0, memory + 212, 8);  /* date */
	page[0xb8] = memory[130];	       /* connector */
}

enum status diagnosis_register(struct adapter *adapter, uint8_t *data, uint32_t bytes, bool write)
{
	uint8_t *page = IFC_PTR(pddr_reg, data, page_data);
	uint16_t group = IFC_GET(pddr_troubleshooting_page, page, group_opcode);

	if (write || bytes < IFC_BYTES(pddr_reg)) {
		return BAD_PARAM;
	}
	memset(page, 0, IFC_BYTES(pddr_reg) - (page - data));
	switch (IFC_GET(pddr_reg, data, page_select)) {
	case OPERATIONAL:
		operational(adapter, page);
		return OK;
	case TROUBLESHOOTING:
		IFC_SET(pddr_troubleshooting_page, page, group_opcode, group);
		return troubleshooting(&adapter->port, page);
	case MODULE:
		module(&adapter->port, page);
		return OK;
	}
	return BAD_PARAM;
}
