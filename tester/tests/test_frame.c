/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames by XOR are the frames written field by field, and what a receiver needs is right. */
#include <stdlib.h>

#include <rte_ether.h>
#include <rte_hash_crc.h>
#include <rte_ip.h>
#include <rte_udp.h>

#include "../frame.h"
#include "check.h"
#include "random.h"

static const struct frame_address address = {{2, 0, 0, 0, 0, 1}, {2, 0, 0, 0, 0, 2}};
static const uint16_t sizes[] = {60, 61, 63, 64, 124, 590, 1514, 9596};
enum { SIZES = sizeof(sizes) / sizeof(sizes[0]) };

static const uint32_t edges[] = {0, 1, 255, 256, 257, 65535, 65536, 0xfffffe, 0xffffff};
static const uint32_t seq_edges[] = {0, 1, 0xffff, 0x10000, 0x7fffffff, 0x80000000, UINT32_MAX};
static const uint64_t time_edges[] = {0, 1, 0xffffffff, UINT64_C(1) << 32, FRAME_TIME_MASK,
				      FRAME_TIME_MASK + 1, UINT64_MAX};

#define PICK(r, array) (array)[random_below(r, sizeof(array) / sizeof((array)[0]))]

static void check_one(const struct frame_tables *t, struct frame_fields f, unsigned int class,
		      enum frame_expect expect)
{
	uint8_t by_xor[64], by_hand[64];

	vec_store(by_xor, frame_head(t, class, f.flow) ^ frame_delta(f.seq, f.time));
	frame_write(by_hand, &address, &f, sizes[class]);
	frame_transform(by_hand, expect);
	for (unsigned int i = 0; i < FRAME_HEAD_BYTES; i++)
		CHECK_EQUAL(by_xor[i], by_hand[i], "byte %u, flow %u seq %u time %" PRIu64
			    " size %u expect %d", i, f.flow, f.seq, f.time, sizes[class], expect);

	const struct rte_ipv4_hdr *ip = (const struct rte_ipv4_hdr *)(by_xor + FRAME_OFF_IP);
	struct rte_ipv4_hdr copy = *ip;
	copy.hdr_checksum = 0;
	CHECK_EQUAL(ip->hdr_checksum, rte_ipv4_cksum(&copy), "flow %u expect %d", f.flow, expect);
	CHECK_EQUAL(rte_be_to_cpu_16(ip->total_length), sizes[class] - 14, "size %u", sizes[class]);
	const struct rte_udp_hdr *udp = (const struct rte_udp_hdr *)(by_xor + FRAME_OFF_UDP);
	CHECK_EQUAL(rte_be_to_cpu_16(udp->dgram_len), sizes[class] - 34, "size %u", sizes[class]);

	const struct frame_fields back = frame_fields(by_xor);
	CHECK(frame_crc_fits(by_xor));
	CHECK_EQUAL(back.flow, f.flow, "flow");
	CHECK_EQUAL(back.seq, f.seq, "seq");
	CHECK_EQUAL(back.time, f.time & FRAME_TIME_MASK, "time");
	CHECK_EQUAL(back.stream, f.stream, "stream");
	CHECK_EQUAL(back.trial, f.trial, "trial");
}

static void frames_by_xor_are_frames_by_hand(uint32_t flows, unsigned int rounds)
{
	struct random r = {flows};

	for (enum frame_expect expect = FRAME_AS_SENT; expect <= FRAME_ROUTED; expect++) {
		struct frame_tables *t = aligned_alloc(64, sizeof(*t));
		const uint8_t stream = (uint8_t)random_next(&r), trial = (uint8_t)random_next(&r);
		CHECK(t != NULL && frame_tables_init(t, &address, stream, trial, flows, sizes,
						     SIZES, expect) == 0);
		for (unsigned int i = 0; i < rounds; i++) {
			struct frame_fields f = {.flow = random_below(&r, flows),
						 .stream = stream,
						 .trial = trial,
						 .seq = (uint32_t)random_next(&r),
						 .time = random_next(&r)};
			if (i % 4 == 0) {
				f.flow = PICK(&r, edges) % flows;
				f.seq = PICK(&r, seq_edges);
				f.time = PICK(&r, time_edges);
			}
			check_one(t, f, random_below(&r, SIZES), expect);
		}
		frame_tables_free(t);
		free(t);
	}
}

/* RFC 2544 appendix C.2.2 sets 198.18.0.0/15 aside; a flow is told by its addresses alone. */
static void flows_differ_in_their_addresses(void)
{
	enum { FLOWS = 1 << 17 };
	uint8_t head[64];
	uint64_t *seen = calloc(FLOWS, sizeof(*seen));

	for (struct frame_fields f = {0}; f.flow < FLOWS; f.flow++) {
		frame_write(head, &address, &f, 60);
		memcpy(&seen[f.flow], head + FRAME_OFF_IP + 12, 8);
		CHECK(head[26] == 198 && (head[27] & 0xfe) == 18);
		CHECK(head[30] == 198 && (head[31] & 0xfe) == 18);
	}
	for (uint32_t i = 1; i < 65536; i++)
		CHECK(seen[i] != seen[i - 1] && seen[i] != seen[0]);
	free(seen);
}

/* A router tells two streams apart by the networks of their destinations, for every flow. */
static void every_other_stream_has_the_networks_exchanged(void)
{
	for (unsigned int i = 0; i < sizeof(edges) / sizeof(edges[0]); i++)
		for (unsigned int stream = 0; stream < 4; stream++) {
			const struct frame_fields f = {.flow = edges[i],
						       .stream = (uint8_t)stream};
			uint8_t head[64];
			frame_write(head, &address, &f, 60);
			CHECK_EQUAL(head[27], stream % 2 ? 19 : 18, "source of stream %u", stream);
			CHECK_EQUAL(head[31], stream % 2 ? 18 : 19, "destination of stream %u",
				    stream);
			CHECK_EQUAL(head[28] << 8 | head[29], edges[i] & 0xffff, "flow %u",
				    edges[i]);
			CHECK_EQUAL(head[32] << 8 | head[33], ~edges[i] & 0xffff, "flow %u",
				    edges[i]);
		}
}

/* The CRC is made by pieces in the hot path; here from the polynomial, bit by bit (Castagnoli). */
static void the_crc_is_crc32c_with_a_salt(void)
{
	struct random r = {7};
	uint8_t head[64];

	for (unsigned int round = 0; round < 1000; round++) {
		const struct frame_fields f = {.flow = (uint32_t)random_next(&r) & 0xffffff,
					       .stream = (uint8_t)random_next(&r),
					       .trial = (uint8_t)random_next(&r),
					       .seq = (uint32_t)random_next(&r),
					       .time = random_next(&r)};
		uint32_t c = 0, there;
		frame_write(head, &address, &f, 60);
		for (unsigned int i = FRAME_OFF_ID; i < FRAME_OFF_CRC; i++) {
			c ^= head[i];
			for (unsigned int bit = 0; bit < 8; bit++)
				c = c >> 1 ^ (c & 1 ? 0x82f63b78 : 0);
		}
		memcpy(&there, head + FRAME_OFF_CRC, sizeof(there));
		CHECK_EQUAL(there, c ^ 0x77697265, "round %u", round);
	}
}

/* A frame of zeros, or one whose CRC field alone is zero, must not pass. */
static void zeros_are_no_frame(void)
{
	const uint8_t zeros[64] = {0};
	CHECK(!frame_crc_fits(zeros));
}

int main(void)
{
	frame_filler_init();
	frames_by_xor_are_frames_by_hand(1, 2000);
	frames_by_xor_are_frames_by_hand(256, 2000);
	frames_by_xor_are_frames_by_hand(8192, 20000);
	frames_by_xor_are_frames_by_hand(FRAME_FLOWS_MAX, 20000);
	flows_differ_in_their_addresses();
	every_other_stream_has_the_networks_exchanged();
	the_crc_is_crc32c_with_a_salt();
	zeros_are_no_frame();
	return check_end();
}
