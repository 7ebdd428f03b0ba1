/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Any frames, in any bursts: each is judged exactly once, alike by both builds of the judge.
 *
 * The input is a small program. Its first bytes choose the setup; then each byte makes a frame:
 * the next of a stream, one again or ahead, one with bytes changed, or bytes as they are in the
 * input; in one segment or more.
 */
#include <stdlib.h>

#include "../tests/bed.h"

#define DEMAND(condition)                                                                        \
	do {                                                                                     \
		if (!(condition))                                                                \
			abort();                                                                 \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

struct input {
	const uint8_t *data;
	size_t left;
};

/* Zeros for ever at its end. */
static uint8_t next(struct input *in)
{
	if (in->left == 0)
		return 0;
	in->left--;
	return *in->data++;
}

static struct bed_setup setup_from(struct input *in)
{
	static const uint32_t flows[] = {1, 7, 17, 255, 256, 257, 600, 1024};
	static const uint16_t sizes[] = {60, 61, 64, 124, 300, 1514, 9596, 100};
	const uint8_t a = next(in), b = next(in);

	return (struct bed_setup){
		.flows = flows[a % 8],
		.classes = 1 + a / 8 % 3,
		.expect = (enum frame_expect)(a / 32 % 3),
		.class_mbuf_bytes = {sizes[b % 8], sizes[b / 8 % 8], sizes[b / 64]},
		.window_words = 1,
		.trial = 1,
	};
}

struct source {
	uint32_t flow, seq;
	uint64_t now;
};

static void frame_from(struct input *in, const struct bed_setup *setup, struct source *s,
		       struct bed_frame *frame)
{
	const uint8_t op = next(in);
	struct frame_fields f = {.trial = 1, .flow = s->flow, .seq = s->seq, .time = s->now};
	uint8_t raw[UINT8_MAX], count;

	switch (op >> 4) {
	case 0: /* bytes as they are */
		count = next(in);
		for (unsigned int i = 0; i < count; i++)
			raw[i] = next(in);
		bed_frame_set(frame, raw, count);
		break;
	case 1: /* again, late or ahead */
		f.seq += (uint32_t)(int8_t)next(in);
		bed_frame_write(frame, setup, f, op % setup->classes);
		break;
	case 2: /* of another stream, trial or flow */
		f.stream = next(in);
		f.trial = next(in) % 3;
		f.flow = next(in) * 3U % 700;
		bed_frame_write(frame, setup, f, op % setup->classes);
		break;
	default: /* the next */
		bed_frame_write(frame, setup, f, op >= 0xf0 ? op % setup->classes : 0);
		if (++s->flow == setup->flows) {
			s->flow = 0;
			s->seq++;
		}
	}
	const uint8_t change = op >> 4 < 12 ? 0 : next(in) % 8;
	for (unsigned int i = 0; i < change && frame->mbufs[0].pkt_len > 0; i++) {
		const uint32_t at = (uint32_t)next(in) << 8 | next(in);
		frame->data[at % RTE_MIN(frame->mbufs[0].pkt_len, i % 2 ? 64U : 9600U)] ^= next(in);
	}
	if ((op & 0xc) == 0xc) {
		const uint32_t pkt_len = frame->mbufs[0].pkt_len;
		const uint32_t cut = next(in) % (pkt_len + 1);
		bed_frame_cut(frame, cut, cut + next(in) % (pkt_len - cut + 1));
	}
}

static bool is_plain(struct bed_frame *const *frames, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		if (frames[i]->mbufs[0].nb_segs > 1)
			return false;
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static struct bed_frame frames[JUDGE_BURST_MAX];
	struct bed_frame *burst[JUDGE_BURST_MAX];
	struct input in = {data, bytes};
	const struct bed_setup setup = setup_from(&in);
	struct source source = {.now = 1000};
	struct bed *beds[3] = {NULL};
	uint64_t judged = 0;

	frame_filler_init();
	for (unsigned int i = 0; i < JUDGE_BURST_MAX; i++)
		burst[i] = &frames[i];
	for (unsigned int b = 0; bed_judges()[b] != NULL; b++)
		beds[b] = bed_new(&setup, bed_judges()[b]);
	while (in.left > 0) {
		const unsigned int most = 1 + next(&in) % JUDGE_BURST_MAX;
		unsigned int n = 0;
		while (n < most && in.left > 0)
			frame_from(&in, &setup, &source, &frames[n++]);
		if (n == 0)
			break;
		source.now += next(&in);
		judged += n;
		const uint64_t arrival = source.now + 500;
		for (unsigned int b = 0; beds[b] != NULL; b++)
			DEMAND(bed_judge(beds[b], burst, n, arrival) == is_plain(burst, n));
	}
	for (unsigned int b = 0; beds[b] != NULL; b++) {
		const struct judge_counts c = bed_counts(beds[b]), first = bed_counts(beds[0]);
		DEMAND(bed_judged(&c) == judged);
		DEMAND(memcmp(&c, &first, sizeof(c)) == 0);
		DEMAND(memcmp(&beds[b]->latency, &beds[0]->latency, sizeof(struct hist)) == 0);
		DEMAND(beds[b]->latency.total ==
		       c.in_order + c.reordered + c.duplicated + c.undecided);
	}
	for (unsigned int b = 0; beds[b] != NULL; b++)
		bed_free(beds[b]);
	return 0;
}
