/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Flow tables as the driver makes them (flows.c), for what runs frames through them. */
#ifndef MLX5_MODEL_FLOWS_H
#define MLX5_MODEL_FLOWS_H

#include "model.h"

enum { PARAM = IFC_BYTES(fte_match_param), PART = 64, MAX_DESTINATIONS = 64 };
enum action {
	ALLOW = 0x1,
	DROP = 0x2,
	FORWARD = 0x4,
	COUNT = 0x8,
	ENCAP = 0x10,
	DECAP = 0x20,
	REWRITE = 0x40,
	POP_VLAN = 0x80,
	PUSH_VLAN = 0x100,
	KNOWN_ACTIONS = ALLOW | DROP | FORWARD | COUNT | ENCAP | DECAP | REWRITE | POP_VLAN |
			PUSH_VLAN,
};
enum { TO_VPORT = 0, TO_TABLE = 1, TO_TIR = 2, TO_UPLINK = 8 };
enum { NIC_RECEIVE = 0, EGRESS_ACL = 2, INGRESS_ACL = 3, FDB = 4 };

struct group {
	struct object object;
	uint32_t table, first, last;
	uint8_t mask[PARAM];
};

struct destination {
	uint8_t type;
	uint32_t id;
	bool has_owner;
	uint16_t owner; /* of the switch whose plug it is: the PF's vhca_id */
};

struct entry {
	uint32_t index, group, action, tag, vlan, rewrite, encap, destinations, counters;
	uint8_t value[PARAM];
	struct destination to[MAX_DESTINATIONS];
	uint32_t count[MAX_DESTINATIONS];
};

struct table {
	struct object object;
	uint8_t type;
	uint32_t miss;	    /* table that a miss goes to; 0: none */
	GPtrArray *entries; /* by index */
};

/* match.c */
bool match_knows(const uint8_t mask[PARAM], uint32_t *byte);
void match_layout(const struct packet *packet, uint8_t param[PARAM]);

/* rewrite.c */
bool rewrite_run(struct function *owner, uint32_t id, struct packet *packet);

/* tunnel.c */
bool tunnel_encap(struct function *owner, uint32_t id, struct packet *packet);
bool tunnel_decap(struct packet *packet);

#endif
