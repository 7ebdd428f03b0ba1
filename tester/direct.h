/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A port without a driver: a memif's client whose frames are composed and judged where the DUT
 * finds them, in memory that both have mapped.
 *
 *   own_memif0,socket=PATH[,rsize=LOG2][,bsize=BYTES]
 *
 * The client offers one memory with all rings and buffers. In a ring to the server `head` says what
 * was filled, `tail` what the server has read; in one from it `head` says which buffers are free to
 * be filled, `tail` which were. Nothing is copied, no pool is asked, and the mbufs are mere views
 * of a burst's frames, always the same few. The buffers lie as close as a trial's frames allow:
 * with 64 bytes a line each, which the next core prefetches one after the other.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "failure.h"

enum { DIRECT_BURST = 128, DIRECT_QUEUES_MAX = 16, DIRECT_PATH_BYTES = 108 };

struct direct_ring;

/* One ring. Written by one lcore. */
struct direct_queue {
	struct direct_ring *ring;
	uint8_t *buffers;
	uint8_t *spare;  /* where a frame is composed that finds no room, or put together */
	uint32_t offset; /* of the first buffer in the memory */
	uint32_t stride; /* from one buffer to the next, and the room in each */
	uint16_t mask;
	uint16_t head;   /* ours: up to where it is filled, or free to be filled */
	uint16_t tail;   /* theirs, as last seen */
	uint16_t taken;  /* from the server: up to where frames were viewed */
	uint64_t frames;
	uint64_t bytes;
	bool is_spoilt;  /* the server moved its end to where it cannot be */
	struct rte_mbuf views[DIRECT_BURST];
};

struct direct {
	char path[DIRECT_PATH_BYTES];
	uint16_t ring_frames;
	uint32_t stride_most;
	unsigned int tx_count;
	unsigned int rx_count;
	int socket; /* of the control channel; -1: not connected */
	int memory;
	int events[2 * DIRECT_QUEUES_MAX]; /* the server insists on one a ring; none is used */
	uint8_t *base;
	size_t bytes;
	struct direct_queue tx[DIRECT_QUEUES_MAX];
	struct direct_queue rx[DIRECT_QUEUES_MAX];
};

/* Whether a device string names one. */
bool direct_is_one(const char *device);
/* Makes its memory. NULL with the failure filled in. Free with direct_close(). */
struct direct *direct_open(const char *device, unsigned int tx_queues, unsigned int rx_queues,
			   uint16_t frame_bytes_max, struct failure *failure);
void direct_close(struct direct *d);
/* Whether the server is there; connects where it was not yet. One that left stays gone. */
bool direct_link(struct direct *d);
/*
 * Whether the server moved an end of a ring to where it cannot be. What it says of frames is then
 * no account: neither sent nor lost ones are known.
 */
bool direct_is_spoilt(const struct direct *d);
/*
 * Lets the buffers lie as frames of at most so many bytes need, where they do not yet. Between
 * trials. -1: the DUT has not read all that was sent, for a second, and it would find other frames.
 */
int direct_shape(struct direct *d, unsigned int mbuf_bytes);
void direct_stats(const struct direct *d, struct rte_eth_stats *stats);

/* Gives views to compose `n` frames in; those from the returned number on find no room. */
unsigned int direct_tx_take(struct direct_queue *q, struct rte_mbuf **mbufs, unsigned int n);
/* Hands the first `n` of them to the server. */
void direct_tx_give(struct direct_queue *q, struct rte_mbuf **mbufs, unsigned int n);
/* Gives views of up to `n` frames that came. */
unsigned int direct_rx_take(struct direct_queue *q, struct rte_mbuf **mbufs, unsigned int n);
/* The buffers of all that were taken may be filled again. */
void direct_rx_give(struct direct_queue *q);
