/* SPDX-License-Identifier: BSD-3-Clause */
/* Judging what comes back: in order, reordered, duplicated, corrupted, astray, old, foreign. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "frame.h"
#include "hist.h"
#include "seqwin.h"
#include "stamps.h"

enum { JUDGE_STREAMS_MAX = 16, JUDGE_BURST_MAX = 128 };

struct judge_counts {
	uint64_t in_order;
	uint64_t reordered;
	uint64_t reorder_extent_max;
	uint64_t duplicated;
	uint64_t undecided;
	uint64_t corrupted;
	uint64_t misdelivered;
	uint64_t earlier_trial;
	uint64_t foreign;
};

struct judge_stream {
	const struct frame_tables *expected;
	struct seqwin window; /* no arrays where the stream is due at another port */
	bool due_here;
	struct judge_counts counts;
};

/*
 * What the next frame looks like if it belongs to the burst of the one before it. Everything else
 * is looked at from the ground up, and becomes the new aim if it is sound.
 */
struct judge_aim {
	vec64 rest;          /* the frame without its lo part */
	const vec64 *lo;
	uint32_t *next;      /* of the aim's 256 flows */
	uint32_t flow;       /* the first of them */
	unsigned int turn;   /* which of them comes next if none is lost */
	uint64_t lengths;    /* pkt_len and data_len; an impossible value where there is no aim */
	uint64_t stamp;      /* bytes 48 to 55 as sent: half the number, the time, the trial */
	uint64_t time;
	uint64_t frames;     /* in order since the last flush */
	uint32_t seq;
	unsigned int stream;
};

struct judge {
	struct judge_aim aim;
	struct judge_stream streams[JUDGE_STREAMS_MAX];
	unsigned int stream_count;
	unsigned int home; /* the stream that takes frames whose own cannot be told */
	const uint16_t *class_mbuf_bytes;
	unsigned int class_count;
	uint8_t trial;
	struct hist *latency; /* TSC cycles */
	uint64_t gap_shown;   /* when the last frame left that came behind a gap; 0: none */

	/* Hardware stamps: offset of the mbuf's field, or -1, and the port's clock. */
	int stamp_offset;
	uint64_t stamp_flag; /* of the mbuf: without it the field holds whatever was there before */
	const struct stamp_clock *clock; /* renewed by another core while a trial runs */
	uint64_t stamp_slack;            /* cycles */
	uint64_t stamps_astray;          /* of frames that were not under way at that time */
};

/*
 * Judges up to JUDGE_BURST_MAX frames received at `now`. Does not free them. True if all are of one
 * pool, in one segment, in a buffer of their own and without other references, so that they can be
 * put back in bulk. (mlx5 with mprq_en=1 attaches buffers, and waits for them to come back.)
 */
typedef bool judge_fn(struct judge *j, struct rte_mbuf **mbufs, unsigned int n, uint64_t now);

judge_fn judge_portable;
#ifdef HAVE_AVX512
judge_fn judge_avx512;
#endif

/*
 * Looks at one frame from the ground up. True if it is sound and is now the aim, and still to be
 * taken; false if it was dealt with: booked as unsound, or judged on its own.
 */
bool judge_aim_at(struct judge *j, struct rte_mbuf *m, uint64_t now);
/* A sound frame of the aim that is not the next one of its flow. */
void judge_out_of_turn(struct judge *j, unsigned int lo, uint64_t now);
/* Books the frames of the aim that came in order. */
void judge_flush(struct judge *j, uint64_t now);
void judge_add(struct judge_counts *to, const struct judge_counts *from);
/* Forgets the aim. */
void judge_unaim(struct judge *j);

static inline uint64_t judge_stamp(const uint8_t *frame)
{
	uint64_t stamp;
	memcpy(&stamp, frame + FRAME_OFF_TIME - 2, sizeof(stamp));
	return stamp;
}

/* 60 bytes decide; the last four belong to the filler, or to nobody in the shortest frame. */
static const vec64 judge_head_care = {
	~UINT64_C(0), ~UINT64_C(0), ~UINT64_C(0), ~UINT64_C(0),
	~UINT64_C(0), ~UINT64_C(0), ~UINT64_C(0), 0x00000000ffffffff,
};
