/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is in a frame: headers, checksums (RFC 1071), VLAN tags (IEEE 802.1Q).
 */
#include "model.h"

enum { IPV4 = 0x0800, IPV6 = 0x86dd, CVLAN = 0x8100, SVLAN = 0x88a8, TCP = 6, UDP = 17 };

bool frame_parse(const uint8_t *data, uint32_t bytes, struct headers *headers)
{
	uint32_t at = 12, end;

	memset(headers, 0, sizeof(*headers));
	if (bytes < 14) {
		return false;
	}
	headers->ethertype = lduw_be_p(data + at);
	while ((headers->ethertype == CVLAN || headers->ethertype == SVLAN) &&
		at + 6 <= bytes) {
		if (headers->vlans++ == 0) {
			headers->vlan_tci = lduw_be_p(data + at + 2);
		}
		at += 4;
		headers->ethertype = lduw_be_p(data + at);
	}
	at += 2;
	headers->l3 = at;
	if (headers->ethertype == IPV4 && at + 20 <= bytes) {
		headers->version = 4;
		headers->protocol = data[at + 9];
		headers->fragment = lduw_be_p(data + at + 6) & 0x3fff;
		end = at + (data[at] & 0xf) * 4;
	} else if (headers->ethertype == IPV6 && at + 40 <= bytes) {
		headers->version = 6;
		headers->protocol = data[at + 6];
		end = at + 40;
	} else {
		return true;
	}
	if (headers->fragment) {
		return true;
	}
	if (headers->protocol == TCP && end + 20 <= bytes) {
		headers->l4 = end;
		headers->payload = end + (data[end + 12] >> 4) * 4;
	} else if (headers->protocol == UDP && end + 8 <= bytes) {
		headers->l4 = end;
		headers->payload = end + 8;
	}
	return true;
}

uint32_t frame_sum(const uint8_t *data, uint32_t bytes, uint32_t sum)
{
	for (; bytes > 1; data += 2, bytes -= 2) {
		sum += lduw_be_p(data);
		sum = (sum & 0xffff) + (sum >> 16);
	}
	return bytes ? sum + (*data << 8) : sum;
}

uint16_t frame_fold(uint32_t sum)
{
	while (sum >> 16) {
		sum = (sum & 0xffff) + (sum >> 16);
	}
	return sum;
}

/* Sum over the header of IPv4; 0xffff where its checksum is right. */
uint16_t frame_l3_sum(const uint8_t *data, const struct headers *headers)
{
	return frame_fold(
		frame_sum(data + headers->l3, (data[headers->l3] & 0xf) * 4, 0));
}

/* Length of what IP carries, as it says itself; never more than there is. */
static uint32_t l4_bytes(const uint8_t *data, uint32_t bytes, const struct headers *headers)
{
	uint32_t said = headers->version == 4 ? lduw_be_p(data + headers->l3 + 2) -
							(headers->l4 - headers->l3)
					      : lduw_be_p(data + headers->l3 + 4);

	return MIN(said, bytes - headers->l4);
}

/* Sum over the pseudo header and all of TCP or UDP; 0xffff where their checksum is right. */
uint16_t frame_l4_sum(const uint8_t *data, uint32_t bytes, const struct headers *headers)
{
	uint32_t length = l4_bytes(data, bytes, headers);
	uint32_t sum = headers->protocol + length;

	sum = headers->version == 4 ? frame_sum(data + headers->l3 + 12, 8, sum)
				    : frame_sum(data + headers->l3 + 8, 32, sum);
	return frame_fold(frame_sum(data + headers->l4, length, sum));
}

void frame_set_sums(uint8_t *data, uint32_t bytes, bool l3, bool l4)
{
	struct headers headers;

	frame_parse(data, bytes, &headers);
	if (l3 && headers.version == 4) {
		stw_be_p(data + headers.l3 + 10, 0);
		stw_be_p(data + headers.l3 + 10, ~frame_fold(frame_sum(data + headers.l3,
							 (data[headers.l3] & 0xf) * 4, 0)));
	}
	if (l4 && headers.l4) {
		uint8_t *check = data + headers.l4 + (headers.protocol == TCP ? 16 : 6);
		uint16_t sum;

		stw_be_p(check, 0);
		sum = ~frame_l4_sum(data, bytes, &headers);
		/* UDP: 0 would say that there is none. */
		stw_be_p(check, headers.protocol == UDP && sum == 0 ? 0xffff : sum);
	}
}

/* `data` has room for one more tag: see struct packet's makers. */
void frame_push_vlan(struct packet *packet, uint16_t tpid, uint16_t tci)
{
	memmove(packet->data + 16, packet->data + 12, packet->bytes - 12);
	stw_be_p(packet->data + 12, tpid);
	stw_be_p(packet->data + 14, tci);
	packet->bytes += 4;
}

bool frame_pop_vlan(struct packet *packet)
{
	uint16_t tpid = lduw_be_p(packet->data + 12);

	if (packet->bytes < 18 || (tpid != CVLAN && tpid != SVLAN)) {
		return false;
	}
	memmove(packet->data + 12, packet->data + 16, packet->bytes - 16);
	packet->bytes -= 4;
	return true;
}

void tally_add(struct traffic *traffic, const uint8_t *data, uint32_t bytes)
{
	static const uint8_t everyone[6] = { 255, 255, 255, 255, 255, 255 };
	struct tally *tally = !(data[0] & 1)		       ? &traffic->unicast
			      : memcmp(data, everyone, 6) == 0 ? &traffic->broadcast
							       : &traffic->multicast;

	tally->packets++;
	tally->bytes += bytes;
}
