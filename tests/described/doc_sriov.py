"""`SR-IOV with a ConnectX-5`: three ways to share a card among guests, one host at a time."""

from dataclasses import replace

from described.bonds import bond
from described.firmware import (
    firmware,
    mlx5_eswitch,
    module_of_kernel,
    module_of_vendor,
    not_installed_yet,
)
from described.host import Host
from described.machine import (
    AMD_IDLE,
    EPYC_4545P,
    NODE,
    busy_kernel,
    cpus,
    iommu,
    irqbalance,
    kernel,
    memory,
)
from described.ovs import Interface, OpenVSwitch
from described.pcie import DEVICES, card, remove_virtual_functions, virtual_function
from described.port import Port, interrupts, mlx5_names, netdev
from described.stage import Stage
from wirespeed.model.question import Purpose, Question

RELEASE = "6.12.38+deb13-amd64"
PFS = ("0000:03:00.0", "0000:03:00.1")
NETDEVS = ("enp3s0f0np0", "enp3s0f1np1")
SWITCH_ID = "6c4b0a0003a1420c"
GUESTS = Question(purpose=Purpose.GUESTS)
VENDOR_VERSION = "25.07-0.9.7"
ON = {"SRIOV_EN": "True(1)", "NUM_OF_VFS": "16"}


def ports(
    host: Host, *, channels: int = 32, mtu: int = 1500, switchdev: bool = False, **more: object
) -> None:
    """Both ports, as they are now."""
    for number, (name, address) in enumerate(zip(NETDEVS, PFS, strict=True)):
        port = Port(name, address, channels=channels, mtu=mtu, phys_port_name=f"p{number}",
                    switch_id=SWITCH_ID if switchdev else "")  # fmt: skip
        replace(port, **more).place(host)
        interrupts(host, address, mlx5_names(address, channels), range(channels),
                   first=80 + 40 * number, allowed="0-31")  # fmt: skip


def as_found(host: Host) -> None:
    """One of two machines with an Epyc 4545P and a ConnectX-5 Ex in a slot of x8."""
    kernel(host, release=RELEASE, distribution="Debian GNU/Linux 13 (trixie)",
           command_line="BOOT_IMAGE=/boot/vmlinuz root=UUID=0 ro quiet")  # fmt: skip
    cpus(host, model=EPYC_4545P, cores=16, threads=2, mhz=3000.0, max_khz=5_400_000,
         driver="amd-pstate-epp", boost="cpufreq/boost", idle_driver="acpi_idle",
         idle=AMD_IDLE)  # fmt: skip
    memory(host, gib=128)
    busy_kernel(host)
    irqbalance(host)
    card(host, lanes=8, slot_lanes=8, local_cpus="0-31")
    iommu(host, unit="ivhd0", domain="DMA-FQ", functions=PFS)
    ports(host)
    firmware(host, PFS, settings={}, version="16.35.2000")
    mlx5_eswitch(host, PFS)
    module_of_kernel(host, RELEASE)


def burnt(host: Host) -> None:
    """`mstflint … burn`."""
    firmware(host, PFS, settings={}, version="16.35.2000", stored="16.35.4554")


def reset_card(host: Host) -> None:
    """`mstfwreset … reset`."""
    firmware(host, PFS, settings={}, version="16.35.4554")


def set_sriov(host: Host) -> None:
    """`mstconfig … set SRIOV_EN=1 NUM_OF_VFS=16`."""
    firmware(host, PFS, settings={}, next_boot=ON, version="16.35.4554")


def rebooted(host: Host) -> None:
    """`reboot`: the card offers VFs."""
    firmware(host, PFS, settings=ON, version="16.35.4554")
    # VF 1 is 0000:03:00.3 of the first port, and 0000:03:02.3 of the second.
    for address, offset in zip(PFS, (2, 17), strict=True):
        path = host.links[f"{DEVICES}/{address}"]
        host.put(path, sriov_totalvfs=16, sriov_numvfs=0, sriov_drivers_autoprobe=1,
                 sriov_offset=offset, sriov_stride=1)  # fmt: skip


def _vfs(host: Host, pf: str, addresses: tuple[str, ...], driver: str = "vfio-pci") -> None:
    host.put(f"/sys/module/{driver.replace('-', '_')}", initstate="live")
    host.put(host.links[f"{DEVICES}/{pf}"], sriov_numvfs=len(addresses))
    for index, address in enumerate(addresses):
        virtual_function(host, pf, index, address, driver)


def vf_settings(vlans: tuple[int, ...]) -> list[dict[str, object]]:
    return [
        {"vf": index, "link_type": "ether", "address": "00:00:00:00:00:00",
         "broadcast": "ff:ff:ff:ff:ff:ff",
         **({"vlan_list": [{"vlan": vlan, "qos": 0}]} if vlan else {}),
         "rate": {"max_tx": 0, "min_tx": 0}, "spoofchk": False, "link_state": "auto",
         "trust": False, "query_rss_en": False}
        for index, vlan in enumerate(vlans)
    ]  # fmt: skip


def legacy_vlan(host: Host) -> None:
    """Approach 1: two VFs on each port, VLAN 40 on the second, MTU 9080."""
    _vfs(host, PFS[0], ("0000:03:00.2", "0000:03:00.3"))
    _vfs(host, PFS[1], ("0000:03:02.2", "0000:03:02.3"))
    ports(host, mtu=9080, link={"vfinfo_list": vf_settings((0, 40))})


SLOT = ("pcie.width_below_capability",)
"""A slot of x8 below a card of x16: with frames of 1518 bytes it does not bound one port."""
SHARED = ("pcie.ports_share_slot",)
"""Both ports are up, and their sum is above the slot: a ceiling that the document does not name."""
START = (
    Stage(
        "as_found",
        "Enable SR-IOV and set the maximum number of SR-IOV virtual functions (VFs)",
        as_found,
        "sriov.off_in_firmware",
        GUESTS,
        notes=SLOT,
    ),
    Stage(
        "burnt",
        "Install the firmware and reboot the card with the new firmware",
        burnt,
        # Asked for guests, what keeps VFs away would come first: it costs more.
        "firmware.version_pending",
        Question(),
        notes=SLOT,
        ceilings=SHARED,
    ),
    Stage(
        "reset",
        "Enable SR-IOV and set the maximum number of SR-IOV virtual functions (VFs)",
        reset_card,
        "sriov.off_in_firmware",
        GUESTS,
        notes=SLOT,
    ),
    Stage(
        "set",
        "Reboot the system to set up the new PCIe BAR, etc. for SR-IOV",
        set_sriov,
        "firmware.setting_pending",
        GUESTS,
        notes=SLOT,
    ),
    Stage(
        "rebooted",
        "Set each of the physical functions … to have 2 virtual functions",
        rebooted,
        "sriov.no_vfs",
        GUESTS,
        notes=SLOT,
        ceilings=SHARED,
    ),
)
LEGACY = (
    *START,
    Stage(
        "legacy_vlan",
        "The legacy software stack appears to perform relatively well with SR-IOV and VLAN "
        "offloading",
        legacy_vlan,
        None,
        GUESTS,
        notes=SLOT,
        ceilings=SHARED,
    ),
)


def doca_installed(host: Host) -> None:
    """A reboot that lets the card offer VFs, then `apt-get -y install doca-networking`."""
    rebooted(host)
    not_installed_yet(host, RELEASE, VENDOR_VERSION)


def doca_half_loaded(host: Host) -> None:
    """`rmmod …; modprobe mlx5_core`, as tried instead of a reboot."""
    module_of_vendor(host, RELEASE, VENDOR_VERSION)
    for name in ("ib_core", "ib_uverbs"):
        host.put(f"/sys/module/{name}", taint="", srcversion="A07")
    host.answer(
        "dmesg",
        "[  912.100000] mlx5_ib: disagrees about version of symbol ib_register_device\n"
        "[  912.100010] mlx5_ib: Unknown symbol ib_register_device (err -22)\n",
    )


def switchdev(host: Host) -> None:
    """A reboot, then `devlink dev eswitch set … mode switchdev`, which makes netdevs anew."""
    module_of_vendor(host, RELEASE, VENDOR_VERSION)
    host.answer("dmesg")
    mlx5_eswitch(host, PFS, mode="switchdev")
    ports(host, channels=1, switchdev=True)


def representor(host: Host, mtu: int = 1500) -> None:
    """Let the netdev that stands for VF 0 be there."""
    Port("enp3s0f0r0", PFS[0], channels=1, mtu=mtu, phys_port_name="pf0vf0",
         switch_id=SWITCH_ID).place(host)  # fmt: skip


def vfs_too_early(host: Host) -> None:
    """Channels are set again; VFs come, and a bond only then."""
    ports(host, channels=32, switchdev=True)
    _vfs(host, PFS[0], ("0000:03:00.2", "0000:03:00.3"))
    representor(host)
    bond(host, "bond0", NETDEVS)
    netdev(host, "bond0", "192.168.9.2/24")


def vfs_after_lag(host: Host) -> None:
    """`echo 0 | tee …/sriov_numvfs`, wait for `active`, and make them again."""
    remove_virtual_functions(host, PFS[0])
    mlx5_eswitch(host, PFS, mode="switchdev", lag="active")
    _vfs(host, PFS[0], ("0000:03:00.2", "0000:03:00.3"))
    switch().place(host)


def switch(mtu: int = 1500, **more: object) -> OpenVSwitch:
    """`ovs-vsctl add-br ovs-sriov`, the VF's representor and a VXLAN tunnel."""
    tunnel = {"local_ip": "192.168.9.2", "remote_ip": "192.168.9.1", "key": "42"}
    return replace(
        OpenVSwitch({"ovs-sriov": (
            Interface("enp3s0f0r0", mtu=mtu),
            Interface("vxlan0", "vxlan", tunnel, mtu=None),
        )}),
        **more,
    )  # fmt: skip


OFFLOAD = {"hw-offload": "true"}


def offload_set(host: Host) -> None:
    """`ovs-vsctl set Open_vSwitch . other_config:hw-offload=true`."""
    switch(other_config=OFFLOAD).place(host)


def filters(host: Host, in_hw: int) -> None:
    """What tc holds for each port of the eswitch."""
    text = "filter protocol ip pref 2 flower chain 0 handle 0x1\n  skip_sw\n  in_hw\n" * in_hw
    for name in (*NETDEVS, "enp3s0f0r0"):
        host.answer(f"tc filter show dev {name} ingress", text)


def restarted(host: Host) -> None:
    """`systemctl restart openvswitch-switch.service`."""
    switch(other_config=OFFLOAD, offloaded=40).place(host)
    filters(host, 12)


def room_for_vxlan(host: Host) -> None:
    """`ip link set dev … mtu 9080`, of both ports and the bond; 9000 of the representor."""
    ports(host, channels=32, mtu=9080, switchdev=True)
    representor(host, mtu=9000)
    switch(9000, other_config=OFFLOAD, offloaded=40).place(host)
    bond(host, "bond0", NETDEVS, mtu=9080)


OFFLOADED = (
    *START[:-1],
    Stage(
        "doca_installed",
        "Reload the new driver version. sudo reboot",
        doca_installed,
        "driver.installed_not_running",
        GUESTS,
        notes=SLOT,
        ceilings=SHARED,
    ),
    Stage(
        "doca_half_loaded",
        "seems like the following should work instead, but I was still getting symbol errors in "
        "dmesg",
        doca_half_loaded,
        "driver.mixed",
        GUESTS,
        notes=SLOT,
    ),
    Stage(
        "switchdev",
        "Changing the switch mode via devlink from legacy to switchdev seems to drop the number of "
        "channels from 32 to 1, which hurts performance",
        switchdev,
        "queues.channels_fell_with_eswitch_mode",
        GUESTS,
        notes=SLOT,
    ),
    Stage(
        "vfs_too_early",
        "you should wait until the LAG state is initialized (active) before any VFs are bound, or "
        "the VF LAG offloading may fail",
        vfs_too_early,
        "eswitch.lag_inactive",
        GUESTS,
        notes=SLOT,
    ),
    Stage(
        "vfs_after_lag",
        "Next, start open-vswitch and enable hardware offload",
        vfs_after_lag,
        "ovs.offload_off",
        GUESTS,
        notes=SLOT,
    ),
    Stage(
        "offload_set",
        "sudo systemctl restart openvswitch-switch.service",
        offload_set,
        "ovs.offload_not_in_force",
        GUESTS,
        notes=SLOT,
    ),
    Stage(
        "restarted",
        "we probably want to adjust the mtu of the vxlan subnet regardless to provide room for the "
        "vxlan headers",
        restarted,
        "mtu.no_room_for_tunnel",
        GUESTS,
        notes=SLOT,
    ),
    Stage(
        "room_for_vxlan",
        "OVS and switchdev/tc performed quite well",
        room_for_vxlan,
        None,
        GUESTS,
        notes=SLOT,
    ),
)


def ovs_dpdk(host: Host) -> None:
    """Approach 2, before its hugepages: DPDK is asked for and cannot start."""
    rebooted(host)
    mlx5_eswitch(host, PFS, mode="switchdev")
    ports(host, channels=32, switchdev=True)
    bond(host, "bond0", NETDEVS)
    OpenVSwitch({}, {"dpdk-init": "true", "hw-offload": "true"}, "netdev").place(host)


def ovs_dpdk_hugepages(host: Host) -> None:
    """`echo 1024 | tee …/hugepages-2048kB/nr_hugepages`, and a restart."""
    for folder in ("/sys/kernel/mm", f"{NODE}/node0"):
        path = f"{folder}/hugepages/hugepages-2048kB"
        host.put(path, nr_hugepages=1024, free_hugepages=500)
    OpenVSwitch(
        {}, {"dpdk-init": "true", "hw-offload": "true"}, "netdev", dpdk_initialized=True
    ).place(host)
    mlx5_eswitch(host, PFS, mode="switchdev", lag="active")


OVS_DPDK = (
    START[0],
    Stage(
        "ovs_dpdk",
        "Enable huge pages",
        ovs_dpdk,
        "memory.no_hugepages",
        notes=SLOT,
    ),
    Stage(
        "hugepages",
        "Restart OVS to load the new configuration",
        ovs_dpdk_hugepages,
        None,
        notes=SLOT,
    ),
)
