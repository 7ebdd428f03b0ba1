/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread of another process is away while others have its core: so long, and only then. */
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../watch.h"
#include "check.h"

enum { MS = 1000000, WINDOW_NS = 1600000, READINGS = 400, APART_NS = 5 * MS };

static void nap(long ns)
{
	const struct timespec t = {.tv_nsec = ns};
	nanosleep(&t, NULL);
}

static bool run_on(pid_t pid, int cpu)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(pid, sizeof(set), &set) == 0;
}

/* A process that spins on a CPU until it is killed. */
static pid_t spin(int cpu)
{
	const pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that is killed leaves nothing */
		run_on(0, cpu);
		for (;;)
			;
	}
	nap(50 * MS);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* What the kernel itself says of all its waits: read once before and once after. */
static int64_t waited_ns(pid_t pid)
{
	char path[64];
	int64_t wait = -1;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", pid);
	FILE *file = fopen(path, "re");
	if (file == NULL || fscanf(file, "%*d %" SCNd64, &wait) != 1)
		wait = -1;
	if (file != NULL)
		fclose(file);
	return wait;
}

/*
 * Sum over readings as far apart as the shortest windows are. `lasting_ns` is what was told of a
 * wait that is not over yet: the kernel counts it when it is.
 */
static int64_t away_ns(pid_t pid, int64_t *lasting_ns)
{
	const struct watch watch = {.pid = pid, .tid = pid};
	struct watch_reading last = {0};
	int64_t sum = 0, away;

	watch_all(&watch, 1, &last, NULL);
	for (unsigned int i = 0; i < READINGS; i++) {
		nap(WINDOW_NS);
		watch_all(&watch, 1, &last, &away);
		CHECK(away >= 0);
		sum += away;
	}
	*lasting_ns = last.told_ns;
	return sum;
}

/* The kernel's account of a running thread is up to a clock's tick old: 4 ms are no absence. */
static void a_thread_that_runs_is_not_away(int cpu)
{
	const pid_t pid = spin(cpu);
	const int64_t before = waited_ns(pid);
	int64_t lasting;
	const int64_t away = away_ns(pid, &lasting);
	const int64_t waited = waited_ns(pid) - before;

	CHECK(before >= 0);
	CHECK(away <= waited + lasting + APART_NS);
	end(pid);
}

static void a_thread_is_away_while_another_has_its_core(int cpu)
{
	const pid_t pid = spin(cpu), neighbour = spin(cpu);
	const int64_t before = waited_ns(pid);
	int64_t lasting;
	const int64_t away = away_ns(pid, &lasting);
	const int64_t waited = waited_ns(pid) - before;

	/* Its last wait may not be over, or be counted with what was told of it before. */
	CHECK(waited > 100 * (int64_t)MS);
	CHECK(away >= waited - 100 * (int64_t)MS);
	CHECK(away <= waited + lasting + 100 * (int64_t)MS);
	end(neighbour);
	end(pid);
}

static void a_wait_that_lasts_is_told_while_it_does_and_once(void)
{
	struct watch_reading before = {.runs = 7, .taken = 3, .sleeps = 4};
	struct watch_reading lost = {
		.began_ns = 10, .ended_ns = 12, .runs = 7, .taken = 4, .sleeps = 4};
	struct watch_reading lasts = {
		.began_ns = 30, .ended_ns = 31, .runs = 7, .taken = 4, .sleeps = 4};
	struct watch_reading over = {.began_ns = 40,
				     .ended_ns = 41,
				     .wait_ns = 27,
				     .runs = 8,
				     .taken = 4,
				     .sleeps = 4};

	CHECK_EQUAL(watch_away_ns(&before, &lost), 0, "it began");
	CHECK_EQUAL(watch_away_ns(&lost, &lasts), 18, "it lasts");
	CHECK_EQUAL(watch_away_ns(&lasts, &over), 9, "it is over");
	CHECK(lost.out && lasts.out && !over.out);
}

/* Its runs were read as it waited, what was taken from it a moment later. */
static void a_wait_that_ends_between_two_files_is_told_once(void)
{
	struct watch_reading lasts = {.ended_ns = 31,
				      .runs = 7,
				      .taken = 4,
				      .sleeps = 4,
				      .out = true,
				      .told_ns = 18};
	struct watch_reading torn = {.began_ns = 40, .runs = 7, .taken = 5, .sleeps = 4};
	struct watch_reading over = {.wait_ns = 27, .runs = 9, .taken = 5, .sleeps = 4};

	CHECK_EQUAL(watch_away_ns(&lasts, &torn), 0, "not over, and not out");
	CHECK_EQUAL(watch_away_ns(&torn, &over), 9, "what was not told yet");
}

static void a_thread_that_was_stopped_rests(int cpu)
{
	const pid_t pid = spin(cpu);
	const int64_t before = waited_ns(pid);
	int64_t away, waited, lasting;

	kill(pid, SIGSTOP);
	nap(10 * MS);
	away = away_ns(pid, &lasting);
	waited = waited_ns(pid) - before;
	CHECK(away <= waited + lasting + APART_NS);
	end(pid);
}

static void of_one_that_is_not_there_nothing_is_known(void)
{
	const struct watch watch = {.pid = -1, .tid = -1};
	struct watch_reading last = {0};
	int64_t away = 0;

	watch_all(&watch, 1, &last, NULL);
	watch_all(&watch, 1, &last, &away);
	CHECK(away == -1);
}

int main(void)
{
	cpu_set_t usable;
	int cpu = 0;

	sched_getaffinity(0, sizeof(usable), &usable);
	while (!CPU_ISSET(cpu, &usable))
		cpu++;
	a_thread_that_runs_is_not_away(cpu);
	a_thread_is_away_while_another_has_its_core(cpu);
	a_wait_that_lasts_is_told_while_it_does_and_once();
	a_wait_that_ends_between_two_files_is_told_once();
	a_thread_that_was_stopped_rests(cpu);
	of_one_that_is_not_there_nothing_is_known();
	return check_end();
}
