/* SPDX-License-Identifier: BSD-3-Clause */
#include "trial.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_launch.h>
#include <rte_lcore.h>

#include "cores.h"
#include "prime.h"
#include "state.h"

static const double OFFERED_LEAST = 0.999;      /* of the intended frames */
static const double CORES_MOVED = 1.8;          /* ratio of two ping-pongs */
static const unsigned int SURPLUS_MS = 5;       /* for duplicates, once all frames are back */
static const unsigned int SETTLES_MOST = 50;    /* settling times until a trial gives up, and at
						 * least a second */

static void reason(struct reasons *r, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void reason(struct reasons *r, const char *format, ...)
{
	va_list args;
	if (r->count == TRIAL_REASONS_MAX)
		return;
	va_start(args, format);
	vsnprintf(r->text[r->count++], TRIAL_REASON_BYTES, format, args);
	va_end(args);
}

static double milliseconds(const struct state *s, uint64_t cycles)
{
	return (double)cycles / (double)s->hz * 1e3;
}

static bool all_sent(const struct state *s)
{
	if (s->config->windows > 0)
		return __atomic_load_n(&s->windows.finished, __ATOMIC_RELAXED);
	EACH_QUEUE(s, tx, q)
		if (__atomic_load_n(&q->stopped_at, __ATOMIC_RELAXED) == 0)
			return false;
	return true;
}

/* The workers write these; a count that is a moment old does no harm here. */
static struct trial_progress progress_now(const struct state *s)
{
	struct trial_progress now = {0};
	EACH_QUEUE(s, tx, q) {
		now.offered += __atomic_load_n(&q->offered, __ATOMIC_RELAXED);
		now.accepted -= __atomic_load_n(&q->refused, __ATOMIC_RELAXED);
	}
	EACH_QUEUE(s, rx, q) {
		for (unsigned int i = 0; i < s->config->stream_count; i++) {
			const struct judge_counts *c = &q->judge.streams[i].counts;
			now.received += __atomic_load_n(&c->in_order, __ATOMIC_RELAXED) +
					__atomic_load_n(&c->reordered, __ATOMIC_RELAXED);
			now.surplus += __atomic_load_n(&c->duplicated, __ATOMIC_RELAXED) +
				       __atomic_load_n(&c->undecided, __ATOMIC_RELAXED) +
				       __atomic_load_n(&c->corrupted, __ATOMIC_RELAXED) +
				       __atomic_load_n(&c->misdelivered, __ATOMIC_RELAXED);
		}
	}
	now.accepted += now.offered;
	return now;
}

/* To the sooner of two times in seconds; a moment past the second, which must not be missed. */
static unsigned int milliseconds_until(double end, double progress)
{
	return (unsigned int)(RTE_MIN(end, RTE_MAX(progress, 0.0) + 0.001) * 1e3);
}

/* Sends until all is sent, or `wait` says enough. True if it was cut short. */
static bool run_sending(struct state *s, const struct trial_hooks *hooks, uint64_t start)
{
	double told = 0;
	const unsigned int look_ms = s->config->link_look_ms;
	const unsigned int renew_ms = stamps_in_use(s) ? STAMPS_RENEW_MS : UINT32_MAX;
	/* Room for every stall that is not yet a reason to give up. */
	const double most = s->config->seconds * 1.5 + 5;
	while (!all_sent(s)) {
		const double now = ((double)rte_rdtsc() - (double)start) / (double)s->hz;
		const double left = s->config->seconds - now;
		unsigned int most_ms = left > 0.002 ? milliseconds_until(left, told + 1 - now) : 1;
		for (unsigned int p = 0; look_ms > 0 && p < s->tester->port_count; p++)
			port_look(&s->tester->ports[p]);
		most_ms = RTE_MIN(most_ms, RTE_MIN(look_ms > 0 ? look_ms : UINT32_MAX, renew_ms));
		if (now > most || hooks->wait(hooks->context, most_ms)) {
			__atomic_store_n(&s->windows.cut, true, __ATOMIC_RELAXED);
			EACH_QUEUE(s, tx, q)
				__atomic_store_n(&q->deadline, 0, __ATOMIC_RELAXED);
			rte_delay_us_sleep(20000);
			return true;
		}
		stamps_renew(s);
		if (now - told >= 1) {
			struct trial_progress progress = progress_now(s);
			progress.seconds = told = now;
			hooks->progress(hooks->context, &progress);
		}
	}
	return false;
}

static bool all_loops_turned(const struct state *s, uint64_t since)
{
	for (unsigned int i = 0; i < s->tester->worker_count; i++)
		if (__atomic_load_n(&s->workers[i].turn, __ATOMIC_RELAXED) < since)
			return false;
	return true;
}

/* Cycles for which any of the watched threads was away since the last reading. */
static uint64_t dut_away(const struct state *s, struct watch_reading *last)
{
	int64_t away_ns[CONFIG_CPUS_MAX], longest = 0;

	watch_all(s->config->watch, s->config->watch_count, last, away_ns);
	for (unsigned int i = 0; i < s->config->watch_count; i++)
		longest = RTE_MAX(longest, away_ns[i]);
	return (uint64_t)((double)longest / 1e9 * (double)s->hz);
}

/* How much of a time is no silence of the DUT's own; of all of it a second at most. */
static uint64_t excuse(const struct state *s, uint64_t time, uint64_t away, uint64_t *excused)
{
	const uint64_t now = RTE_MIN(RTE_MIN(time, away), s->hz - RTE_MIN(s->hz, *excused));

	*excused += now;
	return now;
}

/*
 * Waits until every accepted frame is back, or none of this trial's has come for the settling time,
 * in which our own loops were there to see it, and the DUT's threads, where they are watched, had
 * their cores: for up to a second more what they have not forwarded is not lost. What others send
 * does not count: on a network with LLDP it would never end. If the trial's own frames still come
 * after the longest wait, it is not known which of the rest are lost.
 */
static void run_settling(struct state *s)
{
	const uint64_t settle = (uint64_t)(s->config->settle_seconds * (double)s->hz);
	const uint64_t most = RTE_MAX(s->hz, settle * SETTLES_MOST);
	const uint64_t start = rte_rdtsc();
	const uint64_t surplus = s->hz / 1000 * SURPLUS_MS;
	uint64_t came = UINT64_MAX, looked = start, quiet = 0, excused = 0;
	struct watch_reading watched[CONFIG_CPUS_MAX];
	watch_all(s->config->watch, s->config->watch_count, watched, NULL);

	for (;;) {
		const struct trial_progress now = progress_now(s);
		const uint64_t away = dut_away(s, watched);
		const uint64_t time = rte_rdtsc();
		if (now.received + now.surplus != came)
			quiet = 0;
		else if (all_loops_turned(s, looked))
			quiet += RTE_MIN(time - looked - excuse(s, time - looked, away, &excused),
					 surplus);
		came = now.received + now.surplus, looked = time;
		if (quiet > settle || (now.received >= now.accepted && quiet > surplus))
			return;
		if (time - start > most) {
			reason(&s->result->reasons,
			       "trial.not_settled: frames still came %.0f ms after the "
			       "last was sent, %" PRIu64 " of %" PRIu64 " are missing",
			       milliseconds(s, most),
			       now.accepted - RTE_MIN(now.accepted, now.received), now.accepted);
			return;
		}
		rte_delay_us_sleep(1000);
	}
}

static void pingpong(const struct config_trial *c, uint64_t *cycles)
{
	for (unsigned int i = 1; i < c->cpu_count; i++)
		cycles[i - 1] = cores_pingpong_cycles(c->cpus[0], c->cpus[i]);
}

static void collect_sent(struct state *s)
{
	struct trial_result *r = s->result;
	uint64_t longest = 0;

	for (unsigned int p = 0; p < s->tester->port_count; p++) {
		const int i = state_stream_from(s->config, p);
		if (i < 0)
			continue;
		struct trial_stream *to = &r->streams[i];
		for (unsigned int k = 0; k < s->tester->ports[p].config.tx_queues; k++) {
			const struct tx_queue *q = s->tx[p][k];
			const bool refused_is_dut = s->tester->ports[p].config.refused_is_dut;
			const uint64_t left = s->config->load_pps > 0
						      ? q->frames_left + q->then_frames : 0;
			const uint64_t not_offered = refused_is_dut ? 0 : q->refused;
			to->intended += q->offered + q->no_mbuf + left;
			to->offered += q->offered - not_offered;
			to->refused += q->refused - not_offered;
			to->unsent_late += left + not_offered;
			to->unsent_no_mbuf += q->no_mbuf;
			r->burst_max = RTE_MAX(r->burst_max, q->burst_max);
			hist_merge(r->intervals, q->intervals);
			longest = RTE_MAX(longest, q->stopped_at - q->pace.start);
		}
		r->busy_frames += to->offered;
	}
	r->measured_seconds = (double)longest / (double)s->hz;
}

static void collect_received(struct state *s)
{
	struct trial_result *r = s->result;
	uint64_t last_sent = 0, last_came = 0, stopped = 0;

	EACH_QUEUE(s, tx, q)
		last_sent = RTE_MAX(last_sent, q->last_departure);
	EACH_QUEUE(s, rx, q)
		last_came = RTE_MAX(last_came, q->last_frame);
	r->drain = last_sent > 0 && last_came > last_sent ? last_came - last_sent : 0;
	EACH_QUEUE(s, tx, q)
		stopped = RTE_MAX(stopped, q->stopped_at);
	r->quiet_last = stopped > last_came ? stopped - last_came : 0;

	for (unsigned int p = 0; p < s->tester->port_count; p++)
		for (unsigned int k = 0; k < s->tester->ports[p].config.rx_queues; k++) {
			const struct rx_queue *q = s->rx[p][k];
			for (unsigned int i = 0; i < s->config->stream_count; i++)
				judge_add(&r->streams[i].counts, &q->judge.streams[i].counts);
			hist_merge(r->latency, q->judge.latency);
			r->hardware_stamps |= q->judge.stamp_offset >= 0;
			r->silence_max = RTE_MAX(r->silence_max, q->silence_max);
			r->silence_sum += q->silence_sum;
			r->quiet_max = RTE_MAX(r->quiet_max, q->quiet_max);
		}
}

/* Frames were still under way when sending ended, and none came: the DUT has been silent since. */
static void collect_last_silence(struct state *s)
{
	struct trial_result *r = s->result;

	for (unsigned int i = 0; i < s->config->stream_count; i++) {
		const struct trial_stream *stream = &r->streams[i];
		const struct config_stream *c = &s->config->streams[i];
		if (stream->counts.in_order + stream->counts.reordered >=
		    stream->offered - stream->refused)
			continue;
		uint64_t stopped = 0, last = 0;
		for (unsigned int k = 0; k < s->tester->ports[c->tx_port].config.tx_queues; k++)
			stopped = RTE_MAX(stopped, s->tx[c->tx_port][k]->stopped_at);
		for (unsigned int k = 0; k < s->tester->ports[c->rx_port].config.rx_queues; k++)
			last = RTE_MAX(last, s->rx[c->rx_port][k]->last_frame);
		if (stopped > last + s->hz / 20000) { /* 50 us, as in the loop */
			r->silence_max = RTE_MAX(r->silence_max, stopped - last);
			r->silence_sum += stopped - last;
		}
	}
}

static void collect_absence(struct state *s)
{
	struct trial_result *r = s->result;
	struct absence_schedule *sum = &r->schedule;

	r->rx_burst_least = UINT16_MAX;
	EACH_QUEUE(s, rx, q)
		r->rx_burst_least = RTE_MIN(r->rx_burst_least, q->burst_least);
	for (unsigned int i = 0; i < s->tester->worker_count; i++) {
		const struct worker *w = &s->workers[i];
		const struct absence_schedule *from = &w->absence.before, *to = &w->absence.after;
		r->gap_max = RTE_MAX(r->gap_max, w->stalls.longest);
		r->gaps_over_limit += w->stalls.over_limit;
		r->gap_limit = w->gap_limit;
		r->stalled += w->stalls.sum;
		r->busy += w->busy;
		r->off_core += w->absence.off_core;
		r->hidden += w->absence.hidden;
		r->long_work += w->absence.work;
		r->pass_max = RTE_MAX(r->pass_max, w->absence.pass_max);
		sum->run_ns = absence_sum(sum->run_ns, from->run_ns, to->run_ns);
		sum->wait_ns = absence_sum(sum->wait_ns, from->wait_ns, to->wait_ns);
		sum->steal_ns = absence_sum(sum->steal_ns, from->steal_ns, to->steal_ns);
	}
}

static void judge_sending(const struct state *s, const struct trial_stream *streams,
			  struct reasons *reasons)
{
	uint64_t intended = 0, offered = 0, no_mbuf = 0;

	for (unsigned int i = 0; i < s->config->stream_count; i++) {
		intended += streams[i].intended;
		offered += streams[i].offered;
		no_mbuf += streams[i].unsent_no_mbuf;
	}
	if (offered == 0)
		reason(reasons, "tester.nothing_offered: 0 of %" PRIu64 " frames", intended);
	else if ((double)offered < OFFERED_LEAST * (double)intended)
		reason(reasons, "tester.too_slow: offered %" PRIu64 " of %" PRIu64
		       " frames (%.3f %%)", offered, intended,
		       100.0 * (double)offered / (double)intended);
	if (no_mbuf > 0)
		reason(reasons, "tester.no_mbuf: %" PRIu64 " frames were not built", no_mbuf);
}

static void judge_stalls(const struct state *s, const struct worker *w,
			 const struct stalls *stalls, double seconds, struct reasons *reasons)
{
	if (stalls->over_limit > 0)
		reason(reasons, "tester.stalled: lcore %u did not run for %.2f ms, limit %.2f",
		       w->lcore, milliseconds(s, stalls->longest), milliseconds(s, w->gap_limit));
	if ((double)stalls->sum > s->config->stalled_share * seconds * (double)s->hz)
		reason(reasons, "tester.stalled_often: lcore %u did not run for %.2f ms in all, "
		       "limit %.0f %% of the time",
		       w->lcore, milliseconds(s, stalls->sum), s->config->stalled_share * 100);
}

/* As collect_sent(), of one window. */
static struct trial_stream window_stream(const struct state *s, unsigned int i,
					 const struct window_stream *from)
{
	const unsigned int port = s->config->streams[i].tx_port;
	const bool refused_is_dut = s->tester->ports[port].config.refused_is_dut;
	const uint64_t not_offered = refused_is_dut ? 0 : from->refused;

	return (struct trial_stream){
		.intended = from->offered + from->no_mbuf + from->left,
		.offered = from->offered - not_offered,
		.refused = from->refused - not_offered,
		.unsent_late = from->left + not_offered,
		.unsent_no_mbuf = from->no_mbuf,
		.counts = from->counts,
	};
}

static void collect_windows(struct state *s)
{
	struct trial_result *r = s->result;
	const double seconds = s->config->seconds / s->config->windows;

	windows_end(&s->workers[0]);
	r->measured_seconds = 0;
	r->window_count = s->windows.begun;
	for (unsigned int k = 0; k < r->window_count; k++) {
		const struct window *from = &s->windows.list[k];
		struct trial_window *to = &r->windows[k];
		const struct stalls stalls = {
			.longest = from->gap_max,
			.over_limit = from->gap_max > s->workers[0].gap_limit,
			.sum = from->stalled,
		};
		to->measured_seconds = (double)from->length / (double)s->hz;
		to->drain = from->drain;
		to->stalled = from->stalled;
		to->gap_max = from->gap_max;
		memcpy(to->watched_away_ns, from->away_ns, sizeof(to->watched_away_ns));
		memcpy(to->watched_drain_away_ns, from->drain_away_ns,
		       sizeof(to->watched_drain_away_ns));
		for (unsigned int i = 0; i < s->config->stream_count; i++) {
			to->streams[i] = window_stream(s, i, &from->streams[i]);
			/* What earlier windows left unsent is in no counter of the queues. */
			if (k + 1 < r->window_count) {
				r->streams[i].intended += from->streams[i].left;
				r->streams[i].unsent_late += from->streams[i].left;
			}
		}
		judge_sending(s, to->streams, &to->reasons);
		judge_stalls(s, &s->workers[0], &stalls, seconds, &to->reasons);
		r->measured_seconds += to->measured_seconds;
	}
	r->gap_max = s->windows.gap_max;
}

/* What makes the trial void is always the tester or its machine, never the DUT. */
static void judge_ourselves(struct state *s)
{
	struct trial_result *r = s->result;

	for (unsigned int i = 0; i < s->config->stream_count; i++) {
		uint32_t split = state_flows_at_two_queues(s, i);
		if (split > 0)
			reason(&r->reasons, "judge.flow_at_two_queues: %u flows of stream %u",
			       split, i);
	}
	/* Each window has reasons of its own. */
	if (s->config->windows == 0)
		judge_sending(s, r->streams, &r->reasons);
	for (unsigned int i = 0; i < s->tester->worker_count && s->config->windows == 0; i++)
		judge_stalls(s, &s->workers[i], &s->workers[i].stalls, s->config->seconds,
			     &r->reasons);
	for (unsigned int p = 0; p < s->tester->port_count; p++) {
		const struct rte_eth_stats *c = &r->counters.stats[p];
		if (r->counters.error[p] == 0 && (c->imissed > 0 || c->rx_nombuf > 0))
			reason(&r->reasons, "tester.rx_dropped: port %u imissed %" PRIu64
			       " rx_nombuf %" PRIu64, p, c->imissed, c->rx_nombuf);
		/* Some drivers count what they did not take as well (gve_tx_burst_qpl). */
		if (r->counters.error[p] == 0 && port_is_card(&s->tester->ports[p]) &&
		    c->oerrors > state_refused(s, p))
			reason(&r->reasons, "tester.tx_failed: port %u oerrors %" PRIu64, p,
			       c->oerrors);
		const struct discards *d = &s->tester->ports[p].discards;
		const uint64_t *discarded = r->counters.discards[p];
		for (unsigned int i = 0; i < d->count && r->counters.error[p] == 0; i++)
			if (discarded[i] != 0)
				reason(&r->reasons, "tester.card_discarded: port %u %s %" PRIu64, p,
				       d->name[i], discarded[i]);
	}
	EACH_QUEUE(s, rx, q)
		if (q->judge.stamps_astray > 0)
			reason(&r->reasons, "tester.stamps_of_another_clock: port %u, %" PRIu64
			       " frames", q->port, q->judge.stamps_astray);
	for (unsigned int i = 0; i < r->pingpong_count; i++) {
		const double a = (double)r->pingpong_before[i], b = (double)r->pingpong_after[i];
		if (a > 0 && b > 0 && (a > b * CORES_MOVED || b > a * CORES_MOVED))
			reason(&r->reasons,
			       "machine.cores_moved: cache line round trip %.0f cycles before, "
			       "%.0f after", a, b);
	}
}

/* What a port counted cannot be told from one reading: that is void, and no zero. */
static void read_counters_after(struct state *s, const struct counters *before)
{
	struct trial_result *r = s->result;

	counters_read(&r->counters, s->tester->ports, s->tester->port_count);
	counters_subtract(&r->counters, before, s->tester->port_count);
	for (unsigned int p = 0; p < s->tester->port_count; p++) {
		const int error = before->error[p] != 0 ? before->error[p] : r->counters.error[p];
		if (error != 0)
			reason(&r->reasons,
			       "tester.counters_unreadable: port %u %s the trial: %s", p,
			       before->error[p] != 0 ? "before" : "after", strerror(error));
		r->counters.error[p] = error;
	}
}

static int check(const struct tester *t, const struct config_trial *c, struct failure *f)
{
	for (unsigned int i = 0; i < c->mix_count; i++)
		for (unsigned int p = 0; p < t->port_count; p++)
			if (c->mix[i].frame_bytes > t->ports[p].frame_bytes_max)
				return failure_set(f, "request.invalid", "frame_bytes",
						   "open with a larger frame_bytes_max",
						   "%u is more than the %u that the ports were "
						   "opened for", c->mix[i].frame_bytes,
						   t->ports[p].frame_bytes_max);
	if (c->windows > 0 && t->worker_count != 1)
		return failure_set(f, "request.invalid", "windows", "open with one worker",
				   "%u workers: one of them must serve all queues",
				   t->worker_count);
	for (unsigned int i = 0; i < c->stream_count; i++) {
		if (c->streams[i].tx_port >= t->port_count ||
		    c->streams[i].rx_port >= t->port_count)
			return failure_set(f, "request.invalid", "streams", "open the port first",
					   "stream %u names a port that is not open", i);
		if (c->flows < t->ports[c->streams[i].tx_port].config.tx_queues)
			return failure_set(f, "request.invalid", "flows", "ask for more flows",
					   "%u flows cannot be split over %u queues", c->flows,
					   t->ports[c->streams[i].tx_port].config.tx_queues);
	}
	return 0;
}

static void stop_workers(struct state *s, unsigned int launched)
{
	for (unsigned int i = 0; i < launched; i++)
		s->workers[i].stop = true;
	for (unsigned int i = 0; i < launched; i++)
		rte_eal_wait_lcore(s->workers[i].lcore);
}

/* All workers or none: with one missing, what it would have sent or judged is told by nobody. */
static int launch(struct state *s, uint64_t start, struct failure *f)
{
	EACH_QUEUE(s, tx, q) {
		q->pace.start = start;
		q->deadline = start + state_sending_cycles(s, s->config->seconds);
	}
	for (unsigned int i = 0; i < s->tester->worker_count; i++) {
		struct worker *w = &s->workers[i];
		const int error = rte_eal_remote_launch(worker_run, w, w->lcore);
		if (error == 0)
			continue;
		stop_workers(s, i);
		return failure_set(f, "tester.lcore_busy", "tester", "start the tester again",
				   "lcore %u takes no work: %s", w->lcore, strerror(-error));
	}
	return 0;
}

static void send_and_settle(struct state *s, const struct trial_hooks *hooks, uint64_t start)
{
	struct trial_result *r = s->result;
	const struct config_trial *c = s->config;
	struct watch_reading watched[CONFIG_CPUS_MAX];

	watch_all(c->watch, c->watch_count, watched, NULL);
	const bool cut = run_sending(s, hooks, start);
	watch_all(c->watch, c->watch_count, watched, r->watched_away_ns);
	if (cut)
		reason(&r->reasons, "trial.stopped: before all was sent");
	run_settling(s);
	watch_all(c->watch, c->watch_count, watched, r->watched_drain_away_ns);
	stop_workers(s, s->tester->worker_count); /* one between two bursts has no end of its own */
	EACH_QUEUE(s, tx, q)
		if (q->stopped_at == 0)
			q->stopped_at = RTE_MAX(q->last_departure, start + 1);
}

int trial_run(struct tester *tester, const struct config_trial *config,
	      const struct trial_hooks *hooks, struct trial_result *result, struct failure *failure)
{
	struct counters before;
	struct state *s = NULL;

	memset(result, 0, sizeof(*result));
	if (check(tester, config, failure) < 0)
		return -1;
	for (unsigned int p = 0; p < tester->port_count; p++)
		if (port_wait_link(&tester->ports[p], 5000, failure) < 0 ||
		    port_shape(&tester->ports[p], config, failure) < 0)
			return -1;
	if (config->prime && prime_run(tester, config, failure) < 0)
		return -1;
	s = aligned_alloc(RTE_CACHE_LINE_SIZE, RTE_ALIGN_CEIL(sizeof(*s), RTE_CACHE_LINE_SIZE));
	result->latency = aligned_alloc(64, RTE_ALIGN_CEIL(sizeof(struct hist), 64));
	result->intervals = aligned_alloc(64, RTE_ALIGN_CEIL(sizeof(struct hist), 64));
	if (s != NULL)
		memset(s, 0, sizeof(*s));
	if (s == NULL || result->latency == NULL || result->intervals == NULL)
		goto no_memory;
	hist_reset(result->latency);
	hist_reset(result->intervals);
	s->config = config;
	s->tester = tester;
	s->result = result;
	s->hz = rte_get_tsc_hz();
	result->state_bytes = sizeof(*s) + 2 * sizeof(struct hist);
	result->stream_count = config->stream_count;
	result->pingpong_count = config->cpu_count > 1 ? config->cpu_count - 1 : 0;
	if (state_init(s) < 0)
		goto no_memory;

	pingpong(config, result->pingpong_before);
	if (config->cpu_count > 0)
		result->core_hz = cores_hz(config->cpus[config->cpu_count - 1], s->hz);
	counters_read(&before, tester->ports, tester->port_count);
	const uint64_t start = rte_rdtsc() + s->hz / 500; /* 2 ms: until every loop turns */
	if (launch(s, start, failure) < 0)
		goto failed;
	send_and_settle(s, hooks, start);
	for (unsigned int p = 0; p < tester->port_count; p++)
		if (port_sound(&tester->ports[p], failure) < 0)
			goto failed;
	read_counters_after(s, &before);
	pingpong(config, result->pingpong_after);
	collect_sent(s);
	collect_received(s);
	collect_last_silence(s);
	collect_absence(s);
	result->change = change_collect(s, start);
	if (config->windows > 0)
		collect_windows(s);
	judge_ourselves(s);
	state_free(s);
	return 0;

no_memory:
	failure_set(failure, "trial.no_memory", "tester", "ask for fewer flows",
		    "no memory for the state of %u flows", config->flows);
failed:
	if (s != NULL)
		state_free(s);
	trial_result_free(result);
	return -1;
}

void trial_result_free(struct trial_result *result)
{
	free(result->latency);
	free(result->intervals);
	free(result->windows);
	result->latency = result->intervals = NULL;
	result->windows = NULL;
}
