/* SPDX-License-Identifier: BSD-3-Clause */
#include "counters.h"

void counters_read(struct counters *c, const struct port *ports, unsigned int count)
{
	for (unsigned int p = 0; p < count; p++) {
		c->stats[p] = (struct rte_eth_stats){0};
		c->error[p] = -rte_eth_stats_get(ports[p].id, &c->stats[p]);
	}
}

void counters_subtract(struct counters *c, const struct counters *before, unsigned int count)
{
	for (unsigned int p = 0; p < count; p++) {
		struct rte_eth_stats *now = &c->stats[p];
		const struct rte_eth_stats *then = &before->stats[p];
		now->ipackets -= then->ipackets;
		now->opackets -= then->opackets;
		now->ibytes -= then->ibytes;
		now->obytes -= then->obytes;
		now->imissed -= then->imissed;
		now->ierrors -= then->ierrors;
		now->oerrors -= then->oerrors;
		now->rx_nombuf -= then->rx_nombuf;
	}
}
