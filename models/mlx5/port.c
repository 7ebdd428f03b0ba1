/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The port: its link, its end of the cable (QEMU's network), what it counts.
 *
 * The other end says nothing of itself over QEMU's network: a link is up when the cable is
 * plugged and the port is on, at the fastest speed that the driver allows.
 */
#include "model.h"

enum { FCS = 4, SHORTEST = 60 };

/* The kernel's enum mlx5e_link_mode, of what a passive copper cable for 100 Gb/s carries. */
static const struct mode {
	uint8_t bit;
	uint32_t mbps;
} modes[] = {
	{ 20, 100000 }, /* 100GBASE-CR4 */
	{ 30, 50000 },	/* 50GBASE-CR2 */
	{ 6, 40000 },	/* 40GBASE-CR4 */
	{ 27, 25000 },	/* 25GBASE-CR */
	{ 12, 10000 },	/* 10GBASE-CR */
	{ 1, 1000 },	/* 1000BASE-KX */
};

uint32_t port_can(void)
{
	uint32_t can = 0;

	for (size_t at = 0; at < ARRAY_SIZE(modes); at++) {
		can |= 1u << modes[at].bit;
	}
	return can;
}

static const struct mode *fastest(const struct adapter *adapter)
{
	for (size_t at = 0; at < ARRAY_SIZE(modes); at++) {
		if (adapter->port.eth_admin >> modes[at].bit & 1) {
			return &modes[at];
		}
	}
	return NULL;
}

/* Mb/s; 0: the link is down. */
uint32_t port_speed(struct adapter *adapter)
{
	return adapter->port.is_up ? fastest(adapter)->mbps : 0;
}

uint32_t port_mode(struct adapter *adapter)
{
	return adapter->port.is_up ? 1u << fastest(adapter)->bit : 0;
}

void port_update(struct adapter *adapter)
{
	struct port *port = &adapter->port;
	bool up = port->cable && port->admin_up && port->module && fastest(adapter) != NULL;

	if (up == port->is_up) {
		return;
	}
	port->is_up = up;
	port->counters.link_downs += !up;
	if (up) {
		port->counted_since_ms = qemu_clock_get_ms(QEMU_CLOCK_VIRTUAL);
	}
	vport_links(adapter);
}

void port_reset(struct adapter *adapter)
{
	struct port *port = &adapter->port;

	port->eth_admin = port_can();
	port->autonegotiation_off = false;
	port->admin_up = true;
	port->admin_mtu = 1522;
	memset(port->fec_admin, 0, sizeof(port->fec_admin));
	port->pause_rx = port->pause_tx = true;
	port->pfc_rx = port->pfc_tx = 0;
	port->trust = 1;
	memset(port->dscp_priority, 0, sizeof(port->dscp_priority));
	port_update(adapter);
}

static uint8_t priority_of(const uint8_t *data, uint32_t bytes)
{
	return bytes >= 18 && lduw_be_p(data + 12) == 0x8100 ? data[14] >> 5 : 0;
}

/* Ranges of RFC 2819 as PPCNT has them; `bytes` with FCS. */
static unsigned size_range(uint32_t bytes)
{
	static const uint16_t last[] = { 64, 127, 255, 511, 1023, 1518, 2047, 4095, 8191 };
	unsigned range = 0;

	while (range < ARRAY_SIZE(last) && bytes > last[range]) {
		range++;
	}
	return range;
}

bool port_send(struct adapter *adapter, const uint8_t *data, uint32_t bytes)
{
	struct port *port = &adapter->port;
	struct tally *tally = &port->counters.tx_priority[priority_of(data, bytes)];
	uint8_t padded[SHORTEST] = { 0 };

	if (!port->is_up || bytes + FCS > port->admin_mtu) {
		port->counters.tx_discards++;
		return false;
	}
	if (bytes < SHORTEST) {
		memcpy(padded, data, bytes);
		data = padded;
		bytes = SHORTEST;
	}
	tally_add(&port->counters.tx, data, bytes + FCS);
	tally->packets++;
	tally->bytes += bytes + FCS;
	qemu_send_packet(qemu_get_queue(port->nic), data, bytes);
	return true;
}

static ssize_t from_cable(NetClientState *client, const uint8_t *data, size_t bytes)
{
	struct function *pf = qemu_get_nic_opaque(client);
	struct adapter *adapter = pf->adapter;
	struct port *port = &adapter->port;
	uint8_t padded[SHORTEST] = { 0 };
	struct tally *tally;

	if (!port->is_up || bytes < 14) {
		return bytes;
	}
	if (bytes + FCS > port->admin_mtu) {
		port->counters.rx_too_long++;
		return bytes;
	}
	if (bytes < SHORTEST) {
		memcpy(padded, data, bytes);
		data = padded;
		bytes = SHORTEST;
	}
	tally = &port->counters.rx_priority[priority_of(data, bytes)];
	tally_add(&port->counters.rx, data, bytes + FCS);
	tally->packets++;
	tally->bytes += bytes + FCS;
	port->counters.rx_sizes[size_range(bytes + FCS)]++;
	/* It counts as received: it came over the cable whole. */
	if (pf->fault.full_each && ++port->arrived % pf->fault.full_each == 0) {
		port->counters.rx_discards++;
		return bytes;
	}
	switch_from_cable(adapter, data, bytes);
	return bytes;
}

static bool can_receive(NetClientState *client)
{
	/* A card does not hold its peer back: what finds no room is dropped and counted. */
	return true;
}

static void link_changed(NetClientState *client)
{
	struct function *pf = qemu_get_nic_opaque(client);

	pf->adapter->port.cable = !client->link_down;
	port_update(pf->adapter);
}

static NetClientInfo client_info = {
	.type = NET_CLIENT_DRIVER_NIC,
	.size = sizeof(NICState),
	.can_receive = can_receive,
	.receive = from_cable,
	.link_status_changed = link_changed,
};

void port_open(struct function *pf)
{
	struct port *port = &pf->adapter->port;

	qemu_macaddr_default_if_unset(&port->conf.macaddr);
	port->nic = qemu_new_nic(&client_info, &port->conf, object_get_typename(OBJECT(pf)),
		DEVICE(pf)->id, &DEVICE(pf)->mem_reentrancy_guard, pf);
	qemu_format_nic_info_str(qemu_get_queue(port->nic), port->conf.macaddr.a);
	port->cable = qemu_get_queue(port->nic)->peer != NULL;
	port_reset(pf->adapter);
	vport_reset(pf->adapter, 0);
}

void port_close(struct function *pf)
{
	qemu_del_nic(pf->adapter->port.nic);
}
