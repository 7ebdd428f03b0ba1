/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A PCI function: configuration space, the initialisation segment and doorbells in BAR 0,
 * resets.
 *
 * The segment is struct mlx5_init_seg of include/linux/mlx5/device.h. Nothing runs by itself:
 * the card reads and writes the host's memory within the driver's own write to a doorbell, or
 * when a frame comes. So what was destroyed is not touched any more when the answer is there.
 */
#include "firmware.h"
#include "qemu/units.h"
#include "hw/pci/pcie.h"
#include "hw/pci/pcie_sriov.h"
#include "hw/pci/msix.h"
#include "hw/qdev-properties.h"
#include "migration/vmstate.h"
#include "qapi/error.h"
#include "qapi/qapi-commands-control.h"
#include "qom/object.h"

enum {
	MELLANOX = 0x15b3,
	CONNECTX_5 = 0x1017,
	CONNECTX_5_VF = 0x1018,
	PF_BAR = 32 * MiB,
	VF_BAR = 1 * MiB,
	/* Of the segment. */
	FIRMWARE = 0x0,
	COMMAND_REVISION = 0x4,
	COMMANDS_HIGH = 0x10,
	COMMANDS_LOW = 0x14,
	COMMAND_BELL = 0x18,
	TIMER_HIGH = 0x1000,
	TIMER_LOW = 0x1004,
	HEALTH_COUNTER = 0x1010,
	SEGMENT = PAGE * 4,
	ARI = 0x100, /* capability of the configuration space */
	/* Of a page of doorbells. */
	BELL_CQ = 0x20,
	BELL_EQ_ARM = 0x40,
	BELL_EQ = 0x48,
	BELL_SEND = 0x800,
};

bool function_read(struct function *function, uint64_t address, void *into, size_t bytes)
{
	return pci_dma_read(&function->pci, address, into, bytes) == MEMTX_OK;
}

bool function_write(struct function *function, uint64_t address, const void *from, size_t bytes)
{
	return pci_dma_write(&function->pci, address, from, bytes) == MEMTX_OK;
}

static struct adapter *adapters[PORTS];

/* A function's number within its card, of all ports: the port, and its plug there. */
uint16_t function_vhca(const struct function *function)
{
	return function->adapter->number << 8 | function->vport->number;
}

struct adapter *adapter_of(uint16_t vhca)
{
	return adapter_number(vhca >> 8);
}

struct adapter *adapter_number(uint32_t number)
{
	return number >= 1 && number <= PORTS ? adapters[number - 1] : NULL;
}

static void free_object(gpointer value)
{
	struct object *object = value;

	if (object->end) {
		object->end(object);
	}
	g_free(object);
}

void function_forget(struct function *function)
{
	g_hash_table_remove_all(function->objects);
	function->receive_root = 0;
	if (!function->is_vf) {
		lag_forget(function);
		function->adapter->fdb = 0;
		memset(function->adapter->vxlan_ports, 0, sizeof(function->adapter->vxlan_ports));
		for (uint32_t slot = 0; slot < VPORTS; slot++) {
			function->adapter->vports[slot].ingress = 0;
			function->adapter->vports[slot].egress = 0;
		}
	}
}

static uint64_t bar_read(void *opaque, hwaddr at, unsigned bytes)
{
	struct function *function = opaque;
	uint64_t now_ns = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
	uint64_t value = 0;

	if (at + bytes > SEGMENT) {
		/* mstflint knows by it that these are pages of doorbells (mtcr_check_signature()).
		 */
		return bytes == 4 ? bswap32(0xbadacce5) : 0;
	}
	stl_be_p(function->segment + TIMER_HIGH, now_ns >> 32);
	stl_be_p(function->segment + TIMER_LOW, now_ns);
	/* The driver calls a card dead whose counter stands still. */
	stl_be_p(function->segment + HEALTH_COUNTER, now_ns / 10000000);
	memcpy(&value, function->segment + at, bytes);
	return le64_to_cpu(value);
}

static void uar_write(
	struct function *function, uint32_t uar, uint32_t at, uint64_t value, unsigned bytes)
{
	uint8_t written[8];

	if (!object_find(function, UAR, uar)) {
		refused(function, BAD_RESOURCE, "doorbell of page", uar);
		return;
	}
	stq_le_p(written, value);
	if (at == BELL_CQ && bytes == 8) {
		completion_arm(function, ldl_be_p(written + 4) & 0xffffff,
			ldl_be_p(written) & 0xffffff);
	} else if (at == BELL_EQ_ARM) {
		event_arm(function, written[0], ldl_be_p(written) & 0xffffff);
	} else if (at >= BELL_SEND && bytes == 8) {
		transmit(function, ldl_be_p(written + 4) >> 8);
	} else if (at != BELL_EQ) {
		refused(function, BAD_PARAM, "doorbell at", at);
	}
}

static void bar_write(void *opaque, hwaddr at, uint64_t value, unsigned bytes)
{
	struct function *function = opaque;
	uint32_t word = bswap32(value);

	if (at >= SEGMENT) {
		uar_write(function, at / PAGE, at % PAGE, value, bytes);
	} else if (at == COMMANDS_HIGH) {
		function->commands = (uint64_t)word << 32 | (uint32_t)function->commands;
	} else if (at == COMMANDS_LOW) {
		/* The low bits are the card's own; zero address: the driver gives none any
		 * more. */
		function->commands = (function->commands & ~0xffffffffull) | (word & ~0xfffu);
	} else if (at == COMMAND_BELL) {
		command_doorbell(function, word);
	} else {
		refused(function, BAD_PARAM, "write to the segment at", at);
	}
}

static const MemoryRegionOps bar_operations = {
	.read = bar_read,
	.write = bar_write,
	.endianness = DEVICE_LITTLE_ENDIAN,
	.valid = { .min_access_size = 1, .max_access_size = 8 },
	.impl = { .min_access_size = 1, .max_access_size = 8 },
};

void function_version(struct function *function)
{
	const struct image *image = image_current();

	/* Minor, major; then revision 5 of the commands, sub-minor. */
	stl_be_p(function->segment + FIRMWARE, (uint32_t)image->minor << 16 | image->major);
	stl_be_p(function->segment + COMMAND_REVISION, 5u << 16 | image->sub);
}

static void segment_reset(struct function *function)
{
	uint8_t *segment = function->segment;

	memset(segment, 0, SEGMENT);
	function_version(function);
	/* 32 commands at a time, 64 bytes from one to the next. */
	segment[COMMANDS_LOW + 3] = 5 << 4 | 6;
	fault_in_segment(function);
}

void function_restart(struct function *function)
{
	function_forget(function);
	g_array_set_size(function->pages, 0);
	function->commands = 0;
	function->enabled = function->initialised = false;
	segment_reset(function);
	if (!function->is_vf) {
		port_reset(function->adapter);
		vport_reset(function->adapter, 0);
	}
}

static void function_reset(DeviceState *device)
{
	struct function *function = (struct function *)device;

	if (function->objects) {
		function_restart(function);
	}
}

/* Link capability and status: what the card can, and what was trained (PCIe 4.0, 7.5.3.6 to
 * .8). */
static void link_registers(struct function *function)
{
	uint8_t *express = function->pci.config + function->pci.exp.exp_cap;
	uint32_t capability = pci_get_long(express + PCI_EXP_LNKCAP);

	capability &= ~(PCI_EXP_LNKCAP_SLS | PCI_EXP_LNKCAP_MLW);
	pci_set_long(express + PCI_EXP_LNKCAP, capability | 3 | 16 << 4);
	pci_set_long(express + PCI_EXP_LNKCAP2, 0xe);
	pci_set_word(express + PCI_EXP_LNKSTA, function->gts | function->lanes << 4);
	pci_set_word(express + PCI_EXP_LNKCTL2, 3);
	/* 512 bytes of a payload. */
	pci_long_test_and_set_mask(express + PCI_EXP_DEVCAP, PCI_EXP_DEVCAP_FLR | 2);
	pci_word_test_and_set_mask(
		function->pci.wmask + function->pci.exp.exp_cap + PCI_EXP_DEVCTL,
		PCI_EXP_DEVCTL_BCR_FLR);
}

static bool common_realize(struct function *function, uint32_t bar_bytes, Error **errp)
{
	PCIDevice *pci = &function->pci;

	function->objects =
		g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, free_object);
	function->pages = g_array_new(false, false, sizeof(uint64_t));
	segment_reset(function);
	memory_region_init_io(
		&function->bar, OBJECT(pci), &bar_operations, function, "mlx5-bar0", bar_bytes);
	if (pcie_endpoint_cap_init(pci, 0x60) < 0) {
		error_setg(errp, "mlx5 stands on PCI Express alone");
		return false;
	}
	link_registers(function);
	if (function->is_vf) {
		pcie_sriov_vf_register_bar(pci, 0, &function->bar);
	} else {
		pci_register_bar(pci, 0,
			PCI_BASE_ADDRESS_SPACE_MEMORY | PCI_BASE_ADDRESS_MEM_TYPE_64 |
				PCI_BASE_ADDRESS_MEM_PREFETCH,
			&function->bar);
	}
	if (msix_init(pci, VECTORS, &function->bar, 0, bar_bytes - 0x4000, &function->bar, 0,
		    bar_bytes - 0x2000, 0x9c, errp)) {
		return false;
	}
	for (int vector = 0; vector < VECTORS; vector++) {
		msix_vector_use(pci, vector);
	}
	pcie_ari_init(pci, ARI);
	return true;
}

/* The last plain field of a PCI device: where it is, all before it is where the headers say. */
static bool same_layout(PCIDevice *pci, Error **errp)
{
	if (object_property_get_uint(OBJECT(pci), "x-max-bounce-buffer-size", errp) ==
		pci->max_bounce_buffer_size) {
		return true;
	}
	error_setg(errp, "mlx5: this QEMU's PCI devices are not those of its headers: "
			 "run scripts/build-mlx5-model.sh");
	return false;
}

static void pf_realize(PCIDevice *pci, Error **errp)
{
	static uint32_t ports;
	struct function *function = (struct function *)pci;

	function->adapter = &function->adapter_room;
	function->adapter->pf = function;
	function->adapter->number = ++ports;
	function->vport = &function->adapter->vports[0];
	refused_open(function->report);
	if (ports > PORTS) {
		error_setg(errp, "mlx5: a card has %d ports", PORTS);
		return;
	}
	if (!same_layout(pci, errp) || !common_realize(function, PF_BAR, errp)) {
		return;
	}
	adapters[ports - 1] = function->adapter;
	for (uint32_t slot = 0; slot < VPORTS; slot++) {
		vport_reset(function->adapter, slot);
		scheduling_open(&function->adapter->vports[slot]);
	}
	function->vport->function = function;
	/* The first port says where the next is; VFs of the second come behind those of the first. */
	if (ports < PORTS) {
		pci_set_byte(pci->config + ARI + PCI_ARI_CAP + 1, PCI_FUNC(pci->devfn) + 1);
	}
	if (!pcie_sriov_pf_init(pci, 0x180, TYPE_MLX5_VF, CONNECTX_5_VF, MAX_VFS, MAX_VFS,
		    PORTS + PCI_FUNC(pci->devfn) * (MAX_VFS - 1), 1, errp)) {
		return;
	}
	pcie_sriov_pf_init_vf_bar(pci, 0,
		PCI_BASE_ADDRESS_SPACE_MEMORY | PCI_BASE_ADDRESS_MEM_TYPE_64 |
			PCI_BASE_ADDRESS_MEM_PREFETCH,
		VF_BAR);
	if (!firmware_open(function, errp)) {
		return;
	}
	port_open(function);
}

static void vf_realize(PCIDevice *pci, Error **errp)
{
	struct function *function = (struct function *)pci;
	struct function *pf = (struct function *)pcie_sriov_get_pf(pci);

	function->is_vf = true;
	function->lanes = pf->lanes;
	function->gts = pf->gts;
	function->adapter = pf->adapter;
	function->vport = &pf->adapter->vports[pcie_sriov_vf_number(pci) + 1];
	if (common_realize(function, VF_BAR, errp)) {
		function->vport->function = function;
	}
}

static void common_exit(PCIDevice *pci)
{
	struct function *function = (struct function *)pci;

	function->vport->function = NULL;
	if (!function->is_vf) {
		port_close(function);
		firmware_close(function);
		for (uint32_t slot = 0; slot < VPORTS; slot++) {
			scheduling_close(&function->adapter->vports[slot]);
		}
		pcie_sriov_pf_exit(pci);
	}
	g_hash_table_destroy(function->objects);
	g_array_free(function->pages, true);
	function->objects = NULL;
	msix_uninit(pci, &function->bar, &function->bar);
	pcie_cap_exit(pci);
}

static void config_write(PCIDevice *pci, uint32_t at, uint32_t value, int bytes)
{
	pci_default_write_config(pci, at, value, bytes);
	pcie_cap_flr_write_config(pci, at, value, bytes);
	vsc_written((struct function *)pci, at, value, bytes);
}

static uint32_t config_read(PCIDevice *pci, uint32_t at, int bytes)
{
	vsc_read((struct function *)pci, at);
	return pci_default_read_config(pci, at, bytes);
}

static const Property pf_properties[] = {
	DEFINE_NIC_PROPERTIES(struct function, adapter_room.port.conf),
	DEFINE_PROP_BOOL("module", struct function, adapter_room.port.module, true),
	/* As the slot trained; code 3 is 8 GT/s. */
	DEFINE_PROP_UINT8("lanes", struct function, lanes, 16),
	DEFINE_PROP_UINT8("gts", struct function, gts, 3),
	DEFINE_PROP_STRING("report", struct function, report),
	/* File of the settings that the firmware keeps. */
	DEFINE_PROP_STRING("flash", struct function, flash),
};

static const VMStateDescription not_migrated = { .name = "mlx5", .unmigratable = 1 };

static void common_class(ObjectClass *class)
{
	PCIDeviceClass *pci = PCI_DEVICE_CLASS(class);
	DeviceClass *device = DEVICE_CLASS(class);

	pci->exit = common_exit;
	pci->config_write = config_write;
	pci->config_read = config_read;
	pci->vendor_id = MELLANOX;
	pci->subsystem_vendor_id = MELLANOX;
	pci->subsystem_id = 0x0008;
	pci->class_id = PCI_CLASS_NETWORK_ETHERNET;
	device_class_set_legacy_reset(device, function_reset);
	device->vmsd = &not_migrated;
}

static void pf_class(ObjectClass *class, void *data)
{
	common_class(class);
	PCI_DEVICE_CLASS(class)->realize = pf_realize;
	PCI_DEVICE_CLASS(class)->device_id = CONNECTX_5;
	set_bit(DEVICE_CATEGORY_NETWORK, DEVICE_CLASS(class)->categories);
	device_class_set_props(DEVICE_CLASS(class), pf_properties);
	fault_property(class);
}

static void vf_class(ObjectClass *class, void *data)
{
	common_class(class);
	PCI_DEVICE_CLASS(class)->realize = vf_realize;
	PCI_DEVICE_CLASS(class)->device_id = CONNECTX_5_VF;
	DEVICE_CLASS(class)->user_creatable = false;
}

static const InterfaceInfo express[] = { { INTERFACE_PCIE_DEVICE }, {} };
static const TypeInfo pf_type = {
	.name = TYPE_MLX5_PF,
	.parent = TYPE_PCI_DEVICE,
	.instance_size = sizeof(struct function),
	.class_init = pf_class,
	.interfaces = (InterfaceInfo *)express,
};
static const TypeInfo vf_type = {
	.name = TYPE_MLX5_VF,
	.parent = TYPE_PCI_DEVICE,
	.instance_size = sizeof(struct function),
	.class_init = vf_class,
	.interfaces = (InterfaceInfo *)express,
};

/* Only the QEMU whose headers the model was built with has the same types: see also
 * same_layout(). */
static void require_same_qemu(void)
{
	VersionInfo *running = qmp_query_version(NULL);
	g_autofree char *version = g_strdup_printf("%" PRId64 ".%" PRId64 ".%" PRId64,
		running->qemu->major, running->qemu->minor, running->qemu->micro);

	if (strcmp(version, QEMU_VERSION) != 0) {
		fprintf(stderr,
			"mlx5: the model was built for QEMU " QEMU_VERSION ", this is %s: "
			"run scripts/build-mlx5-model.sh\n",
			version);
		exit(1);
	}
}

static void register_types(void)
{
	require_same_qemu();
	type_register_static(&pf_type);
	type_register_static(&vf_type);
}

type_init(register_types)
