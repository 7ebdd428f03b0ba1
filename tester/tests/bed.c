/* SPDX-License-Identifier: BSD-3-Clause */
#include "bed.h"

#include <stdlib.h>

static const struct frame_address address = {{2, 0, 0, 0, 0, 1}, {2, 0, 0, 0, 0, 2}};

judge_fn *const *bed_judges(void)
{
	static judge_fn *judges[3];

	judges[0] = judge_portable;
#ifdef HAVE_AVX512
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw"))
		judges[1] = judge_avx512;
#endif
	return judges;
}

static void *zeros(size_t bytes)
{
	void *p = aligned_alloc(64, RTE_ALIGN_CEIL(bytes, 64));
	if (p == NULL)
		abort();
	return memset(p, 0, bytes);
}

struct bed *bed_new(const struct bed_setup *setup, judge_fn *run)
{
	struct bed *bed = zeros(sizeof(*bed));
	struct judge *j = &bed->judge;
	const size_t flows = RTE_ALIGN_CEIL(setup->flows, FRAME_LO);

	bed->setup = *setup;
	bed->run = run;
	hist_reset(&bed->latency);
	j->latency = &bed->latency;
	j->class_mbuf_bytes = bed->setup.class_mbuf_bytes;
	j->class_count = setup->classes;
	j->trial = setup->trial;
	j->stream_count = BED_STREAMS;
	j->stamp_offset = -1;
	for (unsigned int i = 0; i < BED_STREAMS; i++) {
		struct judge_stream *s = &j->streams[i];
		if (frame_tables_init(&bed->expected[i], &address, (uint8_t)i, setup->trial,
				      setup->flows, setup->class_mbuf_bytes, setup->classes,
				      setup->expect) < 0)
			abort();
		s->expected = &bed->expected[i];
		s->due_here = i != 1;
		if (!s->due_here)
			continue;
		s->window.words = setup->window_words;
		s->window.next = zeros(flows * sizeof(uint32_t));
		s->window.at = zeros(flows * sizeof(uint32_t));
		s->window.bits = zeros(flows * setup->window_words * sizeof(uint64_t));
	}
	judge_unaim(j);
	return bed;
}

void bed_free(struct bed *bed)
{
	for (unsigned int i = 0; i < BED_STREAMS; i++) {
		frame_tables_free(&bed->expected[i]);
		free(bed->judge.streams[i].window.next);
		free(bed->judge.streams[i].window.at);
		free(bed->judge.streams[i].window.bits);
	}
	free(bed);
}

bool bed_judge(struct bed *bed, struct bed_frame **frames, unsigned int n, uint64_t now)
{
	struct rte_mbuf *mbufs[JUDGE_BURST_MAX];

	for (unsigned int i = 0; i < n; i++)
		mbufs[i] = frames[i]->mbufs;
	return bed->run(&bed->judge, mbufs, n, now);
}

struct judge_counts bed_counts(const struct bed *bed)
{
	struct judge_counts sum = {0};

	for (unsigned int i = 0; i < BED_STREAMS; i++) {
		const struct judge_counts *c = &bed->judge.streams[i].counts;
		sum.in_order += c->in_order;
		sum.reordered += c->reordered;
		sum.reorder_extent_max = RTE_MAX(sum.reorder_extent_max, c->reorder_extent_max);
		sum.duplicated += c->duplicated;
		sum.undecided += c->undecided;
		sum.corrupted += c->corrupted;
		sum.misdelivered += c->misdelivered;
		sum.earlier_trial += c->earlier_trial;
		sum.foreign += c->foreign;
	}
	return sum;
}

uint64_t bed_judged(const struct judge_counts *c)
{
	return c->in_order + c->reordered + c->duplicated + c->undecided + c->corrupted +
	       c->misdelivered + c->earlier_trial + c->foreign;
}

static void segment_set(struct bed_frame *frame, unsigned int i, const uint8_t *bytes, uint32_t n)
{
	frame->mbufs[i] = (struct rte_mbuf){
		.buf_addr = frame->room[i],
		.data_off = RTE_PKTMBUF_HEADROOM,
		.buf_len = BED_ROOM,
		.refcnt = 1,
		.nb_segs = 1,
		.data_len = (uint16_t)n,
		.pkt_len = n,
		.pool = (struct rte_mempool *)0x1000, /* only ever compared */
	};
	if (n > 0)
		memcpy(frame->room[i] + RTE_PKTMBUF_HEADROOM, bytes, n);
}

void bed_frame_set(struct bed_frame *frame, const uint8_t *bytes, uint32_t count)
{
	segment_set(frame, 0, bytes, count);
	frame->data = frame->room[0] + RTE_PKTMBUF_HEADROOM;
}

uint32_t bed_write(const struct bed_setup *setup, struct frame_fields fields, unsigned int class,
		   uint8_t *to)
{
	const uint32_t bytes = setup->class_mbuf_bytes[class];
	uint8_t head[64];

	frame_write(head, &address, &fields, bytes);
	frame_transform(head, setup->expect);
	memcpy(to, head, FRAME_HEAD_BYTES);
	memcpy(to + FRAME_HEAD_BYTES, frame_filler + FRAME_HEAD_BYTES, bytes - FRAME_HEAD_BYTES);
	return bytes;
}

void bed_frame_write(struct bed_frame *frame, const struct bed_setup *setup,
		     struct frame_fields fields, unsigned int class)
{
	uint8_t bytes[FRAME_BYTES_MAX];
	bed_frame_set(frame, bytes, bed_write(setup, fields, class, bytes));
}

void bed_frame_cut(struct bed_frame *frame, uint32_t second, uint32_t third)
{
	const uint32_t bytes = frame->mbufs[0].pkt_len;

	segment_set(frame, 1, frame->data + second, third - second);
	segment_set(frame, 2, frame->data + third, bytes - third);
	frame->mbufs[0].data_len = (uint16_t)second;
	frame->mbufs[0].nb_segs = 3;
	frame->mbufs[0].next = &frame->mbufs[1];
	frame->mbufs[1].next = &frame->mbufs[2];
}
