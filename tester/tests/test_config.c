/* SPDX-License-Identifier: BSD-3-Clause */
/* Each key takes the ends of its range, and refuses by name what is beyond or of another kind. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "../config.h"
#include "check.h"

static const char open_line[] =
	"{\"v\":1,\"id\":7,\"op\":\"open\",\"ports\":[{\"device\":\"net_null0\",\"tx_queues\":2}],"
	"\"workers\":[{\"lcore\":1,\"tx\":[[0,0],[0,1]],\"rx\":[[0,0]]}]}";
static const char trial_line[] =
	"{\"v\":1,\"id\":7,\"op\":\"trial\",\"number\":1,\"mix\":[{\"frame_bytes\":64}],"
	"\"streams\":[{\"tx_port\":0,\"rx_port\":0}],\"flows\":8,\"load\":{\"pps\":1000},"
	"\"seconds\":1}";

static struct config_request request;
static struct failure failure;

/* Parses `line` with `value` (JSON; NULL: nothing) at `path`: keys and positions, dots between. */
static int parse_with(const char *line, const char *path, const char *value)
{
	json_t *root = json_loads(line, 0, NULL), *at = root;
	char keys[512], *rest = keys, *key;

	snprintf(keys, sizeof(keys), "%s", path);
	while ((key = strsep(&rest, ".")) != NULL && rest != NULL)
		at = json_is_array(at) ? json_array_get(at, (size_t)atoi(key))
				       : json_object_get(at, key);
	if (value == NULL)
		json_object_del(at, key);
	else if (json_is_array(at))
		json_array_set_new(at, (size_t)atoi(key), json_loads(value, JSON_DECODE_ANY, NULL));
	else
		json_object_set_new(at, key, json_loads(value, JSON_DECODE_ANY, NULL));
	char *text = json_dumps(root, JSON_COMPACT);
	const int rc = config_parse(text, strlen(text), &request, &failure);
	free(text);
	json_decref(root);
	return rc;
}

static void refused(const char *line, const char *path, const char *value, const char *where)
{
	const int rc = parse_with(line, path, value);
	CHECK_EQUAL(rc, -1, "%s = %s was accepted", path, value == NULL ? "(none)" : value);
	if (rc == 0)
		return;
	CHECK_EQUAL(strcmp(failure.where, where), 0, "%s = %s: where is %s", path, value,
		    failure.where);
	CHECK(failure.found[0] != '\0' && failure.next[0] != '\0');
	CHECK_EQUAL(request.id, 7, "the answer finds its question: %s", path);
}

static void accepted(const char *line, const char *path, const char *value)
{
	const int rc = parse_with(line, path, value);
	CHECK_EQUAL(rc, 0, "%s = %s: %s: %s", path, value, failure.where, failure.found);
}

/* `least` and `most` are accepted; `below`, `above` and what is no such number are not. */
static void range(const char *line, const char *path, const char *where, const char *below,
		  const char *least, const char *most, const char *above)
{
	static const char *const no_numbers[] = {"\"1\"", "null", "true", "[1]", "{}"};

	accepted(line, path, least);
	accepted(line, path, most);
	refused(line, path, below, where);
	refused(line, path, above, where);
	for (unsigned int i = 0; i < RTE_DIM(no_numbers); i++)
		refused(line, path, no_numbers[i], where);
}

static void whole(const char *line, const char *path, const char *where, const char *below,
		  const char *least, const char *most, const char *above)
{
	range(line, path, where, below, least, most, above);
	refused(line, path, "64.5", where);
}

static void open_is_checked(void)
{
	const char *o = open_line;

	accepted(o, "id", "7");
	/* More queues than the workers own are refused there, so these two have no upper end. */
	refused(o, "ports.0.tx_queues", "0", "tx_queues");
	refused(o, "ports.0.tx_queues", "17", "tx_queues");
	refused(o, "ports.0.tx_queues", "1.5", "tx_queues");
	refused(o, "ports.0.rx_queues", "0", "rx_queues");
	refused(o, "ports.0.rx_queues", "17", "rx_queues");
	whole(o, "ports.0.tx_descriptors", "tx_descriptors", "-1", "0", "32768", "32769");
	whole(o, "ports.0.rx_descriptors", "rx_descriptors", "-1", "0", "32768", "32769");
	whole(o, "frame_bytes_max", "frame_bytes_max", "63", "64", "9600", "9601");
	whole(o, "link_wait_ms", "link_wait_ms", "-1", "0", "60000", "60001");
	whole(o, "workers.0.lcore", "lcore", "-1", "0", "1023", "1024");
	refused(o, "workers.0.lcore", NULL, "lcore");

	refused(o, "ports.0.device", NULL, "device");
	refused(o, "ports.0.device", "\"\"", "device");
	refused(o, "ports.0.device", "5", "device");
	char text[600] = "\"";
	memset(text + 1, 'x', 511);
	memcpy(text + 512, "\"", 2);
	accepted(o, "ports.0.device", text);
	CHECK_EQUAL(strlen(request.open.ports[0].device), 511, "whole");
	memcpy(text + 512, "x\"", 3);
	refused(o, "ports.0.device", text, "device");

	refused(o, "ports", "[{\"device\":\"net_ring0\"},{\"device\":\"net_ring0\"}]", "device");
	refused(o, "ports", "[{\"device\":\"net_a,x=1\"},{\"device\":\"net_a,y\"}]", "device");
	refused(o, "ports", "[{\"device\":\"net_a\"},{\"device\":\"net_a,y\"}]", "device");
	refused(o, "ports", "[{\"device\":\"net_a\"},{\"device\":\"net_ab\"}]", "tx");

	accepted(o, "ports.0.peer_mac", "\"02:0a:0B:00:00:ff\"");
	CHECK_EQUAL(request.open.ports[0].peer_mac[2], 0x0b, "peer_mac");
	refused(o, "ports.0.peer_mac", "\"02:00:00:00:00\"", "peer_mac");
	refused(o, "ports.0.peer_mac", "\"02:00:00:00:00:0g\"", "peer_mac");
	refused(o, "ports.0.peer_mac", "\"2:0:0:0:0:1\"", "peer_mac");
	refused(o, "ports.0.peer_mac", "\"0200:0000:0001\"", "peer_mac");
	refused(o, "ports.0.peer_mac", "\"02-00-00-00-00-01\"", "peer_mac");
	refused(o, "ports.0.peer_mac", "\"\"", "peer_mac");
	refused(o, "ports.0.peer_mac", "5", "peer_mac");
	accepted(o, "ports.0.refused", "\"dut\"");
	CHECK(request.open.ports[0].refused_is_dut);
	accepted(o, "ports.0.refused", "\"tester\"");
	CHECK(!request.open.ports[0].refused_is_dut);
	refused(o, "ports.0.refused", "\"nobody\"", "refused");
	refused(o, "ports.0.refused", "null", "refused");
	accepted(o, "ports.0.hardware_stamps", "false");
	refused(o, "ports.0.hardware_stamps", "0", "hardware_stamps");

	refused(o, "ports", NULL, "ports");
	refused(o, "ports", "[]", "ports");
	refused(o, "ports", "{}", "ports");
	refused(o, "ports", "[5]", "ports");
	refused(o, "ports", "[{},{},{},{},{},{},{},{},{}]", "ports");
	refused(o, "workers", NULL, "workers");
	refused(o, "workers", "[]", "workers");
	refused(o, "workers", "[5]", "workers");
	refused(o, "ports.0.devise", "1", "ports");
	refused(o, "workers.0.core", "1", "workers");
	refused(o, "mtu", "1500", "open");
}

static void each_queue_has_one_lcore(void)
{
	const char *o = open_line;

	refused(o, "workers.0.tx", "[[0,0]]", "workers");             /* queue 1 has none */
	refused(o, "workers.0.tx", "[[0,0],[0,0],[0,1]]", "workers"); /* queue 0 has two */
	refused(o, "workers.0.rx", NULL, "workers");
	refused(o, "workers.0.rx", "[[0,1]]", "rx");
	refused(o, "workers.0.rx", "[[1,0]]", "rx");
	refused(o, "workers.0.rx", "[[-1,0]]", "rx");
	refused(o, "workers.0.rx", "[[0,-1]]", "rx");
	refused(o, "workers.0.rx", "[[0]]", "rx");
	refused(o, "workers.0.rx", "[[0,0,0]]", "rx");
	refused(o, "workers.0.rx", "[0]", "rx");
	refused(o, "workers.0.rx", "[[0.5,0]]", "rx");
	refused(o, "workers.0.rx", "5", "rx");
	refused(o, "workers.0.rx",
		"[[0,0],[0,0],[0,0],[0,0],[0,0],[0,0],[0,0],[0,0],[0,0],[0,0],[0,0],[0,0],[0,0],"
		"[0,0],[0,0],[0,0],[0,0],[0,0],[0,0],[0,0],[0,0],[0,0],[0,0],[0,0],[0,0],[0,0],"
		"[0,0],[0,0],[0,0],[0,0],[0,0],[0,0],[0,0]]", "rx");
	refused(o, "workers.0.tx", "[[4294967296,0],[0,1]]", "tx");
}

static void trial_is_checked(void)
{
	const char *t = trial_line;

	whole(t, "number", "number", "0", "1", "1000000000", "1000000001");
	whole(t, "flows", "flows", "0", "1", "16777216", "16777217");
	range(t, "seconds", "seconds", "0.0009", "0.001", "3600", "3600.1");
	whole(t, "burst_frames", "burst_frames", "0", "1", "128", "129");
	range(t, "gap_limit_ms", "gap_limit_ms", "0.009", "0.01", "10000", "10001");
	range(t, "settle_ms", "settle_ms", "0.9", "1", "10000", "10001");
	range(t, "window_frames", "window_frames", "-1", "0", "1048576", "1048577");
	refused(t, "window_frames", "32", "window_frames");
	refused(t, "window_frames", "65", "window_frames");
	accepted(t, "window_frames", "64");
	whole(t, "mix.0.frame_bytes", "frame_bytes", "63", "64", "9600", "9601");
	whole(t, "mix.0.weight", "weight", "0", "1", "64", "65");
	whole(t, "streams.0.tx_port", "tx_port", "-1", "0", "7", "8");
	whole(t, "streams.0.rx_port", "rx_port", "-1", "0", "7", "8");
	for (const char *const *key = (const char *const[]){"number", "flows", "seconds", "mix",
							    "streams", "load", NULL};
	     *key != NULL; key++)
		refused(t, *key, NULL, *key);
	refused(t, "mix.0.frame_bytes", NULL, "frame_bytes");
	refused(t, "streams.0.rx_port", NULL, "rx_port");
	refused(t, "mix", "[]", "mix");
	refused(t, "mix", "[64]", "mix");
	refused(t, "mix", "64", "mix");
	refused(t, "mix", "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17]", "mix");
	refused(t, "streams", "[]", "streams");
	refused(t, "streams", "[{\"tx_port\":0,\"rx_port\":0},{\"tx_port\":0,\"rx_port\":1}]",
		"streams");
	accepted(t, "streams", "[{\"tx_port\":0,\"rx_port\":1},{\"tx_port\":1,\"rx_port\":1}]");
	accepted(t, "prime", "false");
	refused(t, "prime", "1", "prime");
	accepted(t, "cpus", "[0,1023]");
	refused(t, "cpus", "[1024]", "cpus");
	refused(t, "cpus", "[-1]", "cpus");
	refused(t, "cpus", "[0.5]", "cpus");
	refused(t, "cpus", "[0,1,2,3,4,5,6,7,8]", "cpus");
	refused(t, "cpus", "0", "cpus");
	accepted(t, "expect", "\"as-sent\"");
	CHECK_EQUAL(request.trial.expect, FRAME_AS_SENT, "expect");
	accepted(t, "expect", "\"5tswap\"");
	CHECK_EQUAL(request.trial.expect, FRAME_SWAPPED, "expect");
	accepted(t, "expect", "\"routed\"");
	CHECK_EQUAL(request.trial.expect, FRAME_ROUTED, "expect");
	refused(t, "expect", "\"macswap\"", "expect");
	refused(t, "expect", "1", "expect");
	refused(t, "flow", "1", "trial");
	refused(t, "mix.0.size", "64", "mix");
	refused(t, "streams.0.port", "0", "streams");
}

static void load_is_one_of_four(void)
{
	const char *t = trial_line;

	range(t, "load.pps", "pps", "0", "0.1", "10000000000", "10000000001");
	refused(t, "load.pps", "0.09", "pps");
	refused(t, "load.pps", "-1000", "pps");
	refused(t, "load", "{}", "load");
	refused(t, "load", "1000", "load");
	refused(t, "load", "{\"pps\":1,\"max\":true}", "load");
	refused(t, "load", "{\"pps\":1,\"gbps_l1\":1}", "load");
	refused(t, "load", "{\"mpps\":1}", "load");
	refused(t, "load", "{\"max\":false}", "load");
	refused(t, "load", "{\"max\":1}", "max");
	accepted(t, "load", "{\"max\":true}");
	CHECK_EQUAL(request.trial.load_pps, 0, "as fast as it goes");
	accepted(t, "load", "{\"gbps_l1\":10}");
	CHECK(fabs(request.trial.load_pps - 10e9 / 8 / 84) < 1e-3); /* 14.88 Mpps */
	refused(t, "load", "{\"gbps_l1\":0}", "gbps_l1");
	refused(t, "load", "{\"gbps_l1\":10001}", "gbps_l1");
	accepted(t, "load", "{\"line_rate_percent\":50,\"link_gbps\":100}");
	CHECK(fabs(request.trial.load_pps - 50e9 / 8 / 84) < 1e-3);
	refused(t, "load", "{\"line_rate_percent\":100.1,\"link_gbps\":100}", "line_rate_percent");
	refused(t, "load", "{\"line_rate_percent\":0,\"link_gbps\":100}", "line_rate_percent");
	refused(t, "load", "{\"line_rate_percent\":50,\"link_gbps\":0}", "link_gbps");
	refused(t, "load", "{\"line_rate_percent\":50}", "load");
}

/* The mean wire size of the published IMIX 7:4:1 is (7 * 84 + 4 * 614 + 1538) / 12. */
static void a_mix_has_a_mean(void)
{
	const int rc = parse_with(trial_line, "mix",
				  "[{\"frame_bytes\":64,\"weight\":7},"
				  "{\"frame_bytes\":594,\"weight\":4},{\"frame_bytes\":1518}]");
	CHECK_EQUAL(rc, 0, "imix");
	const double mean = (7 * 84 + 4 * 614 + 1538) / 12.0;
	CHECK(fabs(config_mean_wire_bytes(&request.trial) - mean) < 1e-9);
}

static void rubbish(const char *line, size_t bytes, const char *what)
{
	CHECK_EQUAL(config_parse(line, bytes, &request, &failure), -1, "%s", line);
	CHECK_EQUAL(strcmp(failure.what, what), 0, "%s: %s", line, failure.what);
	CHECK_EQUAL(request.id, (uint64_t)-1, "%s", line);
}

static void rubbish_is_refused(void)
{
	static const char *const lines[] = {"", "\n", "{", "nonsense", "{\"v\":1,\"v\":1}",
					    "\xff\xfe",
					    "{\"id\":99999999999999999999}", "{\"v\":1}{\"v\":1}"};
	static const char *const not_objects[] = {"[]", "[1,2]"};

	for (unsigned int i = 0; i < RTE_DIM(lines); i++)
		rubbish(lines[i], strlen(lines[i]), "request.not_json");
	rubbish("{\"v\":1}\0", 8, "request.not_json");
	for (unsigned int i = 0; i < RTE_DIM(not_objects); i++)
		rubbish(not_objects[i], strlen(not_objects[i]), "request.invalid");
	rubbish("{}", 2, "request.version");
	refused(trial_line, "v", "2", "v");
	refused(trial_line, "v", "1.0", "v");
	refused(trial_line, "v", NULL, "v");
	refused(trial_line, "op", NULL, "op");
	refused(trial_line, "op", "\"reset\"", "op");
	refused(trial_line, "op", "3", "op");
	refused("{\"v\":1,\"id\":7,\"op\":\"hello\"}", "flows", "1", "hello");
	CHECK_EQUAL(parse_with(trial_line, "id", "-1"), -1, "id");
	CHECK_EQUAL(parse_with(trial_line, "id", "1.5"), -1, "id");
	CHECK_EQUAL(parse_with(trial_line, "id", NULL), -1, "id");
	CHECK_EQUAL(parse_with(trial_line, "id", "9223372036854775807"), 0, "id");
}

/* A reply must be JSON whatever the request was: text that was cut to fit is whole characters. */
static void long_texts_are_cut_between_characters(void)
{
	for (unsigned int ascii = 0; ascii < 8; ascii++) {
		char text[400] = "";
		for (unsigned int i = 0; i < ascii; i++)
			strcat(text, "x");
		for (unsigned int i = 0; i < 90; i++)
			strcat(text, i % 2 ? "\xe2\x82\xac" : "\xf0\x9f\x98\x80");
		CHECK_EQUAL(parse_with(trial_line, text, "1"), -1, "an unknown key");
		json_t *found = json_string(failure.found);
		CHECK(found != NULL);
		json_decref(found);
		failure_set(&failure, "port.cannot_open", text, text, "%s", text);
		json_t *all = json_pack("[s, s, s]", failure.where, failure.found, failure.next);
		CHECK(all != NULL);
		json_decref(all);
	}
	failure_set(&failure, "port.cannot_open", "caf\xc3\xa9", "", "%s", "");
	CHECK_EQUAL(strcmp(failure.where, "caf\xc3\xa9"), 0, "what fits is left as it is");
}

int main(void)
{
	accepted(trial_line, "id", "7");
	open_is_checked();
	each_queue_has_one_lcore();
	trial_is_checked();
	load_is_one_of_four();
	a_mix_has_a_mean();
	rubbish_is_refused();
	long_texts_are_cut_between_characters();
	return check_end();
}
