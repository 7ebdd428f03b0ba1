/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sending: a request in the ring is a control segment, an Ethernet segment with the first
 * headers, and where in memory the rest lies (include/linux/mlx5/qp.h). Fields are big endian.
 */
#include "model.h"

enum { NOP = 0x00, SEND = 0x0a, LSO = 0x0e };
enum { BLOCK = 64, MAX_BLOCKS = 16, SEGMENT = 16, ETHERNET = 16, INLINE = 30 };
enum { WANTS_COMPLETION = 0x08 };
enum { L3_SUM = 1 << 6, L4_SUM = 1 << 7, INNER_L3_SUM = 1 << 4, INNER_L4_SUM = 1 << 5 };
enum { INSERT_VLAN = 1 << 15, INSERT_SVLAN = 1 << 0, INLINE_BYTES = 0x3ff };
enum { READY = 1, TCP = 6, MAX_GATHERED = 1 << 17 };
enum { FIN_PSH = 0x09, CWR = 0x80 };

/* Collect the request's bytes; 0: it is malformed. */
static uint32_t gather(
	struct function *function, const uint8_t *wqe, uint32_t segments, uint8_t *into)
{
	uint32_t header = lduw_be_p(wqe + ETHERNET + 12), at = 2, bytes = 0;

	if (!(header & INSERT_VLAN) && (header & INLINE_BYTES)) {
		bytes = header & INLINE_BYTES;
		at = DIV_ROUND_UP(INLINE + bytes, SEGMENT);
		if (at > segments) {
			return 0;
		}
		memcpy(into, wqe + INLINE, bytes);
	}
	for (; at < segments; at++) {
		const uint8_t *segment = wqe + at * SEGMENT;
		uint32_t part = ldl_be_p(segment), key = ldl_be_p(segment + 4);

		if (part >> 31) {
			refused(function, BAD_PARAM, "data within a send request", 1);
			return 0;
		}
		if (!object_find(function, MEMORY_KEY, key >> 8)) {
			refused(function, BAD_RESOURCE, "send from memory of key", key);
			return 0;
		}
		if (bytes + part > MAX_GATHERED - ROOM ||
			!function_read(function, ldq_be_p(segment + 8), into + bytes, part)) {
			return 0;
		}
		bytes += part;
	}
	return bytes;
}

static void send_frame(struct function *function, uint32_t sqn, const uint8_t *wqe,
	uint8_t *data, uint32_t bytes)
{
	uint16_t insert = lduw_be_p(wqe + ETHERNET + 12);
	struct packet packet = { data, bytes, function->vport, sqn };

	if (bytes < 14 || bytes > MAX_FRAME) {
		return;
	}
	if (insert & INSERT_VLAN) {
		frame_push_vlan(&packet, insert & INSERT_SVLAN ? 0x88a8 : 0x8100,
			lduw_be_p(wqe + ETHERNET + 14));
	}
	scheduling_sent(function->vport, packet.bytes);
	switch_transmit(function, &packet);
}

/* Where the frame within a tunnel's begins; 0: it is none. */
static uint32_t inner_frame(struct function *function, const uint8_t *data, uint32_t bytes)
{
	struct headers headers;

	return frame_parse(data, bytes, &headers)
		       ? tunnel_inner(function->adapter, data, &headers)
		       : 0;
}

/* What differs from frame to frame in the headers of one of them, which has `bytes`. */
static void number_headers(
	uint8_t *frame, uint32_t bytes, const struct headers *headers, uint32_t number)
{
	if (headers->version == 4) {
		uint8_t *identification = frame + headers->l3 + 4;

		stw_be_p(frame + headers->l3 + 2, bytes - headers->l3);
		stw_be_p(identification, lduw_be_p(identification) + number);
	} else {
		stw_be_p(frame + headers->l3 + 4, bytes - headers->l3 - 40);
	}
	if (headers->protocol != TCP) {
		stw_be_p(frame + headers->l4 + 4, bytes - headers->l4);
	}
}

/*
 * Large send offload: the header again before each `mss` bytes, with what changes in it; of a
 * tunnel, in both of its headers.
 */
static void send_large(struct function *function, uint32_t sqn, const uint8_t *wqe,
	const uint8_t *data, uint32_t bytes)
{
	uint32_t header = lduw_be_p(wqe + ETHERNET + 12) & INLINE_BYTES;
	uint32_t mss = lduw_be_p(wqe + ETHERNET + 6);
	uint32_t inner = inner_frame(function, data, header);
	uint8_t frame[MAX_FRAME + ROOM];
	struct headers outer, headers;

	if (!mss || !header || header + mss > MAX_FRAME ||
		!frame_parse(data, header, &outer) ||
		!frame_parse(data + inner, header - inner, &headers) || !headers.l4) {
		refused(function, BAD_PARAM, "large send of bytes", bytes);
		return;
	}
	for (uint32_t done = 0, number = 0; header + done < bytes; done += mss, number++) {
		uint32_t part = MIN(mss, bytes - header - done), all = header + part;
		uint8_t *tcp = frame + inner + headers.l4;
		bool last = header + done + part == bytes;

		memcpy(frame, data, header);
		memcpy(frame + header, data + header + done, part);
		number_headers(frame + inner, all - inner, &headers, number);
		if (headers.protocol == TCP) {
			stl_be_p(tcp + 4, ldl_be_p(tcp + 4) + done);
			tcp[13] &= last ? 0xff : ~FIN_PSH;
			tcp[13] &= number == 0 ? 0xff : ~CWR;
		}
		frame_set_sums(frame + inner, all - inner, true, true);
		if (inner) {
			number_headers(frame, all, &outer, number);
			/* A tunnel's own UDP checksum is 0, for none. */
			frame_set_sums(frame, all, true, false);
		}
		send_frame(function, sqn, wqe, frame, all);
	}
}

static void run(struct function *function, uint32_t sqn, const uint8_t *wqe, uint32_t segments)
{
	static uint8_t data[MAX_GATHERED];
	uint8_t opcode = wqe[3], sums = wqe[ETHERNET + 4];
	uint32_t bytes, inner;

	if (opcode == NOP) {
		return;
	}
	if (opcode != SEND && opcode != LSO) {
		refused(function, BAD_PARAM, "send request", opcode);
		return;
	}
	bytes = gather(function, wqe, segments, data);
	if (bytes < 14) {
		return;
	}
	if (opcode == LSO) {
		send_large(function, sqn, wqe, data, bytes);
		return;
	}
	inner = inner_frame(function, data, bytes);
	if (sums & (INNER_L3_SUM | INNER_L4_SUM) && !inner) {
		refused(function, BAD_PARAM, "checksums of inner headers", sums);
		return;
	}
	frame_set_sums(
		data + inner, bytes - inner, sums & INNER_L3_SUM, sums & INNER_L4_SUM);
	frame_set_sums(data, bytes, sums & L3_SUM, sums & L4_SUM);
	send_frame(function, sqn, wqe, data, bytes);
}

void transmit(struct function *function, uint32_t sqn)
{
	struct work_queue *queue = object_find(function, SEND_QUEUE, sqn);
	uint8_t word[4], wqe[BLOCK * MAX_BLOCKS];
	uint16_t posted;

	if (!queue || queue->state != READY ||
		!function_read(function, queue->doorbell + 4, word, sizeof(word))) {
		return;
	}
	posted = ldl_be_p(word);
	while (queue->consumed != posted && scheduling_may_send(function->vport)) {
		uint32_t mask = (1u << queue->log_size) - 1, blocks = 1, segments;
		uint8_t completion[64] = { 0 };

		for (uint32_t block = 0; block < blocks; block++) {
			uint64_t at = (uint64_t)((queue->consumed + block) & mask)
				      << queue->log_stride;

			if (!function_read(function, memory_at(&queue->memory, at),
				    wqe + block * BLOCK, BLOCK)) {
				return;
			}
			segments = wqe[7] & 0x3f;
			blocks = MAX(1, DIV_ROUND_UP(segments, BLOCK / SEGMENT));
			blocks = MIN(blocks, MAX_BLOCKS);
		}
		run(function, sqn, wqe, segments);
		if (wqe[11] & WANTS_COMPLETION) {
			stl_be_p(completion + 56, (uint32_t)wqe[3] << 24 | sqn);
			stw_be_p(completion + 60, queue->consumed);
			completion_post(function, queue->cqn, completion, 0);
		}
		queue->consumed += blocks;
	}
}
