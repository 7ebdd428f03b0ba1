/* SPDX-License-Identifier: BSD-3-Clause */
#include "tally.h"

#include <stdlib.h>
#include <string.h>

bool tally_reset(struct tally *t, uint32_t flows, uint32_t span, uint32_t window)
{
	free(t->seen);
	free(t->next);
	*t = (struct tally){.flows = flows, .span = span, .window = window};
	t->seen = calloc((size_t)TALLY_STREAMS * flows, span);
	t->next = calloc((size_t)TALLY_STREAMS * flows, sizeof(*t->next));
	return t->seen != NULL && t->next != NULL;
}

void tally_delivered(struct tally *t, unsigned int stream, uint32_t flow, uint32_t seq)
{
	if (stream >= TALLY_STREAMS || flow >= t->flows || seq >= t->span) {
		t->outside++;
		return;
	}
	struct tally_counts *c = &t->streams[stream];
	const size_t row = (size_t)stream * t->flows + flow;
	uint8_t *seen = &t->seen[row * t->span + seq];
	uint32_t *next = &t->next[row];

	if (seq < *next && *next - seq > t->window) {
		c->undecided++;
	} else if (*seen) {
		c->duplicated++;
	} else if (seq < *next) {
		const uint64_t extent = *next - 1 - seq;
		c->reordered++;
		if (extent > c->reorder_extent_max)
			c->reorder_extent_max = extent;
	} else {
		c->in_order++;
		*next = seq + 1;
	}
	*seen = 1;
}
