/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * relay [EAL options with one or two --vdev]: the DUT's end of a wire that sends every frame back
 * to the port it came from, with faults that it counts.
 *
 * On stdin, one line each:
 *
 *   case seed=1 flows=256 span=100 window=64 loss=0.01 …   start anew; answers `ready`
 *   counts                                        answers with what the tester must have counted
 *   quit                                          the same, and ends; so do EOF and SIGTERM
 *
 * loss, duplicate, reorder, corrupt, misdeliver, foreign and stale are probabilities per frame. At
 * most one of them strikes a frame; with combine=1 they strike independently of each other, and
 * each copy of a duplicate again. A frame that is reordered waits until 1 to `hold` others left, or
 * until nothing came for a while; then all that wait leave, or with drip_us=N one in each N us.
 * With lose_frames=M the next M frames are lost once lose_from=N were read; with lose_at_stall=1
 * from the moment at which the relay was away for a millisecond or more, if that is sooner.
 * With chatter_us=N a foreign frame leaves in each N us, whatever else goes on, till the next case.
 *
 * Priming frames (trial 0) pass untouched and uncounted. The relay itself never drops: what it
 * could not send is counted in `relay_failed`, and then the case proves nothing.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "../frame.h"
#include "damage.h"
#include "random.h"
#include "tally.h"

enum {
	BURST = 64, /* so that the tester's judge meets whole groups of frames */
	COPIES_MAX = 3,
	HELD_MAX = 16384,
	STASH = 64,
	POOL_MBUFS = 65535,
	LINE_BYTES = 512,
	POLL_EVERY = 2048, /* turns between two looks at stdin */
	IDLE_MS = 5,       /* nothing came for so long: the trial is over, held frames leave */
	SEND_MOST_MS = 2000,
};

enum fault { LOSS, DUPLICATE, REORDER, CORRUPT, MISDELIVER, FOREIGN, STALE, FAULTS };

static const char *const fault_names[FAULTS] = {"loss", "duplicate", "reorder", "corrupt",
						"misdeliver", "foreign", "stale"};

/* A frame that is ready to leave, and what it will be to the tester. */
struct parcel {
	struct rte_mbuf *mbuf;
	uint64_t due;  /* leaves when so many others left since the case began */
	uint16_t port; /* to which it goes */
	enum { TO_JUDGE, TO_BE_CORRUPTED, TO_BE_FOREIGN, TO_BE_STALE, TO_PASS } fate;
	struct frame_fields fields;
};

struct relay {
	uint16_t ports;
	struct rte_mempool *pool;
	struct random random;
	double chance[FAULTS];
	uint32_t hold;
	bool combine;
	uint64_t lose_frames, lose_from; /* still to be lost, once so many were read */
	bool lose_at_stall;
	uint64_t last_turn;
	uint64_t drip, drip_next;       /* cycles; 0: frames that wait leave together */
	uint64_t chatter, chatter_next; /* cycles; 0: none */

	struct tally tally;
	uint64_t struck[FAULTS]; /* how often each fault struck */
	uint64_t left;
	uint64_t relay_failed;
	uint64_t strange; /* frames that are nobody's; forwarded */

	struct parcel held[HELD_MAX];
	unsigned int held_count;
	uint64_t held_due; /* the earliest */
	struct rte_mbuf *stash[2][STASH]; /* frames of the last case, and of this one */
	uint64_t last_frame;

	struct rte_mbuf *out[TALLY_STREAMS][BURST];
	uint16_t out_count[TALLY_STREAMS];
};

static struct relay relay;
static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
	(void)number;
	interrupted = 1;
}

static void flush(uint16_t port)
{
	struct rte_mbuf **out = relay.out[port];
	const uint16_t n = relay.out_count[port];
	const uint64_t deadline = rte_rdtsc() + rte_get_tsc_hz() / 1000 * SEND_MOST_MS;
	uint16_t sent = 0;

	while (sent < n && rte_rdtsc() < deadline)
		sent = (uint16_t)(sent + rte_eth_tx_burst(port, 0, out + sent, n - sent));
	relay.relay_failed += n - sent;
	rte_pktmbuf_free_bulk(out + sent, n - sent);
	relay.out_count[port] = 0;
}

/* Counts what leaves at once: a wire keeps the order, so nothing can come between. */
static void send_now(const struct parcel *p)
{
	struct tally_counts *home = &relay.tally.streams[p->port];

	relay.out[p->port][relay.out_count[p->port]++] = p->mbuf;
	if (relay.out_count[p->port] == BURST)
		flush(p->port);
	if (p->fate == TO_PASS)
		return;
	relay.left++;
	if (p->fate == TO_BE_CORRUPTED)
		home->corrupted++;
	else if (p->fate == TO_BE_FOREIGN)
		home->foreign++;
	else if (p->fate == TO_BE_STALE)
		home->earlier_trial++;
	else if (p->port != p->fields.stream)
		relay.tally.streams[p->fields.stream].misdelivered++;
	else
		tally_delivered(&relay.tally, p->fields.stream, p->fields.flow, p->fields.seq);
}

static void hold(const struct parcel *p)
{
	if (relay.held_count == HELD_MAX) {
		send_now(p); /* earlier than drawn, and counted as it leaves: still exact */
		return;
	}
	relay.held[relay.held_count++] = *p;
	relay.held_due = RTE_MIN(relay.held_due, p->due);
}

/* Sends what is due by now, in the order in which it came. */
static void release(uint64_t now)
{
	while (relay.held_due <= now) {
		unsigned int kept = 0;
		relay.held_due = UINT64_MAX;
		for (unsigned int i = 0; i < relay.held_count; i++) {
			if (relay.held[i].due <= now) {
				send_now(&relay.held[i]);
			} else {
				relay.held_due = RTE_MIN(relay.held_due, relay.held[i].due);
				relay.held[kept++] = relay.held[i];
			}
		}
		relay.held_count = kept;
	}
}

/* Sends the frame that has waited for longest. */
static void release_one(void)
{
	send_now(&relay.held[0]);
	relay.held_count--;
	memmove(relay.held, relay.held + 1, relay.held_count * sizeof(relay.held[0]));
}

static bool strikes(enum fault fault)
{
	const bool struck = random_chance(&relay.random, relay.chance[fault]);
	relay.struck[fault] += struck;
	return struck;
}

/* Damages, misdirects and delays one copy of a frame. */
static void forward_copy(struct parcel p, bool corrupt, bool misdeliver, bool reorder)
{
	if (corrupt) {
		damage(&relay.random, rte_pktmbuf_mtod(p.mbuf, uint8_t *), p.mbuf->data_len);
		p.fate = TO_BE_CORRUPTED;
	}
	/* A damaged stream number would make the tester's verdict a matter of which bit it was. */
	if (misdeliver && !corrupt && relay.ports == 2)
		p.port ^= 1;
	p.due = relay.left + (reorder ? 1 + random_below(&relay.random, relay.hold) : 0);
	if (reorder)
		hold(&p);
	else
		send_now(&p);
}

static struct rte_mbuf *copy_of(const struct rte_mbuf *m)
{
	struct rte_mbuf *copy = rte_pktmbuf_copy(m, relay.pool, 0, UINT32_MAX);
	if (copy == NULL)
		relay.relay_failed++;
	return copy;
}

static void send_foreign(uint16_t port)
{
	static const uint8_t lldp[14] = {1, 0x80, 0xc2, 0, 0, 14, 2, 0, 0, 0, 0, 9, 0x88, 0xcc};
	static const uint8_t arp[14] = {255, 255, 255, 255, 255, 255, 2, 0, 0, 0, 0, 9, 0x08, 0x06};
	struct parcel p = {.port = port, .fate = TO_BE_FOREIGN};

	p.mbuf = rte_pktmbuf_alloc(relay.pool);
	if (p.mbuf == NULL) {
		relay.relay_failed++;
		return;
	}
	uint8_t *data = (uint8_t *)rte_pktmbuf_append(p.mbuf, FRAME_HEAD_BYTES);
	memset(data, 0, FRAME_HEAD_BYTES);
	memcpy(data, random_chance(&relay.random, 0.5) ? lldp : arp, sizeof(lldp));
	send_now(&p);
}

static void send_stale(uint16_t port)
{
	const struct rte_mbuf *old = relay.stash[0][random_below(&relay.random, STASH)];
	struct parcel p = {.port = port, .fate = TO_BE_STALE};

	if (old == NULL) {
		relay.struck[STALE]--;
		return;
	}
	p.mbuf = copy_of(old);
	if (p.mbuf != NULL)
		send_now(&p);
}

static void keep_for_later(const struct rte_mbuf *m)
{
	struct rte_mbuf **place = &relay.stash[1][random_below(&relay.random, STASH)];
	if (*place == NULL)
		*place = copy_of(m);
}

/* At most one fault a frame. */
static void forward_single(const struct parcel *p)
{
	double share = random_share(&relay.random);
	unsigned int fault = 0;

	while (fault < FAULTS && share >= relay.chance[fault])
		share -= relay.chance[fault++];
	if (fault < FAULTS)
		relay.struck[fault]++;
	if (fault == LOSS) {
		rte_pktmbuf_free(p->mbuf);
		return;
	}
	if (fault == FOREIGN)
		send_foreign(p->port);
	if (fault == STALE)
		send_stale(p->port);
	if (fault == DUPLICATE) {
		struct parcel twin = *p;
		twin.mbuf = copy_of(p->mbuf);
		if (twin.mbuf != NULL)
			send_now(&twin);
	}
	forward_copy(*p, fault == CORRUPT, fault == MISDELIVER, fault == REORDER);
}

/* Any faults together, drawn anew for each copy. */
static void forward_combined(const struct parcel *p)
{
	unsigned int copies = 1;

	if (strikes(FOREIGN))
		send_foreign(p->port);
	if (strikes(STALE))
		send_stale(p->port);
	while (copies < COPIES_MAX && strikes(DUPLICATE))
		copies++;
	for (unsigned int i = 0; i < copies; i++) {
		struct parcel copy = *p;
		if (i + 1 < copies)
			copy.mbuf = copy_of(p->mbuf);
		if (copy.mbuf == NULL)
			continue;
		if (strikes(LOSS)) {
			rte_pktmbuf_free(copy.mbuf);
			continue;
		}
		const bool corrupt = strikes(CORRUPT), misdeliver = strikes(MISDELIVER);
		forward_copy(copy, corrupt, misdeliver, strikes(REORDER));
	}
}

static void forward(struct rte_mbuf *m, uint16_t port)
{
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
	struct parcel p = {.mbuf = m, .port = port, .fate = TO_JUDGE};

	if (m->nb_segs > 1 || m->data_len < FRAME_HEAD_BYTES || !frame_crc_fits(frame)) {
		relay.strange++;
		p.fate = TO_PASS;
	} else {
		p.fields = frame_fields(frame);
		if (p.fields.trial == 0)
			p.fate = TO_PASS;
	}
	if (p.fate == TO_PASS) {
		send_now(&p);
		return;
	}
	if (p.fields.stream != port) {
		relay.tally.outside++;
		rte_pktmbuf_free(m);
		return;
	}
	relay.tally.streams[port].read++;
	if (relay.lose_frames > 0 && relay.tally.streams[port].read > relay.lose_from) {
		relay.lose_frames--;
		relay.struck[LOSS]++;
		rte_pktmbuf_free(m);
		return;
	}
	keep_for_later(m);
	if (relay.combine)
		forward_combined(&p);
	else
		forward_single(&p);
}

static void release_waiting(uint64_t now)
{
	if (relay.drip == 0) {
		release(UINT64_MAX - 1);
	} else if (now >= relay.drip_next) {
		relay.drip_next = now + relay.drip;
		release_one();
	}
}

static void turn(void)
{
	struct rte_mbuf *mbufs[BURST];
	const uint64_t began = rte_rdtsc();
	bool idle = true;

	if (relay.lose_at_stall && began - relay.last_turn > rte_get_tsc_hz() / 1000)
		relay.lose_from = 0;
	relay.last_turn = began;
	for (uint16_t port = 0; port < relay.ports; port++) {
		const uint16_t n = rte_eth_rx_burst(port, 0, mbufs, BURST);
		for (uint16_t i = 0; i < n; i++) {
			release(relay.left);
			forward(mbufs[i], port);
		}
		idle &= n == 0;
	}
	const uint64_t now = rte_rdtsc();
	if (!idle)
		relay.last_frame = now;
	else if (relay.held_count > 0 && now - relay.last_frame > rte_get_tsc_hz() / 1000 * IDLE_MS)
		release_waiting(now);
	if (relay.chatter > 0 && now >= relay.chatter_next) {
		relay.chatter_next = now + relay.chatter;
		send_foreign(0);
	}
	for (uint16_t port = 0; port < relay.ports; port++)
		if (relay.out_count[port] > 0)
			flush(port);
}

static void counts_print(void)
{
	printf("{\"streams\":[");
	for (unsigned int i = 0; i < relay.ports; i++) {
		const struct tally_counts *c = &relay.tally.streams[i];
		printf("%s{\"read\":%" PRIu64 ",\"in_order\":%" PRIu64 ",\"reordered\":%" PRIu64
		       ",\"reorder_extent_max\":%" PRIu64 ",\"duplicated\":%" PRIu64
		       ",\"undecided\":%" PRIu64
		       ",\"corrupted\":%" PRIu64 ",\"misdelivered\":%" PRIu64
		       ",\"earlier_trial\":%" PRIu64 ",\"foreign\":%" PRIu64 "}",
		       i > 0 ? "," : "", c->read, c->in_order, c->reordered,
		       c->reorder_extent_max, c->duplicated, c->undecided, c->corrupted,
		       c->misdelivered, c->earlier_trial, c->foreign);
	}
	printf("],\"struck\":{");
	for (unsigned int i = 0; i < FAULTS; i++)
		printf("%s\"%s\":%" PRIu64, i > 0 ? "," : "", fault_names[i], relay.struck[i]);
	printf("},\"held\":%u,\"relay_failed\":%" PRIu64 ",\"outside\":%" PRIu64
	       ",\"strange\":%" PRIu64 "}\n",
	       relay.held_count, relay.relay_failed, relay.tally.outside, relay.strange);
	fflush(stdout);
}

static void stash_rotate(void)
{
	for (unsigned int i = 0; i < STASH; i++) {
		rte_pktmbuf_free(relay.stash[0][i]);
		relay.stash[0][i] = relay.stash[1][i];
		relay.stash[1][i] = NULL;
	}
}

/* A word that is not understood ends the relay: a test with a mistyped fault must not pass. */
static void case_read(char *words)
{
	uint32_t flows = 1, span = 1, window = 64;

	release(UINT64_MAX - 1);
	stash_rotate();
	memset(relay.chance, 0, sizeof(relay.chance));
	memset(relay.struck, 0, sizeof(relay.struck));
	relay.left = relay.relay_failed = relay.strange = 0;
	relay.hold = 1;
	relay.combine = false;
	relay.lose_frames = relay.lose_from = 0;
	relay.lose_at_stall = false;
	relay.drip = relay.drip_next = relay.chatter = relay.chatter_next = 0;
	relay.held_due = UINT64_MAX;
	for (char *word = strtok(words, " "); word != NULL; word = strtok(NULL, " ")) {
		char *equals = strchr(word, '=');
		unsigned int fault = 0;
		if (equals == NULL)
			rte_exit(EXIT_FAILURE, "relay: not name=value: %s\n", word);
		*equals = '\0';
		const double value = strtod(equals + 1, NULL);
		while (fault < FAULTS && strcmp(word, fault_names[fault]) != 0)
			fault++;
		if (fault < FAULTS)
			relay.chance[fault] = value;
		else if (strcmp(word, "seed") == 0)
			relay.random.state = (uint64_t)value;
		else if (strcmp(word, "flows") == 0)
			flows = (uint32_t)value;
		else if (strcmp(word, "span") == 0)
			span = (uint32_t)value;
		else if (strcmp(word, "window") == 0)
			window = (uint32_t)value;
		else if (strcmp(word, "hold") == 0)
			relay.hold = (uint32_t)value;
		else if (strcmp(word, "lose_frames") == 0)
			relay.lose_frames = (uint64_t)value;
		else if (strcmp(word, "lose_from") == 0)
			relay.lose_from = (uint64_t)value;
		else if (strcmp(word, "lose_at_stall") == 0)
			relay.lose_at_stall = value != 0;
		else if (strcmp(word, "drip_us") == 0)
			relay.drip = (uint64_t)(value * (double)rte_get_tsc_hz() / 1e6);
		else if (strcmp(word, "chatter_us") == 0)
			relay.chatter = (uint64_t)(value * (double)rte_get_tsc_hz() / 1e6);
		else if (strcmp(word, "combine") == 0)
			relay.combine = value != 0;
		else
			rte_exit(EXIT_FAILURE, "relay: unknown: %s\n", word);
	}
	if (!tally_reset(&relay.tally, flows, span, window))
		rte_exit(EXIT_FAILURE, "relay: no memory for %u flows of %u frames\n", flows, span);
	printf("ready\n");
	fflush(stdout);
}

/* Looks at stdin; waits a little where there is nothing to do. False when it is time to end. */
static bool listen_once(void)
{
	const bool idle = rte_rdtsc() - relay.last_frame > rte_get_tsc_hz() / 1000 * 2 * IDLE_MS;

	static char line[LINE_BYTES];
	static size_t bytes;
	struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};

	if (interrupted)
		return false;
	if (poll(&in, 1, idle ? 1 : 0) <= 0)
		return true;
	const ssize_t got = read(STDIN_FILENO, line + bytes, sizeof(line) - bytes);
	if (got < 0 && errno == EINTR)
		return true;
	if (got <= 0)
		return false;
	bytes += (size_t)got;
	for (char *end; (end = memchr(line, '\n', bytes)) != NULL;) {
		const size_t used = (size_t)(end - line) + 1;
		*end = '\0';
		if (strncmp(line, "case ", 5) == 0)
			case_read(line + 5);
		else if (strcmp(line, "counts") == 0)
			counts_print();
		else
			return false;
		bytes -= used;
		memmove(line, line + used, bytes);
	}
	return bytes < sizeof(line);
}

static void port_start(uint16_t port)
{
	const struct rte_eth_conf conf = {0};

	if (rte_eth_dev_configure(port, 1, 1, &conf) < 0 ||
	    rte_eth_rx_queue_setup(port, 0, 1024, SOCKET_ID_ANY, NULL, relay.pool) < 0 ||
	    rte_eth_tx_queue_setup(port, 0, 1024, SOCKET_ID_ANY, NULL) < 0 ||
	    rte_eth_dev_start(port) < 0)
		rte_exit(EXIT_FAILURE, "relay: port %u does not start\n", port);
}

int main(int argc, char **argv)
{
	const struct sigaction action = {.sa_handler = on_signal};

	if (rte_eal_init(argc, argv) < 0)
		rte_exit(EXIT_FAILURE, "relay: no EAL\n");
	relay.ports = rte_eth_dev_count_avail();
	relay.held_due = UINT64_MAX;
	relay.pool = rte_pktmbuf_pool_create("relay", POOL_MBUFS, 256, 0,
					     RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	if (relay.pool == NULL || relay.ports < 1 || relay.ports > TALLY_STREAMS)
		rte_exit(EXIT_FAILURE, "relay: needs memory and one or two ports\n");
	if (!tally_reset(&relay.tally, 1, 1, 64))
		rte_exit(EXIT_FAILURE, "relay: no memory\n");
	for (uint16_t port = 0; port < relay.ports; port++)
		port_start(port);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	frame_filler_init();
	while (listen_once())
		for (unsigned int i = 0; i < POLL_EVERY; i++)
			turn();
	counts_print();
	for (uint16_t port = 0; port < relay.ports; port++) {
		rte_eth_dev_stop(port);
		rte_eth_dev_close(port);
	}
	rte_eal_cleanup();
	return EXIT_SUCCESS;
}
