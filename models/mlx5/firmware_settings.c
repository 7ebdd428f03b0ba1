/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Settings of the firmware, in groups (TLVs): what mstconfig reads and sets. One that is set is
 * kept in a file, and comes into force at the next start of the firmware.
 *
 * Sources: mstflint 4.21: mlxconfig/mlxconfig_dbs (numbers, places and limits of the settings),
 * mlxconfig/mlxcfg_utils.cpp and tools_layouts/tools_open_layouts.c (NVDA, NVQC, NVDI).
 */
#include "firmware.h"

/* Class and index; a port's has its number between them. */
enum {
	PCI_SETTINGS = 0x00000080,
	PCI_ABILITIES = 0x00000081,
	OFFLOADS = 0x0000010a,
	OFFLOAD_ABILITIES = 0x0000010b,
	LINK_TYPE = 0x01010012, /* of port 1 */
	LINK_TYPE_2 = 0x01020012,
	ADDRESSES_GIVEN = 0x00000002,
	ADDRESSES_COUNTED = 0x00000003,
};
enum { IB = 1, ETH = 2 };
enum { SRIOV_VALID = 1u << 31, SRIOV_EN = 1u << 31, NUM_OF_VFS = 0xffff, CQE_COMPRESSION = 7 };
enum { PFS_VALID = 1u << 28, ONE_PF = 1u << 16 };
/* Of the header of a group in NVDA. */
enum { HEADER = 12, LENGTH_BITS = 0x1ff, DEFAULT_BIT = 23, CURRENT_BIT = 22, TYPE = 4 };

static const struct kind_of_group {
	uint32_t type, bytes;
	bool settable;
	uint32_t first[LONGEST_GROUP / 4]; /* as made */
	uint32_t known[LONGEST_GROUP / 4]; /* bits that are modelled */
} kinds[GROUPS] = {
	{ PCI_SETTINGS, 12, true,
		{ SRIOV_VALID | PFS_VALID, SRIOV_EN | ONE_PF | MAX_VFS },
		{ SRIOV_VALID, SRIOV_EN | NUM_OF_VFS } },
	/* VFs can be; their greatest number is valid; one PF. */
	{ PCI_ABILITIES, 20, false, { 1u << 31, 1u << 31 | ONE_PF | MAX_VFS } },
	{ OFFLOADS, 8, true, { 0 }, { CQE_COMPRESSION } },
	{ OFFLOAD_ABILITIES, 4, false },
	{ LINK_TYPE, 4, true, { ETH << 2 }, { 3 << 2 } },
	{ LINK_TYPE_2, 4, true, { ETH << 2 }, { 3 << 2 } },
	{ ADDRESSES_GIVEN, 16, false },
	{ ADDRESSES_COUNTED, 8, false, { 0, 1 << 16 | 1 } },
};

/* Of the card, whichever port asks: a host has one. */
static struct group groups[GROUPS];
static bool opened;

static int find(uint32_t type)
{
	for (int at = 0; at < GROUPS; at++) {
		if (kinds[at].type == type) {
			return at;
		}
	}
	return -1;
}

static void as_made(struct function *pf, int at, uint8_t *into)
{
	for (int word = 0; word < LONGEST_GROUP / 4; word++) {
		stl_be_p(into + word * 4, kinds[at].first[word]);
	}
	if (kinds[at].type == ADDRESSES_GIVEN) {
		/* The MAC, and a GUID made of it. */
		const uint8_t *mac = pf->adapter->port.conf.macaddr.a;

		memcpy(into + 2, mac, 6);
		memcpy(into + 8, mac, 3);
		memcpy(into + 13, mac + 3, 3);
	}
}

/* A line for each group that can be set: its number and its bytes, in hexadecimal; and the image. */
void settings_keep(struct function *pf)
{
	g_autoptr(GString) text = g_string_new(NULL);
	g_autoptr(GError) error = NULL;

	for (int at = 0; at < GROUPS; at++) {
		if (!kinds[at].settable) {
			continue;
		}
		g_string_append_printf(text, "%08x ", kinds[at].type);
		for (uint32_t byte = 0; byte < kinds[at].bytes; byte++) {
			g_string_append_printf(
				text, "%02x", groups[at].next[byte]);
		}
		g_string_append_c(text, '\n');
	}
	image_keep(text);
	if (pf->flash && !g_file_set_contents(pf->flash, text->str, text->len, &error)) {
		fprintf(stderr, "mlx5: %s\n", error->message);
	}
}

void settings_open(struct function *pf)
{
	g_autofree char *text = NULL;
	g_auto(GStrv) lines = NULL;

	if (opened) {
		return;
	}
	opened = true;
	for (int at = 0; at < GROUPS; at++) {
		as_made(pf, at, groups[at].next);
	}
	if (!pf->flash || !g_file_get_contents(pf->flash, &text, NULL, NULL)) {
		return;
	}
	lines = g_strsplit(text, "\n", -1);
	for (char **line = lines; *line; line++) {
		char bytes[LONGEST_GROUP * 2 + 1];
		unsigned type, byte;
		int at;

		image_kept(*line);
		if (sscanf(*line, "%8x %40[0-9a-f]", &type, bytes) != 2 || (at = find(type)) < 0 ||
			!kinds[at].settable || strlen(bytes) != kinds[at].bytes * 2) {
			continue;
		}
		for (uint32_t next = 0; next < kinds[at].bytes; next++) {
			sscanf(bytes + next * 2, "%2x", &byte);
			groups[at].next[next] = byte;
		}
	}
}

void settings_start(void)
{
	image_start();
	for (int at = 0; at < GROUPS; at++) {
		struct group *group = &groups[at];

		memcpy(group->current, group->next, sizeof(group->current));
	}
}

/* NVQC: whether a group is there, and can be set. */
enum access settings_support(struct function *pf, uint8_t *data)
{
	int at = find(ldl_be_p(data));

	stl_be_p(data + 4, at < 0 ? 0 : 1u | (uint32_t)kinds[at].settable << 1);
	return ACCESS_OK;
}

static bool allowed(int at, const uint8_t *was, const uint8_t *wanted)
{
	for (uint32_t word = 0; word < kinds[at].bytes / 4; word++) {
		uint32_t differs = ldl_be_p(was + word * 4) ^ ldl_be_p(wanted + word * 4);

		if (differs & ~kinds[at].known[word]) {
			return false;
		}
	}
	switch (kinds[at].type) {
	case PCI_SETTINGS:
		return (ldl_be_p(wanted + 4) & NUM_OF_VFS) <= MAX_VFS;
	case OFFLOADS:
		return (ldl_be_p(wanted) & CQE_COMPRESSION) <= 1;
	case LINK_TYPE:
	case LINK_TYPE_2:
		return ldl_be_p(wanted) >> 2 == IB || ldl_be_p(wanted) >> 2 == ETH;
	}
	return true;
}

enum access settings_access(struct function *pf, uint8_t *data, bool write)
{
	uint32_t header = ldl_be_p(data), type = ldl_be_p(data + TYPE);
	uint32_t length = header & LENGTH_BITS;
	int at = find(type);
	struct group *group = &groups[MAX(at, 0)];

	if (at < 0) {
		refused(pf, BAD_PARAM, "settings of group", type);
		return ACCESS_NONE;
	}
	if (write) {
		if (!kinds[at].settable || length != kinds[at].bytes ||
			!allowed(at, group->next, data + HEADER)) {
			refused(pf, BAD_PARAM, "values for group", type);
			return ACCESS_BAD;
		}
		memcpy(group->next, data + HEADER, length);
		settings_keep(pf);
		return ACCESS_OK;
	}
	memset(data + HEADER, 0, length);
	if (header >> DEFAULT_BIT & 1) {
		uint8_t made[LONGEST_GROUP];

		as_made(pf, at, made);
		memcpy(data + HEADER, made, MIN(length, kinds[at].bytes));
	} else {
		memcpy(data + HEADER, header >> CURRENT_BIT & 1 ? group->current : group->next,
			MIN(length, kinds[at].bytes));
	}
	stl_be_p(data, (header & ~LENGTH_BITS) | kinds[at].bytes);
	return ACCESS_OK;
}

/* NVDI: a group is again as it was made. */
enum access settings_forget(struct function *pf, uint8_t *data)
{
	int at = find(ldl_be_p(data + TYPE));

	if (at < 0 || !kinds[at].settable) {
		return ACCESS_NONE;
	}
	as_made(pf, at, groups[at].next);
	settings_keep(pf);
	return ACCESS_OK;
}

uint16_t settings_vfs(void)
{
	uint32_t word = ldl_be_p(groups[find(PCI_SETTINGS)].current + 4);

	return word & SRIOV_EN ? word & NUM_OF_VFS : 0;
}

bool settings_ethernet(struct function *pf)
{
	int at = find(pf->adapter->number == 1 ? LINK_TYPE : LINK_TYPE_2);

	return ldl_be_p(groups[at].current) >> 2 == ETH;
}
