/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The frame that the tester sends and knows again.
 *
 *   0  destination, source MAC, type     14 bytes
 *  14  IPv4, no options                  20
 *  34  UDP                                8
 *  42  flow (24 bits) | stream << 24      4   little endian, as all below
 *  46  sequence number within the flow    4
 *  50  TSC at departure, low 40 bits      5
 *  55  trial                              1
 *  56  CRC-32C of bytes 42 to 55          4
 *  60  filler, to the frame's size
 *
 * 60 bytes and the FCS are the shortest Ethernet frame, so every size carries all of it.
 *
 * Every field that depends on the flow is linear over XOR, the IPv4 checksum included: the
 * source address ends in the flow's low 16 bits and the destination in their complement, so
 * their sum, and with it the checksum, is the same for every flow. A frame is then
 *
 *   base[class] ^ lo[flow & 255] ^ hi[flow >> 8] ^ delta(sequence, time)
 *
 * and a burst is built with one load, one XOR and one store a frame from tables that fit the L1
 * cache, and judged with the same XOR and one comparison. Nothing per flow is kept for sending.
 *
 * The UDP checksum is 0 (RFC 768: none), as in testpmd's txonly and flowgen: the CRC covers
 * what it would, and all other bytes are compared one by one.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_byteorder.h>

#include "vec.h"

#if RTE_BYTE_ORDER != RTE_LITTLE_ENDIAN
#error "the frame's own fields are read and written as little endian words"
#endif

enum {
	FRAME_FCS_BYTES = 4,
	FRAME_BYTES_MIN = 64,
	FRAME_BYTES_MAX = 9600,
	FRAME_HEAD_BYTES = 60,
	FRAME_CLASSES_MAX = 16,
	FRAME_FLOWS_MAX = 1 << 24,
	FRAME_LO = 256,

	FRAME_OFF_IP = 14,
	FRAME_OFF_UDP = 34,
	FRAME_OFF_ID = 42,
	FRAME_OFF_SEQ = 46,
	FRAME_OFF_TIME = 50,
	FRAME_OFF_TRIAL = 55,
	FRAME_OFF_CRC = 56,
};

#define FRAME_TIME_MASK ((UINT64_C(1) << 40) - 1)

/* What the path does to a frame. The MAC addresses are learned and need no word here. */
enum frame_expect {
	FRAME_AS_SENT,  /* IPv4 and UDP unchanged */
	FRAME_SWAPPED,  /* source and destination of IPv4 and UDP exchanged (5tswap) */
	FRAME_ROUTED,   /* TTL one less, header checksum to match (RFC 1812) */
};

struct frame_address {
	uint8_t dst[6];
	uint8_t src[6];
};

struct frame_fields {
	uint32_t flow;
	uint8_t stream;
	uint8_t trial;
	uint32_t seq;
	uint64_t time;
};

/* The tables of one stream, as it is sent or as it is expected back. */
struct frame_tables {
	vec64 base[FRAME_CLASSES_MAX]; /* flow 0, sequence 0, time 0 */
	vec64 lo[FRAME_LO];
	vec64 *hi;                     /* (flows + 255) / 256 of them */
	uint32_t flows;
};

/* The filler of every frame from byte 60 on; the same in each, so that it can be compared. */
extern const uint8_t frame_filler[FRAME_BYTES_MAX];
void frame_filler_init(void);

/* Writes the first 64 bytes (4 of them filler) of one frame, the slow and readable way. */
void frame_write(uint8_t head[64], const struct frame_address *address,
		 const struct frame_fields *fields, unsigned int mbuf_bytes);

/* Turns a frame as it was sent into the one that is expected back. */
void frame_transform(uint8_t head[64], enum frame_expect expect);

/* Whether the CRC matches the bytes that it covers. */
bool frame_crc_fits(const uint8_t *head);

/* Allocates and fills the tables. Returns 0, or -ENOMEM. Free with frame_tables_free(). */
int frame_tables_init(struct frame_tables *tables, const struct frame_address *address,
		      uint8_t stream, uint8_t trial, uint32_t flows,
		      const uint16_t *class_mbuf_bytes, unsigned int classes,
		      enum frame_expect expect);
void frame_tables_free(struct frame_tables *tables);

/* The part of the CRC that follows from sequence number and time. */
uint32_t frame_delta_crc(uint32_t seq, uint64_t time);

/* The XOR that gives a frame of sequence number 0 and time 0 this sequence number and time. */
static inline vec64 frame_delta(uint32_t seq, uint64_t time)
{
	/* Bytes 40 to 47, 48 to 55 and 56 to 63. Composed in registers: a vector load of bytes that
	 * were just stored one by one would wait for the stores. */
	return (vec64){0, 0, 0, 0, 0, (uint64_t)seq << 48,
		       seq >> 16 | (time & FRAME_TIME_MASK) << 16, frame_delta_crc(seq, time)};
}

static inline struct frame_fields frame_fields(const uint8_t *head)
{
	uint32_t id, seq;
	uint64_t time_trial;
	memcpy(&id, head + FRAME_OFF_ID, sizeof(id));
	memcpy(&seq, head + FRAME_OFF_SEQ, sizeof(seq));
	memcpy(&time_trial, head + FRAME_OFF_TIME - 2, sizeof(time_trial));
	return (struct frame_fields){.flow = id & 0xffffff,
				     .stream = (uint8_t)(id >> 24),
				     .trial = (uint8_t)(time_trial >> 56),
				     .seq = seq,
				     .time = time_trial >> 16 & FRAME_TIME_MASK};
}

static inline vec64 frame_head(const struct frame_tables *tables, unsigned int class,
			       uint32_t flow)
{
	return tables->base[class] ^ tables->lo[flow % FRAME_LO] ^ tables->hi[flow / FRAME_LO];
}
