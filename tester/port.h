/* SPDX-License-Identifier: BSD-3-Clause */
/* A port of the tester: any device that the EAL can probe, its pools, queues and counters. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "config.h"
#include "direct.h"
#include "discards.h"
#include "stamps.h"

struct port {
	uint16_t id; /* DPDK's */
	struct direct *direct; /* NULL: it is a device of DPDK's */
	struct config_port config;
	char driver[32];
	struct rte_ether_addr mac;
	struct rte_mempool *tx_pool;
	struct rte_mempool *rx_pool;
	uint16_t tx_descriptors;
	uint16_t rx_descriptors;
	uint16_t frame_bytes_max; /* what its mbufs and its MTU hold */
	int numa_node;
	bool filters; /* a card that refuses promiscuous mode */
	char firmware[64];    /* empty where the driver tells none */
	const char *pause;    /* none, rx, tx or full; NULL where the driver does not tell */
	struct discards discards;

	/* Receive time stamps, where the port has them: offset of the mbuf field, or -1. */
	int stamp_offset;
	uint64_t stamp_flag;
	struct stamp_anchor first_stamp; /* of its clock, when it was opened */
};

/* Probes, configures and starts. 0, or -1 with the failure filled in and nothing left open. */
int port_open(struct port *port, const struct config_port *config, uint16_t frame_bytes_max,
	      struct failure *failure);
void port_close(struct port *port);
/* Whether it is no device of memory or sockets. */
bool port_is_card(const struct port *port);
/* -1: what the DUT wrote to the memory that it shares is no account of a trial. */
int port_sound(const struct port *port, struct failure *failure);
/* Reads the link: a socket that the DUT left is seen by that, and taken again. */
void port_look(const struct port *port);
/* The same; what cannot be read is unknown. */
struct rte_eth_link port_link(const struct port *port);
/* Waits until the link is up. 0, or -1 after `milliseconds`. */
int port_wait_link(const struct port *port, unsigned int milliseconds, struct failure *failure);
/* Makes it ready for the frames of a trial. 0, or -1 with the failure filled in. */
int port_shape(const struct port *port, const struct config_trial *trial, struct failure *failure);
/* The port's clock and the TSC at one moment. 0, or -1 where the port has no clock. */
int port_stamp_now(const struct port *port, struct stamp_anchor *now);
/* Bytes of memory in the port's pools. */
uint64_t port_pool_bytes(const struct port *port);
