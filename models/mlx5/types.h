/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of the model keep: see model.h for what they are and do. */
#ifndef MLX5_MODEL_TYPES_H
#define MLX5_MODEL_TYPES_H

#include "qemu/osdep.h"
#include "hw/pci/pci_device.h"
#include "net/net.h"
#include "ifc.h"

enum {
	MAX_VFS = 8,
	PORTS = 2,
	VECTORS = 16,
	EQS = 32,
	PAGE = 4096,
	MAX_FRAME = 10240 + 64,
	ROOM = 128, /* behind a frame, for the tags and headers that are put before it */
	UPLINK = 0xffff,
	VPORTS = MAX_VFS + 2, /* the PF's, the VFs', the cable's */
	FIRST_UAR = 16,
	COMMANDS = 32,
	ADDRESSES = 128,
	VXLAN_PORTS = 4,
};

/* Answers to a command: the kernel's MLX5_CMD_STAT_*, include/linux/mlx5/device.h. */
enum status {
	OK = 0x0,
	BAD_OP = 0x2,
	BAD_PARAM = 0x3,
	BAD_STATE = 0x4,
	BAD_RESOURCE = 0x5,
	NO_RESOURCE = 0xf,
	BAD_INPUT_LENGTH = 0x50,
	BAD_OUTPUT_LENGTH = 0x51,
};

/* What CREATE_ and ALLOC_ commands make. Each kind has numbers of its own. */
enum kind {
	PROTECTION_DOMAIN = 1,
	TRANSPORT_DOMAIN,
	MEMORY_KEY,
	UAR,
	EVENT_QUEUE,
	COMPLETION_QUEUE,
	SEND_QUEUE,
	RECEIVE_QUEUE,
	RECEIVE_QUEUE_TABLE,
	TIR,
	TIS,
	QUEUE_COUNTER,
	FLOW_TABLE,
	FLOW_GROUP,
	FLOW_COUNTER,
	XRC_DOMAIN,
	REWRITE_LIST,
	ENCAPSULATION,
	SCHEDULING_ELEMENT,
	KINDS,
};

struct function;
struct firmware;
struct adapter;
struct vport;

/* Memory of the host that a queue lies in: pages of one size. */
struct memory {
	uint64_t *pages;
	uint32_t count, shift;
};

struct object {
	enum kind kind;
	uint32_t id;
	void (*end)(struct object *object); /* before it is freed; NULL: nothing to do */
};

struct event_queue {
	struct object object;
	struct memory memory;
	uint64_t mask; /* bit n: events of type n come here */
	uint32_t log_size, vector, produced;
	bool armed;
};

struct completion_queue {
	struct object object;
	struct memory memory;
	uint32_t log_size, eqn, produced;
	uint16_t period_us, max_count;
	bool armed;
};

struct work_queue { /* send or receive */
	struct object object;
	struct memory memory;
	uint64_t doorbell; /* record in the host's memory */
	uint32_t log_size, log_stride, cqn, counter, tis;
	uint16_t consumed;
	uint8_t state; /* 0 reset, 1 ready, 3 error */
	bool keep_vlan;
};

struct rq_table {
	struct object object;
	uint32_t size, rq[512];
};

struct tir {
	struct object object;
	uint8_t context[IFC_BYTES(tirc)];
};

struct tis {
	struct object object;
	bool is_strict;
	uint8_t port; /* 1, 2; 0: none of its own */
};

struct queue_counter {
	struct object object;
	uint32_t out_of_buffer;
};

struct flow_counter {
	struct object object;
	uint64_t packets, bytes;
};

struct element { /* of the scheduler that limits what plugs send */
	struct object object;
	struct vport *vport; /* NULL: the root of all */
	uint32_t root;
};

/* Frames and bytes, by what they are for. */
struct tally {
	uint64_t packets, bytes;
};
struct traffic {
	struct tally unicast, multicast, broadcast;
};

struct port_counters {
	struct traffic rx, tx;
	struct tally rx_priority[8], tx_priority[8];
	uint64_t rx_sizes[10], rx_too_long, rx_discards, tx_discards, link_downs;
	uint64_t rx_pause, tx_pause;
};

struct port {
	NICState *nic;
	NICConf conf;
	bool cable; /* as QEMU's set_link has it */
	bool admin_up, is_up;
	uint32_t eth_admin;
	bool autonegotiation_off;
	uint16_t admin_mtu;
	uint8_t fec_admin[5]; /* of 10/40, 25, 50, 56, 100 Gb/s, as in PPLM */
	bool pause_rx, pause_tx;
	uint8_t pfc_rx, pfc_tx;
	uint8_t trust;
	uint8_t dscp_priority[64];
	bool module; /* one is plugged in */
	struct port_counters counters;
	int64_t counted_since_ms; /* bit errors: since the link came up */
	uint32_t arrived; /* frames, while the port has no room for some */
};

struct address_list {
	uint32_t count;
	uint64_t entry[ADDRESSES];
};

struct vport {
	struct adapter *adapter;
	struct function *function; /* NULL: its VF is not there */
	uint16_t number;
	uint8_t nic[IFC_BYTES(nic_vport_context)];
	uint8_t esw[IFC_BYTES(esw_vport_context)];
	struct address_list lists[3]; /* unicast, multicast, VLANs */
	uint8_t admin_state;	      /* 0 down, 1 up, 2 as the port */
	bool event_armed;
	uint32_t ingress, egress; /* root tables of the PF; 0: none */
	struct traffic rx, tx;
	uint64_t steering_discards, too_small;
	bool is_scheduled;
	uint32_t limit_mbps; /* of what it sends; 0: none */
	int64_t paid_ns;     /* when what it sent is paid for */
	QEMUTimer *timer;
};

struct adapter {
	struct function *pf;
	uint32_t number; /* of the port: 1, 2 */
	struct port port;
	struct vport vports[VPORTS];
	uint32_t fdb; /* root table; 0: what the cable brings is the PF's */
	uint16_t vxlan_ports[VXLAN_PORTS]; /* 0: free */
};

/* What the card of a port is told to fail in: faults.c. */
struct fault {
	uint16_t opcode; /* 0: no command fails */
	bool is_silent;
	uint8_t status;
	uint32_t syndrome;
	uint8_t health; /* syndrome; 0: healthy */
	bool reset_requested;
	uint32_t full_each; /* the port has no room for each so many frames; 0: for none */
};

struct function {
	PCIDevice pci;
	MemoryRegion bar;
	struct adapter adapter_room; /* a PF's */
	struct adapter *adapter;
	struct vport *vport;
	bool is_vf, enabled, initialised;
	uint8_t segment[PAGE * 4]; /* initialisation segment */
	uint64_t commands;	   /* of the host's memory */
	GHashTable *objects;
	GArray *pages; /* of the host, that the card was given */
	uint32_t receive_root;
	uint8_t lanes; /* of the PCI Express link, as trained */
	uint8_t gts;   /* code of its speed */
	char *report, *flash;
	struct firmware *firmware; /* a PF's */
	struct fault fault;	   /* a PF's */
};

#endif
