/* SPDX-License-Identifier: BSD-3-Clause */
#include "worker.h"

#include <rte_cycles.h>
#include <rte_ethdev.h>

#include "change.h"

/*
 * A pass shorter than this is the loop's own work or a timer tick, and is caught up with. A longer
 * one is looked into: the time in which the thread was away is a stall, and the schedule waits with
 * the loop; the rest was work, however slow.
 */
static const double LONG_PASS_SECONDS = 50e-6;

/*
 * Judging 32 long frames that lie in another core's cache takes 10 us, and 30 us where the cores
 * lie far apart. Where a pass gets long by its own work, bursts get shorter: what is received, and
 * where the load is `max` what is sent, or the rings would fill up. After a while without a long
 * pass they get longer again: an interrupt looks like work as well, and a loop over net_ring whose
 * bursts stayed at 8 frames took 18 cycles a frame instead of 9.
 */
enum {
	RX_BURST = 32,
	RX_BURST_SHORT_FRAMES = JUDGE_BURST_MAX,
	BURST_LEAST = 8,
	HALVINGS_MOST = 4, /* of 128 */
	SHORT_BYTES = 256,
};
static const double CALM_SECONDS = 0.01; /* one long pass in this time is 0.5 % of it */

/* Cycles; in the most a DUT of 10 Mpps reads 70 frames: less than a ring of 128 holds. */
enum { AWAY_LEAST = 256, AWAY_MOST = 16384 };

/* Composes and sends. Gives how many the ring behind the port took; -1: there were no mbufs. */
static int send_frames(const struct worker *w, struct tx_queue *q, unsigned int n, uint64_t now)
{
	struct rte_mbuf *mbufs[TX_BURST_MAX];

	if (q->direct != NULL) {
		const unsigned int room = direct_tx_take(q->direct, mbufs, n);
		w->build(q, mbufs, n, now);
		direct_tx_give(q->direct, mbufs, room);
		return (int)room;
	}
	if (unlikely(rte_mempool_get_bulk(q->pool, (void **)mbufs, n) < 0))
		return -1;
	w->build(q, mbufs, n, now);
	const unsigned int sent = rte_eth_tx_burst(q->port, q->queue, mbufs, (uint16_t)n);
	if (unlikely(sent < n))
		rte_pktmbuf_free_bulk(mbufs + sent, n - sent);
	return (int)sent;
}

/*
 * Where as much is sent as it can be, the ring behind the port fills up. Then it is left alone for
 * a moment, longer each time until it takes a burst: every look at how full it is takes that line
 * away from the DUT, which writes to it.
 */
static void back_off(struct tx_queue *q, uint64_t now, bool is_full)
{
	if (!is_full) {
		q->away /= 2;
		return;
	}
	q->away = RTE_MIN(RTE_MAX(2 * q->away, (uint64_t)AWAY_LEAST), (uint64_t)AWAY_MOST);
	pace_hold(&q->pace, now, q->away);
}

static void send_burst(struct worker *w, struct tx_queue *q, uint64_t now)
{
	const unsigned int n = (unsigned int)RTE_MIN(q->burst, q->frames_left);

	pace_advance(&q->pace);
	q->frames_left -= n;
	const int sent = send_frames(w, q, n, now);
	if (unlikely(sent < 0)) {
		q->no_mbuf += n;
		return;
	}
	/* A full ring behind the port is the DUT's queue: a card would have sent these. */
	q->refused += n - (unsigned int)sent;
	if (q->pace.interval == 0)
		back_off(q, now, (unsigned int)sent < n);
	q->offered += n;
	w->frames += n;
	q->burst_max = RTE_MAX(q->burst_max, n);
	if (q->last_departure != 0)
		hist_add(q->intervals, now - q->last_departure, 1);
	q->last_departure = now;
}

static inline bool tx_turn(struct worker *w, struct tx_queue *q, uint64_t now)
{
	if (q->stopped_at != 0 || !pace_due(&q->pace, now))
		return false;
	if (unlikely(q->frames_left == 0 || now >= q->deadline)) {
		if (q->then_frames > 0 && now < q->deadline)
			change_turn(q, now);
		else
			q->stopped_at = now;
		return false;
	}
	send_burst(w, q, now);
	return true;
}

/*
 * Nothing came for a while, and then a frame that had been under way all that time: the DUT did
 * not run. A frame that was sent only just now says that there was nothing to forward. Time counts
 * up to the start of the turn: if the machine took the core since then, that was us.
 */
static void silence_ended(struct rx_queue *q, const struct rte_mbuf *first, uint64_t turn,
			  uint64_t stall)
{
	const uint8_t *frame = rte_pktmbuf_mtod(first, const uint8_t *);
	if (first->data_len < FRAME_HEAD_BYTES || !frame_crc_fits(frame))
		return;
	const struct frame_fields f = frame_fields(frame);
	if (f.trial != q->judge.trial)
		return;
	if (q->came)
		q->quiet_max = RTE_MAX(q->quiet_max, turn - q->last_frame);
	q->came = true;
	const uint64_t under_way = (turn - f.time) & FRAME_TIME_MASK;
	const uint64_t silence = RTE_MIN(under_way, turn - q->last_frame);
	if (silence <= stall || under_way > FRAME_TIME_MASK / 2) /* sent in this turn */
		return;
	q->silence_max = RTE_MAX(q->silence_max, silence);
	q->silence_sum += silence;
}

static inline bool rx_turn(struct worker *w, struct rx_queue *q, uint64_t turn,
			   uint64_t stall)
{
	struct rte_mbuf *mbufs[JUDGE_BURST_MAX];
	const unsigned int n = q->direct != NULL
				       ? direct_rx_take(q->direct, mbufs, q->burst)
				       : rte_eth_rx_burst(q->port, q->queue, mbufs, q->burst);

	if (n == 0)
		return false;
	const uint64_t now = rte_rdtsc();
	if (unlikely(turn > q->last_frame + stall))
		silence_ended(q, mbufs[0], turn, stall);
	q->last_frame = now;
	w->frames += n;
	const bool plain = w->judge(&q->judge, mbufs, n, now);
	if (q->direct != NULL)
		direct_rx_give(q->direct);
	else if (likely(plain))
		rte_mempool_put_bulk(mbufs[0]->pool, (void *const *)mbufs, n);
	else
		rte_pktmbuf_free_bulk(mbufs, n);
	return true;
}

void worker_departs_anew(struct worker *w)
{
	w->departed = false;
	w->pending = (struct stalls){0};
	w->stalls.longest = 0;
	absence_look(&w->absence);
}

/* A frame left or came: time away before it counts, but not before the first. */
static void count_pending(struct worker *w)
{
	if (w->departed) {
		w->stalls.longest = RTE_MAX(w->stalls.longest, w->pending.longest);
		w->stalls.over_limit += w->pending.over_limit;
		w->stalls.sum += w->pending.sum;
	}
	w->departed = true;
	w->pending = (struct stalls){0};
}

/* The schedule waits with the loop. */
static void step_back(struct worker *w, uint64_t now, uint64_t away)
{
	for (unsigned int i = 0; i < w->tx_count && w->keep_frames_in_step; i++) {
		struct tx_queue *q = w->tx[i];
		if (q->stopped_at != 0)
			continue;
		q->deadline += pace_stalled(&q->pace, now, away);
	}
	/* Our own absence is not the DUT's silence; what was silent before it goes on. */
	for (unsigned int i = 0; i < w->rx_count; i++)
		w->rx[i]->last_frame = RTE_MIN(now, w->rx[i]->last_frame + away);
}

static void gap(struct worker *w, uint64_t now, uint64_t away)
{
	w->pending.longest = RTE_MAX(w->pending.longest, away);
	w->pending.over_limit += away > w->gap_limit;
	w->pending.sum += away;
	step_back(w, now, away);
}

static uint16_t halved(uint16_t most, unsigned int times)
{
	return (uint16_t)RTE_MAX(most >> times, RTE_MIN(most, BURST_LEAST));
}

static void set_bursts(struct worker *w, unsigned int halvings, uint64_t now)
{
	const uint64_t calm = (uint64_t)(CALM_SECONDS * (double)rte_get_tsc_hz());

	w->halvings = halvings;
	w->lengthen_at = halvings == 0 ? UINT64_MAX : now + calm;
	for (unsigned int i = 0; i < w->rx_count; i++) {
		struct rx_queue *q = w->rx[i];
		q->burst = halved(q->burst_most, halvings);
		if (q->burst < q->burst_least)
			q->burst_least = q->burst;
	}
	for (unsigned int i = 0; i < w->tx_count; i++)
		if (w->tx[i]->pace.interval == 0)
			w->tx[i]->burst = halved(w->tx[i]->burst_most, halvings);
}

/* Gives how much of a long pass was work. */
static uint64_t long_pass(struct worker *w, uint64_t from, uint64_t now, uint64_t frames,
			  uint64_t shortest)
{
	const uint64_t before = w->frames - frames, pass = now - from;
	const uint64_t typical = before > 0 ? w->busy / before : 0;
	const uint64_t away = absence_in(&w->absence, pass, frames, typical, rte_get_tsc_hz());

	if (away > 0)
		gap(w, now, away);
	if (pass - away > shortest)
		set_bursts(w, RTE_MIN(w->halvings + 1, (unsigned int)HALVINGS_MOST), now);
	return pass - away;
}

/* Where the loop begins late, the schedule begins as late. */
static uint64_t begin(struct worker *w)
{
	absence_begin(&w->absence);

	const uint64_t now = rte_rdtsc();
	uint64_t due = now;

	for (unsigned int i = 0; i < w->rx_count; i++) {
		const struct judge *j = &w->rx[i]->judge;
		bool longer = false;
		for (unsigned int c = 0; c < j->class_count; c++)
			longer |= j->class_mbuf_bytes[c] > SHORT_BYTES;
		w->rx[i]->burst_most = longer ? RX_BURST : RX_BURST_SHORT_FRAMES;
		w->rx[i]->burst_least = w->rx[i]->burst_most;
		w->rx[i]->last_frame = now;
	}
	set_bursts(w, 0, now);
	for (unsigned int i = 0; i < w->tx_count; i++)
		due = RTE_MIN(due, w->tx[i]->pace.start);
	if (due < now)
		step_back(w, now, now - due);
	return now;
}

int worker_run(void *arg)
{
	struct worker *w = arg;
	const uint64_t stall = (uint64_t)(LONG_PASS_SECONDS * (double)rte_get_tsc_hz());
	uint64_t last = begin(w), frames = 0;
	bool worked = false;

	if (w->windows != NULL) {
		windows_begin(w);
		last = rte_rdtsc();
	}

	while (!w->stop) {
		const uint64_t now = rte_rdtsc();
		uint64_t work = now - last;
		w->absence.pass_max = RTE_MAX(w->absence.pass_max, work);
		if (unlikely(work > stall))
			work = long_pass(w, last, now, w->frames - frames, stall);
		else
			w->pending.longest = RTE_MAX(w->pending.longest, work);
		if (unlikely(now > w->lengthen_at))
			set_bursts(w, w->halvings - 1, now);
		if (worked)
			w->busy += work;
		last = now;
		__atomic_store_n(&w->turn, now, __ATOMIC_RELAXED);
		worked = false;
		frames = w->frames;
		/* In turns: what comes back on one queue is judged, and freed for the next one to
		 * send, while it is in the first cache. 16 queues of net_ring: 18.8 -> 9.0 cycles
		 * a frame. */
		for (unsigned int i = 0; i < RTE_MAX(w->tx_count, w->rx_count); i++) {
			if (i < w->tx_count)
				worked |= tx_turn(w, w->tx[i], now);
			if (i < w->rx_count)
				worked |= rx_turn(w, w->rx[i], now, stall);
		}
		if (worked)
			count_pending(w);
		if (unlikely(w->windows != NULL) && windows_turn(w, now))
			last = rte_rdtsc();
	}
	absence_end(&w->absence);
	return 0;
}
