/* SPDX-License-Identifier: BSD-3-Clause */
#include "judge.h"

#include <rte_mbuf_dyn.h>

void judge_unaim(struct judge *j)
{
	j->aim = (struct judge_aim){.lengths = UINT64_MAX, .lo = j->streams[j->home].expected->lo};
}

void judge_add(struct judge_counts *to, const struct judge_counts *from)
{
	to->in_order += from->in_order;
	to->reordered += from->reordered;
	to->reorder_extent_max = RTE_MAX(to->reorder_extent_max, from->reorder_extent_max);
	to->duplicated += from->duplicated;
	to->undecided += from->undecided;
	to->corrupted += from->corrupted;
	to->misdelivered += from->misdelivered;
	to->earlier_trial += from->earlier_trial;
	to->foreign += from->foreign;
}

/* Latency by the stamps; a stamp has 40 bits, so the difference is taken modulo 2^40. */
static uint64_t latency_of(uint64_t arrival, uint64_t time)
{
	return (arrival - time) & FRAME_TIME_MASK;
}

void judge_flush(struct judge *j, uint64_t now)
{
	struct judge_aim *aim = &j->aim;
	if (aim->frames == 0)
		return;
	j->streams[aim->stream].counts.in_order += aim->frames;
	hist_add(j->latency, latency_of(now, aim->time), aim->frames);
	aim->frames = 0;
}

/*
 * Latency by the time at which the port says that it received the frame. It left before, and was
 * found after: a stamp that lies beyond is one of another clock than the one that is read. (A
 * ConnectX in real-time mode stamps nanoseconds of UTC; what DPDK reads may still be its ticks.)
 */
static void stamped(struct judge *j, const struct rte_mbuf *m, uint64_t now)
{
	const struct stamp_clock *clock = __atomic_load_n(&j->clock, __ATOMIC_ACQUIRE);
	const uint64_t stamp = *RTE_MBUF_DYNFIELD(m, j->stamp_offset, const uint64_t *);
	const uint64_t arrival = stamp_clock_tsc(clock, stamp) + j->stamp_slack;
	const uint64_t since = latency_of(arrival, j->aim.time);

	if (since > latency_of(now, j->aim.time) + 2 * j->stamp_slack)
		j->stamps_astray++;
	else
		hist_add(j->latency, since - RTE_MIN(since, j->stamp_slack), 1);
}

/* Books a frame of the aim that is not the next one of its flow. */
static void book(struct judge *j, uint32_t flow, uint64_t now)
{
	struct judge_stream *s = &j->streams[j->aim.stream];
	uint32_t extent;

	switch (seqwin_judge(&s->window, flow, j->aim.seq, &extent)) {
	case SEQWIN_IN_ORDER:
		s->counts.in_order++;
		j->gap_shown = now - latency_of(now, j->aim.time);
		break;
	case SEQWIN_REORDERED:
		s->counts.reordered++;
		s->counts.reorder_extent_max = RTE_MAX(s->counts.reorder_extent_max, extent);
		break;
	case SEQWIN_DUPLICATE:
		s->counts.duplicated++;
		break;
	case SEQWIN_UNDECIDED:
		s->counts.undecided++;
		break;
	}
}

void judge_out_of_turn(struct judge *j, unsigned int lo, uint64_t now)
{
	book(j, j->aim.flow + lo, now);
	hist_add(j->latency, latency_of(now, j->aim.time), 1);
}

/*
 * Whether a frame that fails its checks was one of ours: most of the fixed fields still fit. A
 * few flipped bits leave them; LLDP, ARP or another host's traffic has none.
 */
static bool resembles_ours(const uint8_t *f, uint32_t bytes)
{
	if (bytes < FRAME_OFF_ID)
		return false;
	const uint8_t *ip = f + FRAME_OFF_IP;
	const uint8_t *udp = f + FRAME_OFF_UDP;
	int fits = (f[12] == 0x08 && f[13] == 0x00) + (ip[0] == 0x45) + (ip[9] == 17) +
		   (ip[12] == 198) + (ip[13] == 18 || ip[13] == 19) + (ip[16] == 198) +
		   (ip[17] == 18 || ip[17] == 19) + (udp[0] == 0xC0 || udp[0] == 0xD0) +
		   (udp[2] == 0xC0 || udp[2] == 0xD0);
	return fits >= 6;
}

static int class_of(const struct judge *j, uint32_t bytes)
{
	for (unsigned int c = 0; c < j->class_count; c++)
		if (j->class_mbuf_bytes[c] == bytes)
			return (int)c;
	return -1;
}

static bool equals(const uint8_t *frame, vec64 expected, uint32_t bytes)
{
	return !vec_any((vec_load(frame) ^ expected) & judge_head_care) &&
	       (bytes == FRAME_HEAD_BYTES || memcmp(frame + FRAME_HEAD_BYTES,
						    frame_filler + FRAME_HEAD_BYTES,
						    bytes - FRAME_HEAD_BYTES) == 0);
}

/* Books a frame that is not sound: ours and altered, old or lost on its way; or not ours. */
static void book_unsound(struct judge *j, const uint8_t *frame, uint32_t bytes)
{
	struct judge_counts *home = &j->streams[j->home].counts;

	if (frame == NULL || bytes < FRAME_HEAD_BYTES || !frame_crc_fits(frame)) {
		if (frame != NULL && resembles_ours(frame, bytes))
			home->corrupted++;
		else
			home->foreign++;
		return;
	}
	const struct frame_fields f = frame_fields(frame);
	rte_compiler_barrier(); /* as in judge_aim_at() */
	if (f.trial != j->trial)
		home->earlier_trial++;
	else if (f.stream >= j->stream_count)
		home->foreign++;
	else if (!j->streams[f.stream].due_here)
		j->streams[f.stream].counts.misdelivered++;
	else
		j->streams[f.stream].counts.corrupted++;
}

/*
 * A sound frame that shares its aim with no other: in several segments, or of a port that stamps.
 * One that such a port did not stamp has no latency. `now` is when we looked, not when it came, and
 * in one histogram with the port's stamps it would make a tail that the DUT does not have.
 */
static void judge_alone(struct judge *j, const struct rte_mbuf *m, uint32_t flow, uint64_t now)
{
	const struct judge_aim *aim = &j->aim;

	if (aim->next[flow % FRAME_LO] == aim->seq) {
		aim->next[flow % FRAME_LO]++;
		j->streams[aim->stream].counts.in_order++;
	} else {
		book(j, flow, now);
	}
	if (j->stamp_offset < 0)
		hist_add(j->latency, latency_of(now, aim->time), 1);
	else if (m->ol_flags & j->stamp_flag)
		stamped(j, m, now);
	judge_unaim(j);
}

bool judge_aim_at(struct judge *j, struct rte_mbuf *m, uint64_t now)
{
	static _Thread_local uint8_t gathered[FRAME_BYTES_MAX];
	const uint32_t bytes = m->pkt_len;
	const int class = class_of(j, bytes);

	judge_flush(j, now);
	/* No frame of ours is longer; only frames in several segments are copied. */
	const uint8_t *frame =
		bytes <= sizeof(gathered) ? rte_pktmbuf_read(m, 0, bytes, gathered) : NULL;
	if (frame == NULL || class < 0) {
		book_unsound(j, frame, bytes);
		return false;
	}
	const struct frame_fields f = frame_fields(frame);
	/* A DUT that shares the frame's memory may write it meanwhile: what is compared is what is
	 * used, and is not read again. */
	rte_compiler_barrier();
	struct judge_stream *s = &j->streams[f.stream % JUDGE_STREAMS_MAX];
	if (f.trial != j->trial || f.stream >= j->stream_count || !s->due_here ||
	    f.flow >= s->expected->flows) {
		book_unsound(j, frame, bytes);
		return false;
	}
	const vec64 rest = s->expected->base[class] ^ s->expected->hi[f.flow / FRAME_LO] ^
			   frame_delta(f.seq, f.time);
	if (!equals(frame, rest ^ s->expected->lo[f.flow % FRAME_LO], bytes)) {
		book_unsound(j, frame, bytes);
		return false;
	}
	const uint32_t first = f.flow / FRAME_LO * FRAME_LO;
	j->aim = (struct judge_aim){
		.rest = rest,
		.lo = s->expected->lo,
		.next = s->window.next + first,
		.flow = first,
		.turn = f.flow - first,
		.lengths = bytes | (uint64_t)bytes << 32,
		.stamp = judge_stamp(frame),
		.time = f.time,
		.seq = f.seq,
		.stream = f.stream,
	};
	if (j->stamp_offset < 0 && m->data_len == bytes)
		return true;
	judge_alone(j, m, f.flow, now);
	return false;
}
