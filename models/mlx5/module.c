/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * MCIA: the memory of the plugged module, a passive copper cable for 100 Gb/s (SFF-8636
 * rev 2.10a).
 */
#include "model.h"

/* BYTES: where the 12 words of data begin; mlx5_ifc.h changed their name. */
enum { LOW = 0x50, NOT_CONNECTED = 3, LONGEST = 48, LOWER = 128, BYTES = 16 };

static void text(uint8_t *at, uint32_t bytes, const char *value)
{
	memset(at, ' ', bytes);
	memcpy(at, value, MIN(bytes, strlen(value)));
}

static uint8_t sum(const uint8_t *from, uint32_t bytes)
{
	uint8_t total = 0;

	while (bytes--) {
		total += *from++;
	}
	return total;
}

void module_memory(uint8_t memory[MODULE_BYTES])
{
	memset(memory, 0, MODULE_BYTES);
	memory[0] = memory[128] = 0x11; /* QSFP28 */
	memory[1] = 0x08;		/* SFF-8636 rev 2.8 to 2.10 */
	memory[2] = 0x06;		/* flat memory, no interrupt */
	memory[130] = 0x23;		/* not separable */
	memory[131] = 0x88;		/* extended code below; 40GBASE-CR4 */
	memory[140] = 0xff;		/* faster than 25.4 Gb/s: see 222 */
	memory[146] = 1;		/* m of copper */
	memory[147] = 0xa0;		/* copper, not equalised */
	text(memory + 148, 16, "WIRESPEED");
	text(memory + 168, 16, "MODEL-CR4-1M");
	text(memory + 184, 2, "A");
	memory[191] = sum(memory + 128, 63);
	memory[192] = 0x0b; /* 100GBASE-CR4, 25GBASE-CR CA-L */
	text(memory + 196, 16, "MODEL00001");
	text(memory + 212, 8, "260101");
	memory[222] = 103; /* of 250 Mb/s */
	memory[223] = sum(memory + 192, 31);
}

enum status module_register(struct adapter *adapter, uint8_t *data, uint32_t bytes)
{
	uint16_t at = IFC_GET(mcia_reg, data, device_address);
	uint16_t count = IFC_GET(mcia_reg, data, size);
	uint8_t *to = data + BYTES;
	uint8_t memory[MODULE_BYTES];

	if (bytes < BYTES + LONGEST || count > LONGEST) {
		return BAD_PARAM;
	}
	memset(to, 0, LONGEST);
	if (!adapter->port.module || IFC_GET(mcia_reg, data, module) != adapter->number - 1) {
		IFC_SET(mcia_reg, data, status, NOT_CONNECTED);
		return OK;
	}
	IFC_SET(mcia_reg, data, status, 0);
	module_memory(memory);
	if (IFC_GET(mcia_reg, data, i2c_device_address) == LOW &&
		(IFC_GET(mcia_reg, data, page_number) == 0 || at < LOWER) &&
		at < sizeof(memory)) {
		memcpy(to, memory + at, MIN(count, sizeof(memory) - at));
	}
	return OK;
}
