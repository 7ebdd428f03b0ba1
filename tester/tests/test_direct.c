/* SPDX-License-Identifier: BSD-3-Clause */
/* A memif's server that does what it likes harms neither the tester nor its account. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "hostile_memif.h"

enum { RING_TAIL = 64, RING_BYTES = 128 + 256 * 16, BURST = 32 };

static char path[64];
static struct failure failure;

static struct direct *opened(struct hostile *h)
{
	hostile_init(h, path);
	struct direct *d = direct_open(h->device, 1, 1, 1518, &failure);
	if (d == NULL)
		abort();
	return d;
}

static void closed(struct hostile *h, struct direct *d)
{
	direct_close(d);
	hostile_end(h);
}

/* Shortened, the memory would be a SIGBUS at the next frame. */
static void the_memory_s_size_and_rights_stay(void)
{
	struct hostile h;
	struct direct *d = opened(&h);
	struct stat was, is;

	CHECK(hostile_meets(&h, d));
	fstat(h.memory, &was);
	CHECK(ftruncate(h.memory, 0) < 0 && errno == EPERM);
	CHECK(ftruncate(h.memory, was.st_size * 2) < 0 && errno == EPERM);
	CHECK(fcntl(h.memory, F_ADD_SEALS, F_SEAL_FUTURE_WRITE) < 0 && errno == EPERM);
	fstat(h.memory, &is);
	CHECK_EQUAL(is.st_size, was.st_size, "bytes of the memory");
	struct rte_mbuf *mbufs[BURST];
	if (is.st_size == was.st_size)
		CHECK_EQUAL(direct_tx_take(&d->tx[0], mbufs, BURST), BURST, "frames of room");
	closed(&h, d);
}

/* 2^255 frames a ring are no fewer than 2^8; 2^7 are. */
static void each_length_of_a_ring_is_compared(void)
{
	for (unsigned int log2 = 0; log2 < 256; log2++) {
		struct hostile h;
		struct direct *d = opened(&h);

		h.hello[HOSTILE_HELLO_LOG2] = (uint8_t)log2;
		CHECK_EQUAL(hostile_meets(&h, d), log2 >= 8, "2^%u frames", log2);
		closed(&h, d);
	}
}

static void an_answer_of_another_length_is_refused(void)
{
	static const uint32_t lengths[] = {1, 127, 129, 256};

	for (unsigned int i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		struct hostile h;
		struct direct *d = opened(&h);

		h.answer_bytes = lengths[i];
		CHECK(!hostile_meets(&h, d));
		closed(&h, d);
	}
}

static void set(uint8_t *memory, unsigned int ring, unsigned int at, uint16_t value)
{
	memcpy(memory + (size_t)ring * RING_BYTES + at, &value, sizeof(value));
}

/* `tail`: of the ring that it reads (0), or fills (1), after 32 frames were sent. */
static void an_index(unsigned int ring, uint16_t tail, bool is_sound)
{
	struct hostile h;
	struct direct *d = opened(&h);
	struct rte_mbuf *mbufs[BURST];
	struct stat size;

	CHECK(hostile_meets(&h, d));
	fstat(h.memory, &size);
	uint8_t *memory = mmap(NULL, (size_t)size.st_size, PROT_READ | PROT_WRITE, MAP_SHARED,
			       h.memory, 0);
	CHECK(memory != MAP_FAILED);
	for (unsigned int i = 0; i < 8; i++) {
		CHECK_EQUAL(direct_tx_take(&d->tx[0], mbufs, BURST), BURST, "frames of room");
		for (unsigned int k = 0; k < BURST; k++)
			mbufs[k]->pkt_len = 60;
		direct_tx_give(&d->tx[0], mbufs, BURST);
	}
	set(memory, ring, RING_TAIL, tail);
	const unsigned int room = direct_tx_take(&d->tx[0], mbufs, BURST);
	const unsigned int came = direct_rx_take(&d->rx[0], mbufs, BURST);
	direct_rx_give(&d->rx[0]);
	CHECK(room <= BURST && came <= BURST);
	CHECK_EQUAL(direct_is_spoilt(d), !is_sound, "ring %u, tail %u", ring, tail);
	CHECK_EQUAL(direct_link(d), is_sound, "ring %u, tail %u", ring, tail);
	if (!is_sound)
		CHECK_EQUAL(room + came, 0, "ring %u, tail %u", ring, tail);
	munmap(memory, (size_t)size.st_size);
	closed(&h, d);
}

int main(void)
{
	snprintf(path, sizeof(path), "/tmp/wirespeed-test-direct-%d", getpid());
	the_memory_s_size_and_rights_stay();
	each_length_of_a_ring_is_compared();
	an_answer_of_another_length_is_refused();
	/* 256 frames were sent, as many buffers are free to be filled. */
	for (unsigned int ring = 0; ring < 2; ring++) {
		an_index(ring, 0, true);
		an_index(ring, 1, true);
		an_index(ring, 256, true);
		an_index(ring, 257, false);
		an_index(ring, 0x8000, false);
		an_index(ring, UINT16_MAX, false);
	}
	return check_end();
}
