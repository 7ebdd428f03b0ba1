/* SPDX-License-Identifier: BSD-3-Clause */
/* The window's verdicts are those of a model that remembers every frame for ever. */
#include <stdlib.h>
#include <string.h>

#include "../seqwin.h"
#include "check.h"
#include "random.h"
#include "tally.h"

enum { SPAN = 1 << 16, FLOWS = 3 };


struct stream {
	uint32_t first; /* the sequence number that the model calls 0 */
	double lose, repeat, delay;
	uint32_t late_most; /* a repeated or delayed frame comes back from so far */
};

static uint64_t verdicts_of(const struct tally_counts *c, enum seqwin_verdict v)
{
	const uint64_t counts[] = {[SEQWIN_IN_ORDER] = c->in_order,
				   [SEQWIN_REORDERED] = c->reordered,
				   [SEQWIN_DUPLICATE] = c->duplicated,
				   [SEQWIN_UNDECIDED] = c->undecided};
	return counts[v];
}

/* One frame to both. In order mostly goes the way of the hot path, past seqwin_judge(). */
static void one(struct seqwin *w, struct tally *model, struct random *r, uint32_t flow,
		uint32_t number, uint32_t first)
{
	const struct tally_counts before = model->streams[0];
	const uint32_t seq = first + number;
	uint32_t extent = 0;
	enum seqwin_verdict verdict = SEQWIN_IN_ORDER;

	if (w->next[flow] == seq && !random_chance(r, 0.1))
		w->next[flow]++;
	else
		verdict = seqwin_judge(w, flow, seq, &extent);
	model->streams[0].reorder_extent_max = 0;
	tally_delivered(model, 0, flow, number);
	CHECK_EQUAL(verdicts_of(&model->streams[0], verdict), verdicts_of(&before, verdict) + 1,
		    "verdict %d, window %u, first %u, number %u", verdict, w->words * 64, first,
		    number);
	CHECK_EQUAL(extent, model->streams[0].reorder_extent_max, "number %u", number);
}

static void verdicts_are_the_models(unsigned int words, struct stream s, uint64_t seed)
{
	struct random r = {seed};
	uint32_t next[FLOWS], at[FLOWS], sent[FLOWS] = {0};
	struct seqwin w = {.next = next, .at = at, .words = words};
	struct tally model = {0};

	w.bits = calloc((size_t)FLOWS * words, sizeof(*w.bits));
	CHECK(w.bits != NULL && tally_reset(&model, FLOWS, SPAN, words * 64));
	for (unsigned int i = 0; i < FLOWS; i++)
		next[i] = at[i] = s.first;
	while (sent[0] < SPAN - 1 && sent[1] < SPAN - 1 && sent[2] < SPAN - 1) {
		const uint32_t flow = random_below(&r, FLOWS);
		const uint32_t back = 1 + random_below(&r, s.late_most);
		if (random_chance(&r, s.lose)) /* and now and then a gap wider than the window */
			sent[flow] += RTE_MIN(random_chance(&r, 0.02) ? words * 64 * 2 : 1,
					      SPAN - 2 - sent[flow]);
		one(&w, &model, &r, flow, sent[flow]++, s.first);
		if (random_chance(&r, s.repeat))
			one(&w, &model, &r, flow, sent[flow] - 1, s.first);
		if (random_chance(&r, s.delay) && back < sent[flow])
			one(&w, &model, &r, flow, sent[flow] - 1 - back, s.first);
	}
	CHECK_EQUAL(model.outside, 0, "outside");
	CHECK(s.delay == 0 || model.streams[0].reordered > 0);
	CHECK(s.delay == 0 || model.streams[0].duplicated > 0);
	CHECK(s.late_most <= words * 64 || model.streams[0].undecided > 0);
	free(w.bits);
	(void)tally_reset(&model, 0, 0, 0);
}

int main(void)
{
	/* Around 0, over the sign bit of the difference, and over the wrap. */
	static const uint32_t firsts[] = {0, 0x7fff8000, UINT32_MAX - 20000};
	uint64_t seed = 1;

	for (unsigned int words = 1; words <= 16; words *= 4)
		for (unsigned int i = 0; i < RTE_DIM(firsts); i++) {
			const uint32_t window = words * 64;
			const struct stream streams[] = {
				{firsts[i], 0, 0, 0, 1},
				{firsts[i], .1, .05, .2, window},
				{firsts[i], .5, .3, .5, 2 * window},
				{firsts[i], .01, .01, .01, window + 2},
			};
			for (unsigned int k = 0; k < RTE_DIM(streams); k++)
				verdicts_are_the_models(words, streams[k], seed++);
		}
	return check_end();
}
