/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests, as plain C values that were checked. docs/tester-protocol.md describes the JSON. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "failure.h"
#include "frame.h"
#include "watch.h"

enum {
	PROTOCOL_VERSION = 1,
	CONFIG_LINE_BYTES = 65536,
	CONFIG_PORTS_MAX = 8,
	CONFIG_QUEUES_MAX = 16,        /* of a port, each way */
	CONFIG_WORKER_QUEUES_MAX = 32, /* of an lcore, each way */
	CONFIG_WORKERS_MAX = 32,
	CONFIG_STREAMS_MAX = 16,
	CONFIG_CPUS_MAX = 8,
	CONFIG_DEVICE_BYTES = 512,
	CONFIG_WEIGHT_MAX = 64,
	CONFIG_WINDOWS_MAX = 256,
};

enum config_op { OP_HELLO, OP_OPEN, OP_TRIAL, OP_COUNTERS, OP_STOP, OP_QUIT };

struct config_port {
	char device[CONFIG_DEVICE_BYTES];
	uint16_t tx_queues;
	uint16_t rx_queues;
	uint16_t tx_descriptors; /* 0: the driver's own default */
	uint16_t rx_descriptors;
	uint8_t peer_mac[6];
	bool refused_is_dut; /* a frame that the port refuses was lost at the DUT's input queue */
	bool hardware_stamps;
};

struct config_queue {
	uint16_t port; /* index into the request's ports */
	uint16_t queue;
};

struct config_worker {
	unsigned int lcore;
	struct config_queue tx[CONFIG_WORKER_QUEUES_MAX];
	struct config_queue rx[CONFIG_WORKER_QUEUES_MAX];
	unsigned int tx_count;
	unsigned int rx_count;
};

struct config_open {
	struct config_port ports[CONFIG_PORTS_MAX];
	struct config_worker workers[CONFIG_WORKERS_MAX];
	unsigned int port_count;
	unsigned int worker_count;
	uint16_t frame_bytes_max;
	unsigned int link_wait_ms;
};

struct config_share {
	uint16_t frame_bytes;
	uint16_t weight;
};

struct config_stream {
	uint16_t tx_port;
	uint16_t rx_port;
};

struct config_trial {
	uint32_t number;
	struct config_share mix[FRAME_CLASSES_MAX];
	unsigned int mix_count;
	struct config_stream streams[CONFIG_STREAMS_MAX];
	unsigned int stream_count;
	uint32_t flows;   /* of each stream */
	double load_pps;  /* all streams together; 0: as fast as it goes */
	double seconds;
	double then_after_seconds; /* of `seconds`, after which the load changes; 0: never */
	double then_pps;
	uint16_t burst_frames;
	enum frame_expect expect;
	bool prime; /* send a few frames first, to learn the addresses and warm the path up */
	double gap_limit_seconds;
	double stalled_share; /* of the trial's time, that a loop may be away for in all */
	double settle_seconds;
	unsigned int link_look_ms; /* the ports' links are read so often; 0: never */
	unsigned int windows; /* that the trial is made of; 0: it is sent in one go */
	unsigned int window_frames; /* of the reordering window of each flow; 0: by the flows */
	int cpus[CONFIG_CPUS_MAX]; /* cores in use: the cache line is played between them */
	unsigned int cpu_count;
	struct watch watch[CONFIG_CPUS_MAX]; /* threads of the DUT, where it is on this machine */
	unsigned int watch_count;
};

struct config_request {
	enum config_op op;
	int64_t id;
	union {
		struct config_open open;
		struct config_trial trial;
	};
};

/* Mean wire bytes of a frame of the mix: with FCS, preamble, SFD and gap. */
double config_mean_wire_bytes(const struct config_trial *trial);

/* Reads one line. 0, or -1 with the failure filled in; `id` is set whenever it could be read. */
int config_parse(const char *line, size_t bytes, struct config_request *request,
		 struct failure *failure);
