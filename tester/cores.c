/* SPDX-License-Identifier: BSD-3-Clause */
#include "cores.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <rte_common.h>
#include <rte_cycles.h>
#include <rte_pause.h>

enum { ROUNDS = 2000, ROUNDS_LEAST = 200, CHUNKS = 30, CHAIN = 20000 };

struct rally {
	_Alignas(RTE_CACHE_LINE_SIZE) _Atomic uint32_t ball; /* even: A's turn */
	_Alignas(RTE_CACHE_LINE_SIZE) uint64_t deadline;
	int cpu[2];
	unsigned int rounds;
	uint64_t cycles[ROUNDS];
};

static void pin(int cpu)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET((unsigned int)cpu, &set);
	/* A CPU that is not ours leaves the thread where it is; the deadline ends the rally. */
	(void)pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
}

static void *answer(void *arg)
{
	struct rally *r = arg;
	pin(r->cpu[1]);
	for (uint32_t turn = 1; rte_rdtsc() < r->deadline; turn += 2) {
		while (atomic_load_explicit(&r->ball, memory_order_acquire) != turn)
			if (rte_rdtsc() >= r->deadline)
				return NULL;
		atomic_store_explicit(&r->ball, turn + 1, memory_order_release);
	}
	return NULL;
}

static void *serve(void *arg)
{
	struct rally *r = arg;
	pin(r->cpu[0]);
	for (uint32_t turn = 0; r->rounds < ROUNDS; turn += 2) {
		uint64_t begin = rte_rdtsc();
		atomic_store_explicit(&r->ball, turn + 1, memory_order_release);
		while (atomic_load_explicit(&r->ball, memory_order_acquire) != turn + 2)
			if (rte_rdtsc() >= r->deadline)
				return NULL;
		r->cycles[r->rounds++] = rte_rdtsc() - begin;
	}
	r->deadline = 0;
	return NULL;
}

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

uint64_t cores_pingpong_cycles(int cpu_a, int cpu_b)
{
	struct rally *r = aligned_alloc(RTE_CACHE_LINE_SIZE,
					RTE_ALIGN_CEIL(sizeof(*r), RTE_CACHE_LINE_SIZE));
	pthread_t a, b;
	uint64_t median = 0;

	if (r == NULL)
		return 0;
	*r = (struct rally){.cpu = {cpu_a, cpu_b},
			    .deadline = rte_rdtsc() + rte_get_tsc_hz() / 20};
	if (pthread_create(&b, NULL, answer, r) == 0) {
		if (pthread_create(&a, NULL, serve, r) == 0)
			pthread_join(a, NULL);
		pthread_join(b, NULL);
	}
	if (r->rounds >= ROUNDS_LEAST) {
		qsort(r->cycles, r->rounds, sizeof(r->cycles[0]), by_size);
		median = r->cycles[r->rounds / 2];
	}
	free(r);
	return median;
}

struct chain {
	int cpu;
	uint64_t cycles; /* least TSC cycles of any chunk: the one that nobody interrupted */
};

static void *multiply(void *arg)
{
	struct chain *c = arg;
	pin(c->cpu);
#if defined(__x86_64__)
	for (unsigned int chunk = 0; chunk < CHUNKS; chunk++) {
		uint64_t value = chunk | 1, begin = rte_rdtsc();
		for (unsigned int i = 0; i < CHAIN / 10; i++)
			__asm__ volatile("imul %0, %0\n\timul %0, %0\n\timul %0, %0\n\t"
					 "imul %0, %0\n\timul %0, %0\n\timul %0, %0\n\t"
					 "imul %0, %0\n\timul %0, %0\n\timul %0, %0\n\t"
					 "imul %0, %0"
					 : "+r"(value));
		c->cycles = RTE_MIN(c->cycles, rte_rdtsc() - begin);
	}
#endif
	return NULL;
}

uint64_t cores_hz(int cpu, uint64_t tsc_hz)
{
	struct chain c = {.cpu = cpu, .cycles = UINT64_MAX};
	pthread_t thread;

	if (pthread_create(&thread, NULL, multiply, &c) != 0)
		return 0;
	pthread_join(thread, NULL);
	if (c.cycles == UINT64_MAX)
		return 0;
	return (uint64_t)(3.0 * CHAIN / (double)c.cycles * (double)tsc_hz);
}
