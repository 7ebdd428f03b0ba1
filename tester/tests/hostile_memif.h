/* SPDX-License-Identifier: BSD-3-Clause */
/* A memif's server that a test plays: it answers as the protocol wants, or otherwise. */
#pragma once

#include <stdint.h>

#include "../direct.h"

enum { HOSTILE_MESSAGE_BYTES = 128, HOSTILE_HELLO_LOG2 = 44 };

struct hostile {
	char device[160];
	const char *path;
	uint8_t hello[HOSTILE_MESSAGE_BYTES]; /* what it says first; sound ones by hostile_init() */
	uint32_t answer_bytes;                /* of each message */
	int memory;                           /* -1: none came */
	int listener;
};

void hostile_init(struct hostile *h, const char *path);
/* Lets a tester's end connect to it: what direct_link() says. */
bool hostile_meets(struct hostile *h, struct direct *d);
void hostile_end(struct hostile *h);
