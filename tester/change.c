/* SPDX-License-Identifier: BSD-3-Clause */
#include "change.h"

#include "state.h"

void change_init(struct tx_queue *q, const struct config_trial *c, unsigned int queue,
		 unsigned int queues, uint64_t hz)
{
	if (c->then_pps == 0)
		return;
	const double pps = c->then_pps / c->stream_count;
	const uint64_t frames = (uint64_t)(pps * (c->seconds - c->then_after_seconds) + 0.5);

	q->then_frames = frames / queues + (queue < frames % queues);
	q->then_cycles = q->burst / (pps / queues) * (double)hz;
}

void change_turn(struct tx_queue *q, uint64_t now)
{
	q->frames_left = q->then_frames;
	q->then_frames = 0;
	q->changed_at = now;
	/* The first burst is due one interval of the former load after the last one. */
	q->pace = pace_of(pace_next(&q->pace), q->then_cycles, 0);
}

/* Number of the frame that would follow the last one of a flow, as its sender counts. */
static uint32_t sent_of(const struct tx_queue *q, uint32_t flow)
{
	return q->seq + (flow < q->flow);
}

/* And as those who judge do: a flow may come back at any queue. */
static uint32_t came_of(const struct state *s, unsigned int stream, uint32_t flow)
{
	const unsigned int port = s->config->streams[stream].rx_port;
	uint32_t next = 0;

	for (unsigned int k = 0; k < s->tester->ports[port].config.rx_queues; k++)
		next = RTE_MAX(next, s->rx[port][k]->judge.streams[stream].window.next[flow]);
	return next;
}

/* No later frame shows that the last one of a flow is missing. */
static bool last_is_missing(const struct state *s, const struct tx_queue *q)
{
	for (uint32_t flow = q->flow_first; flow < q->flow_end; flow++)
		if (came_of(s, q->stream, flow) != sent_of(q, flow))
			return true;
	return false;
}

/*
 * A frame that came after a gap left a round of all flows after the one that is missing. That is
 * the time of the last loss, to within a burst. Where a flow's last frame is missing it is the end
 * of sending, to within a round.
 */
struct change change_collect(const struct state *s, uint64_t start)
{
	const struct config_trial *c = s->config;
	struct change change = {0};
	uint64_t lost = 0;

	if (c->then_pps == 0)
		return change;
	const uint64_t round = (uint64_t)(c->flows * c->stream_count / c->then_pps * (double)s->hz);
	EACH_QUEUE(s, tx, q) {
		if (q->changed_at == 0)
			return change;
		change.at = RTE_MAX(change.at, q->changed_at);
		if (last_is_missing(s, q))
			lost = RTE_MAX(lost, q->last_departure);
	}
	EACH_QUEUE(s, rx, q)
		if (q->judge.gap_shown > round)
			lost = RTE_MAX(lost, q->judge.gap_shown - round);
	change.last_loss = lost > change.at ? lost - change.at : 0;
	change.at -= start;
	return change;
}
