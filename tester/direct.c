/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The protocol: memif 2.0, https://s3-docs.fd.io/vpp/24.02/interfacing/libmemif/; layout and order
 * of the messages as in DPDK's drivers/net/memif/memif.h and memif_socket.c.
 */
#include "direct.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <assert.h>

#include <rte_cycles.h>

#include "frame.h"

enum {
	COOKIE = 0x3E31F20,
	VERSION = 2 << 8,
	NO_INTERRUPT = 1, /* ring flag: the other end need not tell */
	TO_SERVER = 1,    /* flag of a ring's message */
	ANSWER_MS = 2000,
	RSIZE_USUAL = 10,
	RSIZE_MOST = 14,
	BSIZE_USUAL = 2048,
	GIVE_FRAMES = 256, /* buffers that are given back at once */
	MORE_FOLLOWS = 1,  /* descriptor flag: the frame goes on in the next one */
	SPARE_BYTES = RTE_ALIGN_CEIL(FRAME_BYTES_MAX + 1, RTE_CACHE_LINE_SIZE),
	READ_MS = 1000,
};

enum message_type { ACK = 1, HELLO, INIT, ADD_REGION, ADD_RING, CONNECT, CONNECTED, DISCONNECT };

struct __attribute__((packed)) hello {
	char name[32];
	uint16_t version_min, version_max;
	uint16_t region_max, ring_from_max, ring_to_max;
	uint8_t ring_log2_max;
};

struct __attribute__((packed)) init {
	uint16_t version;
	uint32_t id;
	uint8_t mode; /* 0: Ethernet */
	char secret[24];
	char name[32];
};

struct __attribute__((packed)) add_region {
	uint16_t index;
	uint64_t bytes;
};

struct __attribute__((packed)) add_ring {
	uint16_t flags;
	uint16_t index;
	uint16_t region;
	uint32_t offset;
	uint8_t log2;
	uint16_t private_bytes;
};

struct __attribute__((packed)) message {
	uint16_t type;
	union {
		struct hello hello;
		struct init init;
		struct add_region add_region;
		struct add_ring add_ring;
		char interface[32];
		struct __attribute__((packed)) {
			uint32_t code;
			char why[96];
		} disconnect;
		uint8_t bytes[126];
	};
};

struct descriptor {
	uint16_t flags;
	uint16_t region;
	uint32_t length;
	uint32_t offset;
	uint32_t metadata;
};

struct direct_ring {
	uint32_t cookie;
	uint16_t flags;
	uint16_t head;
	uint8_t line0[56];
	uint16_t tail;
	uint8_t line1[62];
	struct descriptor descriptors[];
};

static_assert(sizeof(struct message) == 128, "");
static_assert(sizeof(struct descriptor) == 16, "");
static_assert(offsetof(struct direct_ring, tail) == 64, "");
static_assert(offsetof(struct direct_ring, descriptors) == 128, "");

static const char PREFIX[] = "own_memif";

bool direct_is_one(const char *device)
{
	return strncmp(device, PREFIX, sizeof(PREFIX) - 1) == 0;
}

/* The value of `key=` in a device string, to its comma or end; NULL where there is none. */
static const char *argument(const char *device, const char *key, size_t *bytes)
{
	const size_t length = strlen(key);

	for (const char *at = strchr(device, ','); at != NULL; at = strchr(at, ',')) {
		at++;
		if (strncmp(at, key, length) != 0 || at[length] != '=')
			continue;
		at += length + 1;
		*bytes = strcspn(at, ",");
		return at;
	}
	return NULL;
}

static unsigned long number(const char *device, const char *key, unsigned long usual)
{
	size_t bytes;
	const char *text = argument(device, key, &bytes);

	return text == NULL ? usual : strtoul(text, NULL, 10);
}

static size_t ring_bytes(const struct direct *d)
{
	return sizeof(struct direct_ring) + d->ring_frames * sizeof(struct descriptor);
}

static void queue_place(struct direct *d, struct direct_queue *q, unsigned int number,
			size_t buffers, uint8_t *spare)
{
	q->ring = (struct direct_ring *)(void *)(d->base + number * ring_bytes(d));
	q->mask = (uint16_t)(d->ring_frames - 1);
	q->offset = (uint32_t)(buffers + (size_t)number * d->ring_frames * d->stride_most);
	q->buffers = d->base + q->offset;
	q->spare = spare;
	q->ring->cookie = COOKIE;
	q->ring->flags = NO_INTERRUPT;
	for (unsigned int i = 0; i < DIRECT_BURST; i++) {
		struct rte_mbuf *m = &q->views[i];
		m->data_off = RTE_PKTMBUF_HEADROOM;
		m->buf_len = (uint16_t)(RTE_PKTMBUF_HEADROOM + SPARE_BYTES);
		m->refcnt = 1;
		m->nb_segs = 1;
	}
}

/*
 * Whole lines, and at least the one that a frame's head is written by. Many are an odd number of
 * them: else the heads of all frames would share few sets of the caches.
 */
static uint32_t stride_of(unsigned long bytes)
{
	const unsigned long lines = (bytes + RTE_CACHE_LINE_SIZE - 1) / RTE_CACHE_LINE_SIZE;

	return (uint32_t)((lines > 2 ? lines | 1 : lines) * RTE_CACHE_LINE_SIZE);
}

static void queue_shape(struct direct_queue *q, uint32_t stride)
{
	q->stride = stride;
	for (unsigned int i = 0; i <= q->mask; i++) {
		q->ring->descriptors[i].length = stride;
		q->ring->descriptors[i].offset = q->offset + i * stride;
	}
}

static bool is_read(const struct direct_queue *q)
{
	return __atomic_load_n(&q->ring->tail, __ATOMIC_ACQUIRE) == q->head;
}

int direct_shape(struct direct *d, unsigned int mbuf_bytes)
{
	const uint32_t stride = stride_of(mbuf_bytes);
	unsigned int waited = 0;

	if (stride == d->rx[0].stride)
		return 0;
	for (unsigned int i = 0; i < d->tx_count; i++)
		for (; !is_read(&d->tx[i]); waited++) {
			if (waited == READ_MS)
				return -1;
			rte_delay_us_sleep(1000);
		}
	for (unsigned int i = 0; i < d->tx_count; i++)
		queue_shape(&d->tx[i], stride);
	for (unsigned int i = 0; i < d->rx_count; i++)
		queue_shape(&d->rx[i], stride);
	return 0;
}

/*
 * The server gets the memory's descriptor, and could shorten it: the tester's next access would be
 * a SIGBUS. So its size is sealed, and with F_SEAL_SEAL the server cannot seal it against writing.
 */
static int make_sealed(size_t bytes)
{
	const int memory = memfd_create("wirespeed-memif", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (memory < 0)
		return -1;
	if (ftruncate(memory, (off_t)bytes) == 0 &&
	    fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
		return memory;
	const int cause = errno;
	close(memory);
	errno = cause;
	return -1;
}

static int make_memory(struct direct *d)
{
	const unsigned int rings = d->tx_count + d->rx_count;
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const size_t buffers = RTE_ALIGN_CEIL(rings * ring_bytes(d), page);
	const size_t spare = buffers + (size_t)rings * d->ring_frames * d->stride_most;

	d->bytes = RTE_ALIGN_CEIL(spare + (size_t)rings * SPARE_BYTES, page);
	if (d->bytes > UINT32_MAX)
		return -1;
	d->memory = make_sealed(d->bytes);
	if (d->memory < 0)
		return -1;
	d->base = mmap(NULL, d->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
		       d->memory, 0);
	if (d->base == MAP_FAILED) {
		d->base = NULL;
		return -1;
	}
	for (unsigned int i = 0; i < rings; i++) {
		struct direct_queue *q = i < d->tx_count ? &d->tx[i] : &d->rx[i - d->tx_count];
		queue_place(d, q, i, buffers, d->base + spare + (size_t)i * SPARE_BYTES);
		queue_shape(q, d->stride_most);
		d->events[i] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		if (d->events[i] < 0)
			return -1;
	}
	return 0;
}

struct direct *direct_open(const char *device, unsigned int tx_queues, unsigned int rx_queues,
			   uint16_t frame_bytes_max, struct failure *failure)
{
	size_t bytes = 0;
	const char *path = argument(device, "socket", &bytes);
	const unsigned long rsize = number(device, "rsize", RSIZE_USUAL);
	const unsigned long bsize = number(device, "bsize", BSIZE_USUAL);
	struct direct *d;

	if (path == NULL || bytes == 0 || bytes >= sizeof(d->path) || rsize == 0 ||
	    rsize > RSIZE_MOST || bsize < frame_bytes_max || bsize > UINT16_MAX / 2) {
		failure_set(failure, "port.cannot_open", device,
			    "own_memif0,socket=PATH,rsize=LOG2,bsize=BYTES",
			    "no path, a ring of more than 2^%d frames, or buffers that do not hold "
			    "%u bytes", RSIZE_MOST, frame_bytes_max);
		return NULL;
	}
	d = aligned_alloc(RTE_CACHE_LINE_SIZE, RTE_ALIGN_CEIL(sizeof(*d), RTE_CACHE_LINE_SIZE));
	if (d != NULL) {
		memset(d, 0, sizeof(*d));
		memcpy(d->path, path, bytes);
		d->socket = d->memory = -1;
		memset(d->events, -1, sizeof(d->events));
		d->ring_frames = (uint16_t)(1U << rsize);
		d->tx_count = tx_queues;
		d->rx_count = rx_queues;
		d->stride_most = stride_of(bsize);
		if (make_memory(d) == 0)
			return d;
		direct_close(d);
	}
	failure_set(failure, "port.no_memory", device, "ask for shorter rings or frames",
		    "no shared memory for %u rings of %lu frames: %s", tx_queues + rx_queues,
		    1UL << rsize, strerror(errno));
	return NULL;
}

void direct_close(struct direct *d)
{
	if (d == NULL)
		return;
	if (d->socket >= 0)
		close(d->socket);
	for (unsigned int i = 0; i < RTE_DIM(d->events); i++)
		if (d->events[i] >= 0)
			close(d->events[i]);
	if (d->base != NULL)
		munmap(d->base, d->bytes);
	if (d->memory >= 0)
		close(d->memory);
	free(d);
}

static bool say(int socket, struct message *m, int fd)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr aligned;
	} control = {0};
	struct iovec part = {m, sizeof(*m)};
	struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};

	if (fd >= 0) {
		header.msg_control = control.bytes;
		header.msg_controllen = sizeof(control.bytes);
		struct cmsghdr *c = CMSG_FIRSTHDR(&header);
		c->cmsg_len = CMSG_LEN(sizeof(int));
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	}
	return sendmsg(socket, &header, MSG_NOSIGNAL) == (ssize_t)sizeof(*m);
}

static bool hear(int socket, enum message_type wanted, struct message *m)
{
	struct pollfd in = {.fd = socket, .events = POLLIN};

	/* MSG_TRUNC: the length that was sent, also of what is longer than a message. */
	if (poll(&in, 1, ANSWER_MS) <= 0 ||
	    recv(socket, m, sizeof(*m), MSG_TRUNC) != (ssize_t)sizeof(*m))
		return false;
	if (m->type == DISCONNECT) {
		char why[sizeof(m->disconnect.why)];

		/* What steers a terminal never passes. */
		for (size_t i = 0; i < sizeof(why); i++)
			why[i] = m->disconnect.why[i];
		for (size_t i = 0; i < sizeof(why); i++)
			if (why[i] != '\0' && !isprint((uint8_t)why[i]))
				why[i] = '?';
		why[sizeof(why) - 1] = '\0';
		fprintf(stderr, "wirespeed-tester: the memif's server refuses: %s\n", why);
	}
	return m->type == wanted;
}

static bool say_and_hear(int socket, struct message *m, int fd, enum message_type answer)
{
	struct message heard;

	return say(socket, m, fd) && hear(socket, answer, &heard);
}

static bool add_ring(const struct direct *d, const struct direct_queue *q, unsigned int index,
		     bool to_server, int event)
{
	struct message m = {.type = ADD_RING};

	m.add_ring.flags = to_server ? TO_SERVER : 0;
	m.add_ring.index = (uint16_t)index;
	m.add_ring.offset = (uint32_t)((uint8_t *)q->ring - d->base);
	m.add_ring.log2 = (uint8_t)rte_log2_u32(d->ring_frames);
	return say_and_hear(d->socket, &m, event, ACK);
}

static bool introduce(const struct direct *d)
{
	static const char name[] = "wirespeed-tester";
	struct message m = {0};

	if (!hear(d->socket, HELLO, &m) || m.hello.version_min > VERSION ||
	    m.hello.version_max < VERSION || m.hello.ring_to_max + 1U < d->tx_count ||
	    m.hello.ring_from_max + 1U < d->rx_count ||
	    m.hello.ring_log2_max < rte_log2_u32(d->ring_frames))
		return false;
	m = (struct message){.type = INIT};
	m.init.version = VERSION;
	memcpy(m.init.name, name, sizeof(name));
	if (!say_and_hear(d->socket, &m, -1, ACK))
		return false;
	m = (struct message){.type = ADD_REGION};
	m.add_region.bytes = d->bytes;
	if (!say_and_hear(d->socket, &m, d->memory, ACK))
		return false;
	for (unsigned int i = 0; i < d->tx_count; i++)
		if (!add_ring(d, &d->tx[i], i, true, d->events[i]))
			return false;
	for (unsigned int i = 0; i < d->rx_count; i++)
		if (!add_ring(d, &d->rx[i], i, false, d->events[d->tx_count + i]))
			return false;
	m = (struct message){.type = CONNECT};
	memcpy(m.interface, name, sizeof(name));
	return say_and_hear(d->socket, &m, -1, CONNECTED);
}

static bool connect_to(struct direct *d)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	const struct timeval most = {.tv_sec = ANSWER_MS / 1000};
	const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	memcpy(to.sun_path, d->path, sizeof(to.sun_path));
	if (fd < 0)
		return false;
	d->socket = fd;
	/* Else connect() waits for ever where the server's queue is full, and sendmsg() too. */
	if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof(most)) < 0 ||
	    connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0 || !introduce(d)) {
		close(fd);
		d->socket = -1;
		return false;
	}
	/* Only now: a server sets both ends of each ring to 0 when it connects. */
	for (unsigned int i = 0; i < d->rx_count; i++) {
		d->rx[i].head = d->ring_frames;
		__atomic_store_n(&d->rx[i].ring->head, d->rx[i].head, __ATOMIC_RELEASE);
	}
	return true;
}

bool direct_is_spoilt(const struct direct *d)
{
	for (unsigned int i = 0; i < d->tx_count; i++)
		if (d->tx[i].is_spoilt)
			return true;
	for (unsigned int i = 0; i < d->rx_count; i++)
		if (d->rx[i].is_spoilt)
			return true;
	return false;
}

bool direct_link(struct direct *d)
{
	struct message m;

	if (direct_is_spoilt(d))
		return false;
	if (d->socket < 0)
		return connect_to(d);
	/* What it says once it is connected is that it goes. */
	const ssize_t got = recv(d->socket, &m, sizeof(m), MSG_PEEK | MSG_DONTWAIT);
	return got < 0 && (errno == EAGAIN || errno == EINTR);
}

void direct_stats(const struct direct *d, struct rte_eth_stats *stats)
{
	for (unsigned int i = 0; i < d->tx_count; i++) {
		stats->opackets += d->tx[i].frames;
		stats->obytes += d->tx[i].bytes;
	}
	for (unsigned int i = 0; i < d->rx_count; i++) {
		stats->ipackets += d->rx[i].frames;
		stats->ibytes += d->rx[i].bytes;
	}
}

static inline struct rte_mbuf *view(struct direct_queue *q, unsigned int i, uint8_t *data)
{
	struct rte_mbuf *m = &q->views[i];

	m->buf_addr = data - RTE_PKTMBUF_HEADROOM;
	return m;
}

static inline uint8_t *buffer(const struct direct_queue *q, unsigned int slot)
{
	return q->buffers + (size_t)slot * q->stride;
}

unsigned int direct_tx_take(struct direct_queue *q, struct rte_mbuf **mbufs, unsigned int n)
{
	unsigned int room = q->mask + 1U - (uint16_t)(q->head - q->tail);

	/* The server's line is fetched only where what is known of it does not suffice. */
	if (room < n) {
		const uint16_t tail = __atomic_load_n(&q->ring->tail, __ATOMIC_ACQUIRE);
		const uint16_t unread = (uint16_t)(q->head - tail);
		/* The server goes from what it has read to what is filled, and nowhere else. */
		if (likely(unread <= (uint16_t)(q->head - q->tail)))
			q->tail = tail;
		else
			q->is_spoilt = true;
		room = q->mask + 1U - (uint16_t)(q->head - q->tail);
	}
	room = RTE_MIN(room, n);
	for (unsigned int i = 0; i < room; i++)
		mbufs[i] = view(q, i, buffer(q, (uint16_t)(q->head + i) & q->mask));
	for (unsigned int i = room; i < n; i++)
		mbufs[i] = view(q, i, q->spare);
	return room;
}

void direct_tx_give(struct direct_queue *q, struct rte_mbuf **mbufs, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		struct descriptor *d = &q->ring->descriptors[(uint16_t)(q->head + i) & q->mask];
		/* The server only reads it: a line that stays as it is stays in both caches. */
		if (d->length != mbufs[i]->pkt_len)
			d->length = mbufs[i]->pkt_len;
		q->bytes += mbufs[i]->pkt_len;
	}
	q->frames += n;
	q->head = (uint16_t)(q->head + n);
	__atomic_store_n(&q->ring->head, q->head, __ATOMIC_RELEASE);
}

/* What a server wrote is not trusted to be within the buffer. */
static inline uint32_t length_at(const struct direct_queue *q, unsigned int slot)
{
	/* Read once: it may change between comparing and use. */
	const uint32_t bytes =
		__atomic_load_n(&q->ring->descriptors[slot].length, __ATOMIC_RELAXED);

	return RTE_MIN(bytes, q->stride);
}

/* A frame over several buffers, which is longer than any of ours. `taken` is then at its last. */
static uint8_t *put_together(struct direct_queue *q, uint32_t *bytes)
{
	uint32_t sum = 0;

	for (;; q->taken++) {
		const unsigned int slot = q->taken & q->mask;
		const uint32_t part = RTE_MIN(length_at(q, slot), SPARE_BYTES - sum);
		memcpy(q->spare + sum, buffer(q, slot), part);
		sum += part;
		if (!(q->ring->descriptors[slot].flags & MORE_FOLLOWS) ||
		    (uint16_t)(q->taken + 1) == q->tail)
			break;
	}
	*bytes = sum;
	return q->spare;
}

unsigned int direct_rx_take(struct direct_queue *q, struct rte_mbuf **mbufs, unsigned int n)
{
	unsigned int got = 0;
	bool whole = false; /* one at a time, as they are put together in one place */

	if (q->taken == q->tail) {
		const uint16_t tail = __atomic_load_n(&q->ring->tail, __ATOMIC_ACQUIRE);
		/* No more can be filled than was free to be. */
		if (likely((uint16_t)(tail - q->taken) <= (uint16_t)(q->head - q->taken)))
			q->tail = tail;
		else
			q->is_spoilt = true;
	}
	for (; got < n && q->taken != q->tail && !whole; got++, q->taken++) {
		const unsigned int slot = q->taken & q->mask;
		uint32_t bytes = length_at(q, slot);
		uint8_t *data = buffer(q, slot);

		whole = q->ring->descriptors[slot].flags & MORE_FOLLOWS;
		if (unlikely(whole))
			data = put_together(q, &bytes);
		mbufs[got] = view(q, got, data);
		mbufs[got]->pkt_len = bytes;
		mbufs[got]->data_len = (uint16_t)bytes;
		q->bytes += bytes;
	}
	q->frames += got;
	return got;
}

void direct_rx_give(struct direct_queue *q)
{
	const uint16_t free = (uint16_t)(q->taken + q->mask + 1U);
	const uint16_t most = (uint16_t)RTE_MIN(GIVE_FRAMES, (q->mask + 1) / 2);

	if ((uint16_t)(free - q->head) < most)
		return;
	for (; q->head != free; q->head++) {
		struct descriptor *d = &q->ring->descriptors[q->head & q->mask];
		d->length = q->stride;
		d->flags = 0;
	}
	__atomic_store_n(&q->ring->head, q->head, __ATOMIC_RELEASE);
}
