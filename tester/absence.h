/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Work or absence: why a pass of a loop took so long. A loop whose wire is slow works; one whose
 * core was taken away does nothing, and only that is a stall.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* What the kernel says of a thread and its CPU, since their start; -1 where it does not say. */
struct absence_schedule {
	int64_t run_ns;   /* on its core: /proc/thread-self/schedstat, first field */
	int64_t wait_ns;  /* ready to run, and another had its core: second field */
	int64_t steal_ns; /* taken from its CPU by the hypervisor: /proc/stat, steps of 10 ms */
};

struct absence {
	/* the kernel's clocks at the last look, ns */
	int64_t wall;
	int64_t run;

	uint64_t off_core; /* cycles in long passes in which the thread was not on its core */
	uint64_t hidden;   /* cycles in long passes that neither kernel nor frames explain */
	uint64_t work;     /* cycles of long passes that were work */
	uint64_t pass_max; /* cycles of the longest pass, work and all */

	struct absence_schedule before, after;
};

/* On the thread that is looked at. */
void absence_begin(struct absence *a);
void absence_end(struct absence *a);
/* Looks at the kernel's clocks: what was before is not the next pass's. */
void absence_look(struct absence *a);

/*
 * How many cycles of a pass the thread was away; on that thread, straight after the pass. The
 * kernel's account of the thread tells most of it: another thread's turn, a stop, a quota, stolen
 * time. What a hypervisor takes without a word is seen where a pass takes many times what frames
 * cost until now: `typical` cycles each, 0 if that is not known yet.
 */
uint64_t absence_in(struct absence *a, uint64_t pass, uint64_t frames, uint64_t typical,
		    uint64_t hz);
/* Adds what a schedule counted in between; -1: something of it is not known. */
int64_t absence_sum(int64_t sum, int64_t before, int64_t after);
