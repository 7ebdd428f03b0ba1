/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The vendor-specific capability of a PF: the way of mstflint and its kin to the firmware, which
 * needs no driver. A gateway in configuration space to three of the card's address spaces.
 *
 * Sources: mstflint 4.21, mtcr_ul/mtcr_ul_com.c (mtcr_pciconf_*) and mtcr_ul_icmd_cif.c; the
 * driver's own side of it, lib/pci_vsc.c.
 *
 * A user of the gateway takes a ticket (the counter), writes it into the semaphore and reads it
 * back; names a space; writes an address, with bit 31 set where the data register goes there,
 * clear where it comes from there. The card turns the bit round when that is done.
 */
#include "firmware.h"

enum {
	AT = 0xa8, /* after MSI-X */
	LENGTH = 0x18,
	CONTROL = 0x4,
	COUNTER = 0x8,
	SEMAPHORE = 0xc,
	ADDRESS = 0x10,
	DATA = 0x14,
};
/* mstflint names commands to the firmware by both of their spaces. */
enum { ICMD_EXTENDED = 0x1, CR_SPACE = 0x2, ICMD_SPACE = 0x3, SEMAPHORES = 0xa };
enum { SUPPORTED_BIT = 29, DONE_BIT = 31, SPACE_BITS = 0xffff };
/* Of CR space, for a ConnectX-5: its hardware's id, and a word whose bit 31 says that the firmware
 * is not up yet. */
enum { HARDWARE_ID = 0xf0014, NOT_READY = 0xb5e04 };
/* Of the space of commands to the firmware. */
enum { COMMAND = 0x0, MAILBOX_BYTES = 0x1000, MAILBOX = 0x100000, BUSY = 1 };

static bool is_there(uint16_t space)
{
	return space == ICMD_EXTENDED || space == CR_SPACE || space == ICMD_SPACE ||
	       space == SEMAPHORES;
}

static uint32_t cr_read(struct function *function, uint32_t at)
{
	switch (at) {
	case HARDWARE_ID:
		return CONNECTX_5_HARDWARE;
	case NOT_READY:
		return 0;
	}
	refused(function, BAD_PARAM, "read of CR space at", at);
	return 0;
}

static uint32_t icmd_read(struct function *function, uint32_t at)
{
	struct firmware *firmware = function->firmware;

	if (at == COMMAND) {
		return firmware->command;
	}
	if (at == MAILBOX_BYTES) {
		return FIRMWARE_MAILBOX;
	}
	if (at >= MAILBOX && at + 4 <= MAILBOX + FIRMWARE_MAILBOX) {
		return ldl_be_p(firmware->mailbox + at - MAILBOX);
	}
	refused(function, BAD_PARAM, "read of ICMD space at", at);
	return 0;
}

static void icmd_write(struct function *function, uint32_t at, uint32_t value)
{
	struct firmware *firmware = function->firmware;

	if (at == COMMAND) {
		/* Opcode, status, busy: bits 31:16, 15:8, 0. It is done at once. */
		firmware->command = value & 0xffff0000;
		if (value & BUSY) {
			firmware->command |= firmware_command(function, value >> 16) << 8;
		}
	} else if (at >= MAILBOX && at + 4 <= MAILBOX + FIRMWARE_MAILBOX) {
		stl_be_p(firmware->mailbox + at - MAILBOX, value);
	} else {
		refused(function, BAD_PARAM, "write to ICMD space at", at);
	}
}

/* A semaphore is free when it is 0, and its holder's until the holder writes 0. */
static void take(uint32_t *semaphore, uint32_t value)
{
	if (value == 0 || *semaphore == 0) {
		*semaphore = value;
	}
}

static uint32_t *semaphore_at(struct function *function, uint32_t at)
{
	uint32_t *semaphores = function->firmware->semaphores;

	if (at % 4 == 0 && at / 4 < ARRAY_SIZE(function->firmware->semaphores)) {
		return semaphores + at / 4;
	}
	refused(function, BAD_PARAM, "semaphore at", at);
	return NULL;
}

static uint32_t space_read(struct function *function, uint16_t space, uint32_t at)
{
	uint32_t *semaphore;

	switch (space) {
	case CR_SPACE:
		return cr_read(function, at);
	case ICMD_EXTENDED:
	case ICMD_SPACE:
		return icmd_read(function, at);
	case SEMAPHORES:
		semaphore = semaphore_at(function, at);
		return semaphore ? *semaphore : 0;
	}
	return 0;
}

static void space_write(struct function *function, uint16_t space, uint32_t at, uint32_t value)
{
	uint32_t *semaphore;

	switch (space) {
	case CR_SPACE:
		refused(function, BAD_PARAM, "write to CR space at", at);
		break;
	case ICMD_EXTENDED:
	case ICMD_SPACE:
		icmd_write(function, at, value);
		break;
	case SEMAPHORES:
		semaphore = semaphore_at(function, at);
		if (semaphore) {
			take(semaphore, value);
		}
		break;
	}
}

static void transfer(struct function *function, uint8_t *registers)
{
	uint32_t address = pci_get_long(registers + ADDRESS);
	uint32_t at = address & ~(3u << 30);
	uint16_t space = pci_get_long(registers + CONTROL) & SPACE_BITS;

	if (address >> DONE_BIT) {
		space_write(function, space, at, pci_get_long(registers + DATA));
	} else {
		pci_set_long(registers + DATA, space_read(function, space, at));
	}
	pci_set_long(registers + ADDRESS, address ^ 1u << DONE_BIT);
}

/* No ticket is given twice. */
void vsc_read(struct function *function, uint32_t at)
{
	uint8_t *counter = function->pci.config + AT + COUNTER;

	if (!function->is_vf && at == AT + COUNTER) {
		pci_set_long(counter, pci_get_long(counter) + 1);
	}
}

void vsc_written(struct function *function, uint32_t at, uint32_t value, int bytes)
{
	uint8_t *registers = function->pci.config + AT;
	uint32_t semaphore, space;

	if (function->is_vf || at < AT || at >= AT + LENGTH) {
		return;
	}
	if (bytes != 4) {
		refused(function, BAD_PARAM, "a part of a word of the gateway at", at);
		return;
	}
	switch (at - AT) {
	case CONTROL:
		space = value & SPACE_BITS;
		pci_set_long(registers + CONTROL,
			space | (uint32_t)is_there(space) << SUPPORTED_BIT);
		break;
	case SEMAPHORE:
		semaphore = pci_get_long(registers + SEMAPHORE);
		take(&semaphore, value);
		pci_set_long(registers + SEMAPHORE, semaphore);
		break;
	case ADDRESS:
		transfer(function, registers);
		break;
	}
}

bool vsc_open(struct function *pf, Error **errp)
{
	int at = pci_add_capability(&pf->pci, PCI_CAP_ID_VNDR, AT, LENGTH, errp);

	if (at < 0) {
		return false;
	}
	pf->pci.config[AT + 2] = LENGTH;
	memset(pf->pci.wmask + AT + ADDRESS, 0xff, 8);
	return true;
}
