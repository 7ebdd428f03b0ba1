/* SPDX-License-Identifier: BSD-3-Clause */
#include "frame.h"

#include <errno.h>
#include <stdlib.h>

#include <rte_byteorder.h>
#include <rte_ether.h>
#include <rte_hash_crc.h>
#include <rte_ip.h>

static uint8_t filler[FRAME_BYTES_MAX];
extern const uint8_t frame_filler[FRAME_BYTES_MAX] __attribute__((alias("filler")));

void frame_filler_init(void)
{
	/* No two neighbouring words alike, so that a shifted or repeated piece is seen. */
	for (unsigned int i = 0; i < sizeof(filler); i++)
		filler[i] = (uint8_t)(i * 167 + (i >> 8) + 13);
}

static void put16be(uint8_t *to, uint16_t value)
{
	rte_be16_t be = rte_cpu_to_be_16(value);
	memcpy(to, &be, sizeof(be));
}

static void put32le(uint8_t *to, uint32_t value)
{
	memcpy(to, &value, sizeof(value));
}

static void ip_checksum_write(uint8_t *ip)
{
	put16be(ip + 10, 0);
	uint16_t sum = rte_ipv4_cksum((const struct rte_ipv4_hdr *)ip);
	memcpy(ip + 10, &sum, sizeof(sum));
}

/* With the initial value 0 the CRC is linear over XOR; a constant in `base` keeps zeros invalid. */
static uint32_t crc(const uint8_t *head)
{
	return rte_hash_crc(head + FRAME_OFF_ID, FRAME_OFF_CRC - FRAME_OFF_ID, 0);
}

static const uint32_t CRC_SALT = 0x77697265; /* "wire" */

static void variable_write(uint8_t *head, uint32_t id, const struct frame_fields *f)
{
	put32le(head + FRAME_OFF_ID, id);
	put32le(head + FRAME_OFF_SEQ, f->seq);
	put32le(head + FRAME_OFF_TIME, (uint32_t)f->time);
	head[FRAME_OFF_TIME + 4] = (uint8_t)(f->time >> 32);
	head[FRAME_OFF_TRIAL] = f->trial;
}

void frame_write(uint8_t head[64], const struct frame_address *address,
		 const struct frame_fields *f, unsigned int mbuf_bytes)
{
	memset(head, 0, 64);
	memcpy(head, address->dst, 6);
	memcpy(head + 6, address->src, 6);
	put16be(head + 12, RTE_ETHER_TYPE_IPV4);

	/*
	 * RFC 2544 appendix C.2.2: 198.18.0.0/15 is set aside for benchmarks. Every other stream
	 * goes the opposite way, so that a router can send each out of a port of its own.
	 */
	const uint8_t from = 18 + f->stream % 2, to = 19 - f->stream % 2;
	uint8_t *ip = head + FRAME_OFF_IP;
	ip[0] = RTE_IPV4_VHL_DEF;
	put16be(ip + 2, (uint16_t)(mbuf_bytes - FRAME_OFF_IP));
	put16be(ip + 6, RTE_IPV4_HDR_DF_FLAG);
	ip[8] = 64;
	ip[9] = IPPROTO_UDP;
	ip[12] = 198, ip[13] = from, put16be(ip + 14, (uint16_t)f->flow);
	ip[16] = 198, ip[17] = to, put16be(ip + 18, (uint16_t)~f->flow);
	ip_checksum_write(ip);

	uint8_t *udp = head + FRAME_OFF_UDP;
	put16be(udp, (uint16_t)(0xC000 | f->flow >> 16));
	put16be(udp + 2, (uint16_t)(0xD000 | f->flow >> 16));
	put16be(udp + 4, (uint16_t)(mbuf_bytes - FRAME_OFF_UDP));

	variable_write(head, f->flow | (uint32_t)f->stream << 24, f);
	put32le(head + FRAME_OFF_CRC, crc(head) ^ CRC_SALT);
	memcpy(head + FRAME_HEAD_BYTES, filler + FRAME_HEAD_BYTES, 64 - FRAME_HEAD_BYTES);
}

bool frame_crc_fits(const uint8_t *head)
{
	uint32_t there;
	memcpy(&there, head + FRAME_OFF_CRC, sizeof(there));
	return there == (crc(head) ^ CRC_SALT);
}

uint32_t frame_delta_crc(uint32_t seq, uint64_t time)
{
	uint32_t c = rte_hash_crc_8byte((uint64_t)seq << 32, 0); /* flow and stream 0 */
	c = rte_hash_crc_4byte((uint32_t)time, c);
	return rte_hash_crc_2byte((uint16_t)(time >> 32 & 0xff), c); /* trial 0 */
}

static void exchange(uint8_t *a, uint8_t *b, size_t bytes)
{
	uint8_t held[4];
	memcpy(held, a, bytes);
	memcpy(a, b, bytes);
	memcpy(b, held, bytes);
}

void frame_transform(uint8_t head[64], enum frame_expect expect)
{
	uint8_t *ip = head + FRAME_OFF_IP;
	switch (expect) {
	case FRAME_AS_SENT:
		break;
	case FRAME_SWAPPED:
		exchange(ip + 12, ip + 16, 4);
		exchange(head + FRAME_OFF_UDP, head + FRAME_OFF_UDP + 2, 2);
		break;
	case FRAME_ROUTED:
		ip[8]--;
		ip_checksum_write(ip);
		break;
	}
}

static vec64 expected(const struct frame_address *address, struct frame_fields f,
		      unsigned int mbuf_bytes, enum frame_expect expect)
{
	uint8_t head[64] __attribute__((aligned(64)));
	frame_write(head, address, &f, mbuf_bytes);
	frame_transform(head, expect);
	return vec_load(head);
}

int frame_tables_init(struct frame_tables *t, const struct frame_address *address, uint8_t stream,
		      uint8_t trial, uint32_t flows, const uint16_t *class_mbuf_bytes,
		      unsigned int classes, enum frame_expect expect)
{
	struct frame_fields f = {.stream = stream, .trial = trial};
	unsigned int his = (flows + FRAME_LO - 1) / FRAME_LO;
	const unsigned int any = class_mbuf_bytes[0];

	t->flows = flows;
	t->hi = aligned_alloc(sizeof(vec64), his * sizeof(vec64));
	if (t->hi == NULL)
		return -ENOMEM;
	for (unsigned int c = 0; c < classes; c++)
		t->base[c] = expected(address, f, class_mbuf_bytes[c], expect);
	vec64 zero = expected(address, f, any, expect);
	for (f.flow = 0; f.flow < FRAME_LO; f.flow++)
		t->lo[f.flow] = zero ^ expected(address, f, any, expect);
	for (uint32_t h = 0; h < his; h++) {
		f.flow = h * FRAME_LO;
		t->hi[h] = zero ^ expected(address, f, any, expect);
	}
	return 0;
}

void frame_tables_free(struct frame_tables *t)
{
	free(t->hi);
	t->hi = NULL;
}
