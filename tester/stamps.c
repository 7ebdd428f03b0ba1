/* SPDX-License-Identifier: BSD-3-Clause */
#include "stamps.h"

#include "state.h"

static bool read_clock(struct state *s, unsigned int p)
{
	const struct port *port = &s->tester->ports[p];
	struct stamp_anchor now;

	if (port_stamp_now(port, &now) < 0 || now.stamp == port->first_stamp.stamp)
		return false;
	/* A judge may still be at the other one: it is not written before the next reading. */
	struct stamp_clock *clock = &s->clocks[p][s->clock_turn[p] ^= 1];
	*clock = stamp_clock_from(port->first_stamp, now);
	for (unsigned int k = 0; k < port->config.rx_queues; k++)
		__atomic_store_n(&s->rx[p][k]->judge.clock, clock, __ATOMIC_RELEASE);
	return true;
}

static void stamp_none(struct state *s)
{
	EACH_QUEUE(s, rx, q)
		q->judge.stamp_offset = -1, q->judge.clock = NULL;
}

void stamps_begin(struct state *s)
{
	for (unsigned int i = 0; i < s->config->stream_count; i++) {
		const unsigned int p = s->config->streams[i].rx_port;
		if (s->tester->ports[p].stamp_offset < 0 || !read_clock(s, p)) {
			stamp_none(s);
			return;
		}
	}
}

bool stamps_in_use(const struct state *s)
{
	EACH_QUEUE(s, rx, q)
		if (q->judge.clock != NULL)
			return true;
	return false;
}

void stamps_renew(struct state *s)
{
	for (unsigned int p = 0; p < s->tester->port_count; p++)
		if (s->rx[p][0]->judge.clock != NULL)
			read_clock(s, p);
}
