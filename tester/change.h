/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A load that changes once within a trial, and when the last frame after it was lost (RFC 2544
 * section 26.5).
 */
#pragma once

#include <stdint.h>

#include "config.h"
#include "tx.h"

struct state;

/* When it changed and when the last frame was lost, in cycles from the trial's start and from the
 * change. */
struct change {
	uint64_t at;        /* 0: the trial was over before */
	uint64_t last_loss; /* 0: none was lost after it */
};

/* What this queue sends after the change. */
void change_init(struct tx_queue *q, const struct config_trial *c, unsigned int queue,
		 unsigned int queues, uint64_t hz);
/* All that this queue was to send at its load is sent: its other load begins, if there is one. */
void change_turn(struct tx_queue *q, uint64_t now);
struct change change_collect(const struct state *s, uint64_t start);
