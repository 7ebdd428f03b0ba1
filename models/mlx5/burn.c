/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A new image of the firmware: MCC steers, MCDA carries the bytes. mstflint's burn comes this way
 * through the gateway; the driver (`devlink dev flash`) is not told that it could. No code of an
 * image is run, and no signature is checked: its PSID is, and its version is kept in the card's
 * file. It is the version in force from the next start of the firmware on.
 *
 * Sources: mstflint 4.21, fw_comps_mgr/fw_comps_mgr.cpp (burnComponents); the kernel's mlxfw/mlxfw.h
 * and mlx5_core (core/fw.c). For the image: mstflint's mlxfwops/lib/fs4_ops.cpp and
 * tools_layouts/image_layout_layouts.c.
 */
#include "firmware.h"

enum {
	LOCK = 0x1,
	RELEASE = 0x2,
	UPDATE = 0x3,
	VERIFY = 0x4,
	ACTIVATE = 0x6,
	CANCEL = 0x8,
	FORCE_RELEASE = 0xa,
};
enum { IDLE = 0, LOCKED = 1, DOWNLOAD = 3 };
/* enum mlxfw_fsm_state_err */
enum { NO_ERROR = 0, NOT_APPLICABLE = 3, BAD_FORMAT = 8 };
/* Pointers that the hardware reads; the third is to the table of contents. */
enum { CONTENTS_POINTER = 0x18 + 2 * 8, ENTRY = 32, IMAGE_INFO = 0x10, LAST = 0xff };
enum { PSID_AT = 36, PSID_BYTES = 16, INFO_BYTES = 0x400 };
static const uint8_t contents_name[16] = { 'I', 'T', 'O', 'C', 0x04, 0x08, 0x15, 0x16, 0x23, 0x42,
	0xca, 0xfa, 0xba, 0xca, 0xfe, 0x00 };

/* Of the card, whichever port asks. */
static struct image stored = { FIRMWARE_MAJOR, FIRMWARE_MINOR, FIRMWARE_SUB_MINOR };
static struct image current = { FIRMWARE_MAJOR, FIRMWARE_MINOR, FIRMWARE_SUB_MINOR };
static struct {
	uint8_t state, error;
	uint32_t handle; /* the next user's, while nobody has it */
	GByteArray *data;
	uint32_t bytes;	    /* that were announced */
	struct image image; /* verified; major 0: none */
} machine = { .handle = 1 };

const struct image *image_current(void)
{
	return &current;
}

const struct image *image_stored(void)
{
	return &stored;
}

void image_start(void)
{
	current = stored;
	machine.state = IDLE;
	machine.image.major = 0;
}

void image_keep(GString *text)
{
	g_string_append_printf(text, "image %u.%u.%u\n", stored.major, stored.minor, stored.sub);
}

void image_kept(const char *line)
{
	unsigned major, minor, sub;

	if (sscanf(line, "image %3u.%4u.%5u", &major, &minor, &sub) == 3) {
		stored = (struct image){ major, minor, sub };
	}
}

/* Where its description is; 0: it is not an image. */
static uint32_t description(const uint8_t *data, uint32_t bytes)
{
	uint32_t at;

	if (bytes < CONTENTS_POINTER + 4) {
		return 0;
	}
	at = ldl_be_p(data + CONTENTS_POINTER);
	if (at > bytes || bytes - at < ENTRY || memcmp(data + at, contents_name, 16) != 0) {
		return 0;
	}
	for (at += ENTRY; bytes - at >= ENTRY && data[at] != LAST; at += ENTRY) {
		uint32_t place = ldl_be_p(data + at + 20);

		if (data[at] == IMAGE_INFO) {
			return place < bytes && bytes - place >= INFO_BYTES ? place : 0;
		}
	}
	return 0;
}

static uint8_t verify(void)
{
	const uint8_t *data = machine.data->data;
	uint32_t at = description(data, machine.data->len);
	char psid[PSID_BYTES] = FIRMWARE_PSID;

	if (machine.data->len != machine.bytes || at == 0) {
		return BAD_FORMAT;
	}
	if (memcmp(data + at + PSID_AT, psid, PSID_BYTES) != 0) {
		return NOT_APPLICABLE;
	}
	machine.image = (struct image){ lduw_be_p(data + at + 4), lduw_be_p(data + at + 8),
		lduw_be_p(data + at + 10) };
	return NO_ERROR;
}

/* Whether the machine takes the instruction in the state that it is in; it stays as it is if not. */
static bool instructed(struct function *pf, uint8_t instruction, const uint8_t *data)
{
	uint8_t state = machine.state;
	uint32_t bytes = IFC_GET(mcc_reg, data, component_size);

	switch (instruction) {
	case LOCK:
		if (state != IDLE) {
			return false;
		}
		machine.state = LOCKED;
		machine.image.major = 0;
		return true;
	case UPDATE:
		if (state != LOCKED || bytes == 0 || bytes > LONGEST_IMAGE) {
			return false;
		}
		machine.bytes = bytes;
		if (machine.data) {
			g_byte_array_free(machine.data, TRUE);
		}
		machine.data = g_byte_array_new();
		machine.state = DOWNLOAD;
		return true;
	case VERIFY:
		if (state != DOWNLOAD) {
			return false;
		}
		machine.state = LOCKED;
		machine.error = verify();
		return machine.error == NO_ERROR;
	case ACTIVATE:
		if (state != LOCKED || machine.image.major == 0) {
			return false;
		}
		stored = machine.image;
		settings_keep(pf);
		return true;
	case CANCEL:
		machine.state = state == IDLE ? IDLE : LOCKED;
		return true;
	case RELEASE:
	case FORCE_RELEASE:
		machine.state = IDLE;
		machine.handle++;
		return true;
	}
	refused(pf, BAD_PARAM, "instruction for an image", instruction);
	return false;
}

static bool is_users(const uint8_t *data, uint8_t instruction)
{
	return instruction == FORCE_RELEASE ||
	       IFC_GET(mcc_reg, data, update_handle) == machine.handle;
}

enum access image_control(struct function *pf, uint8_t *data, bool write)
{
	uint8_t instruction = IFC_GET(mcc_reg, data, instruction);
	bool fits = true;

	if (write) {
		machine.error = NO_ERROR;
		fits = is_users(data, instruction) && instructed(pf, instruction, data);
	}
	IFC_SET(mcc_reg, data, update_handle, machine.handle);
	IFC_SET(mcc_reg, data, control_state, machine.state);
	IFC_SET(mcc_reg, data, error_code, machine.error);
	return fits ? ACCESS_OK : ACCESS_BAD;
}

/* In words whose bytes are turned round: mlx5_reg_mcda_set() of the driver's core/fw.c. */
enum access image_data(struct function *pf, uint8_t *data, bool write)
{
	uint32_t at = IFC_GET(mcda_reg, data, offset), bytes = IFC_GET(mcda_reg, data, size);
	const uint8_t *words = IFC_PTR(mcda_reg, data, data);

	if (!write || machine.state != DOWNLOAD || bytes > IMAGE_PART || bytes % 4 != 0 ||
		at != machine.data->len || at + bytes > machine.bytes ||
		IFC_GET(mcda_reg, data, update_handle) != machine.handle) {
		return ACCESS_BAD;
	}
	for (uint32_t next = 0; next < bytes; next += 4) {
		uint8_t word[4];

		stl_le_p(word, ldl_be_p(words + next));
		g_byte_array_append(machine.data, word, 4);
	}
	return ACCESS_OK;
}
