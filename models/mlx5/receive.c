/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Receiving: a TIR picks a queue, by hash where it has a table; the frame goes to the memory
 * that the driver posted there. A ring with nothing posted drops, and counts it, as a card
 * does.
 */
#include "model.h"

enum { INDIRECT = 1, TOEPLITZ = 2, READY = 1, RECEIVED = 2 };
enum { BY_SOURCE = 1, BY_DESTINATION = 2, BY_SOURCE_PORT = 4, BY_DESTINATION_PORT = 8 };
enum { L3_OK = 1 << 1, L4_OK = 1 << 2 };
enum { TCP = 6, UDP = 17 };

/* Toeplitz, as Microsoft's "RSS Hashing Types" has it; `key` is 40 bytes. */
static uint32_t toeplitz(const uint8_t *key, const uint8_t *data, uint32_t bytes)
{
	uint32_t hash = 0, window = ldl_be_p(key);

	for (uint32_t bit = 0; bit < bytes * 8; bit++) {
		uint32_t next = bit + 32;

		if (data[bit / 8] >> (7 - bit % 8) & 1) {
			hash ^= window;
		}
		window = window << 1 | (key[next / 8 % 40] >> (7 - next % 8) & 1);
	}
	return hash;
}

static uint32_t hash_of(const struct tir *tir, const uint8_t *data,
	const struct headers *headers, uint8_t *type)
{
	const uint8_t *select = IFC_PTR(tirc, tir->context, rx_hash_field_selector_outer);
	uint32_t fields = IFC_GET(rx_hash_field_select, select, selected_fields);
	uint32_t bytes = headers->version == 4 ? 4 : 16, used = 0;
	const uint8_t *address = data + headers->l3 + (headers->version == 4 ? 12 : 8);
	uint8_t input[40];

	*type = 0;
	if (headers->version == 0 || IFC_GET(tirc, tir->context, rx_hash_fn) != TOEPLITZ) {
		return 0;
	}
	if (fields & BY_SOURCE) {
		memcpy(input, address, bytes);
		used += bytes;
		*type |= 3 << 2;
	}
	if (fields & BY_DESTINATION) {
		memcpy(input + used, address + bytes, bytes);
		used += bytes;
		*type |= 3 << 2;
	}
	if (headers->l4 && fields & BY_SOURCE_PORT) {
		memcpy(input + used, data + headers->l4, 2);
		used += 2;
		*type |= 3 << 6;
	}
	if (headers->l4 && fields & BY_DESTINATION_PORT) {
		memcpy(input + used, data + headers->l4 + 2, 2);
		used += 2;
	}
	return toeplitz(IFC_PTR(tirc, tir->context, rx_hash_toeplitz_key), input, used);
}

/* Write the frame to the next posted buffers; false: it does not fit. */
static bool scatter(
	struct function *function, struct work_queue *queue, const struct packet *packet)
{
	uint64_t slot = (uint64_t)(queue->consumed & ((1u << queue->log_size) - 1))
			<< queue->log_stride;
	uint32_t done = 0;

	for (uint32_t at = 0; at < 1u << queue->log_stride && done < packet->bytes; at += 16) {
		uint8_t segment[16];
		uint32_t room, part;

		if (!function_read(
			    function, memory_at(&queue->memory, slot + at), segment, 16)) {
			return false;
		}
		room = ldl_be_p(segment) & 0x7fffffff;
		if (room == 0) {
			break;
		}
		if (!object_find(function, MEMORY_KEY, ldl_be_p(segment + 4) >> 8)) {
			refused(function, BAD_RESOURCE, "receive into memory of key",
				ldl_be_p(segment + 4));
			return false;
		}
		part = MIN(room, packet->bytes - done);
		function_write(function, ldq_be_p(segment + 8), packet->data + done, part);
		done += part;
	}
	return done == packet->bytes;
}

/* What the card says of the headers: checksum over all behind Ethernet, types, what it
 * verified. */
static void describe(uint8_t *entry, const struct packet *packet, const struct headers *headers)
{
	const uint8_t *data = packet->data;
	uint8_t l4 = 0;

	stw_be_p(entry + 20,
		frame_fold(frame_sum(data + headers->l3, packet->bytes - headers->l3, 0)));
	if (headers->version == 4 && frame_l3_sum(data, headers) == 0xffff) {
		entry[28] |= L3_OK;
	} else if (headers->version == 6) {
		entry[28] |= L3_OK;
	}
	if (headers->l4 && frame_l4_sum(data, packet->bytes, headers) == 0xffff) {
		entry[28] |= L4_OK;
	}
	if (headers->l4) {
		l4 = headers->protocol == UDP ? 2 : headers->payload < packet->bytes ? 4 : 3;
	}
	entry[29] |= l4 << 4 | (headers->version == 6 ? 1 : headers->version == 4 ? 2 : 0) << 2;
}

void receive(struct function *function, uint32_t tirn, struct packet *packet)
{
	struct tir *tir = object_find(function, TIR, tirn);
	uint8_t entry[64] = { 0 }, word[4];
	struct work_queue *queue;
	struct headers headers;
	uint32_t rqn;

	if (!tir || !frame_parse(packet->data, packet->bytes, &headers)) {
		return;
	}
	rqn = IFC_GET(tirc, tir->context, inline_rqn);
	if (IFC_GET(tirc, tir->context, disp_type) == INDIRECT) {
		struct rq_table *table = object_find(function, RECEIVE_QUEUE_TABLE,
			IFC_GET(tirc, tir->context, indirect_table));
		uint32_t hash = hash_of(tir, packet->data, &headers, &entry[16]);

		if (!table) {
			return;
		}
		stl_be_p(entry + 12, hash);
		rqn = table->rq[hash % table->size];
	}
	queue = object_find(function, RECEIVE_QUEUE, rqn);
	if (!queue) {
		return;
	}
	if (queue->state != READY ||
		!function_read(function, queue->doorbell, word, sizeof(word)) ||
		(uint16_t)ldl_be_p(word) == queue->consumed) {
		struct queue_counter *counter =
			object_find(function, QUEUE_COUNTER, queue->counter);

		if (counter) {
			counter->out_of_buffer++;
		}
		return;
	}
	if (headers.vlans && !queue->keep_vlan && lduw_be_p(packet->data + 12) == 0x8100) {
		stw_be_p(entry + 30, headers.vlan_tci);
		entry[29] |= 1;
		frame_pop_vlan(packet);
		frame_parse(packet->data, packet->bytes, &headers);
	}
	if (!scatter(function, queue, packet)) {
		function->vport->too_small++;
		return;
	}
	describe(entry, packet, &headers);
	stl_be_p(entry + 44, packet->bytes);
	stl_be_p(entry + 56, packet->tag);
	stw_be_p(entry + 60, queue->consumed);
	if (completion_post(function, queue->cqn, entry, RECEIVED)) {
		queue->consumed++;
	}
}
