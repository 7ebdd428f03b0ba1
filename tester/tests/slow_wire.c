/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * LD_PRELOAD for tests: a wire that is slow, as where two cores lie far apart. Each frame that a
 * port receives costs SLOW_WIRE cycles more, of work: the core is never left. With SLOW_WIRE_CALLS
 * only so many calls that receive something are slow; then the longest burst that was asked for
 * since is kept in the file SLOW_WIRE_ASKED, as 16 bits.
 */
#include <fcntl.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>

static eth_rx_burst_t fast[RTE_MAX_ETHPORTS];
static void *queues[RTE_MAX_ETHPORTS];
static uint64_t cycles;
static uint64_t slow_calls = UINT64_MAX;
static uint16_t unread, *asked = &unread;

static uint16_t receive_slowly(void *port, struct rte_mbuf **mbufs, uint16_t most)
{
	const uintptr_t p = (uintptr_t)port;
	const uint16_t n = fast[p](queues[p], mbufs, most);
	const uint64_t begin = rte_rdtsc();

	if (slow_calls == 0) {
		if (most > *asked)
			*asked = most;
		return n;
	}
	if (n > 0 && slow_calls != UINT64_MAX)
		slow_calls--;
	while (rte_rdtsc() - begin < n * cycles)
		rte_pause();
	return n;
}

static void keep_asked(const char *path)
{
	const int file = open(path, O_RDWR | O_CREAT, 0600);

	if (file < 0 || ftruncate(file, sizeof(*asked)) < 0)
		abort();
	void *page = mmap(NULL, sizeof(*asked), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (page == MAP_FAILED)
		abort();
	asked = page;
	close(file);
}

/* The port's only receive queue is handed its port's number instead of its own state. */
int rte_eth_dev_start(uint16_t port)
{
	static void *numbers[RTE_MAX_ETHPORTS][RTE_MAX_QUEUES_PER_PORT];
	int (*real)(uint16_t);
	void *symbol = dlsym(RTLD_NEXT, "rte_eth_dev_start");
	const char *wanted = getenv("SLOW_WIRE");

	memcpy(&real, &symbol, sizeof(real));
	const int rc = real(port);
	if (rc < 0 || wanted == NULL)
		return rc;
	cycles = strtoul(wanted, NULL, 10);
	if (getenv("SLOW_WIRE_CALLS") != NULL)
		slow_calls = strtoul(getenv("SLOW_WIRE_CALLS"), NULL, 10);
	if (getenv("SLOW_WIRE_ASKED") != NULL)
		keep_asked(getenv("SLOW_WIRE_ASKED"));
	fast[port] = rte_eth_fp_ops[port].rx_pkt_burst;
	queues[port] = rte_eth_fp_ops[port].rxq.data[0];
	numbers[port][0] = (void *)(uintptr_t)port;
	rte_eth_fp_ops[port].rxq.data = numbers[port];
	rte_eth_fp_ops[port].rx_pkt_burst = receive_slowly;
	return rc;
}
