/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Any memif's server is refused, or makes a port whose frames lie in the tester's own memory.
 *
 * The input is a small program. Its first bytes choose rings and hello; then a byte for each answer
 * says how it is wrong, if at all; then each byte is a step of the tester or of its server, which
 * writes to rings in between, or all the time.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <sanitizer/asan_interface.h>

#include "../direct.h"
#include "../tests/random.h"

#define DEMAND(condition)                                                                        \
	do {                                                                                     \
		if (!(condition)) {                                                              \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);          \
			abort();                                                                 \
		}                                                                                \
	} while (0)

enum { ACK = 1, HELLO = 2, CONNECT = 6, CONNECTED = 7, MESSAGE_BYTES = 128 };
enum { RING_TAIL = 64, RING_BYTES = 128, DESCRIPTOR_BYTES = 16, VERSION = 2 << 8 };
enum { SLEEPS_MOST = 1000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

struct input {
	const uint8_t *data;
	size_t left;
};

struct hello {
	uint16_t version_min, version_max, region_max, ring_from_max, ring_to_max;
	uint8_t log2;
};

struct server {
	struct input in;
	struct hello hello;
	int socket;    /* -1: it went */
	bool is_sound; /* all that it said is what a server says */
};

struct scribbler {
	struct direct *d;
	uint64_t seed;
	bool is_over;
};

static int listener;
static char path[64];
static unsigned int sleeps;

/* In place of DPDK's: how long the tester waits is counted, not waited for. */
void rte_delay_us_sleep(unsigned int us)
{
	(void)us;
	DEMAND(++sleeps <= SLEEPS_MOST);
}

/* Zeros for ever at its end. */
static uint8_t next(struct input *in)
{
	if (in->left == 0)
		return 0;
	in->left--;
	return *in->data++;
}

static uint16_t next2(struct input *in)
{
	const uint16_t low = next(in);

	return (uint16_t)(low | next(in) << 8);
}

/* The name is gone at once: the socket is found by its descriptor, and nothing is left behind. */
static void make_listener(void)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};

	snprintf(at.sun_path, sizeof(at.sun_path), "/tmp/wirespeed-fuzz-direct-%d", getpid());
	listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	DEMAND(listener >= 0 && bind(listener, (struct sockaddr *)&at, sizeof(at)) == 0);
	const int named = open(at.sun_path, O_PATH | O_CLOEXEC);
	unlink(at.sun_path);
	DEMAND(named >= 0 && listen(listener, 1) == 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", named);
}

static void post(int to, const uint8_t *bytes, size_t length, bool with_fd)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr aligned;
	} control = {0};
	struct iovec part = {(void *)(uintptr_t)bytes, length};
	struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};

	if (with_fd) {
		header.msg_control = control.bytes;
		header.msg_controllen = sizeof(control.bytes);
		struct cmsghdr *c = CMSG_FIRSTHDR(&header);
		c->cmsg_len = CMSG_LEN(sizeof(int));
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		memcpy(CMSG_DATA(c), &listener, sizeof(listener));
	}
	sendmsg(to, &header, MSG_NOSIGNAL);
}

static void answer(struct server *s, uint16_t type)
{
	uint8_t m[256] = {0};
	uint16_t said = type;
	size_t length = MESSAGE_BYTES;
	const uint8_t how = next(&s->in);

	if (how >= 0xf8) {
		s->is_sound = false;
		close(s->socket);
		s->socket = -1;
		return;
	}
	if (how >= 0xe0 && how < 0xf0)
		for (size_t i = 2; i < MESSAGE_BYTES; i++)
			m[i] = next(&s->in);
	if (how >= 0xd0 && how < 0xe0)
		length = next(&s->in);
	if (how >= 0xc0 && how < 0xd0)
		said = next(&s->in);
	memcpy(m, &said, sizeof(said));
	if (type == HELLO) {
		memcpy(m + 34, &s->hello.version_min, 2);
		memcpy(m + 36, &s->hello.version_max, 2);
		memcpy(m + 38, &s->hello.region_max, 2);
		memcpy(m + 40, &s->hello.ring_from_max, 2);
		memcpy(m + 42, &s->hello.ring_to_max, 2);
		m[44] = s->hello.log2;
	}
	if (length != MESSAGE_BYTES || said != type)
		s->is_sound = false;
	post(s->socket, m, length, how >= 0xf0);
}

static ssize_t hear(int from, uint8_t *bytes, size_t length)
{
	ssize_t got;

	do
		got = recv(from, bytes, length, 0);
	while (got < 0 && errno == EINTR);
	return got;
}

static void serve(struct server *s)
{
	uint8_t heard[MESSAGE_BYTES];
	uint16_t type = 0;

	do
		s->socket = accept(listener, NULL, NULL);
	while (s->socket < 0 && errno == EINTR);
	DEMAND(s->socket >= 0);
	answer(s, HELLO);
	/* The descriptors that come are not taken: the memory is this program's as well. */
	while (s->socket >= 0 && type != CONNECT &&
	       hear(s->socket, heard, sizeof(heard)) == sizeof(heard)) {
		memcpy(&type, heard, sizeof(type));
		answer(s, type == CONNECT ? CONNECTED : ACK);
	}
}

static void *link_up(void *argument)
{
	struct direct *d = argument;

	return direct_link(d) ? d : NULL;
}

/* libFuzzer's clock interrupts this thread; to the tester's end it would be a server's silence. */
static bool meets(struct server *s, struct direct *d)
{
	sigset_t clock, before;
	pthread_t client;
	void *linked;

	sigemptyset(&clock);
	sigaddset(&clock, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &clock, &before);
	DEMAND(pthread_create(&client, NULL, link_up, d) == 0);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	serve(s);
	pthread_join(client, &linked);
	return linked != NULL;
}

static void write2(const struct direct *d, unsigned int ring, size_t at, uint16_t value)
{
	const size_t bytes = RING_BYTES + (size_t)d->ring_frames * DESCRIPTOR_BYTES;

	__atomic_store_n((uint16_t *)(void *)(d->base + ring * bytes + at), value,
			 __ATOMIC_RELEASE);
}

/* Any half of a descriptor's word: flags, region, length, offset. */
static void write_descriptor(const struct direct *d, unsigned int ring, uint16_t where,
			     uint16_t value)
{
	const unsigned int slot = (where >> 3) % d->ring_frames;

	write2(d, ring, RING_BYTES + slot * DESCRIPTOR_BYTES + (where & 7) * 2U, value);
}

static void *scribble(void *argument)
{
	struct scribbler *s = argument;
	struct random r = {s->seed};
	const unsigned int rings = s->d->tx_count + s->d->rx_count;

	while (!__atomic_load_n(&s->is_over, __ATOMIC_ACQUIRE)) {
		const uint64_t what = random_next(&r);
		const unsigned int ring = random_below(&r, rings);
		if (what & 15)
			write_descriptor(s->d, ring, (uint16_t)(what >> 8), (uint16_t)(what >> 24));
		else
			write2(s->d, ring, RING_TAIL, (what >> 8) % (s->d->ring_frames + 1U));
	}
	return NULL;
}

static bool lies_in(const struct direct_queue *q, const uint8_t *data, uint32_t bytes)
{
	if (data == q->spare)
		return bytes <= q->views[0].buf_len - RTE_PKTMBUF_HEADROOM;
	return data >= q->buffers && bytes <= q->stride &&
	       data + bytes <= q->buffers + (q->mask + 1U) * q->stride;
}

static void send_some(struct direct_queue *q, unsigned int n)
{
	struct rte_mbuf *mbufs[DIRECT_BURST];
	const unsigned int room = direct_tx_take(q, mbufs, n);

	DEMAND(room <= n && (uint16_t)(q->head - q->tail) <= q->mask + 1U);
	for (unsigned int i = 0; i < n; i++) {
		uint8_t *data = rte_pktmbuf_mtod(mbufs[i], uint8_t *);
		DEMAND(lies_in(q, data, q->stride) && (i < room || data == q->spare));
		memset(data, (int)i, q->stride);
		mbufs[i]->pkt_len = q->stride;
	}
	direct_tx_give(q, mbufs, room);
}

static void receive_some(struct direct_queue *q, unsigned int n)
{
	static volatile uint8_t sum;
	struct rte_mbuf *mbufs[DIRECT_BURST];
	const unsigned int came = direct_rx_take(q, mbufs, n);

	DEMAND(came <= n && came <= q->mask + 1U);
	for (unsigned int i = 0; i < came; i++) {
		const uint8_t *data = rte_pktmbuf_mtod(mbufs[i], const uint8_t *);
		DEMAND(lies_in(q, data, mbufs[i]->pkt_len));
		DEMAND(mbufs[i]->data_len == mbufs[i]->pkt_len);
		for (uint32_t k = 0; k < mbufs[i]->pkt_len; k++)
			sum = (uint8_t)(sum + data[k]);
	}
	direct_rx_give(q);
}

static void step(struct direct *d, struct server *s)
{
	const uint8_t what = next(&s->in), which = next(&s->in);
	const unsigned int ring = which % (d->tx_count + d->rx_count);

	switch (what % 6) {
	case 0:
		write2(d, ring, RING_TAIL, next2(&s->in));
		break;
	case 1: {
		const uint16_t where = next2(&s->in);
		write_descriptor(d, ring, where, next2(&s->in));
		break;
	}
	case 2:
		send_some(&d->tx[which % d->tx_count], 1 + what / 2);
		break;
	case 3:
		receive_some(&d->rx[which % d->rx_count], 1 + what / 2);
		break;
	case 4:
		sleeps = 0;
		direct_shape(d, 1 + (what & 1) * 63U);
		break;
	default:
		/* As much as is free is said to be filled, all of it in one frame. */
		for (unsigned int i = 0; i < d->ring_frames && (what & 16); i++)
			write_descriptor(d, ring, (uint16_t)(i << 3), 1);
		write2(d, ring, RING_TAIL, (uint16_t)(which / 16 * d->ring_frames / 8));
		break;
	}
}

static void use(struct direct *d, struct server *s, bool all_the_time)
{
	struct scribbler scribbler = {.d = d, .seed = s->in.left};
	pthread_t writer;

	DEMAND(!all_the_time || pthread_create(&writer, NULL, scribble, &scribbler) == 0);
	while (s->in.left > 0)
		step(d, s);
	for (unsigned int i = 0; all_the_time && i < 64; i++) {
		send_some(&d->tx[i % d->tx_count], 32);
		receive_some(&d->rx[i % d->rx_count], DIRECT_BURST);
	}
	__atomic_store_n(&scribbler.is_over, true, __ATOMIC_RELEASE);
	if (all_the_time)
		pthread_join(writer, NULL);
	DEMAND(direct_link(d) == !direct_is_spoilt(d));
	post(s->socket, (const uint8_t *)path, 1 + scribbler.seed % 60, true);
	DEMAND(!direct_link(d));
}

static int lowest_fd(void)
{
	const int fd = dup(listener);

	close(fd);
	return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct server s = {.in = {data, bytes}, .is_sound = true};
	struct failure failure;
	char device[128];

	if (path[0] == '\0')
		make_listener();
	const int fd = lowest_fd();
	const uint8_t shape = next(&s.in), how = next(&s.in);
	const unsigned int log2 = 1 + shape % 8, tx = 1 + how % 3, rx = 1 + how / 4 % 3;
	snprintf(device, sizeof(device), "own_memif0,socket=%s,rsize=%u,bsize=%u", path, log2,
		 shape & 8 ? 2048 : 64);
	s.hello = (struct hello){VERSION, VERSION, 255, 255, 255, 14};
	if (how & 64) {
		s.hello.log2 = next(&s.in);
		s.hello.ring_from_max = next(&s.in) % 4;
		s.hello.ring_to_max = next(&s.in) % 4;
	}
	if (how & 32) {
		s.hello.version_min = next2(&s.in);
		s.hello.version_max = next2(&s.in);
		s.hello.region_max = next2(&s.in);
	}
	s.is_sound = s.hello.log2 >= log2 && s.hello.ring_from_max + 1U >= rx &&
		     s.hello.ring_to_max + 1U >= tx && s.hello.version_min <= VERSION &&
		     s.hello.version_max >= VERSION;
	struct direct *d = direct_open(device, tx, rx, 64, &failure);
	DEMAND(d != NULL);
	/* What lies behind the last frame that is put together is nobody's. */
	const uint8_t *end = d->rx[rx - 1].spare + d->rx[0].views[0].buf_len - RTE_PKTMBUF_HEADROOM;
	const size_t behind = (size_t)(d->base + d->bytes - end);
	ASAN_POISON_MEMORY_REGION(end, behind);
	const bool is_linked = meets(&s, d);
	DEMAND(is_linked == s.is_sound);
	if (is_linked)
		use(d, &s, how & 128);
	ASAN_UNPOISON_MEMORY_REGION(end, behind);
	if (s.socket >= 0)
		close(s.socket);
	direct_close(d);
	DEMAND(lowest_fd() == fd);
	return 0;
}
