/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * PPCNT: what the port counted, in the groups of the standards that define it.
 */
#include "model.h"

enum {
	IEEE_802_3 = 0x0,
	RFC_2863 = 0x1,
	RFC_2819 = 0x2,
	RFC_3635 = 0x3,
	EXTENDED = 0x5,
	DISCARDS = 0x6,
	PER_PRIORITY = 0x10,
	PER_CLASS = 0x11,
	PHYSICAL = 0x12,
	PER_CLASS_CONGESTION = 0x13,
	STATISTICAL = 0x16,
};

enum { NO_ERROR_COEFFICIENT = 15, NO_ERROR_MAGNITUDE = 255 };

/* A counter is two fields of 32 bits, `_high` and `_low`, one behind the other. */
#define PUT(group, field, value) ifc_set(set, IFC_AT(group, field##_high), 64, value)

static void standard(const struct port_counters *counters, uint8_t *set)
{
	const struct traffic *rx = &counters->rx, *tx = &counters->tx;

	PUT(eth_802_3_cntrs_grp_data_layout, a_frames_transmitted_ok,
		tx->unicast.packets + tx->multicast.packets + tx->broadcast.packets);
	PUT(eth_802_3_cntrs_grp_data_layout, a_frames_received_ok,
		rx->unicast.packets + rx->multicast.packets + rx->broadcast.packets);
	PUT(eth_802_3_cntrs_grp_data_layout, a_octets_transmitted_ok,
		tx->unicast.bytes + tx->multicast.bytes + tx->broadcast.bytes);
	PUT(eth_802_3_cntrs_grp_data_layout, a_octets_received_ok,
		rx->unicast.bytes + rx->multicast.bytes + rx->broadcast.bytes);
	PUT(eth_802_3_cntrs_grp_data_layout, a_multicast_frames_xmitted_ok,
		tx->multicast.packets);
	PUT(eth_802_3_cntrs_grp_data_layout, a_broadcast_frames_xmitted_ok,
		tx->broadcast.packets);
	PUT(eth_802_3_cntrs_grp_data_layout, a_multicast_frames_received_ok,
		rx->multicast.packets);
	PUT(eth_802_3_cntrs_grp_data_layout, a_broadcast_frames_received_ok,
		rx->broadcast.packets);
	PUT(eth_802_3_cntrs_grp_data_layout, a_frame_too_long_errors, counters->rx_too_long);
	PUT(eth_802_3_cntrs_grp_data_layout, a_pause_mac_ctrl_frames_received,
		counters->rx_pause);
	PUT(eth_802_3_cntrs_grp_data_layout, a_pause_mac_ctrl_frames_transmitted,
		counters->tx_pause);
}

static void interfaces(const struct port_counters *counters, uint8_t *set)
{
	PUT(eth_2863_cntrs_grp_data_layout, if_in_discards, counters->rx_discards);
	PUT(eth_2863_cntrs_grp_data_layout, if_out_discards, counters->tx_discards);
}

static void sizes(const struct port_counters *counters, uint8_t *set)
{
	const uint64_t *size = counters->rx_sizes;

	PUT(eth_2819_cntrs_grp_data_layout, ether_stats_pkts64octets, size[0]);
	PUT(eth_2819_cntrs_grp_data_layout, ether_stats_pkts65to127octets, size[1]);
	PUT(eth_2819_cntrs_grp_data_layout, ether_stats_pkts128to255octets, size[2]);
	PUT(eth_2819_cntrs_grp_data_layout, ether_stats_pkts256to511octets, size[3]);
	PUT(eth_2819_cntrs_grp_data_layout, ether_stats_pkts512to1023octets, size[4]);
	PUT(eth_2819_cntrs_grp_data_layout, ether_stats_pkts1024to1518octets, size[5]);
	PUT(eth_2819_cntrs_grp_data_layout, ether_stats_pkts1519to2047octets, size[6]);
	PUT(eth_2819_cntrs_grp_data_layout, ether_stats_pkts2048to4095octets, size[7]);
	PUT(eth_2819_cntrs_grp_data_layout, ether_stats_pkts4096to8191octets, size[8]);
	PUT(eth_2819_cntrs_grp_data_layout, ether_stats_pkts8192to10239octets, size[9]);
}

static void priority(const struct port_counters *counters, uint8_t number, uint8_t *set)
{
	const struct tally *rx = &counters->rx_priority[number & 7];
	const struct tally *tx = &counters->tx_priority[number & 7];

	PUT(eth_per_prio_grp_data_layout, rx_octets, rx->bytes);
	PUT(eth_per_prio_grp_data_layout, rx_frames, rx->packets);
	PUT(eth_per_prio_grp_data_layout, tx_octets, tx->bytes);
	PUT(eth_per_prio_grp_data_layout, tx_frames, tx->packets);
}

/* No bit arrives wrong here. The rates stand behind the kernel's part of the layout:
 * phys_layer_stat_cntrs_ext of mstflint 4.21, and a card says 15E-255 where it counted none. */
static void bit_errors(const struct port *port, uint8_t *set)
{
	PUT(phys_layer_statistical_cntrs, time_since_last_clear,
		qemu_clock_get_ms(QEMU_CLOCK_VIRTUAL) - port->counted_since_ms);
	stl_be_p(set + 0x60, NO_ERROR_MAGNITUDE << 8 | NO_ERROR_COEFFICIENT); /* raw */
	stl_be_p(set + 0x64, NO_ERROR_MAGNITUDE << 8 | NO_ERROR_COEFFICIENT); /* effective */
}

enum status statistics_register(struct adapter *adapter, uint8_t *data, uint32_t bytes)
{
	const struct port_counters *counters = &adapter->port.counters;
	uint8_t group = IFC_GET(ppcnt_reg, data, grp),
		number = IFC_GET(ppcnt_reg, data, prio_tc);
	uint8_t *set = IFC_PTR(ppcnt_reg, data, counter_set);

	if (bytes < IFC_BYTES(ppcnt_reg)) {
		return BAD_INPUT_LENGTH;
	}
	memset(set, 0, IFC_BYTES(ppcnt_reg) - (set - data));
	switch (group) {
	case IEEE_802_3:
		standard(counters, set);
		return OK;
	case RFC_2863:
		interfaces(counters, set);
		return OK;
	case RFC_2819:
		sizes(counters, set);
		return OK;
	case PER_PRIORITY:
		priority(counters, number, set);
		return OK;
	case PHYSICAL:
		IFC_SET(phys_layer_cntrs, set, link_down_events, counters->link_downs);
		return OK;
	case STATISTICAL:
		bit_errors(&adapter->port, set);
		return OK;
	case EXTENDED:
	case RFC_3635:
	case DISCARDS:
	case PER_CLASS:
	case PER_CLASS_CONGESTION:
		/* What they count does not happen here: marks, stalls. */
		return OK;
	}
	return BAD_PARAM;
}
