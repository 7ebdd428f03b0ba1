/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What kind of machine the cores are, right now. A host that moves virtual cores changes the cost
 * of everything that crosses them, in the middle of a trial.
 */
#pragma once

#include <stdint.h>

/*
 * Median round trip of a cache line between two CPUs, in TSC cycles; 0 if it could not be had
 * within 50 ms. Both CPUs may be busy: their scheduler lets the two threads in now and then.
 */
uint64_t cores_pingpong_cycles(int cpu_a, int cpu_b);

/*
 * Frequency at which a CPU runs now, in Hz, from a chain of multiplications that take 3 cycles
 * each (every x86-64 core since 2008); 0 elsewhere or if it could not be had.
 */
uint64_t cores_hz(int cpu, uint64_t tsc_hz);
