/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A ConnectX-5 as its driver sees it: the parts of the model and what they ask of each other.
 *
 *   adapter    the card behind one port: port, cable, embedded switch
 *   vport      a plug of that switch: 0 is the PF, 1.. are VFs, 0xffff is the cable
 *   function   a PCI function, PF or VF, with all that its driver made there
 */
#ifndef MLX5_MODEL_H
#define MLX5_MODEL_H

#include "types.h"

struct command {
	struct function *function;
	const uint8_t *in;
	uint8_t *out;
	uint32_t in_bytes, out_bytes;
	uint16_t op, mod;
};

/* A frame on its way through the card. */
struct packet {
	uint8_t *data;
	uint32_t bytes;
	struct vport *from;
	uint32_t sqn, tag;
	uint32_t register_b, register_c[8]; /* what flow tables noted of it */
};

#define TYPE_MLX5_PF "mlx5"
#define TYPE_MLX5_VF "mlx5-vf"
OBJECT_DECLARE_SIMPLE_TYPE(function, MLX5_PF)

/* function.c: the PCI function, its registers, the host's memory */
bool function_read(struct function *function, uint64_t address, void *into, size_t bytes);
bool function_write(
	struct function *function, uint64_t address, const void *from, size_t bytes);
void function_forget(struct function *function);
uint16_t function_vhca(const struct function *function);
struct adapter *adapter_of(uint16_t vhca);
struct adapter *adapter_number(uint32_t number);
void function_restart(struct function *function);
void function_version(struct function *function);

/* command.c */
void command_doorbell(struct function *function, uint32_t bits);

/* refused.c: what was asked and is not modelled */
enum status refused(
	struct function *function, enum status status, const char *what, uint32_t which);
void refused_open(const char *path);

/* pages.c */
enum status pages_query(struct command *command);
enum status pages_manage(struct command *command);

/* objects.c */
void *object_add(struct function *function, enum kind kind, size_t bytes, uint32_t first);
void *object_find(struct function *function, enum kind kind, uint32_t id);
enum status object_remove(struct function *function, enum kind kind, uint32_t id);
bool memory_take(struct memory *memory, const uint8_t *entries, uint32_t entries_bytes,
	uint64_t bytes, uint32_t shift);
uint64_t memory_at(const struct memory *memory, uint64_t offset);
void memory_end(struct memory *memory);
enum status object_plain(struct command *command);

/* events.c */
enum {
	EVENT_COMPLETION = 0x00,
	EVENT_PORT = 0x09,
	EVENT_COMMAND = 0x0a,
	EVENT_VPORT = 0x0d,
	EVENT_PORT_MODULE = 0x16,
};
enum status event_create(struct command *command);
enum status event_destroy(struct command *command);
void event_post(struct function *function, uint8_t type, uint8_t sub, const uint8_t data[28]);
void event_complete(struct function *function, uint32_t eqn, uint32_t cqn);
void event_arm(struct function *function, uint32_t eqn, uint32_t consumed);
bool event_wanted(struct function *function, uint8_t type);

/* completions.c */
enum status completion_create(struct command *command);
enum status completion_destroy(struct command *command);
enum status completion_modify(struct command *command);
bool completion_post(
	struct function *function, uint32_t cqn, uint8_t entry[64], uint8_t opcode);
void completion_arm(struct function *function, uint32_t cqn, uint32_t consumed);

/* queues.c */
enum status queue_create(struct command *command);
enum status queue_modify(struct command *command);
enum status queue_destroy(struct command *command);
enum status queue_query(struct command *command);
enum status rss_command(struct command *command);
enum status counter_command(struct command *command);

/* transmit.c, receive.c */
void transmit(struct function *function, uint32_t sqn);
void receive(struct function *function, uint32_t tirn, struct packet *packet);

/* frame.c: what is in a frame */
struct headers {
	uint32_t l3, l4, payload; /* offsets; 0: not there */
	uint16_t ethertype, vlan_tci;
	uint8_t vlans, version, protocol;
	bool fragment;
};
bool frame_parse(const uint8_t *data, uint32_t bytes, struct headers *headers);
uint32_t frame_sum(const uint8_t *data, uint32_t bytes, uint32_t sum);
uint16_t frame_fold(uint32_t sum);
uint16_t frame_l3_sum(const uint8_t *data, const struct headers *headers);
uint16_t frame_l4_sum(const uint8_t *data, uint32_t bytes, const struct headers *headers);
void frame_set_sums(uint8_t *data, uint32_t bytes, bool l3, bool l4);
void frame_push_vlan(struct packet *packet, uint16_t tpid, uint16_t tci);
bool frame_pop_vlan(struct packet *packet);
void tally_add(struct traffic *traffic, const uint8_t *data, uint32_t bytes);

/* flows.c, rewrite.c, match.c, steering.c */
enum flow_verdict { FLOW_MISS, FLOW_ALLOW, FLOW_DROP, FLOW_SENT };
enum status flow_table(struct command *command);
enum status flow_group(struct command *command);
enum status flow_entry(struct command *command);
enum status flow_root(struct command *command);
enum status flow_counter(struct command *command);
enum status rewrite_command(struct command *command);
enum status encapsulation_command(struct command *command);
void flow_field_caps(uint8_t *properties);
enum flow_verdict flow_run(struct function *owner, uint32_t table, struct packet *packet,
	struct function *receiver);

/* tunnel.c */
enum { ENCAPSULATION_BYTES = 96 }; /* at most */
enum status tunnel_port_command(struct command *command);
uint32_t tunnel_inner(
	const struct adapter *adapter, const uint8_t *data, const struct headers *headers);

/* scheduling.c */
enum status scheduling_command(struct command *command);
void scheduling_open(struct vport *vport);
void scheduling_close(struct vport *vport);
bool scheduling_may_send(struct vport *vport);
void scheduling_sent(struct vport *vport, uint32_t bytes);

/* switch.c */
void switch_transmit(struct function *function, struct packet *packet);
void switch_from_cable(struct adapter *adapter, const uint8_t *data, uint32_t bytes);
void switch_deliver(struct adapter *adapter, uint16_t vport, struct packet *packet);

/* lag.c */
enum status lag_command(struct command *command);
enum status tis_command(struct command *command);
void lag_forget(const struct function *function);
struct adapter *lag_port(struct adapter *adapter, const struct packet *packet);

/* vports.c */
struct vport *vport_at(struct adapter *adapter, uint16_t number);
struct vport *vport_of(struct command *command);
enum status vport_command(struct command *command);
void vport_reset(struct adapter *adapter, uint32_t slot);
bool vport_up(struct vport *vport);
void vport_links(struct adapter *adapter);

/* port.c, registers.c, statistics.c, module.c, diagnosis.c */
void port_open(struct function *pf);
void port_close(struct function *pf);
void port_reset(struct adapter *adapter);
void port_update(struct adapter *adapter);
uint32_t port_can(void);
uint32_t port_speed(struct adapter *adapter);
uint32_t port_mode(struct adapter *adapter);
bool port_send(struct adapter *adapter, const uint8_t *data, uint32_t bytes);
enum status register_access(struct command *command);
enum status port_register(
	struct function *function, uint16_t which, uint8_t *data, uint32_t bytes, bool write);
uint8_t fec_active(struct adapter *adapter);
enum status statistics_register(struct adapter *adapter, uint8_t *data, uint32_t bytes);
enum status module_register(struct adapter *adapter, uint8_t *data, uint32_t bytes);
enum { MODULE_BYTES = 256 };
void module_memory(uint8_t memory[MODULE_BYTES]);
enum status diagnosis_register(
	struct adapter *adapter, uint8_t *data, uint32_t bytes, bool write);

/* faults.c */
enum fault_verdict { FAULT_NONE, FAULT_FAILS, FAULT_SILENT };
enum fault_verdict fault_of_command(struct command *command);
void fault_in_segment(struct function *pf);
void fault_property(ObjectClass *class);

/* capabilities.c */
enum status capability_query(struct command *command);

#endif
