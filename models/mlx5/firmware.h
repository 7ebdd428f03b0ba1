/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The firmware of a card beside what its driver asks: settings, identity, resets. */
#ifndef MLX5_MODEL_FIRMWARE_H
#define MLX5_MODEL_FIRMWARE_H

#include "model.h"

enum {
	CONNECTX_5_HARDWARE = 0x20d,
	FIRMWARE_MAILBOX = 0x340, /* bytes */
	FIRMWARE_MAJOR = 16,
	FIRMWARE_MINOR = 35,
	FIRMWARE_SUB_MINOR = 4030,
	LONGEST_GROUP = 20,
	GROUPS = 8,
};
#define FIRMWARE_PSID "WSP_MODEL_00001"

/* Answers to an access of a register: return_by_reg_status() of mstflint's mtcr_ul_com.c. */
enum access {
	ACCESS_OK = 0x0,
	ACCESS_UNKNOWN_REGISTER = 0x4,
	ACCESS_NO_METHOD = 0x6,
	ACCESS_BAD = 0x7,
	ACCESS_NONE = 0x8, /* no such resource */
};

/* A version of the firmware. */
struct image {
	uint16_t major, minor, sub;
};
enum { LONGEST_IMAGE = 16 << 20, IMAGE_PART = 128 }; /* bytes; of one MCDA at most */

/* A group of settings: what stands in the flash, and what was in force at the last start. */
struct group {
	uint8_t next[LONGEST_GROUP], current[LONGEST_GROUP];
};

struct firmware {
	uint32_t command; /* last one: opcode, status */
	uint8_t mailbox[FIRMWARE_MAILBOX];
	uint32_t semaphores[16];
	QEMUTimer *reset; /* waits for the link to go down; NULL: none was asked for */
	int64_t reset_until_ms, started_ms;
};

/* vsc.c */
bool vsc_open(struct function *pf, Error **errp);
void vsc_read(struct function *function, uint32_t at);
void vsc_written(struct function *function, uint32_t at, uint32_t value, int bytes);

/* firmware.c */
bool firmware_open(struct function *pf, Error **errp);
void firmware_close(struct function *pf);
void firmware_start(struct function *pf);
uint32_t firmware_command(struct function *function, uint16_t opcode);

/* burn.c */
const struct image *image_current(void);
const struct image *image_stored(void);
void image_start(void);
void image_keep(GString *text);
void image_kept(const char *line);
enum access image_control(struct function *pf, uint8_t *data, bool write);
enum access image_data(struct function *pf, uint8_t *data, bool write);

/* firmware_settings.c */
void settings_keep(struct function *pf);
void settings_open(struct function *pf);
void settings_start(void);
enum access settings_support(struct function *pf, uint8_t *data);
enum access settings_access(struct function *pf, uint8_t *data, bool write);
enum access settings_forget(struct function *pf, uint8_t *data);
uint16_t settings_vfs(void);
bool settings_ethernet(struct function *pf);

#endif
