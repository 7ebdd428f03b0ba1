/* SPDX-License-Identifier: BSD-3-Clause */
#include "counters.h"

#include <string.h>

void counters_read(struct counters *c, const struct port *ports, unsigned int count)
{
	for (unsigned int p = 0; p < count; p++) {
		c->stats[p] = (struct rte_eth_stats){0};
		memset(c->discards[p], 0, sizeof(c->discards[p]));
		c->error[p] = 0;
		if (ports[p].direct != NULL) {
			direct_stats(ports[p].direct, &c->stats[p]);
			continue;
		}
		c->error[p] = -rte_eth_stats_get(ports[p].id, &c->stats[p]);
		if (c->error[p] == 0)
			c->error[p] = discards_read(&ports[p].discards, ports[p].id,
						    c->discards[p]);
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
		for (unsigned int i = 0; i < DISCARDS_MAX; i++)
			c->discards[p][i] -= before->discards[p][i];
	}
}
