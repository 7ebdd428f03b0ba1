/* SPDX-License-Identifier: BSD-3-Clause */
/* Any line is taken or refused; what is taken is in its bounds, and what is refused can be said. */
#include <math.h>
#include <stdlib.h>

#include <jansson.h>

#include "../config.h"

#define DEMAND(condition)                                                                        \
	do {                                                                                     \
		if (!(condition))                                                                \
			abort();                                                                 \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void demand_open(const struct config_open *o)
{
	DEMAND(o->port_count >= 1 && o->port_count <= CONFIG_PORTS_MAX);
	DEMAND(o->worker_count >= 1 && o->worker_count <= CONFIG_WORKERS_MAX);
	DEMAND(o->frame_bytes_max >= FRAME_BYTES_MIN && o->frame_bytes_max <= FRAME_BYTES_MAX);
	for (unsigned int i = 0; i < o->port_count; i++) {
		const struct config_port *p = &o->ports[i];
		DEMAND(p->device[0] != '\0' && memchr(p->device, '\0', sizeof(p->device)) != NULL);
		DEMAND(p->tx_queues >= 1 && p->tx_queues <= CONFIG_QUEUES_MAX);
		DEMAND(p->rx_queues >= 1 && p->rx_queues <= CONFIG_QUEUES_MAX);
	}
	for (unsigned int i = 0; i < o->worker_count; i++) {
		const struct config_worker *w = &o->workers[i];
		DEMAND(w->tx_count <= CONFIG_WORKER_QUEUES_MAX &&
		       w->rx_count <= CONFIG_WORKER_QUEUES_MAX);
		for (unsigned int k = 0; k < w->tx_count; k++)
			DEMAND(w->tx[k].port < o->port_count &&
			       w->tx[k].queue < o->ports[w->tx[k].port].tx_queues);
		for (unsigned int k = 0; k < w->rx_count; k++)
			DEMAND(w->rx[k].port < o->port_count &&
			       w->rx[k].queue < o->ports[w->rx[k].port].rx_queues);
	}
}

static void demand_trial(const struct config_trial *t)
{
	DEMAND(t->mix_count >= 1 && t->mix_count <= FRAME_CLASSES_MAX);
	DEMAND(t->stream_count >= 1 && t->stream_count <= CONFIG_STREAMS_MAX);
	DEMAND(t->cpu_count <= CONFIG_CPUS_MAX);
	DEMAND(t->flows >= 1 && t->flows <= FRAME_FLOWS_MAX);
	DEMAND(isfinite(t->load_pps) && t->load_pps >= 0);
	DEMAND(t->seconds >= 0.001 && t->seconds <= 3600);
	DEMAND(t->burst_frames >= 1 && t->burst_frames <= 128);
	DEMAND(t->window_frames % 64 == 0);
	for (unsigned int i = 0; i < t->mix_count; i++) {
		DEMAND(t->mix[i].frame_bytes >= FRAME_BYTES_MIN);
		DEMAND(t->mix[i].frame_bytes <= FRAME_BYTES_MAX);
		DEMAND(t->mix[i].weight >= 1 && t->mix[i].weight <= CONFIG_WEIGHT_MAX);
	}
	for (unsigned int i = 0; i < t->stream_count; i++)
		DEMAND(t->streams[i].tx_port < CONFIG_PORTS_MAX &&
		       t->streams[i].rx_port < CONFIG_PORTS_MAX);
}

static void demand_sayable(const struct failure *f)
{
	json_t *reply = json_pack("[s, s, s, s]", f->what, f->where, f->found, f->next);
	DEMAND(reply != NULL && f->found[0] != '\0' && f->next[0] != '\0');
	json_decref(reply);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static struct config_request request;
	struct failure failure;

	if (config_parse((const char *)data, bytes, &request, &failure) < 0)
		demand_sayable(&failure);
	else if (request.op == OP_OPEN)
		demand_open(&request.open);
	else if (request.op == OP_TRIAL)
		demand_trial(&request.trial);
	return 0;
}
