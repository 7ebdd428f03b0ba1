/* SPDX-License-Identifier: BSD-3-Clause */
#include "reply.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <jansson.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_version.h>

static FILE *out;

int reply_init(void)
{
	const int fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

	if (fd < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		return -1;
	out = fdopen(fd, "w");
	return out == NULL ? -1 : 0;
}

/* Adds the envelope, prints the line and frees it. A reply that cannot be built ends the program:
 * the client would wait for it for ever. */
static void say(int64_t id, const char *event, json_t *body)
{
	if (body == NULL || json_object_set_new(body, "v", json_integer(PROTOCOL_VERSION)) < 0 ||
	    json_object_set_new(body, "id", json_integer(id)) < 0 ||
	    json_object_set_new(body, "event", json_string(event)) < 0 ||
	    json_dumpf(body, out, JSON_COMPACT) < 0 || putc('\n', out) == EOF ||
	    fflush(out) != 0) {
		fprintf(stderr, "wirespeed-tester: cannot write reply \"%s\" to stdout\n", event);
		exit(EXIT_FAILURE);
	}
	json_decref(body);
}

static json_int_t ns(uint64_t cycles)
{
	return (json_int_t)((double)cycles / (double)rte_get_tsc_hz() * 1e9 + 0.5);
}

void reply_hello(int64_t id, const struct tester *t)
{
	say(id, "hello",
	    json_pack("{s:s, s:s, s:I, s:b}", "dpdk", rte_version(), "isa", t->isa, "tsc_hz",
		      (json_int_t)rte_get_tsc_hz(), "hugepages", rte_eal_has_hugepages()));
}

static json_t *names_json(const struct discards *d)
{
	json_t *list = json_array();
	for (unsigned int i = 0; i < d->count; i++)
		json_array_append_new(list, json_string(d->name[i]));
	return list;
}

void reply_opened(int64_t id, const struct tester *t)
{
	json_t *ports = json_array();
	for (unsigned int i = 0; i < t->port_count; i++) {
		const struct port *p = &t->ports[i];
		const struct rte_eth_link link = port_link(p);
		char mac[RTE_ETHER_ADDR_FMT_SIZE];
		rte_ether_format_addr(mac, sizeof(mac), &p->mac);
		json_array_append_new(
			ports,
			json_pack("{s:i, s:s, s:s, s:s, s:b, s:o, s:i, s:i, s:i, s:b, s:I, s:o,"
				  " s:s?, s:o}", "port",
				  i, "device", p->config.device, "driver", p->driver, "mac", mac,
				  "link_up", link.link_status, "link_mbps",
				  link.link_speed == RTE_ETH_SPEED_NUM_UNKNOWN ||
						  link.link_speed == RTE_ETH_SPEED_NUM_NONE
					  ? json_null()
					  : json_integer(link.link_speed),
				  "numa_node", p->numa_node, "tx_descriptors", p->tx_descriptors,
				  "rx_descriptors", p->rx_descriptors, "hardware_stamps",
				  p->stamp_offset >= 0, "pool_bytes",
				  (json_int_t)port_pool_bytes(p), "firmware",
				  p->firmware[0] ? json_string(p->firmware) : json_null(), "pause",
				  p->pause, "discards_read", names_json(&p->discards)));
	}
	say(id, "opened", json_pack("{s:o}", "ports", ports));
}

void reply_progress(int64_t id, const struct trial_progress *p)
{
	say(id, "progress",
	    json_pack("{s:f, s:I, s:I}", "seconds", p->seconds, "offered_frames",
		      (json_int_t)p->offered, "received_frames", (json_int_t)p->received));
}

static json_t *stream_json(const struct config_stream *c, const struct trial_stream *s)
{
	const struct judge_counts *k = &s->counts;
	return json_pack(
		"{s:i, s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}",
		"tx_port", c->tx_port, "rx_port", c->rx_port, "intended_frames",
		(json_int_t)s->intended, "offered_frames", (json_int_t)s->offered,
		"refused_frames", (json_int_t)s->refused, "unsent_late_frames",
		(json_int_t)s->unsent_late, "unsent_no_mbuf_frames", (json_int_t)s->unsent_no_mbuf,
		"in_order_frames", (json_int_t)k->in_order, "reordered_frames",
		(json_int_t)k->reordered, "reorder_extent_max", (json_int_t)k->reorder_extent_max,
		"duplicated_frames", (json_int_t)k->duplicated, "undecided_frames",
		(json_int_t)k->undecided, "corrupted_frames", (json_int_t)k->corrupted,
		"misdelivered_frames", (json_int_t)k->misdelivered, "earlier_trial_frames",
		(json_int_t)k->earlier_trial, "foreign_frames", (json_int_t)k->foreign);
}

static json_t *latency_json(const struct trial_result *r)
{
	const struct hist *h = r->latency;
	if (h->total == 0)
		return json_null();
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:s}", "frames",
			 (json_int_t)h->total, "latency_ns_min", ns(h->min), "latency_ns_p50",
			 ns(hist_quantile(h, 500)), "latency_ns_p90", ns(hist_quantile(h, 900)),
			 "latency_ns_p99", ns(hist_quantile(h, 990)), "latency_ns_p999",
			 ns(hist_quantile(h, 999)), "latency_ns_p9999",
			 ns(hist_part(h, 9999, 10000)), "latency_ns_max", ns(h->max), "source",
			 r->hardware_stamps ? "hardware" : "software");
}

static json_t *departure_json(const struct trial_result *r)
{
	return json_pack("{s:I, s:f, s:I, s:I, s:I}", "burst_frames_max",
			 (json_int_t)r->burst_max, "interval_ns_intended", r->interval_intended_ns,
			 "interval_ns_p50", ns(hist_quantile(r->intervals, 500)), "interval_ns_p99",
			 ns(hist_quantile(r->intervals, 990)), "interval_ns_max",
			 ns(r->intervals->max));
}

static json_t *cycles_json(const uint64_t *cycles, unsigned int count)
{
	json_t *list = json_array();
	for (unsigned int i = 0; i < count; i++)
		json_array_append_new(list, json_integer((json_int_t)cycles[i]));
	return list;
}

static json_t *reasons_json(const struct reasons *r)
{
	json_t *list = json_array();
	for (unsigned int i = 0; i < r->count; i++)
		json_array_append_new(list, json_string(r->text[i]));
	return list;
}

static json_t *known_json(int64_t value)
{
	return value < 0 ? json_null() : json_integer((json_int_t)value);
}

static json_t *health_json(const struct trial_result *r)
{
	return json_pack(
		"{s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:I, s:o,"
		" s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:i}", "gap_ns_max", ns(r->gap_max),
		"gaps_over_limit", (json_int_t)r->gaps_over_limit, "gap_limit_ns",
		ns(r->gap_limit), "stalled_ns", ns(r->stalled), "pingpong_cycles_before",
		cycles_json(r->pingpong_before, r->pingpong_count), "pingpong_cycles_after",
		cycles_json(r->pingpong_after, r->pingpong_count), "busy_cycles_per_frame",
		r->busy_frames > 0 ? json_real((double)r->busy / (double)r->busy_frames)
				   : json_null(),
		"tsc_hz", (json_int_t)rte_get_tsc_hz(), "core_hz",
		r->core_hz > 0 ? json_integer((json_int_t)r->core_hz) : json_null(), "off_core_ns",
		ns(r->off_core), "hidden_ns", ns(r->hidden), "long_pass_work_ns", ns(r->long_work),
		"pass_ns_max", ns(r->pass_max), "run_ns", known_json(r->schedule.run_ns), "wait_ns",
		known_json(r->schedule.wait_ns), "steal_ns", known_json(r->schedule.steal_ns),
		"rx_burst_frames", (int)r->rx_burst_least);
}

/* Only those that counted something. */
static json_t *discards_json(const struct discards *d, const uint64_t *values)
{
	json_t *object = json_object();
	for (unsigned int i = 0; i < d->count; i++)
		if (values[i] != 0)
			json_object_set_new(object, d->name[i],
					    json_integer((json_int_t)values[i]));
	return object;
}

/* Only of the ports that could be read. */
static json_t *counters_json(const struct counters *c, const struct port *ports,
			     unsigned int count)
{
	const struct rte_eth_stats *stats = c->stats;
	json_t *list = json_array();
	for (unsigned int i = 0; i < count; i++) {
		if (c->error[i] != 0)
			continue;
		json_array_append_new(
			list, json_pack("{s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o}",
					"port", i,
					"ipackets", (json_int_t)stats[i].ipackets, "opackets",
					(json_int_t)stats[i].opackets, "ibytes",
					(json_int_t)stats[i].ibytes, "obytes",
					(json_int_t)stats[i].obytes, "imissed",
					(json_int_t)stats[i].imissed, "ierrors",
					(json_int_t)stats[i].ierrors, "oerrors",
					(json_int_t)stats[i].oerrors, "rx_nombuf",
					(json_int_t)stats[i].rx_nombuf, "discards",
					discards_json(&ports[i].discards, c->discards[i])));
	}
	return list;
}

static json_t *known_list(const int64_t *values, unsigned int count)
{
	json_t *list = json_array();
	for (unsigned int i = 0; i < count; i++)
		json_array_append_new(list, known_json(values[i]));
	return list;
}

static json_t *streams_json(const struct config_trial *c, const struct trial_stream *streams)
{
	json_t *list = json_array();
	for (unsigned int i = 0; i < c->stream_count; i++)
		json_array_append_new(list, stream_json(&c->streams[i], &streams[i]));
	return list;
}

static json_t *windows_json(const struct config_trial *c, const struct trial_result *r)
{
	json_t *list = json_array();
	for (unsigned int i = 0; i < r->window_count; i++) {
		const struct trial_window *w = &r->windows[i];
		json_array_append_new(
			list, json_pack("{s:f, s:I, s:o, s:I, s:I, s:o, s:o, s:o}",
					"measured_seconds", w->measured_seconds, "drain_ns",
					ns(w->drain), "streams", streams_json(c, w->streams),
					"stalled_ns", ns(w->stalled), "gap_ns_max", ns(w->gap_max),
					"watched_away_ns",
					known_list(w->watched_away_ns, c->watch_count),
					"watched_drain_away_ns",
					known_list(w->watched_drain_away_ns, c->watch_count),
					"invalid_reasons", reasons_json(&w->reasons)));
	}
	return list;
}

/* Null where the load was to stay, or the trial was over before it changed. */
static json_t *change_json(const struct change *change)
{
	if (change->at == 0)
		return json_null();
	return json_pack("{s:I, s:I}", "at_ns", ns(change->at), "last_loss_ns",
			 ns(change->last_loss));
}

void reply_result(int64_t id, const struct tester *t, const struct config_trial *c,
		  const struct trial_result *r)
{
	say(id, "result",
	    json_pack("{s:i, s:f, s:I, s:o, s:o, s:o, s:o, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o,"
		      " s:I, s:o, s:b, s:o}",
		      "number",
		      (int)c->number, "measured_seconds", r->measured_seconds, "drain_ns",
		      ns(r->drain), "streams", streams_json(c, r->streams),
		      "latency", latency_json(r), "departure", departure_json(r), "tester",
		      health_json(r), "silence_ns_max", ns(r->silence_max),
		      "silence_ns_sum", ns(r->silence_sum), "quiet_ns_max",
		      ns(r->quiet_max), "quiet_ns_last", ns(r->quiet_last), "watched_away_ns",
		      known_list(r->watched_away_ns, c->watch_count),
		      "watched_drain_away_ns",
		      known_list(r->watched_drain_away_ns, c->watch_count), "counters",
		      counters_json(&r->counters, t->ports, t->port_count), "change",
		      change_json(&r->change), "state_bytes",
		      (json_int_t)r->state_bytes, "windows", windows_json(c, r), "valid",
		      r->reasons.count == 0, "invalid_reasons", reasons_json(&r->reasons)));
}

void reply_counters(int64_t id, const struct tester *t, const struct counters *c)
{
	say(id, "counters", json_pack("{s:o}", "ports", counters_json(c, t->ports, t->port_count)));
}

void reply_bye(int64_t id)
{
	say(id, "bye", json_object());
}

void reply_error(int64_t id, const struct failure *f)
{
	say(id, "error",
	    json_pack("{s:s, s:s, s:s, s:s}", "what", f->what, "where", f->where, "found", f->found,
		      "next", f->next));
}
