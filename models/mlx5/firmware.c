/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The firmware as mstflint and its kin ask it: who it is, which image it runs, its settings, and a
 * reset.
 *
 * A request is 16 bytes that name a register and what to do with it, 4 that say how long it is, and
 * the register (mstflint's mtcr_ul/packets_layout.c). Registers that the driver knows as well have
 * the layouts of mlx5_ifc.h; the others are those of tools_layouts/reg_access_hca_layouts.c.
 */
#include "firmware.h"
#include "hw/pci/pci_bridge.h"
#include "hw/pci/pcie_sriov.h"
#include "system/reset.h"

enum { ACCESS_REGISTER = 0x9001, QUERY_ABILITIES = 0x8400, QUERY_IMAGE = 0x8007 };
/* Of the abilities: whether mstlink may ask for the port's registers. */
enum { ALL_REGISTERS = 1u << 29 };
enum { ICMD_OK = 0, ICMD_UNKNOWN = 1 };
enum { BODY = 20, GET = 1, SET = 2 };
enum {
	PCNR = 0x5050,
	MGIR = 0x9020,
	NVDA = 0x9024,
	NVDI = 0x9025,
	MFRL = 0x9028,
	NVQC = 0x9030,
	NVQGC = 0x9034,
	MCQS = 0x9060,
	MCQI = 0x9061,
	MCC = 0x9062,
	MCDA = 0x9063,
	MQIS = 0x9064,
	MCAM = 0x907f,
};
enum { BOOT_IMAGE = 1, IN_USE = 2 };
enum { CAPABILITIES = 0, VERSION = 1 };
enum { PCI_RESET = 1 << 3, WARM_REBOOT = 1 << 6, FULL_CHIP = 1 << 0 };
enum { LINK_POLL_MS = 10, LINK_WAIT_MS = 30000 };
enum { DEVICE_ID = 0x1017, PROCESS_28_NM = 2 };

static void link_watch(void *opaque);


/* Hardware, firmware at byte 32; its version in full at 36 of that. */
static enum access identity(struct function *pf, uint8_t *data, bool write)
{
	const struct image *image = image_current();
	uint8_t *firmware = data + 32;
	int64_t up_ms = qemu_clock_get_ms(QEMU_CLOCK_VIRTUAL) - pf->firmware->started_ms;
	const uint8_t *mac = pf->adapter->port.conf.macaddr.a;

	if (write) {
		return ACCESS_NO_METHOD;
	}
	memset(data, 0, 160);
	stw_be_p(data + 2, DEVICE_ID);
	data[5] = 2; /* ports */
	/* mstlink takes a card of 16 nm or less for one of those that have the extended speeds, and
	 * sets them; with a ConnectX-5 it does not (github.com/MrBr-github/lshca/issues/11). */
	data[6] = PROCESS_28_NM << 3;
	stw_be_p(data + 10, CONNECTX_5_HARDWARE);
	memcpy(data + 18, mac, 6);
	stl_be_p(data + 28, up_ms / 1000);
	firmware[1] = image->major;
	firmware[2] = image->minor;
	memcpy(firmware + 16, FIRMWARE_PSID, strlen(FIRMWARE_PSID));
	stl_be_p(firmware + 36, image->major);
	stl_be_p(firmware + 40, image->minor);
	stl_be_p(firmware + 44, image->sub);
	return ACCESS_OK;
}

/* One component: the image that it starts from. */
static enum access component_status(struct function *pf, uint8_t *data, bool write)
{
	if (write) {
		return ACCESS_NO_METHOD;
	}
	if (IFC_GET(mcqs_reg, data, component_index) != 0) {
		return ACCESS_BAD;
	}
	IFC_SET(mcqs_reg, data, last_index_flag, 1);
	IFC_SET(mcqs_reg, data, identifier, BOOT_IMAGE);
	IFC_SET(mcqs_reg, data, component_status, IN_USE);
	return ACCESS_OK;
}

static enum access component_information(struct function *pf, uint8_t *data, bool write)
{
	uint8_t *about = data + IFC_BYTES(mcqi_reg);
	uint32_t what = IFC_GET(mcqi_reg, data, info_type);
	const struct image *image = IFC_GET(mcqi_reg, data, read_pending_component)
		? image_stored()
		: image_current();
	char version[20];

	if (write) {
		return ACCESS_NO_METHOD;
	}
	if (IFC_GET(mcqi_reg, data, component_index) != 0 ||
		IFC_GET(mcqi_reg, data, offset) != 0) {
		return ACCESS_BAD;
	}
	switch (what) {
	case CAPABILITIES:
		memset(about, 0, IFC_BYTES(mcqi_cap));
		IFC_SET(mcqi_reg, data, info_size, IFC_BYTES(mcqi_cap));
		IFC_SET(mcqi_cap, about, supported_info_bitmask,
			1 << CAPABILITIES | 1 << VERSION);
		IFC_SET(mcqi_cap, about, match_psid, 1);
		IFC_SET(mcqi_cap, about, max_component_size, LONGEST_IMAGE);
		IFC_SET(mcqi_cap, about, log_mcda_word_size, 2);
		IFC_SET(mcqi_cap, about, mcda_max_write_size, IMAGE_PART);
		return ACCESS_OK;
	case VERSION:
		memset(about, 0, IFC_BYTES(mcqi_version));
		snprintf(version, sizeof(version), "%u.%u.%u", image->major, image->minor,
			image->sub);
		IFC_SET(mcqi_reg, data, info_size, IFC_BYTES(mcqi_version));
		IFC_SET(mcqi_version, about, version,
			(uint32_t)image->major << 24 | image->minor << 16 | image->sub);
		IFC_SET(mcqi_version, about, version_string_length, strlen(version) + 1);
		memcpy(about + IFC_AT(mcqi_version, version_string) / 8, version,
			strlen(version));
		return ACCESS_OK;
	}
	refused(pf, BAD_PARAM, "information of a component", what);
	return ACCESS_BAD;
}

/* Which of these registers there are; of its features none. */
static enum access registers_there(struct function *pf, uint8_t *data, bool write)
{
	uint8_t *there = IFC_PTR(mcam_reg, data, mng_access_reg_cap_mask);

	if (write) {
		return ACCESS_NO_METHOD;
	}
	memset(data + 8, 0, IFC_BYTES(mcam_reg) - 8);
	if (IFC_GET(mcam_reg, data, access_reg_group) == 0) {
		IFC_SET(mcam_access_reg, there, mcqs, 1);
		IFC_SET(mcam_access_reg, there, mcqi, 1);
		IFC_SET(mcam_access_reg, there, mcc, 1);
		IFC_SET(mcam_access_reg, there, mcda, 1);
		IFC_SET(mcam_access_reg, there, mfrl, 1);
		/* MQIS and MGIR, whose bits mlx5_ifc.h does not name. */
		there[3] |= 1 << 4;
		there[11] |= 1 << 0;
	}
	return ACCESS_OK;
}

/* The tool asks for a reset, then takes the link down: that is when it happens. */
static enum access reset(struct function *pf, uint8_t *data, bool write)
{
	struct firmware *firmware = pf->firmware;
	uint32_t level = IFC_GET(mfrl_reg, data, reset_level);

	if (!write) {
		IFC_SET(mfrl_reg, data, reset_level, PCI_RESET | WARM_REBOOT);
		IFC_SET(mfrl_reg, data, reset_type, FULL_CHIP);
		return ACCESS_OK;
	}
	if (IFC_GET(mfrl_reg, data, pci_sync_for_fw_update_start) ||
		(level != PCI_RESET && level != WARM_REBOOT)) {
		refused(pf, BAD_PARAM, "a reset of level", level);
		return ACCESS_BAD;
	}
	if (level == PCI_RESET) {
		firmware->reset_until_ms =
			qemu_clock_get_ms(QEMU_CLOCK_VIRTUAL) + LINK_WAIT_MS;
		timer_mod(firmware->reset,
			qemu_clock_get_ms(QEMU_CLOCK_VIRTUAL) + LINK_POLL_MS);
	}
	return ACCESS_OK;
}

/* Shortens how long a link takes to come up after a reset: here it takes no time. */
static enum access port_reset_control(struct function *pf, uint8_t *data, bool write)
{
	return ACCESS_OK;
}

/* Texts of the card. */
static enum access texts(struct function *pf, uint8_t *data, bool write)
{
	static const char *const known[] = { [1] = "WIRESPEED-MODEL",
		[2] = "ConnectX-5 in software, of wirespeed's lab" };
	uint8_t which = data[3];
	uint16_t from = lduw_be_p(data + 8), wanted = lduw_be_p(data + 10);
	size_t length;

	if (write) {
		return ACCESS_NO_METHOD;
	}
	stl_be_p(data + 4, 0);
	memset(data + 16, 0, 8);
	if (which >= ARRAY_SIZE(known) || !known[which]) {
		return ACCESS_OK;
	}
	length = strlen(known[which]);
	stw_be_p(data + 6, length);
	if (from < length) {
		memcpy(data + 16, known[which] + from, MIN(MIN(wanted, 8), length - from));
	}
	return ACCESS_OK;
}

static enum access settings_of_all(struct function *pf, uint8_t *data, bool write)
{
	/* Defaults and what is in force can be asked for. */
	stl_be_p(data, 3);
	return write ? ACCESS_NO_METHOD : ACCESS_OK;
}

static enum access settings_there(struct function *pf, uint8_t *data, bool write)
{
	return write ? ACCESS_NO_METHOD : settings_support(pf, data);
}

static enum access settings_as_made(struct function *pf, uint8_t *data, bool write)
{
	return write ? settings_forget(pf, data) : ACCESS_NO_METHOD;
}

static const struct firmware_register {
	uint16_t number;
	enum access (*access)(struct function *pf, uint8_t *data, bool write);
} registers[] = {
	{ PCNR, port_reset_control },
	{ MGIR, identity },
	{ NVDA, settings_access },
	{ NVDI, settings_as_made },
	{ MFRL, reset },
	{ NVQC, settings_there },
	{ NVQGC, settings_of_all },
	{ MCQS, component_status },
	{ MCQI, component_information },
	{ MCC, image_control },
	{ MCDA, image_data },
	{ MQIS, texts },
	{ MCAM, registers_there },
};

static enum access access_register(struct function *pf, uint8_t *request)
{
	uint16_t number = lduw_be_p(request + 4);
	uint8_t method = request[6] & 0x7f;

	for (size_t at = 0; at < ARRAY_SIZE(registers); at++) {
		if (registers[at].number == number && (method == GET || method == SET)) {
			return registers[at].access(pf, request + BODY, method == SET);
		}
	}
	if (method != GET && method != SET) {
		refused(pf, BAD_PARAM, "method for a register of the firmware", method);
		return ACCESS_NO_METHOD;
	}
	/* The port's, by the very function that answers the driver. */
	return port_register(pf, number, request + BODY, FIRMWARE_MAILBOX - BODY, method == SET) ==
			OK
		? ACCESS_OK
		: ACCESS_BAD;
}

/* struct connectib_icmd_get_fw_info of mstflint's tools_layouts/icmd_layouts.c. */
static void image_in_use(uint8_t *mailbox)
{
	memset(mailbox, 0, FIRMWARE_MAILBOX);
	stw_be_p(mailbox, image_current()->major);
	stw_be_p(mailbox + 4, image_current()->minor);
	stw_be_p(mailbox + 6, image_current()->sub);
	memcpy(mailbox + 20, FIRMWARE_PSID, strlen(FIRMWARE_PSID));
}

uint32_t firmware_command(struct function *function, uint16_t opcode)
{
	uint8_t *mailbox = function->firmware->mailbox;

	switch (opcode) {
	case ACCESS_REGISTER:
		/* Status: seven bits of the first word, behind those of type and length. */
		mailbox[2] = (mailbox[2] & 0x80) | access_register(function, mailbox);
		mailbox[6] |= 0x80;
		return ICMD_OK;
	case QUERY_ABILITIES:
		memset(mailbox, 0, FIRMWARE_MAILBOX);
		stl_be_p(mailbox, ALL_REGISTERS);
		return ICMD_OK;
	case QUERY_IMAGE:
		image_in_use(mailbox);
		return ICMD_OK;
	}
	refused(function, BAD_OP, "firmware command", opcode);
	return ICMD_UNKNOWN;
}

/* What is stored comes into force. */
void firmware_start(struct function *pf)
{
	uint8_t *sriov = pf->pci.config + pf->pci.exp.sriov_cap;
	uint16_t vfs;

	settings_start();
	function_version(pf);
	vfs = settings_vfs();
	pci_set_word(sriov + PCI_SRIOV_INITIAL_VF, vfs);
	pci_set_word(sriov + PCI_SRIOV_TOTAL_VF, vfs);
	pf->firmware->command = 0;
	memset(pf->firmware->semaphores, 0, sizeof(pf->firmware->semaphores));
	pf->firmware->started_ms = qemu_clock_get_ms(QEMU_CLOCK_VIRTUAL);
}

static PCIDevice *port_above(struct function *pf)
{
	return pci_bridge_get_device(pci_get_bus(&pf->pci));
}

static void link_watch(void *opaque)
{
	struct function *pf = opaque;
	PCIDevice *above = port_above(pf);
	int64_t now_ms = qemu_clock_get_ms(QEMU_CLOCK_VIRTUAL);
	struct adapter *adapter;
	uint16_t control;

	if (!above || !above->exp.exp_cap) {
		return;
	}
	control = pci_get_word(above->config + above->exp.exp_cap + PCI_EXP_LNKCTL);
	if (control & PCI_EXP_LNKCTL_LD) {
		for (uint32_t number = 1; (adapter = adapter_number(number)); number++) {
			function_restart(adapter->pf);
			firmware_start(adapter->pf);
		}
	} else if (now_ms < pf->firmware->reset_until_ms) {
		timer_mod(pf->firmware->reset, now_ms + LINK_POLL_MS);
	}
}

/* The whole host starts again: not what a driver's reset of the function is. */
static void host_reset(void *opaque)
{
	firmware_start(opaque);
}

bool firmware_open(struct function *pf, Error **errp)
{
	PCIDevice *above = port_above(pf);

	if (!vsc_open(pf, errp)) {
		return false;
	}
	if (above && above->exp.exp_cap) {
		pci_word_test_and_set_mask(
			above->wmask + above->exp.exp_cap + PCI_EXP_LNKCTL, PCI_EXP_LNKCTL_LD);
	}
	pf->firmware = g_new0(struct firmware, 1);
	pf->firmware->reset = timer_new_ms(QEMU_CLOCK_VIRTUAL, link_watch, pf);
	settings_open(pf);
	firmware_start(pf);
	qemu_register_reset(host_reset, pf);
	return true;
}

void firmware_close(struct function *pf)
{
	qemu_unregister_reset(host_reset, pf);
	timer_free(pf->firmware->reset);
	g_free(pf->firmware);
	pf->firmware = NULL;
}
