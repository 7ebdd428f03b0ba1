/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every verdict, one fault at a time and then all mixed: each fault gives exactly its verdict and
 * no other, alone in a burst and amid one, in both builds of the judge.
 */
#include <stdlib.h>

#include "bed.h"
#include "check.h"
#include "damage.h"
#include "random.h"
#include "tally.h"

enum { BURST = 48, FLOWS = 300 };

static struct bed_frame frames[JUDGE_BURST_MAX];
static struct bed_frame *burst[JUDGE_BURST_MAX];

static const struct bed_setup shortest = {
	.flows = FLOWS, .class_mbuf_bytes = {60}, .classes = 1, .window_words = 2, .trial = 9};
static const struct bed_setup longest = {
	.flows = FLOWS, .class_mbuf_bytes = {1514}, .classes = 1, .window_words = 2, .trial = 9};

/* `n` frames of the flows from `flow` on. */
static void fill(const struct bed_setup *setup, uint32_t flow, uint32_t seq, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		bed_frame_write(&frames[i], setup,
				(struct frame_fields){.flow = flow + i, .trial = setup->trial,
						      .seq = seq, .time = 1000},
				0);
}

#define CHECK_COUNTS(bed, ...)                                                                   \
	do {                                                                                     \
		const struct judge_counts found__ = bed_counts(bed), wanted__ = {__VA_ARGS__};   \
		CHECK_EQUAL(found__.in_order, wanted__.in_order, "in order");                    \
		CHECK_EQUAL(found__.reordered, wanted__.reordered, "reordered");                 \
		CHECK_EQUAL(found__.reorder_extent_max, wanted__.reorder_extent_max, "extent");  \
		CHECK_EQUAL(found__.duplicated, wanted__.duplicated, "duplicated");              \
		CHECK_EQUAL(found__.undecided, wanted__.undecided, "undecided");                 \
		CHECK_EQUAL(found__.corrupted, wanted__.corrupted, "corrupted");                 \
		CHECK_EQUAL(found__.misdelivered, wanted__.misdelivered, "misdelivered");        \
		CHECK_EQUAL(found__.earlier_trial, wanted__.earlier_trial, "earlier trial");     \
		CHECK_EQUAL(found__.foreign, wanted__.foreign, "foreign");                       \
	} while (0)

/* Alone, then as the sixth, the seventeenth and the last of a burst that is sound otherwise. */
static void each_flipped_bit_is_corrupted(judge_fn *run, const struct bed_setup *setup)
{
	static const unsigned int places[] = {5, 16, BURST - 1};
	struct bed *bed = bed_new(setup, run);
	uint64_t sound = 0, corrupted = 0;
	uint32_t seq = 0;

	for (uint32_t bit = 0; bit < setup->class_mbuf_bytes[0] * 8U; bit++) {
		fill(setup, 0, UINT32_MAX, 1);
		frames[0].data[bit / 8] ^= (uint8_t)(1U << bit % 8);
		bed_judge(bed, burst, 1, 2000);
		corrupted++;
		const unsigned int place = places[bit % 3];
		fill(setup, 0, seq++, BURST);
		frames[place].data[bit / 8] ^= (uint8_t)(1U << bit % 8);
		bed_judge(bed, burst, BURST, 2000);
		corrupted++;
		sound += BURST - 1;
		CHECK_EQUAL(bed_counts(bed).corrupted, corrupted, "bit %u", bit);
	}
	CHECK_COUNTS(bed, .in_order = sound, .corrupted = corrupted);
	CHECK_EQUAL(bed->latency.total, sound, "only sound frames have a latency");
	bed_free(bed);
}

/* A port may leave what it likes behind the frame. */
static void bytes_behind_the_frame_do_not_count(judge_fn *run)
{
	struct bed *bed = bed_new(&shortest, run);

	fill(&shortest, 0, 0, BURST);
	for (unsigned int i = 0; i < BURST; i++)
		memset(frames[i].data + 60, (int)i * 5, 68);
	bed_judge(bed, burst, BURST, 2000);
	CHECK_COUNTS(bed, .in_order = BURST);
	bed_free(bed);
}

/* A frame of another length is altered, if enough is left of it to tell whose it was. */
static void truncated_and_extended_are_corrupted(judge_fn *run)
{
	const struct bed_setup both = {.flows = FLOWS, .class_mbuf_bytes = {1514, 60}, .classes = 2,
				       .window_words = 2, .trial = 9};
	struct bed *bed = bed_new(&both, run);
	uint64_t corrupted = 0, foreign = 0;

	for (uint32_t bytes = 0; bytes < 1514; bytes++) {
		fill(&both, 0, 0, 1);
		frames[0].mbufs[0].data_len = (uint16_t)bytes;
		frames[0].mbufs[0].pkt_len = bytes;
		bed_judge(bed, burst, 1, 2000);
		*(bytes < FRAME_OFF_ID ? &foreign : &corrupted) += 1;
		CHECK_EQUAL(bed_counts(bed).corrupted, corrupted, "%u bytes", bytes);
	}
	for (uint32_t bytes = 1515; bytes < 9700; bytes += 13) {
		fill(&both, 0, 0, 1);
		frames[0].mbufs[0].data_len = (uint16_t)bytes;
		frames[0].mbufs[0].pkt_len = bytes;
		bed_judge(bed, burst, 1, 2000);
		/* Longer than any frame of ours: not even looked at. */
		*(bytes > FRAME_BYTES_MAX ? &foreign : &corrupted) += 1;
	}
	CHECK_COUNTS(bed, .corrupted = corrupted, .foreign = foreign);
	bed_free(bed);
}

static void strangers_are_foreign(judge_fn *run)
{
	static const uint8_t heads[][34] = {
		/* ARP request, LLDP, IPv6, a TCP segment, a UDP datagram, nothing at all */
		{255, 255, 255, 255, 255, 255, 2, 0, 0, 0, 0, 9, 8, 6, 0, 1, 8, 0, 6, 4, 0, 1},
		{1, 0x80, 0xc2, 0, 0, 0xe, 2, 0, 0, 0, 0, 9, 0x88, 0xcc, 2, 7, 4, 2, 0, 0, 0, 0, 9},
		{51, 51, 0, 0, 0, 1, 2, 0, 0, 0, 0, 9, 0x86, 0xdd, 0x60, 0, 0, 0, 0, 8, 58, 255},
		{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 9, 8, 0, 0x45, 0, 0, 40, 0, 0, 0x40, 0, 64, 6, 0,
		 0, 10, 0, 0, 1, 10, 0, 0, 2},
		{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 9, 8, 0, 0x45, 0, 0, 40, 0, 0, 0x40, 0, 64, 17, 0,
		 0, 10, 0, 0, 1, 10, 0, 0, 2},
		{0},
	};
	struct bed *bed = bed_new(&shortest, run);
	unsigned int n = sizeof(heads) / sizeof(heads[0]);

	for (unsigned int i = 0; i < n; i++) {
		uint8_t bytes[1514] = {0};
		memcpy(bytes, heads[i], sizeof(heads[i]));
		bed_frame_set(&frames[i], bytes, i % 2 ? 60 : 1514);
	}
	bed_judge(bed, burst, n, 2000);
	CHECK_COUNTS(bed, .foreign = n);
	bed_free(bed);
}

static void old_and_stray_frames_are_told_apart(judge_fn *run)
{
	struct bed *bed = bed_new(&shortest, run);
	const struct frame_fields mine = {.flow = 3, .trial = 9};
	struct frame_fields f;

	f = mine, f.trial = 8;
	bed_frame_write(&frames[0], &shortest, f, 0); /* the trial before */
	f = mine, f.trial = 0;
	bed_frame_write(&frames[1], &shortest, f, 0); /* a priming frame that came late */
	f = mine, f.stream = 1;
	bed_frame_write(&frames[2], &shortest, f, 0); /* due at another port */
	f = mine, f.stream = 2;
	bed_frame_write(&frames[3], &shortest, f, 0); /* the other stream that is due here */
	f = mine, f.stream = BED_STREAMS;
	bed_frame_write(&frames[4], &shortest, f, 0); /* another tester's */
	f = mine, f.flow = FLOWS;
	bed_frame_write(&frames[5], &shortest, f, 0); /* a flow that nobody sends */
	bed_judge(bed, burst, 6, 2000);
	CHECK_COUNTS(bed, .earlier_trial = 2, .misdelivered = 1, .in_order = 1, .foreign = 1,
		     .corrupted = 1);
	CHECK_EQUAL(bed->judge.streams[1].counts.misdelivered, 1, "of the stream that it is of");
	CHECK_EQUAL(bed->judge.streams[2].counts.in_order, 1, "of the stream that it is of");
	bed_free(bed);
}

static void duplicates_are_seen_wherever_they_are(judge_fn *run)
{
	struct bed *bed = bed_new(&shortest, run);
	struct bed_frame *twice[2 * BURST];

	/* each beside its twin */
	fill(&shortest, 0, 0, BURST);
	for (unsigned int i = 0; i < 2 * BURST; i++)
		twice[i] = &frames[i / 2];
	bed_judge(bed, twice, 2 * BURST, 2000);
	CHECK_COUNTS(bed, .in_order = BURST, .duplicated = BURST);
	/* the whole burst again in the same call */
	fill(&shortest, 0, 1, BURST);
	for (unsigned int i = 0; i < 2 * BURST; i++)
		twice[i] = &frames[i % BURST];
	bed_judge(bed, twice, 2 * BURST, 2000);
	CHECK_COUNTS(bed, .in_order = 2 * BURST, .duplicated = 2 * BURST);
	/* and once more, later */
	bed_judge(bed, burst, BURST, 2000);
	CHECK_COUNTS(bed, .in_order = 2 * BURST, .duplicated = 3 * BURST);
	bed_free(bed);
}

/* One loss and one duplicate leave as many frames as were sent, and are still one of each. */
static void a_duplicate_does_not_hide_a_loss(judge_fn *run)
{
	struct bed *bed = bed_new(&shortest, run);

	fill(&shortest, 0, 0, BURST);
	burst[20] = &frames[19];
	bed_judge(bed, burst, BURST, 2000);
	burst[20] = &frames[20];
	CHECK_COUNTS(bed, .in_order = BURST - 1, .duplicated = 1);
	bed_free(bed);
}

/* Overtaken by 1, by 5, by a window, and by more than the window of 128. */
static void reordering_has_its_extent(judge_fn *run)
{
	static const uint32_t extents[] = {1, 5, 127};

	for (unsigned int i = 0; i < RTE_DIM(extents); i++) {
		struct bed *bed = bed_new(&shortest, run);
		for (uint32_t seq = 1; seq <= extents[i]; seq++) {
			fill(&shortest, 7, seq, 1);
			bed_judge(bed, burst, 1, 2000);
		}
		fill(&shortest, 7, 0, 1);
		bed_judge(bed, burst, 1, 2000);
		CHECK_COUNTS(bed, .in_order = extents[i], .reordered = 1,
			     .reorder_extent_max = extents[i]);
		bed_free(bed);
	}
	struct bed *bed = bed_new(&shortest, run);
	fill(&shortest, 7, 128, 1);
	bed_judge(bed, burst, 1, 2000);
	fill(&shortest, 7, 0, 1);
	bed_judge(bed, burst, 1, 2000);
	CHECK_COUNTS(bed, .in_order = 1, .undecided = 1);
	bed_free(bed);
}

/* However a port cuts a frame, it is the same frame. */
static void segments_change_no_verdict(judge_fn *run)
{
	struct random r = {11};
	struct bed *bed = bed_new(&longest, run);
	uint64_t in_order = 0, corrupted = 0, duplicated = 0;

	for (uint32_t seq = 0; seq < 2000; seq++) {
		fill(&longest, 0, seq, 20);
		for (unsigned int i = 0; i < 20; i++) {
			const uint32_t a = random_below(&r, i % 2 ? 70 : 1515);
			const uint32_t b = a + random_below(&r, 1514 - a + 1);
			const bool hit = random_chance(&r, 0.1);
			if (hit)
				damage(&r, frames[i].data, 1514);
			if (random_chance(&r, 0.7))
				bed_frame_cut(&frames[i], a, b);
			in_order += !hit;
			corrupted += hit;
		}
		const bool bulk = bed_judge(bed, burst, 20, 2000);
		for (unsigned int i = 0; i < 20; i++)
			CHECK(!bulk || frames[i].mbufs[0].nb_segs == 1);
		/* a twin in pieces is a twin */
		fill(&longest, 299, seq, 1);
		bed_judge(bed, burst, 1, 2000);
		bed_frame_cut(&frames[0], 30, 50);
		bed_judge(bed, burst, 1, 2000);
		in_order++;
		duplicated++;
	}
	CHECK_COUNTS(bed, .in_order = in_order, .corrupted = corrupted, .duplicated = duplicated);
	CHECK_EQUAL(bed->latency.total, in_order + duplicated, "latency of sound frames");
	bed_free(bed);
}

/* Given back in bulk, an mbuf keeps its chain, its attached buffer and its references. */
static void only_plain_mbufs_go_back_in_bulk(judge_fn *run)
{
	struct bed *bed = bed_new(&longest, run);
	uint32_t seq = 0;

	for (unsigned int place = 0; place < BURST; place += BURST - 1) {
		struct rte_mbuf *m = frames[place].mbufs;
		fill(&longest, 0, seq++, BURST);
		CHECK(bed_judge(bed, burst, BURST, 2000));
		fill(&longest, 0, seq++, BURST);
		m->pool = (struct rte_mempool *)0x2000;
		CHECK(!bed_judge(bed, burst, BURST, 2000));
		fill(&longest, 0, seq++, BURST);
		bed_frame_cut(&frames[place], 100, 200);
		CHECK(!bed_judge(bed, burst, BURST, 2000));
		fill(&longest, 0, seq++, BURST);
		bed_frame_cut(&frames[place], 1514, 1514); /* empty segments: data_len is pkt_len */
		CHECK(!bed_judge(bed, burst, BURST, 2000));
		fill(&longest, 0, seq++, BURST);
		m->ol_flags = RTE_MBUF_F_EXTERNAL; /* mlx5 with mprq_en=1 */
		CHECK(!bed_judge(bed, burst, BURST, 2000));
		fill(&longest, 0, seq++, BURST);
		m->ol_flags = RTE_MBUF_F_INDIRECT;
		CHECK(!bed_judge(bed, burst, BURST, 2000));
		fill(&longest, 0, seq++, BURST);
		m->refcnt = 2;
		CHECK(!bed_judge(bed, burst, BURST, 2000));
	}
	/* What the port found out about a frame does not matter. */
	fill(&longest, 0, seq++, BURST);
	for (unsigned int i = 0; i < BURST; i++)
		frames[i].mbufs[0].ol_flags = RTE_MBUF_F_RX_RSS_HASH;
	CHECK(bed_judge(bed, burst, BURST, 2000));
	CHECK_COUNTS(bed, .in_order = (uint64_t)seq * BURST);
	/* All alike, and all attached. */
	fill(&longest, 0, seq++, BURST);
	for (unsigned int i = 0; i < BURST; i++)
		frames[i].mbufs[0].ol_flags = RTE_MBUF_F_EXTERNAL;
	CHECK(!bed_judge(bed, burst, BURST, 2000));
	bed_free(bed);
}

static void latency_is_now_less_the_stamp_modulo_40_bits(judge_fn *run)
{
	struct bed *bed = bed_new(&shortest, run);

	const struct frame_fields f = {.flow = 1, .trial = 9, .time = FRAME_TIME_MASK - 99};
	bed_frame_write(&frames[0], &shortest, f, 0);
	bed_judge(bed, burst, 1, (UINT64_C(7) << 40) + 400);
	CHECK_EQUAL(bed->latency.max, 500, "over the wrap of the stamp");
	CHECK_EQUAL(bed->latency.min, 500, "over the wrap of the stamp");
	bed_free(bed);
}

/* A bed whose port stamps: stamp 1000 is cycle 50000, and a tick is 2.5 cycles. */
static struct bed *bed_with_stamps(const struct bed_setup *setup, judge_fn *run)
{
	static const struct stamp_clock clock = {.anchor = {1000, 50000}, .tsc_per_stamp = 2.5};
	struct bed *bed = bed_new(setup, run);
	struct judge *j = &bed->judge;

	j->stamp_offset = offsetof(struct rte_mbuf, dynfield1);
	j->stamp_flag = RTE_BIT64(23); /* the first that is free for a dynamic flag */
	j->clock = &clock;
	j->stamp_slack = 300;
	return bed;
}

/* A value in the field; only with the flag does it say when this frame came. */
static void stamp(struct bed_frame *frame, uint64_t ticks, uint64_t flag)
{
	memcpy(&frame->mbufs[0].dynfield1, &ticks, sizeof(ticks));
	frame->mbufs[0].ol_flags = flag | RTE_MBUF_F_RX_RSS_HASH;
}

/* With the port's own stamps every frame has its own latency, and the verdicts stay the same. */
static void hardware_stamps_are_taken_where_they_are(judge_fn *run)
{
	struct bed *bed = bed_with_stamps(&shortest, run);

	fill(&shortest, 0, 0, BURST);
	for (unsigned int i = 0; i < BURST; i++) /* 10 TSC cycles a frame */
		stamp(&frames[i], 1000 + 4 * i, bed->judge.stamp_flag);
	frames[3].data[50] ^= 1;
	burst[9] = &frames[8];
	bed_judge(bed, burst, BURST, 1000000);
	burst[9] = &frames[9];
	CHECK_COUNTS(bed, .in_order = BURST - 2, .corrupted = 1, .duplicated = 1);
	CHECK_EQUAL(bed->latency.min, 49000, "the first");
	CHECK_EQUAL(bed->latency.max, 49000 + 10 * (BURST - 1), "the last");
	CHECK_EQUAL(bed->latency.total, BURST - 1, "all but the damaged one");
	bed_free(bed);
}

/* The field is as the mbuf's last user left it: stale, zero or to come. Nor is `now` taken. */
static void a_frame_that_the_port_did_not_stamp_has_no_latency(judge_fn *run)
{
	static const uint64_t stale[] = {0, 1, 900, 1000, 100000, UINT64_MAX};
	struct bed *bed = bed_with_stamps(&longest, run);
	uint64_t stamped = 0;

	fill(&longest, 0, 0, BURST);
	for (unsigned int i = 0; i < BURST; i++) {
		const bool by_port = i % 3 == 0;
		stamp(&frames[i], by_port ? 1000 + 4 * i : stale[i % RTE_DIM(stale)],
		      by_port ? bed->judge.stamp_flag : 0);
		if (i % 2)
			bed_frame_cut(&frames[i], 100, 200);
		stamped += by_port;
	}
	burst[10] = &frames[8]; /* a twin without a stamp, of another frame without one */
	bed_judge(bed, burst, BURST, 1000000);
	burst[10] = &frames[10];
	CHECK_COUNTS(bed, .in_order = BURST - 1, .duplicated = 1);
	CHECK_EQUAL(bed->latency.total, stamped, "only those that the port stamped");
	CHECK_EQUAL(bed->latency.min, 49000, "the first");
	CHECK_EQUAL(bed->latency.max, 49000 + 10 * (BURST - 3), "the last that was stamped");
	/* Where it stamps none, nothing is known, rather than something from the other clock. */
	bed_free(bed);
	bed = bed_with_stamps(&longest, run);
	fill(&longest, 0, 0, BURST);
	bed_judge(bed, burst, BURST, 1000000);
	CHECK_COUNTS(bed, .in_order = BURST);
	CHECK_EQUAL(bed->latency.total, 0, "none was stamped");
	bed_free(bed);
}

/* A frame cannot have come before it left, nor after it was found. */
static void a_stamp_of_another_clock_is_no_latency(judge_fn *run)
{
	/* It left at 1000 and was found at 61000; with the slack, 700 to 61300. */
	static const struct { int64_t cycle; bool astray; } stamps[] = {
		{600, true}, {710, false}, {1000, false}, {61290, false}, {61400, true},
		{INT64_C(1764000000000000000), true}, /* nanoseconds of UTC */
	};
	for (unsigned int i = 0; i < RTE_DIM(stamps); i++) {
		struct bed *bed = bed_with_stamps(&shortest, run);
		fill(&shortest, 0, 0, 1);
		const double ticks = (double)(stamps[i].cycle - 50000) / 2.5;
		stamp(&frames[0], (uint64_t)(1000 + (int64_t)ticks), bed->judge.stamp_flag);
		bed_judge(bed, burst, 1, 61000);
		CHECK_COUNTS(bed, .in_order = 1);
		CHECK_EQUAL(bed->judge.stamps_astray, stamps[i].astray, "%u", i);
		CHECK_EQUAL(bed->latency.total, !stamps[i].astray, "%u", i);
		if (!stamps[i].astray)
			CHECK(bed->latency.max <= 61000);
		bed_free(bed);
	}
}

/* What was done to the frames of a stream, and what must come of it. */
struct mixer {
	struct random random;
	struct bed_setup setup;
	struct tally tally; /* rows: streams 0 and 2 */
	uint64_t corrupted, misdelivered, earlier_trial, foreign;
	uint32_t flow, seq;
	unsigned int stream;
};

/* The next frame that the tester would have sent, or one that was held up. */
static void mixer_frame(struct mixer *m, struct bed_frame *frame)
{
	struct random *r = &m->random;
	struct frame_fields f = {.stream = (uint8_t)(m->stream * 2), .trial = m->setup.trial,
				 .flow = m->flow, .seq = m->seq, .time = m->seq * 1000U};
	const unsigned int class = random_chance(r, 0.2) ? random_below(r, m->setup.classes) : 0;

	if (random_chance(r, 0.02))
		f.seq -= RTE_MIN(f.seq, random_below(r, 3 * 64));
	else if (++m->flow == m->setup.flows) {
		m->flow = 0;
		m->seq++;
	}
	if (random_chance(r, 0.001))
		m->stream ^= 1;
	if (random_chance(r, 0.02)) { /* a frame was lost before this one */
		m->flow = (m->flow + 1) % m->setup.flows;
	}
	const unsigned int fault = random_below(r, 200);
	if (fault == 0)
		f.trial++;
	else if (fault == 1)
		f.stream = 1;
	else if (fault == 2)
		f.stream = BED_STREAMS;
	bed_frame_write(frame, &m->setup, f, class);
	if (fault == 0)
		m->earlier_trial++;
	else if (fault == 1)
		m->misdelivered++;
	else if (fault == 2)
		m->foreign++;
	else if (fault < 7) {
		damage(r, frame->data, frame->mbufs[0].pkt_len);
		m->corrupted++;
	} else {
		tally_delivered(&m->tally, f.stream / 2, f.flow, f.seq);
	}
	if (random_chance(r, 0.01)) {
		const uint32_t bytes = frame->mbufs[0].pkt_len, a = random_below(r, bytes + 1);
		bed_frame_cut(frame, a, a + random_below(r, bytes - a + 1));
	}
}

/* The same bursts to both builds: their counts are the same, and the right ones. */
static void mixed_faults_are_counted_alike(uint32_t flows, unsigned int words, uint64_t seed)
{
	static struct mixer m;
	struct bed *beds[2] = {NULL};
	judge_fn *const *judges = bed_judges();
	enum { ROUNDS = 3000 };

	m.random.state = seed;
	m.setup = (struct bed_setup){
		.flows = flows,
		.class_mbuf_bytes = {(uint16_t)(60 + random_below(&m.random, 3) * 2), 300, 1514},
		.classes = 1 + random_below(&m.random, 3),
		.window_words = words,
		.expect = (enum frame_expect)random_below(&m.random, 3),
		.trial = (uint8_t)random_next(&m.random)};
	m.corrupted = m.misdelivered = m.earlier_trial = m.foreign = 0;
	m.flow = m.seq = m.stream = 0;
	CHECK(tally_reset(&m.tally, flows, ROUNDS * JUDGE_BURST_MAX / flows + 2, words * 64));
	for (unsigned int i = 0; judges[i] != NULL; i++)
		beds[i] = bed_new(&m.setup, judges[i]);
	for (unsigned int round = 0; round < ROUNDS; round++) {
		const unsigned int n = 1 + random_below(&m.random, JUDGE_BURST_MAX);
		for (unsigned int i = 0; i < n; i++)
			mixer_frame(&m, &frames[i]);
		for (unsigned int i = 0; judges[i] != NULL; i++)
			bed_judge(beds[i], burst, n, 1000000000);
	}
	CHECK_EQUAL(m.tally.outside, 0, "flows %u seed %" PRIu64, flows, seed);
	for (unsigned int i = 0; judges[i] != NULL; i++) {
		const struct tally_counts *a = &m.tally.streams[0], *b = &m.tally.streams[1];
		CHECK_COUNTS(beds[i], .in_order = a->in_order + b->in_order,
			     .reordered = a->reordered + b->reordered,
			     .reorder_extent_max = RTE_MAX(a->reorder_extent_max,
							   b->reorder_extent_max),
			     .duplicated = a->duplicated + b->duplicated,
			     .undecided = a->undecided + b->undecided, .corrupted = m.corrupted,
			     .misdelivered = m.misdelivered, .earlier_trial = m.earlier_trial,
			     .foreign = m.foreign);
		CHECK(memcmp(&beds[i]->latency, &beds[0]->latency, sizeof(struct hist)) == 0);
		CHECK_EQUAL(beds[i]->latency.total, a->in_order + b->in_order + a->reordered +
			    b->reordered + a->duplicated + b->duplicated + a->undecided +
			    b->undecided, "frames with a latency");
	}
	for (unsigned int i = 0; judges[i] != NULL; i++)
		bed_free(beds[i]);
}

int main(void)
{
	judge_fn *const *judges = bed_judges();

	frame_filler_init();
	for (unsigned int i = 0; i < JUDGE_BURST_MAX; i++)
		burst[i] = &frames[i];
	for (unsigned int i = 0; judges[i] != NULL; i++) {
		each_flipped_bit_is_corrupted(judges[i], &shortest);
		each_flipped_bit_is_corrupted(judges[i], &longest);
		bytes_behind_the_frame_do_not_count(judges[i]);
		truncated_and_extended_are_corrupted(judges[i]);
		strangers_are_foreign(judges[i]);
		old_and_stray_frames_are_told_apart(judges[i]);
		duplicates_are_seen_wherever_they_are(judges[i]);
		a_duplicate_does_not_hide_a_loss(judges[i]);
		reordering_has_its_extent(judges[i]);
		segments_change_no_verdict(judges[i]);
		only_plain_mbufs_go_back_in_bulk(judges[i]);
		latency_is_now_less_the_stamp_modulo_40_bits(judges[i]);
		hardware_stamps_are_taken_where_they_are(judges[i]);
		a_frame_that_the_port_did_not_stamp_has_no_latency(judges[i]);
		a_stamp_of_another_clock_is_no_latency(judges[i]);
	}
	for (uint64_t seed = 1; seed <= 8; seed++) {
		mixed_faults_are_counted_alike(1, 1, seed);
		mixed_faults_are_counted_alike(7, 4, seed);
		mixed_faults_are_counted_alike(256, 1, seed);
		mixed_faults_are_counted_alike(1000, 2, seed);
	}
	return check_end();
}
