/* SPDX-License-Identifier: BSD-3-Clause */
#include "state.h"

#include <stdlib.h>
#include <string.h>

#include "change.h"
#include "prime.h"

static const double BURST_SECONDS = 4e-6;       /* at low loads bursts are this much traffic */
static const double WINDOW_QUIET_SECONDS = 0.02; /* or the settling time, if that is shorter */
static const double STAMP_SLACK_SECONDS = 100e-6; /* by which two clocks may differ */
static const double WINDOW_LOOK_SECONDS = 200e-6; /* what a DUT that keeps up drains in */

static void *zalloc(struct state *s, size_t bytes)
{
	void *p = aligned_alloc(RTE_CACHE_LINE_SIZE, RTE_ALIGN_CEIL(bytes, RTE_CACHE_LINE_SIZE));
	if (p != NULL) {
		memset(p, 0, bytes); /* and touch every page now, not in the hot loop */
		s->result->state_bytes += bytes;
	}
	return p;
}

static uint8_t trial_byte(const struct config_trial *c)
{
	return (uint8_t)(c->number % 255 + 1); /* 0 is the priming frames' */
}

/* As many frames of reordering as 8 Mbit of windows allow, from 64 up. */
static unsigned int window_words(const struct config_trial *c)
{
	if (c->window_frames != 0)
		return c->window_frames / 64;
	unsigned int words = (1U << 23) / 64 / RTE_MAX(c->flows, 128U);
	return words == 0 ? 1 : rte_align32prevpow2(words);
}

static int window_init(struct state *s, struct seqwin *w)
{
	const size_t flows = RTE_ALIGN_CEIL(s->config->flows, FRAME_LO);

	w->words = window_words(s->config);
	w->next = zalloc(s, flows * sizeof(*w->next));
	w->at = zalloc(s, flows * sizeof(*w->at));
	w->bits = zalloc(s, flows * w->words * sizeof(*w->bits));
	return w->next == NULL || w->at == NULL || w->bits == NULL ? -1 : 0;
}

int state_stream_from(const struct config_trial *c, unsigned int port)
{
	for (unsigned int i = 0; i < c->stream_count; i++)
		if (c->streams[i].tx_port == port)
			return (int)i;
	return -1;
}

static unsigned int stream_home(const struct config_trial *c, unsigned int port)
{
	for (unsigned int i = 0; i < c->stream_count; i++)
		if (c->streams[i].rx_port == port)
			return i;
	return 0;
}

static void mix_init(struct state *s)
{
	const struct config_trial *c = s->config;
	unsigned int at = 0;

	for (unsigned int i = 0; i < c->mix_count; i++)
		s->class_mbuf_bytes[i] = (uint16_t)(c->mix[i].frame_bytes - FRAME_FCS_BYTES);
	/* One frame of each size in turn while it has weight left, so that sizes alternate. */
	for (unsigned int round = 0; round < CONFIG_WEIGHT_MAX; round++)
		for (unsigned int i = 0; i < c->mix_count; i++)
			if (c->mix[i].weight > round && at < TX_PATTERN_MAX)
				s->pattern[at++] = (uint8_t)i;
	s->pattern_length = c->mix_count == 1 ? 1 : at;
}

static int tables_init(struct state *s, unsigned int i)
{
	const struct config_trial *c = s->config;
	const struct config_stream *stream = &c->streams[i];
	const struct port *port = &s->tester->ports[stream->tx_port];
	const struct frame_address sent = prime_address(port);
	const struct frame_address *back = s->tester->is_learned[stream->tx_port]
						   ? &s->tester->learned[stream->tx_port]
						   : &sent;

	s->result->state_bytes += 2 * RTE_ALIGN_CEIL(c->flows, FRAME_LO) / FRAME_LO * sizeof(vec64);
	if (frame_tables_init(&s->sent[i], &sent, (uint8_t)i, trial_byte(c), c->flows,
			      s->class_mbuf_bytes, c->mix_count, FRAME_AS_SENT) < 0)
		return -1;
	return frame_tables_init(&s->expected[i], back, (uint8_t)i, trial_byte(c), c->flows,
				 s->class_mbuf_bytes, c->mix_count, c->expect);
}

uint64_t state_sending_cycles(const struct state *s, double seconds)
{
	const double late = s->config->load_pps > 0 ? 0.001 + 0.01 * seconds : 0;
	return (uint64_t)((seconds + late) * (double)s->hz);
}

static int tx_init(struct state *s, unsigned int port, unsigned int queue)
{
	const struct config_trial *c = s->config;
	const struct port *p = &s->tester->ports[port];
	const unsigned int queues = p->config.tx_queues;
	const int stream = state_stream_from(c, port);
	if (stream < 0)
		return 0;
	struct tx_queue *q = s->tx[port][queue] = zalloc(s, sizeof(*q));
	if (q == NULL || (q->intervals = zalloc(s, sizeof(struct hist))) == NULL)
		return -1;

	const double load_pps = c->load_pps / c->stream_count / queues; /* of this queue */
	const double seconds = c->then_pps > 0 ? c->then_after_seconds : c->seconds;
	const uint64_t frames = (uint64_t)(c->load_pps / c->stream_count * seconds + 0.5);
	hist_reset(q->intervals);
	q->tables = &s->sent[stream];
	q->pool = p->tx_pool;
	q->direct = p->direct == NULL ? NULL : &p->direct->tx[queue];
	q->port = p->id;
	q->queue = (uint16_t)queue;
	q->flow_first = q->flow = (uint32_t)((uint64_t)c->flows * queue / queues);
	q->flow_end = (uint32_t)((uint64_t)c->flows * (queue + 1) / queues);
	q->pattern = s->pattern;
	q->pattern_length = s->pattern_length;
	q->class_mbuf_bytes = s->class_mbuf_bytes;
	q->burst = c->burst_frames;
	q->frames_left = UINT64_MAX;
	q->stream = (unsigned int)stream;
	if (c->load_pps > 0) {
		const double smooth = load_pps * BURST_SECONDS;
		q->burst = (uint16_t)RTE_MAX(1.0, RTE_MIN((double)c->burst_frames, smooth));
		q->frames_left = frames / queues + (queue < frames % queues);
		q->pace = pace_of(0, q->burst / load_pps * (double)s->hz, (double)queue / queues);
		s->result->interval_intended_ns = q->burst / load_pps * 1e9;
		change_init(q, c, queue, queues, s->hz);
	}
	q->burst_most = q->burst;
	if (c->windows > 0) {
		q->window_frames = c->load_pps > 0 ? RTE_MAX(q->frames_left / c->windows, 1U)
						   : UINT64_MAX;
		q->window_cycles = state_sending_cycles(s, c->seconds / c->windows);
		q->window_phase = q->pace.next;
	}
	return 0;
}

static int rx_init(struct state *s, unsigned int port, unsigned int queue)
{
	const struct config_trial *c = s->config;
	const struct port *p = &s->tester->ports[port];
	struct rx_queue *q = s->rx[port][queue] = zalloc(s, sizeof(*q));
	if (q == NULL || (q->judge.latency = zalloc(s, sizeof(struct hist))) == NULL)
		return -1;
	struct judge *j = &q->judge;

	hist_reset(j->latency);
	q->direct = p->direct == NULL ? NULL : &p->direct->rx[queue];
	q->port = p->id;
	q->queue = (uint16_t)queue;
	j->stream_count = c->stream_count;
	j->home = stream_home(c, port);
	j->class_mbuf_bytes = s->class_mbuf_bytes;
	j->class_count = c->mix_count;
	j->trial = trial_byte(c);
	j->stamp_offset = p->stamp_offset;
	j->stamp_flag = p->stamp_flag;
	j->stamp_slack = (uint64_t)(STAMP_SLACK_SECONDS * (double)s->hz);
	for (unsigned int i = 0; i < c->stream_count; i++) {
		j->streams[i].expected = &s->expected[i];
		j->streams[i].due_here = c->streams[i].rx_port == port;
		if (j->streams[i].due_here && window_init(s, &j->streams[i].window) < 0)
			return -1;
	}
	judge_unaim(j);
	return 0;
}

uint32_t state_flows_at_two_queues(const struct state *s, unsigned int stream)
{
	const unsigned int port = s->config->streams[stream].rx_port;
	uint32_t split = 0;

	for (uint32_t flow = 0; flow < s->config->flows; flow++) {
		unsigned int seen = 0;
		for (unsigned int q = 0; q < s->tester->ports[port].config.rx_queues; q++)
			seen += s->rx[port][q]->judge.streams[stream].window.next[flow] != 0;
		split += seen > 1;
	}
	return split;
}

uint64_t state_refused(const struct state *s, unsigned int port)
{
	uint64_t refused = 0;

	for (unsigned int q = 0; q < s->tester->ports[port].config.tx_queues; q++)
		if (s->tx[port][q] != NULL)
			refused += s->tx[port][q]->refused;
	return refused;
}

static void workers_init(struct state *s)
{
	const struct tester *t = s->tester;

	for (unsigned int i = 0; i < t->worker_count; i++) {
		const struct config_worker *c = &t->worker_config[i];
		struct worker *w = &s->workers[i];
		*w = (struct worker){
			.lcore = c->lcore,
			.build = t->build,
			.judge = t->judge,
			.keep_frames_in_step = s->config->load_pps > 0,
			.gap_limit = (uint64_t)(s->config->gap_limit_seconds * (double)s->hz),
		};
		for (unsigned int k = 0; k < c->tx_count; k++)
			if (s->tx[c->tx[k].port][c->tx[k].queue] != NULL)
				w->tx[w->tx_count++] = s->tx[c->tx[k].port][c->tx[k].queue];
		for (unsigned int k = 0; k < c->rx_count; k++)
			w->rx[w->rx_count++] = s->rx[c->rx[k].port][c->rx[k].queue];
	}
}

static int windows_init(struct state *s)
{
	const struct config_trial *c = s->config;

	if (c->windows == 0)
		return 0;
	s->windows = (struct windows){
		.config = c,
		.list = zalloc(s, c->windows * sizeof(struct window)),
		.count = c->windows,
		.quiet = (uint64_t)(RTE_MIN(WINDOW_QUIET_SECONDS, c->settle_seconds) *
				    (double)s->hz),
		.look = (uint64_t)(WINDOW_LOOK_SECONDS * (double)s->hz),
	};
	s->result->windows = zalloc(s, c->windows * sizeof(struct trial_window));
	s->workers[0].windows = &s->windows;
	return s->windows.list == NULL || s->result->windows == NULL ? -1 : 0;
}

int state_init(struct state *s)
{
	mix_init(s);
	for (unsigned int i = 0; i < s->config->stream_count; i++)
		if (tables_init(s, i) < 0)
			return -1;
	for (unsigned int p = 0; p < s->tester->port_count; p++) {
		for (unsigned int q = 0; q < s->tester->ports[p].config.tx_queues; q++)
			if (tx_init(s, p, q) < 0)
				return -1;
		for (unsigned int q = 0; q < s->tester->ports[p].config.rx_queues; q++)
			if (rx_init(s, p, q) < 0)
				return -1;
	}
	stamps_begin(s);
	workers_init(s);
	return windows_init(s);
}

void state_free(struct state *s)
{
	for (unsigned int i = 0; i < CONFIG_STREAMS_MAX; i++) {
		frame_tables_free(&s->sent[i]);
		frame_tables_free(&s->expected[i]);
	}
	for (unsigned int p = 0; p < CONFIG_PORTS_MAX; p++)
		for (unsigned int q = 0; q < CONFIG_QUEUES_MAX; q++) {
			if (s->tx[p][q] != NULL)
				free(s->tx[p][q]->intervals);
			free(s->tx[p][q]);
			if (s->rx[p][q] == NULL)
				continue;
			for (unsigned int i = 0; i < JUDGE_STREAMS_MAX; i++) {
				struct seqwin *w = &s->rx[p][q]->judge.streams[i].window;
				free(w->next);
				free(w->at);
				free(w->bits);
			}
			free(s->rx[p][q]->judge.latency);
			free(s->rx[p][q]);
		}
	free(s->windows.list);
	free(s);
}
