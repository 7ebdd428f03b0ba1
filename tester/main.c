/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wirespeed-tester [EAL options]: reads requests from stdin, one JSON object a line, and answers
 * on stdout. Ends on `quit`, at the end of stdin, and on SIGINT or SIGTERM.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_cpuflags.h>
#include <rte_eal.h>
#include <rte_lcore.h>

#include "config.h"
#include "port.h"
#include "reply.h"
#include "trial.h"

static volatile sig_atomic_t interrupted;

struct reader {
	char line[CONFIG_LINE_BYTES];
	size_t bytes;
	bool ended;
};

static struct tester tester;
static struct reader reader;

static int signal_pipe[2];

/* The byte ends a poll() that begins just after the flag was last looked at. */
static void on_signal(int number)
{
	const int error = errno;
	(void)number;
	interrupted = 1;
	(void)!write(signal_pipe[1], "", 1);
	errno = error;
}

/* Waits for more input. False if none came within `milliseconds` (-1: for ever), or at a signal. */
static bool reader_fill(int milliseconds)
{
	struct pollfd in[] = {{.fd = STDIN_FILENO, .events = POLLIN},
			      {.fd = signal_pipe[0], .events = POLLIN}};

	if (reader.ended || reader.bytes == sizeof(reader.line))
		return true;
	if (poll(in, RTE_DIM(in), milliseconds) <= 0 || in[0].revents == 0)
		return false;
	ssize_t got = read(STDIN_FILENO, reader.line + reader.bytes,
			   sizeof(reader.line) - reader.bytes);
	if (got <= 0)
		reader.ended = got == 0 || errno != EINTR;
	else
		reader.bytes += (size_t)got;
	return true;
}

/* Length of the first complete line, newline included; 0 if there is none. */
static size_t reader_line(void)
{
	const char *end = memchr(reader.line, '\n', reader.bytes);
	return end == NULL ? 0 : (size_t)(end - reader.line) + 1;
}

static void reader_drop(size_t bytes)
{
	reader.bytes -= bytes;
	memmove(reader.line, reader.line + bytes, reader.bytes);
}

static void refuse(int64_t id, const char *what, const char *found, const char *next)
{
	struct failure f;
	failure_set(&f, what, "tester", next, "%s", found);
	reply_error(id, &f);
}

struct trial_context {
	int64_t id;
	bool over;
};

/* While a trial runs only `stop` and `quit` are heard. The line of a `quit` is left for main(). */
static bool trial_wait(void *context, unsigned int milliseconds)
{
	struct trial_context *c = context;
	static struct config_request request;
	struct failure failure;

	if (!reader_fill((int)milliseconds) && !interrupted)
		return false;
	for (size_t bytes; (bytes = reader_line()) > 0; reader_drop(bytes)) {
		if (config_parse(reader.line, bytes, &request, &failure) < 0)
			reply_error(request.id, &failure);
		else if (request.op == OP_QUIT)
			return true;
		else if (request.op == OP_STOP)
			c->over = true;
		else
			refuse(request.id, "tester.busy", "a trial is running",
			       "wait for its result, or send stop");
	}
	return c->over || interrupted || reader.ended || reader.bytes == sizeof(reader.line);
}

static void trial_progress(void *context, const struct trial_progress *progress)
{
	reply_progress(((const struct trial_context *)context)->id, progress);
}

static void close_ports(void)
{
	while (tester.port_count > 0)
		port_close(&tester.ports[--tester.port_count]);
	memset(tester.is_learned, 0, sizeof(tester.is_learned));
}

static int open_ports(const struct config_open *open, struct failure *f)
{
	for (unsigned int i = 0; i < open->worker_count; i++) {
		const unsigned int lcore = open->workers[i].lcore;
		if (!rte_lcore_is_enabled(lcore) || lcore == rte_get_main_lcore())
			return failure_set(f, "request.invalid", "workers",
					   "name worker lcores of the EAL's -l or --lcores",
					   "lcore %u is not a worker", lcore);
		for (unsigned int k = 0; k < i; k++)
			if (open->workers[k].lcore == lcore)
				return failure_set(f, "request.invalid", "workers",
						   "name each lcore once", "lcore %u twice", lcore);
	}
	close_ports();
	for (unsigned int i = 0; i < open->port_count; i++) {
		if (port_open(&tester.ports[i], &open->ports[i], open->frame_bytes_max, f) < 0) {
			close_ports();
			return -1;
		}
		tester.port_count++;
	}
	/* All of them first: a port whose cable ends in another of ours has no link before that.
	 * One of our own connects when it is looked at. */
	for (unsigned int i = 0; i < open->port_count; i++)
		port_look(&tester.ports[i]);
	for (unsigned int i = 0; i < open->port_count; i++) {
		if (port_wait_link(&tester.ports[i], open->link_wait_ms, f) < 0) {
			close_ports();
			return -1;
		}
	}
	memcpy(tester.worker_config, open->workers, sizeof(tester.worker_config));
	tester.worker_count = open->worker_count;
	return 0;
}

static void run_trial(int64_t id, const struct config_trial *config)
{
	static struct trial_result result;
	struct trial_context context = {.id = id};
	const struct trial_hooks hooks = {trial_wait, trial_progress, &context};
	struct failure failure;

	if (tester.port_count == 0) {
		refuse(id, "request.invalid", "no port is open", "send open first");
		return;
	}
	if (trial_run(&tester, config, &hooks, &result, &failure) < 0) {
		reply_error(id, &failure);
		return;
	}
	reply_result(id, &tester, config, &result);
	trial_result_free(&result);
}

static void tell_counters(int64_t id)
{
	struct counters counters;
	struct failure failure;

	counters_read(&counters, tester.ports, tester.port_count);
	for (unsigned int p = 0; p < tester.port_count; p++) {
		if (counters.error[p] == 0)
			continue;
		failure_set(&failure, "port.counters_unreadable", tester.ports[p].config.device,
			    "see the log above, or open the port again", "%s",
			    strerror(counters.error[p]));
		reply_error(id, &failure);
		return;
	}
	reply_counters(id, &tester, &counters);
}

/* False when it was `quit`. */
static bool handle(const struct config_request *r)
{
	struct failure failure;

	switch (r->op) {
	case OP_HELLO:
		reply_hello(r->id, &tester);
		break;
	case OP_OPEN:
		if (open_ports(&r->open, &failure) < 0)
			reply_error(r->id, &failure);
		else
			reply_opened(r->id, &tester);
		break;
	case OP_TRIAL:
		run_trial(r->id, &r->trial);
		break;
	case OP_COUNTERS:
		tell_counters(r->id);
		break;
	case OP_STOP:
		refuse(r->id, "tester.idle", "no trial is running", "send trial first");
		break;
	case OP_QUIT:
		reply_bye(r->id);
		return false;
	}
	return true;
}

static void choose_isa(void)
{
	const char *wanted = getenv("WIRESPEED_ISA");

	tester.isa = "portable";
	tester.build = tx_build_portable;
	tester.judge = judge_portable;
#ifdef HAVE_AVX512
	if (rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX512F) > 0 &&
	    rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX512BW) > 0 &&
	    (wanted == NULL || strcmp(wanted, "portable") != 0)) {
		tester.isa = "avx512";
		tester.build = tx_build_avx512;
		tester.judge = judge_avx512;
	}
#else
	(void)wanted;
#endif
}

static void serve(void)
{
	static struct config_request request;
	struct failure failure;

	while (!interrupted) {
		size_t bytes = reader_line();
		if (bytes == 0 && reader.bytes == sizeof(reader.line)) {
			/* Nothing after it can be told apart from it. */
			refuse(-1, "request.too_long", "a line of 65536 bytes or more",
			       "send shorter lines");
			return;
		}
		if (bytes == 0) {
			if (reader.ended)
				return;
			(void)reader_fill(-1);
			continue;
		}
		const int rc = config_parse(reader.line, bytes, &request, &failure);
		reader_drop(bytes);
		if (rc < 0)
			reply_error(request.id, &failure);
		else if (!handle(&request))
			return;
	}
}

int main(int argc, char **argv)
{
	const struct sigaction action = {.sa_handler = on_signal}; /* no SA_RESTART: end poll() */

	/* A DUT that dies while its socket is written to must not take the tester with it. */
	signal(SIGPIPE, SIG_IGN);
	if (reply_init() < 0) {
		perror("wirespeed-tester: stdout");
		return EXIT_FAILURE;
	}
	failure_log_begin();
	if (rte_eal_init(argc, argv) < 0) {
		struct failure f;
		failure_set(&f, "tester.eal", "EAL",
			    "correct what DPDK says; more memory, other lcores or another "
			    "--file-prefix may be needed",
			    "the EAL did not start: %s", rte_strerror(rte_errno));
		failure_add_log(&f);
		reply_error(-1, &f);
		return EXIT_FAILURE;
	}
	if (pipe2(signal_pipe, O_CLOEXEC | O_NONBLOCK) < 0) {
		perror("wirespeed-tester: pipe2");
		return EXIT_FAILURE;
	}
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	frame_filler_init();
	choose_isa();
	serve();
	close_ports();
	rte_eal_cleanup();
	return EXIT_SUCCESS;
}
