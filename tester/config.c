/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include <rte_ether.h>

static const char SEE[] = "see docs/tester-protocol.md";

#define REFUSE(failure, where, ...) failure_set(failure, "request.invalid", where, SEE, __VA_ARGS__)

struct bounds {
	double min, max;
};

/* A number inside its bounds; the default where the key is absent. Default NAN: it is required. */
static int number(const json_t *object, const char *key, struct bounds b, double fallback,
		  double *out, struct failure *failure)
{
	const json_t *value = json_object_get(object, key);
	if (value == NULL) {
		if (isnan(fallback))
			return REFUSE(failure, key, "missing");
		*out = fallback;
		return 0;
	}
	if (!json_is_number(value))
		return REFUSE(failure, key, "not a number");
	*out = json_number_value(value);
	if (!(*out >= b.min && *out <= b.max))
		return REFUSE(failure, key, "%.12g is not within %.12g to %.12g", *out, b.min,
			      b.max);
	return 0;
}

static int integer(const json_t *object, const char *key, struct bounds b, double fallback,
		   uint32_t *out, struct failure *failure)
{
	double value = 0;
	if (number(object, key, b, fallback, &value, failure) < 0)
		return -1;
	if (value != floor(value))
		return REFUSE(failure, key, "%.12g is not a whole number", value);
	*out = (uint32_t)value;
	return 0;
}

static int small(const json_t *object, const char *key, struct bounds b, double fallback,
		 uint16_t *out, struct failure *failure)
{
	uint32_t value = 0;
	if (integer(object, key, b, fallback, &value, failure) < 0)
		return -1;
	*out = (uint16_t)value;
	return 0;
}

static int flag(const json_t *object, const char *key, bool fallback, bool *out,
		struct failure *failure)
{
	const json_t *value = json_object_get(object, key);
	*out = value == NULL ? fallback : json_is_true(value);
	if (value != NULL && !json_is_boolean(value))
		return REFUSE(failure, key, "not true or false");
	return 0;
}

/* An array of 1 (or `least`) to `most` entries. */
static int array(const json_t *object, const char *key, size_t least, size_t most,
		 const json_t **out, unsigned int *count, struct failure *failure)
{
	*out = json_object_get(object, key);
	*count = (unsigned int)json_array_size(*out);
	if (*out == NULL ? least > 0 : !json_is_array(*out))
		return REFUSE(failure, key, "not an array");
	if (json_array_size(*out) < least || json_array_size(*out) > most)
		return REFUSE(failure, key, "%zu entries, not %zu to %zu", json_array_size(*out),
			      least, most);
	return 0;
}

/* A key that nobody reads is a mistake, not an extra. */
static int only(const json_t *object, const char *where, const char *const *keys,
		struct failure *failure)
{
	const char *key;
	json_t *value;

	if (!json_is_object(object))
		return REFUSE(failure, where, "not an object");
	json_object_foreach((json_t *)(uintptr_t)object, key, value)
	{
		bool known = false;
		for (const char *const *k = keys; *k != NULL; k++)
			known |= strcmp(*k, key) == 0;
		if (!known)
			return REFUSE(failure, where, "unknown key \"%.60s\"", key);
	}
	return 0;
}

static int parse_queues(const json_t *worker, const char *key, const struct config_open *open,
			struct config_queue *queues, unsigned int *count, struct failure *failure)
{
	const json_t *list;
	if (array(worker, key, 0, CONFIG_WORKER_QUEUES_MAX, &list, count, failure) < 0)
		return -1;
	for (unsigned int i = 0; i < *count; i++) {
		json_int_t port, queue;
		if (json_unpack(json_array_get(list, i), "[I, I!]", &port, &queue) < 0)
			return REFUSE(failure, key, "entry %u is not [port, queue]", i);
		if (port < 0 || port >= open->port_count)
			return REFUSE(failure, key, "port %lld is not open", (long long)port);
		const struct config_port *p = &open->ports[port];
		json_int_t queues_there = key[0] == 't' ? p->tx_queues : p->rx_queues;
		if (queue < 0 || queue >= queues_there)
			return REFUSE(failure, key, "port %lld has no queue %lld", (long long)port,
				      (long long)queue);
		queues[i] = (struct config_queue){(uint16_t)port, (uint16_t)queue};
	}
	return 0;
}

/* A string; the default where the key is absent; NULL, which equals nothing, if it is no string. */
static const char *text(const json_t *object, const char *key, const char *fallback)
{
	const json_t *value = json_object_get(object, key);
	return value == NULL ? fallback : json_string_value(value);
}

/* Six pairs with colons; rte_ether_unformat_addr() also takes what depends on DPDK's version. */
static int parse_mac(const char *mac, uint8_t bytes[6])
{
	struct rte_ether_addr address;

	if (mac == NULL || strlen(mac) != sizeof("02:00:00:00:00:01") - 1 ||
	    rte_ether_unformat_addr(mac, &address) < 0)
		return -1;
	memcpy(bytes, address.addr_bytes, sizeof(address.addr_bytes));
	return 0;
}

static int parse_port(const json_t *object, struct config_port *port, struct failure *failure)
{
	static const char *const keys[] = {"device", "tx_queues", "rx_queues", "tx_descriptors",
					   "rx_descriptors", "peer_mac", "refused",
					   "hardware_stamps", NULL};
	const char *device = text(object, "device", "");
	const char *refused = text(object, "refused", "dut");
	const struct bounds queues = {1, CONFIG_QUEUES_MAX}, descriptors = {0, 32768};

	if (only(object, "ports", keys, failure) < 0)
		return -1;
	if (device == NULL || device[0] == '\0' || strlen(device) >= sizeof(port->device))
		return REFUSE(failure, "device", "not a string of 1 to %zu bytes",
			      sizeof(port->device) - 1);
	snprintf(port->device, sizeof(port->device), "%s", device);
	if (parse_mac(text(object, "peer_mac", "02:00:00:00:00:01"), port->peer_mac) < 0)
		return REFUSE(failure, "peer_mac", "not a MAC address such as 02:00:00:00:00:01");
	if (refused == NULL || (strcmp(refused, "dut") != 0 && strcmp(refused, "tester") != 0))
		return REFUSE(failure, "refused", "neither \"dut\" nor \"tester\"");
	port->refused_is_dut = refused[0] == 'd';
	if (small(object, "tx_queues", queues, 1, &port->tx_queues, failure) < 0 ||
	    small(object, "rx_queues", queues, 1, &port->rx_queues, failure) < 0 ||
	    small(object, "tx_descriptors", descriptors, 0, &port->tx_descriptors, failure) < 0 ||
	    small(object, "rx_descriptors", descriptors, 0, &port->rx_descriptors, failure) < 0 ||
	    flag(object, "hardware_stamps", true, &port->hardware_stamps, failure) < 0)
		return -1;
	return 0;
}

/* Whether two device strings name one device: the name ends at its first argument. */
static bool same_device(const char *a, const char *b)
{
	const size_t bytes = strcspn(a, ",");
	return bytes == strcspn(b, ",") && memcmp(a, b, bytes) == 0;
}

/* Every queue has exactly one lcore: two would race, none would leave frames unread. */
static int check_owners(const struct config_open *open, struct failure *failure)
{
	unsigned int tx[CONFIG_PORTS_MAX][CONFIG_QUEUES_MAX] = {0};
	unsigned int rx[CONFIG_PORTS_MAX][CONFIG_QUEUES_MAX] = {0};

	for (unsigned int w = 0; w < open->worker_count; w++) {
		const struct config_worker *worker = &open->workers[w];
		for (unsigned int i = 0; i < worker->tx_count; i++)
			tx[worker->tx[i].port][worker->tx[i].queue]++;
		for (unsigned int i = 0; i < worker->rx_count; i++)
			rx[worker->rx[i].port][worker->rx[i].queue]++;
	}
	for (unsigned int p = 0; p < open->port_count; p++) {
		for (unsigned int q = 0; q < open->ports[p].tx_queues; q++)
			if (tx[p][q] != 1)
				return REFUSE(failure, "workers",
					      "tx queue %u of port %u has %u lcores", q, p,
					      tx[p][q]);
		for (unsigned int q = 0; q < open->ports[p].rx_queues; q++)
			if (rx[p][q] != 1)
				return REFUSE(failure, "workers",
					      "rx queue %u of port %u has %u lcores", q, p,
					      rx[p][q]);
	}
	return 0;
}

static int parse_open(const json_t *object, struct config_open *open, struct failure *failure)
{
	static const char *const keys[] = {"v", "id", "op", "ports", "workers", "frame_bytes_max",
					   "link_wait_ms", NULL};
	static const char *const worker_keys[] = {"lcore", "tx", "rx", NULL};
	const struct bounds sizes = {FRAME_BYTES_MIN, FRAME_BYTES_MAX};
	const json_t *ports, *workers;

	if (only(object, "open", keys, failure) < 0 ||
	    array(object, "ports", 1, CONFIG_PORTS_MAX, &ports, &open->port_count, failure) < 0 ||
	    array(object, "workers", 1, CONFIG_WORKERS_MAX, &workers, &open->worker_count,
		  failure) < 0 ||
	    small(object, "frame_bytes_max", sizes, 1518, &open->frame_bytes_max, failure) < 0 ||
	    integer(object, "link_wait_ms", (struct bounds){0, 60000}, 5000, &open->link_wait_ms,
		    failure) < 0)
		return -1;
	for (unsigned int i = 0; i < open->port_count; i++) {
		if (parse_port(json_array_get(ports, i), &open->ports[i], failure) < 0)
			return -1;
		for (unsigned int k = 0; k < i; k++)
			if (same_device(open->ports[k].device, open->ports[i].device))
				return REFUSE(failure, "device", "%.100s is port %u already",
					      open->ports[i].device, k);
	}
	for (unsigned int i = 0; i < open->worker_count; i++) {
		const json_t *worker = json_array_get(workers, i);
		struct config_worker *w = &open->workers[i];
		if (only(worker, "workers", worker_keys, failure) < 0 ||
		    integer(worker, "lcore", (struct bounds){0, 1023}, NAN, &w->lcore,
			    failure) < 0 ||
		    parse_queues(worker, "tx", open, w->tx, &w->tx_count, failure) < 0 ||
		    parse_queues(worker, "rx", open, w->rx, &w->rx_count, failure) < 0)
			return -1;
	}
	return check_owners(open, failure);
}

double config_mean_wire_bytes(const struct config_trial *trial)
{
	double bytes = 0, frames = 0;
	for (unsigned int i = 0; i < trial->mix_count; i++) {
		frames += trial->mix[i].weight;
		bytes += trial->mix[i].weight *
			 (double)(trial->mix[i].frame_bytes + 20); /* IEEE 802.3 preamble, gap */
	}
	return bytes / frames;
}

/* One of: {"pps": n}, {"gbps_l1": n}, {"line_rate_percent": n, "link_gbps": n}, {"max": true} */
static int parse_load(const json_t *trial, struct config_trial *t, struct failure *failure)
{
	static const char *const keys[] = {"pps", "gbps_l1", "line_rate_percent", "link_gbps",
					   "max", NULL};
	const struct bounds gbps = {1e-9, 10000}, percent = {1e-9, 100};
	const json_t *load = json_object_get(trial, "load");
	double value = 0, link = 0;
	bool max;

	if (only(load, "load", keys, failure) < 0 || flag(load, "max", false, &max, failure) < 0)
		return -1;
	const double frame_bits = 8 * config_mean_wire_bytes(t);
	if (json_object_size(load) == 1 && max) {
		t->load_pps = 0;
	} else if (json_object_size(load) == 1 && json_object_get(load, "pps") != NULL) {
		if (number(load, "pps", (struct bounds){0.1, 1e10}, NAN, &t->load_pps, failure) < 0)
			return -1;
	} else if (json_object_size(load) == 1 && json_object_get(load, "gbps_l1") != NULL) {
		if (number(load, "gbps_l1", gbps, NAN, &value, failure) < 0)
			return -1;
		t->load_pps = value * 1e9 / frame_bits;
	} else if (json_object_size(load) == 2 &&
		   json_object_get(load, "line_rate_percent") != NULL &&
		   json_object_get(load, "link_gbps") != NULL) {
		if (number(load, "line_rate_percent", percent, NAN, &value, failure) < 0 ||
		    number(load, "link_gbps", gbps, NAN, &link, failure) < 0)
			return -1;
		t->load_pps = value / 100 * link * 1e9 / frame_bits;
	} else {
		return REFUSE(failure, "load", "not one of pps, gbps_l1, line_rate_percent with "
			      "link_gbps, or max");
	}
	return 0;
}

/* {"after_seconds": n, "pps": n}: the load changes once, within the trial. */
static int parse_then(const json_t *trial, struct config_trial *t, struct failure *failure)
{
	static const char *const keys[] = {"after_seconds", "pps", NULL};
	const json_t *then = json_object_get(trial, "then");
	const struct bounds within = {0.001, t->seconds};

	t->then_after_seconds = t->then_pps = 0;
	if (then == NULL)
		return 0;
	if (only(then, "then", keys, failure) < 0 ||
	    number(then, "after_seconds", within, NAN, &t->then_after_seconds, failure) < 0 ||
	    number(then, "pps", (struct bounds){0.1, 1e10}, NAN, &t->then_pps, failure) < 0)
		return -1;
	if (t->then_after_seconds >= t->seconds)
		return REFUSE(failure, "then", "the trial is over then");
	if (t->windows > 0)
		return REFUSE(failure, "then", "a trial of windows keeps its load");
	if (t->load_pps == 0)
		return REFUSE(failure, "then", "a load that is as high as it goes has no end");
	return 0;
}

static int parse_expect(const json_t *trial, enum frame_expect *expect, struct failure *failure)
{
	static const char *const names[] = {"as-sent", "5tswap", "routed"};
	const char *name = text(trial, "expect", names[0]);

	for (unsigned int i = 0; name != NULL && i < RTE_DIM(names); i++)
		if (strcmp(names[i], name) == 0) {
			*expect = (enum frame_expect)i;
			return 0;
		}
	return REFUSE(failure, "expect", "not one of as-sent, 5tswap, routed");
}

static bool is_process(const json_t *number)
{
	return json_is_integer(number) && json_integer_value(number) > 0 &&
	       json_integer_value(number) <= INT32_MAX;
}

static const double STALLED_SHARE = 0.05; /* of the trial's time, where none is asked for */

static int parse_trial(const json_t *object, struct config_trial *t, struct failure *failure)
{
	static const char *const keys[] = {"v", "id", "op", "number", "mix", "streams", "flows",
					   "load", "seconds", "burst_frames", "expect", "prime",
					   "gap_limit_ms", "settle_ms", "window_frames", "cpus",
					   "watch", "windows", "stalled_share",
					   "link_look_ms", "then", NULL};
	static const char *const share_keys[] = {"frame_bytes", "weight", NULL};
	static const char *const stream_keys[] = {"tx_port", "rx_port", NULL};
	const struct bounds sizes = {FRAME_BYTES_MIN, FRAME_BYTES_MAX};
	const struct bounds ports = {0, CONFIG_PORTS_MAX - 1};
	const json_t *mix, *streams, *cpus, *watch;
	double gap_ms = 0, settle_ms = 0;

	if (only(object, "trial", keys, failure) < 0 ||
	    integer(object, "number", (struct bounds){1, 1e9}, NAN, &t->number, failure) < 0 ||
	    array(object, "mix", 1, FRAME_CLASSES_MAX, &mix, &t->mix_count, failure) < 0 ||
	    array(object, "streams", 1, CONFIG_STREAMS_MAX, &streams, &t->stream_count,
		  failure) < 0 ||
	    array(object, "cpus", 0, CONFIG_CPUS_MAX, &cpus, &t->cpu_count, failure) < 0 ||
	    array(object, "watch", 0, CONFIG_CPUS_MAX, &watch, &t->watch_count, failure) < 0 ||
	    integer(object, "flows", (struct bounds){1, FRAME_FLOWS_MAX}, NAN, &t->flows,
		    failure) < 0 ||
	    number(object, "seconds", (struct bounds){0.001, 3600}, NAN, &t->seconds,
		   failure) < 0 ||
	    small(object, "burst_frames", (struct bounds){1, 128}, 32, &t->burst_frames,
		  failure) < 0 ||
	    number(object, "gap_limit_ms", (struct bounds){0.01, 1e4}, 10, &gap_ms, failure) < 0 ||
	    number(object, "settle_ms", (struct bounds){1, 1e4}, 200, &settle_ms, failure) < 0 ||
	    number(object, "stalled_share", (struct bounds){0.001, 1}, STALLED_SHARE,
		   &t->stalled_share, failure) < 0 ||
	    integer(object, "window_frames", (struct bounds){0, 1 << 20}, 0, &t->window_frames,
		    failure) < 0 ||
	    integer(object, "link_look_ms", (struct bounds){0, 1000}, 0, &t->link_look_ms,
		    failure) < 0 ||
	    integer(object, "windows", (struct bounds){0, CONFIG_WINDOWS_MAX}, 0, &t->windows,
		    failure) < 0 ||
	    flag(object, "prime", true, &t->prime, failure) < 0 ||
	    parse_expect(object, &t->expect, failure) < 0)
		return -1;
	t->gap_limit_seconds = gap_ms / 1e3;
	t->settle_seconds = settle_ms / 1e3;
	if (t->window_frames & (t->window_frames - 1) ||
	    (t->window_frames > 0 && t->window_frames < 64))
		return REFUSE(failure, "window_frames", "%u is not a power of two from 64",
			      t->window_frames);
	for (unsigned int i = 0; i < t->mix_count; i++) {
		const json_t *share = json_array_get(mix, i);
		if (only(share, "mix", share_keys, failure) < 0 ||
		    small(share, "frame_bytes", sizes, NAN, &t->mix[i].frame_bytes, failure) < 0 ||
		    small(share, "weight", (struct bounds){1, CONFIG_WEIGHT_MAX}, 1,
			  &t->mix[i].weight, failure) < 0)
			return -1;
	}
	for (unsigned int i = 0; i < t->stream_count; i++) {
		const json_t *stream = json_array_get(streams, i);
		if (only(stream, "streams", stream_keys, failure) < 0 ||
		    small(stream, "tx_port", ports, NAN, &t->streams[i].tx_port, failure) < 0 ||
		    small(stream, "rx_port", ports, NAN, &t->streams[i].rx_port, failure) < 0)
			return -1;
		for (unsigned int k = 0; k < i; k++)
			if (t->streams[k].tx_port == t->streams[i].tx_port)
				return REFUSE(failure, "streams", "two streams from port %u",
					      t->streams[i].tx_port);
	}
	for (unsigned int i = 0; i < t->cpu_count; i++) {
		const json_t *cpu = json_array_get(cpus, i);
		if (!json_is_integer(cpu) || json_integer_value(cpu) < 0 ||
		    json_integer_value(cpu) > 1023)
			return REFUSE(failure, "cpus", "entry %u is not a CPU's number", i);
		t->cpus[i] = (int)json_integer_value(cpu);
	}
	for (unsigned int i = 0; i < t->watch_count; i++) {
		const json_t *pid = json_array_get(json_array_get(watch, i), 0);
		const json_t *tid = json_array_get(json_array_get(watch, i), 1);
		if (json_array_size(json_array_get(watch, i)) != 2 || !is_process(pid) ||
		    !is_process(tid))
			return REFUSE(failure, "watch", "entry %u is not [process, thread]", i);
		t->watch[i].pid = (int)json_integer_value(pid);
		t->watch[i].tid = (int)json_integer_value(tid);
	}
	return parse_load(object, t, failure) < 0 ? -1 : parse_then(object, t, failure);
}

static int parse_object(const json_t *root, struct config_request *r, struct failure *failure)
{
	static const struct {
		const char *name;
		enum config_op op;
	} ops[] = {{"hello", OP_HELLO}, {"open", OP_OPEN}, {"trial", OP_TRIAL},
		   {"counters", OP_COUNTERS}, {"stop", OP_STOP}, {"quit", OP_QUIT}};
	static const char *const bare_keys[] = {"v", "id", "op", NULL};
	const json_t *id = json_object_get(root, "id");
	const json_t *version = json_object_get(root, "v");
	const char *op = json_string_value(json_object_get(root, "op"));

	if (!json_is_object(root))
		return REFUSE(failure, "line", "not a JSON object");
	if (json_is_integer(id))
		r->id = json_integer_value(id);
	if (!json_is_integer(version) || json_integer_value(version) != PROTOCOL_VERSION)
		return failure_set(failure, "request.version", "v",
				   "use a client of the same release",
				   "this tester speaks version %d", PROTOCOL_VERSION);
	if (!json_is_integer(id) || r->id < 0)
		return REFUSE(failure, "id", "not a whole number from 0");
	for (unsigned int i = 0; op != NULL && i < RTE_DIM(ops); i++) {
		if (strcmp(op, ops[i].name) != 0)
			continue;
		r->op = ops[i].op;
		if (r->op == OP_OPEN)
			return parse_open(root, &r->open, failure);
		if (r->op == OP_TRIAL)
			return parse_trial(root, &r->trial, failure);
		return only(root, op, bare_keys, failure);
	}
	return REFUSE(failure, "op", "not one of hello, open, trial, counters, stop, quit");
}

int config_parse(const char *line, size_t bytes, struct config_request *request,
		 struct failure *failure)
{
	json_error_t error;
	memset(request, 0, sizeof(*request));
	memset(failure, 0, sizeof(*failure));
	request->id = -1;
	json_t *root = json_loadb(line, bytes, JSON_REJECT_DUPLICATES, &error);
	if (root == NULL)
		return failure_set(failure, "request.not_json", "line", SEE, "column %d: %.160s",
				   error.column, error.text);
	int rc = parse_object(root, request, failure);
	json_decref(root);
	return rc;
}
