/* SPDX-License-Identifier: BSD-3-Clause */
/* A judge with all that it needs, and frames to put before it, without an EAL. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "../judge.h"

enum { BED_STREAMS = 3, BED_CLASSES_MAX = 3, BED_SEGMENTS = 3, BED_ROOM = 128 + 9728 };

/* Stream 0 is due here, stream 1 at another port, stream 2 here too. */
struct bed_setup {
	uint32_t flows;
	uint16_t class_mbuf_bytes[BED_CLASSES_MAX];
	unsigned int classes;
	unsigned int window_words;
	enum frame_expect expect;
	uint8_t trial;
};

struct bed {
	struct judge judge;
	struct frame_tables expected[BED_STREAMS];
	struct hist latency;
	judge_fn *run;
	struct bed_setup setup;
};

/* A received frame: its mbufs and the room for their data. */
struct bed_frame {
	struct rte_mbuf mbufs[BED_SEGMENTS];
	uint8_t room[BED_SEGMENTS][BED_ROOM];
	uint8_t *data; /* of the first segment */
};

/* The judges that this machine can run; ended by NULL. */
judge_fn *const *bed_judges(void);

struct bed *bed_new(const struct bed_setup *setup, judge_fn *run);
void bed_free(struct bed *bed);

/* Judges a burst; `true` as judge_fn says. */
bool bed_judge(struct bed *bed, struct bed_frame **frames, unsigned int n, uint64_t now);

/* All streams' counts together. */
struct judge_counts bed_counts(const struct bed *bed);
/* How many frames a verdict was given on. */
uint64_t bed_judged(const struct judge_counts *counts);

/* An mbuf of one segment that holds these bytes. */
void bed_frame_set(struct bed_frame *frame, const uint8_t *bytes, uint32_t count);
/* One frame of ours, as it comes back. Gives its bytes; `to` must hold FRAME_BYTES_MAX. */
uint32_t bed_write(const struct bed_setup *setup, struct frame_fields fields, unsigned int class,
		   uint8_t *to);
/* The same, in an mbuf. */
void bed_frame_write(struct bed_frame *frame, const struct bed_setup *setup,
		     struct frame_fields fields, unsigned int class);
/* Cuts the frame into segments that begin at these bytes. */
void bed_frame_cut(struct bed_frame *frame, uint32_t second, uint32_t third);
