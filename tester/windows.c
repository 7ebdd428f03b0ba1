/* SPDX-License-Identifier: BSD-3-Clause */
#include "windows.h"

#include <string.h>

#include <rte_common.h>
#include <rte_cycles.h>

#include "worker.h"

static const double LEAD_SECONDS = 10e-6; /* until a window's first frame is due */

static void add(struct judge_counts *to, const struct judge_counts *from, int64_t sign)
{
	const uint64_t times = (uint64_t)sign;

	to->in_order += times * from->in_order;
	to->reordered += times * from->reordered;
	to->duplicated += times * from->duplicated;
	to->undecided += times * from->undecided;
	to->corrupted += times * from->corrupted;
	to->misdelivered += times * from->misdelivered;
	to->earlier_trial += times * from->earlier_trial;
	to->foreign += times * from->foreign;
	/* The largest of the trial so far: which window it came from is not kept. */
	to->reorder_extent_max = RTE_MAX(to->reorder_extent_max, from->reorder_extent_max);
}

/* All that this loop sent and judged until now. */
static void count(const struct worker *w, struct window_stream *streams)
{
	memset(streams, 0, CONFIG_STREAMS_MAX * sizeof(*streams));
	for (unsigned int i = 0; i < w->tx_count; i++) {
		const struct tx_queue *q = w->tx[i];
		struct window_stream *s = &streams[q->stream];
		s->offered += q->offered;
		s->refused += q->refused;
		s->no_mbuf += q->no_mbuf;
	}
	for (unsigned int i = 0; i < w->rx_count; i++)
		for (unsigned int k = 0; k < w->windows->config->stream_count; k++)
			add(&streams[k].counts, &w->rx[i]->judge.streams[k].counts, 1);
}

void windows_begin(struct worker *w)
{
	struct windows *ws = w->windows;
	struct window *x = &ws->list[ws->begun++];
	const double hz = (double)rte_get_tsc_hz();

	watch_all(ws->config->watch, ws->config->watch_count, ws->reading, NULL);
	ws->looked = false;
	count(w, ws->before.streams);
	ws->gap_max = RTE_MAX(ws->gap_max, w->stalls.longest);
	worker_departs_anew(w);
	x->stalled = w->stalls.sum;

	const uint64_t start = rte_rdtsc() + (uint64_t)(LEAD_SECONDS * hz);
	for (unsigned int i = 0; i < w->tx_count; i++) {
		struct tx_queue *q = w->tx[i];
		q->pace.start = start;
		q->pace.next = q->window_phase;
		q->frames_left = q->window_frames;
		q->deadline = start + q->window_cycles;
		q->last_departure = 0;
		q->stopped_at = 0;
	}
}

static void close_window(struct worker *w)
{
	struct windows *ws = w->windows;
	struct window *x = &ws->list[ws->begun - 1];
	uint64_t sent = 0, came = 0;

	count(w, x->streams);
	for (unsigned int i = 0; i < CONFIG_STREAMS_MAX; i++) {
		const struct window_stream *before = &ws->before.streams[i];
		x->streams[i].offered -= before->offered;
		x->streams[i].refused -= before->refused;
		x->streams[i].no_mbuf -= before->no_mbuf;
		add(&x->streams[i].counts, &before->counts, -1);
	}
	for (unsigned int i = 0; i < w->tx_count; i++) {
		const struct tx_queue *q = w->tx[i];
		if (ws->config->load_pps > 0)
			x->streams[q->stream].left += q->frames_left;
		x->length = RTE_MAX(x->length, q->stopped_at - q->pace.start);
		sent = RTE_MAX(sent, q->last_departure);
	}
	for (unsigned int i = 0; i < w->rx_count; i++)
		came = RTE_MAX(came, w->rx[i]->last_frame);
	x->drain = sent > 0 && came > sent ? came - sent : 0;
	x->stalled = w->stalls.sum - x->stalled;
	x->gap_max = w->stalls.longest;
	watch_all(ws->config->watch, ws->config->watch_count, ws->reading,
		  ws->looked ? x->drain_away_ns : x->away_ns);
	ws->closed = true;
}

/* When the last queue stopped sending; 0 while one sends. */
static uint64_t sent_at(const struct worker *w)
{
	uint64_t last = 0;

	for (unsigned int i = 0; i < w->tx_count; i++) {
		if (w->tx[i]->stopped_at == 0)
			return 0;
		last = RTE_MAX(last, w->tx[i]->stopped_at);
	}
	return last;
}

/* Whether every frame that a port took is back. A duplicate makes up for none. */
static bool all_back(const struct worker *w)
{
	uint64_t accepted = 0, received = 0;

	for (unsigned int i = 0; i < w->tx_count; i++)
		accepted += w->tx[i]->offered - w->tx[i]->refused;
	for (unsigned int i = 0; i < w->rx_count; i++)
		for (unsigned int k = 0; k < w->windows->config->stream_count; k++) {
			const struct judge_counts *c = &w->rx[i]->judge.streams[k].counts;
			received += c->in_order + c->reordered;
		}
	return received >= accepted;
}

bool windows_turn(struct worker *w, uint64_t now)
{
	struct windows *ws = w->windows;
	const uint64_t sent = sent_at(w);
	uint64_t quiet_since = sent;

	if (sent == 0 || ws->finished)
		return false;
	if (all_back(w)) {
		close_window(w);
		if (ws->begun == ws->count || __atomic_load_n(&ws->cut, __ATOMIC_RELAXED)) {
			__atomic_store_n(&ws->finished, true, __ATOMIC_RELAXED);
			return true;
		}
		ws->closed = false;
		windows_begin(w);
		return true;
	}
	for (unsigned int i = 0; i < w->rx_count; i++)
		quiet_since = RTE_MAX(quiet_since, w->rx[i]->last_frame);
	if (now > quiet_since + ws->quiet) {
		/* A frame that comes later still must not be the next window's: there is none. */
		__atomic_store_n(&ws->finished, true, __ATOMIC_RELAXED);
		return false;
	}
	if (!ws->looked && now > sent + ws->look) {
		watch_all(ws->config->watch, ws->config->watch_count, ws->reading,
			  ws->list[ws->begun - 1].away_ns);
		ws->looked = true;
		return true;
	}
	return false;
}

void windows_end(struct worker *w)
{
	if (!w->windows->closed)
		close_window(w);
	w->windows->gap_max = RTE_MAX(w->windows->gap_max, w->stalls.longest);
}
