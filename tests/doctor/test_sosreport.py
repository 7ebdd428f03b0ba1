"""A sosreport is read as a capture: what it holds is known, and what it lacks cannot be told."""

import io
import json
import tarfile
from pathlib import Path

import pytest
from click.testing import CliRunner
from sosreport_container import container
from sosreport_tree import host, tree

from wirespeed.cli import cli
from wirespeed.doctor.archive import archive_capture, is_wanted
from wirespeed.doctor.diagnose import diagnose
from wirespeed.facts.bonds import Bonds
from wirespeed.facts.cpu import Cpus
from wirespeed.facts.driver_log import DriverLog
from wirespeed.facts.eswitch import Eswitch
from wirespeed.facts.firmware import Firmware
from wirespeed.facts.firmware_driver import DriverOrigin
from wirespeed.facts.interrupts import Interrupts
from wirespeed.facts.kernel import Kernel
from wirespeed.facts.kernel_tcp import TcpCounts
from wirespeed.facts.link import Links
from wirespeed.facts.memory import Memory
from wirespeed.facts.netstack import NetStack
from wirespeed.facts.pci import Pci
from wirespeed.facts.ports import Ports
from wirespeed.facts.queues import Queues
from wirespeed.facts.sriov import Sriov
from wirespeed.facts.tuned import Tuned
from wirespeed.facts.virtualization import Virtualization
from wirespeed.host.archive import read_archive
from wirespeed.model.error import InputError
from wirespeed.model.finding import Severity
from wirespeed.model.observed import Absent, Known, Unreadable, known
from wirespeed.model.port import PortKind
from wirespeed.model.question import Purpose, Question

PF = "0000:01:00.0"


def pack(path: Path, files: dict[str, str], mode: str = "w:xz") -> Path:
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        for name, text in files.items():
            member = tarfile.TarInfo(f"sosreport-alpha-2026-11-23/{name}")
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    return path


def test_ports_are_those_of_the_paths_and_a_vf_belongs_to_its_pf():
    facts = host(tree())
    assert [(p.netdev, p.pci_address, p.driver, p.kind) for p in facts[Ports].ports] == [
        ("ens1f0", PF, "mlx5_core", PortKind.PHYSICAL),
        ("ens1f1", "0000:01:00.1", "mlx5_core", PortKind.PHYSICAL),
    ]
    (vf,) = facts[Sriov].pfs[PF].vfs
    assert (vf.pci_address, known(vf.driver, "driver")) == ("0000:01:00.2", "vfio-pci")
    assert known(facts[Sriov].pfs[PF].total_vfs, "VFs") == 4


def test_the_slot_is_that_of_lspci():
    (link,) = host(tree())[Pci].links(PF)
    assert (known(link.lower.lanes, ""), known(link.lower.max_lanes, "")) == (8, 16)
    assert known(link.upper.gt_per_s, "") == 8.0
    assert known(link.lower.numa_node, "") == 0


def test_netdevs_are_those_of_ip():
    stack = host(tree())[NetStack]
    own = stack["ens1f0"]
    assert known(own.master, "") == "bond0" and known(own.mtu, "") == 9000
    assert known(own.phys_port_name, "") == "p0" and known(own.pci_address, "") == PF
    (vf,) = own.vfs
    assert (vf.is_trusted, vf.is_spoof_checked) == (
        Known(False, "ip -d link show ens1f0"), Known(True, "ip -d link show ens1f0"),
    )  # fmt: skip
    assert known(vf.vlan, "") == 40
    bond = stack["bond0"].bond
    assert bond is not None and known(bond.mode, "") == "active-backup"
    assert known(bond.miimon_ms, "") == 100
    assert known(stack["bond0.100"].vlan_id, "") == 100
    assert known(stack["bond0.100"].lower, "") == "bond0"
    assert str(known(stack["bond0.100"].addresses, "")[0]) == "192.0.2.7/24"


def test_what_a_tool_answered_is_told_from_what_it_refused():
    facts = host(tree())
    link = facts[Links].by_netdev["ens1f0"]
    assert known(link.link_bps, "") == 100_000_000_000 and known(link.is_up, "") is True
    assert known(link.is_enabled, "") is True
    assert known(facts[Queues].netdevs["ens1f0"].rx_ring_descriptors, "") == 8192
    assert facts.capture.text("ethtool-coalescing", "ethtool -c ens1f0", "ens1f0") == Absent(
        "ethtool -c ens1f0", "netlink error: Operation not supported"
    )


def test_devlink_and_the_log_are_read():
    facts = host(tree())
    card = facts[Firmware].cards[PF]
    assert (known(card.running, ""), known(card.board_id, "")) == ("16.35.3006", "MT_0000000012")
    assert known(facts[Eswitch].pfs[PF].mode, "") == "legacy"
    port = facts[Ports].ports[0]
    (said,) = known(facts[DriverLog].of(port), "")
    assert "CREATE_LAG(0x840)" in said
    assert known(facts[Kernel].distribution, "") == "Example Linux 9.4"


def test_what_a_sosreport_lacks_cannot_be_told_and_is_never_empty():
    files = tree()
    del files["sys/devices/system/cpu/online"]
    facts = host(files)
    assert isinstance(facts[Cpus].isolated, Unreadable)
    assert isinstance(facts[Cpus].online, Unreadable)
    assert isinstance(facts[TcpCounts].resent_segments, Unreadable)
    assert isinstance(facts[Pci].functions[PF].local_cpus, Unreadable)
    assert isinstance(facts[Kernel].clocksource, Unreadable)
    del files["sos_commands/devices/udevadm_info_--export-db"]
    assert diagnose(host(files), Question()).ports_unknown


@pytest.mark.parametrize("folder", ["proc", "proc/31415"])
def test_files_of_the_process_that_made_it_are_found_in_its_folder(folder: str):
    files = tree() | {
        f"{folder}/net/bonding/bond0": "Bonding Mode: fault-tolerance (active-backup)\n",
        f"{folder}/net/softnet_stat": "0000000a 00000000 00000001 " + "00000000 " * 7 + "\n",
        f"{folder}/net/snmp": "Tcp: OutSegs RetransSegs\nTcp: 1000 3\n",
        f"{folder}/mounts": "hugetlbfs /dev/hugepages hugetlbfs rw,pagesize=2M 0 0\n",
        "proc/31415/net/route": "of no use here\n",
    }
    capture = host(files).capture
    for name, subject in (
        ("bonding", "bond0"), ("softnet", ""), ("tcp-counts", ""), ("hugepage-mounts", ""),
    ):  # fmt: skip
        section = capture.section(name, subject)
        assert section is not None and section.output
    assert not is_wanted("proc/31415/net/route") and not is_wanted("proc/31415/cpuinfo")


def test_a_bond_whose_state_it_lacks_is_not_called_absent():
    (found,) = host(tree())[Bonds].bonds.values()
    assert isinstance(found, Unreadable)
    verdicts = {v.rule: v.outcome for v in diagnose(host(tree()), Question()).verdicts}
    assert verdicts["bond.member_down"] == "cannot tell"


def test_clocks_are_those_of_the_policies_to_which_each_cpus_folder_is_a_link():
    policy = "sys/devices/system/cpu/cpufreq/policy"
    files = tree() | {
        f"{policy}0/related_cpus": "0 2\n",
        f"{policy}0/cpuinfo_max_freq": "3500000\n",
        f"{policy}0/base_frequency": "2600000\n",
        f"{policy}0/scaling_driver": "intel_pstate\n",
        f"{policy}1/cpuinfo_max_freq": "3400000\n",
    }
    cpus = host(files)[Cpus]
    clocks = {number: cpu.max_hz for number, cpu in cpus.by_number.items()}
    assert known(clocks[0], "") == known(clocks[2], "") == 3.5e9
    assert known(clocks[1], "") == 3.4e9 and isinstance(clocks[3], Unreadable)
    assert known(cpus.base_hz, "") == 2.6e9


INTERRUPTS = """\
            CPU0       CPU1       CPU2       CPU3
   8:          0          0          0          1  IR-IO-APIC    8-edge      rtc0
 130:        120          0          0          0  IR-PCI-MSIX-0000:01:00.0    0-edge      \
mlx5_async0@pci:0000:01:00.0
 131:          0     900000          0          0  IR-PCI-MSIX-0000:01:00.0    1-edge      \
mlx5_comp0@pci:0000:01:00.0
 140:          0          0     700000          0  IR-PCI-MSI 524288-edge      i40e-ens1f1-TxRx-0
 141:          0          0          0         12  IR-PCI-MSI 524289-edge      ens1f10-TxRx-0
 142:          0          0          0          9  IR-PCI-MSIX-0000:01:00.1    2-edge      a-name
 NMI:          5          5          5          5   Non-maskable interrupts
"""


def test_interrupts_are_those_of_the_function_that_their_name_says():
    files = tree() | {
        "proc/interrupts": INTERRUPTS,
        "proc/irq/131/smp_affinity_list": "0-3\n",
        "proc/irq/131/effective_affinity_list": "1\n",
        "proc/irq/8/smp_affinity_list": "0-3\n",
    }
    interrupts = host(files)[Interrupts]
    queue, *others = known(interrupts.of_queues(PF), "")
    assert (queue.number, queue.count_of_cpu, others) == (131, {1: 900_000}, [])
    assert known(queue.effective_affinity, "") == {1} and known(queue.irq_affinity, "") == set(
        range(4)
    )
    assert isinstance(queue.new_of_cpu, Unreadable)
    others = list(known(interrupts.of("0000:01:00.1"), ""))
    assert [other.number for other in others] == [140, 142]
    assert isinstance(others[0].effective_affinity, Unreadable)
    assert isinstance(host(tree())[Interrupts].of(PF), Unreadable)


def test_interrupts_of_the_other_node_are_found():
    files = tree() | {
        "proc/interrupts": INTERRUPTS,
        "proc/irq/131/effective_affinity_list": "1\n",
        "sys/devices/system/node/node0/cpulist": "2-3\n",
        "sys/devices/system/node/node1/cpulist": "0-1\n",
    }
    answer = diagnose(host(files), Question())
    (found,) = (f for f in answer.findings if f.rule == "interrupts.on_another_node")
    assert found.where == "ens1f0" and found.severity is Severity.RISK


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Current active profile: throughput-performance\n", ("throughput-performance",)),
        ("Current active profile: balanced mine\nCurrent post-loaded profile: mine\n",
         ("balanced", "mine")),
        ("Cannot talk to Tuned daemon via DBus. Is Tuned daemon running?\nIt seems that tuned "
         "daemon is not running, preset profile is not activated.\nPreset profile: powersave\n",
         None),
        ("No current active profile.\n", None),
    ],
)  # fmt: skip
def test_the_profile_of_tuned_is_the_one_in_force(text: str, expected: tuple[str, ...] | None):
    profiles = host(tree() | {"sos_commands/tuned/tuned-adm_active": text})[Tuned].profiles
    assert (profiles.value if isinstance(profiles, Known) else None) == expected
    assert isinstance(profiles, Known | Absent)
    assert isinstance(host(tree())[Tuned].profiles, Unreadable)


def test_its_fault_is_found_and_nothing_else_is_made_one():
    answer = diagnose(host(tree()), Question())
    assert not answer.faults
    assert {f.rule for f in answer.findings if f.severity is Severity.FAULT} == {
        "pcie.width_below_capability"
    }


def test_no_line_of_a_host_ends_a_section():
    files = tree()
    files["sos_commands/kernel/dmesg"] = (
        "sosreport end 0\nsosreport done\nsosreport begin ports -\n"
    )
    facts = host(files)
    assert facts.capture.complete and len(facts[Ports].ports) == 2


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_any_of_the_usual_compressions_is_read(tmp_path: Path, mode: str):
    path = pack(tmp_path / "sosreport.tar.xz", tree(), mode)
    found = read_archive(path, is_wanted)
    assert found is not None and "var/log/messages" not in found
    assert found == {name: text for name, text in tree().items() if is_wanted(name)}


def test_the_command_reads_an_archive_and_writes_nothing(tmp_path: Path):
    path = pack(tmp_path / "sosreport-alpha.tar.xz", tree())
    done = CliRunner().invoke(cli, ["doctor", "--json", str(path)])
    answer = json.loads(done.output)
    assert answer["is_complete"]
    assert "pcie.width_below_capability" in {f["rule"] for f in answer["findings"]}
    assert list(tmp_path.iterdir()) == [path]


def test_links_in_an_archive_are_not_followed_and_its_names_are_not_paths(tmp_path: Path):
    path = tmp_path / "sosreport.tar"
    with tarfile.open(path, "w") as archive:
        link = tarfile.TarInfo("sosreport/proc/cmdline")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/hostname"
        archive.addfile(link)
        outside = tarfile.TarInfo("../../proc/meminfo")
        archive.addfile(outside, io.BytesIO())
    assert read_archive(path, is_wanted) == {}


def slug_of(path: Path, **options: int) -> str:
    with pytest.raises(InputError) as error:
        found = read_archive(path, is_wanted, **options)
        assert found is not None
        archive_capture(found, path.name)
    return error.value.what


def test_what_is_damaged_or_too_large_or_no_sosreport_is_refused(tmp_path: Path):
    whole = pack(tmp_path / "a.tar.xz", tree())
    assert slug_of(whole, max_unpacked_bytes=4096) == "capture.too_large"
    big = tree() | {"var/log/messages": "x" * 3_000_000}
    torn = pack(tmp_path / "b.tar", big, "w")
    torn.write_bytes(torn.read_bytes()[:-2_000_000])
    assert slug_of(torn) == "capture.damaged"
    other = pack(tmp_path / "c.tar.gz", {"README": "x"}, "w:gz")
    assert slug_of(other) == "capture.archive"


@pytest.mark.parametrize(
    "name",
    [
        "quay-io-openshift-release-dev-sha256-4f68/cluster-scoped-resources/config.openshift.io/"
        "clusterversions/version.yaml",
        "cluster-scoped-resources/config.openshift.io/clusterversions.yaml",
    ],
)
def test_a_must_gather_is_refused_with_what_to_give_instead(tmp_path: Path, name: str):
    """Folders as in the README of openstack-k8s-operators/osp-director-operator-must-gather."""
    path = pack(tmp_path / "must-gather.tar.gz", {name: "kind: ClusterVersion\n"}, "w:gz")
    found = read_archive(path, is_wanted)
    assert found is not None
    with pytest.raises(InputError) as error:
        archive_capture(found, path.name)
    assert error.value.what == "capture.archive"
    assert "must-gather" in error.value.found
    assert "sos report" in error.value.next
    assert "capture --script" in error.value.next


def test_resets_and_lag_in_the_log_of_a_sosreport_are_read():
    files = tree()
    files["sos_commands/kernel/dmesg"] += (
        "[   57.585951] mlx5_core 0000:3b:00.0: mlx5_activate_lag:338:(pid 888): Failed to "
        "activate VF LAG\n"
    )
    assert isinstance(host(files)[DriverLog].reset_log, Known)
    assert "Failed to activate VF LAG" in str(host(files)[DriverLog].log)


def test_pools_of_hugepages_that_were_not_read_are_not_called_empty():
    """It holds no /sys/kernel/mm/hugepages of older versions; meminfo says that there are pools."""
    (pool,) = host(tree())[Memory].pools
    assert pool.page_bytes == 2 << 20 and isinstance(pool.total, Unreadable)


def test_modules_are_those_that_a_sosreport_copies():
    """sos/report/plugins/kernel.py: initstate, taint and version of each, no srcversion."""
    loaded = host(
        tree() | {"sys/module/mlx5_core/initstate": "live\n", "sys/module/mlx5_core/taint": "OE\n"}
    )[DriverOrigin].loaded["mlx5_core"]
    assert known(loaded.is_out_of_tree, "") is True
    assert isinstance(loaded.source_version, Unreadable)


def test_a_real_containers_netdev_is_no_port_and_its_guests_cards_are():
    facts = host(container())
    assert [(p.netdev, p.pci_address, p.kind) for p in facts[Ports].ports] == [
        (None, "0000:00:03.0", PortKind.VIRTIO)
    ]
    own = facts[NetStack]["eth0"]
    assert known(own.kind, "") == "veth" and known(own.mtu, "") == 1500
    assert [str(one) for one in known(own.addresses, "")] == ["192.0.2.121/24", "192.0.2.200/24"]
    assert known(facts[Kernel].distribution, "") == "Ubuntu 20.04.3 LTS"


@pytest.mark.parametrize("purpose", [None, *Purpose])
def test_of_a_real_container_nothing_is_named(purpose: Purpose | None):
    answer = diagnose(host(container()), Question(purpose=purpose))
    assert not answer.faults and answer.findings == ()
    assert [v.rule for v in answer.verdicts if v.outcome == "cannot tell"]


def test_a_real_container_is_read_from_its_archive(tmp_path: Path):
    path = pack(tmp_path / "sosreport-alpha.tar.xz", container())
    result = CliRunner().invoke(cli, ["doctor", str(path), "--json"])
    assert result.exit_code == 0, result.output
    assert json.loads(result.output)["findings"] == []


DMI = "Handle 0x0001, DMI type 1, 27 bytes\nSystem Information\n\tManufacturer: {}\n\tUUID: x\n"
FLAGS = "processor\t: 0\nflags\t\t: fpu vme{}\n\n"


@pytest.mark.parametrize(
    ("hostnamectl", "flags", "vendor", "guest_of", "container"),
    [
        # A public sosreport of a Hyper-V guest, whose systemd did not answer.
        ("Failed to query system properties: Connection timed out\n", " hypervisor",
         "Microsoft Corporation", "microsoft", None),
        (" Virtualization: lxc\n Operating System: Ubuntu\n", " hypervisor", "OpenStack Foundation",
         "kvm", "lxc"),
        (" Virtualization: lxc\n Operating System: Ubuntu\n", "", "Dell Inc.", "", "lxc"),
        (" Virtualization: kvm\n Operating System: Ubuntu\n", " hypervisor", "QEMU", "kvm", None),
        (" Chassis: server\n Operating System: Ubuntu\n", "", "Dell Inc.", "", None),
    ],
)  # fmt: skip
def test_a_guest_a_container_and_bare_metal_are_told_apart(
    hostnamectl: str, flags: str, vendor: str, guest_of: str, container: str | None
):
    facts = host(
        {
            **tree(),
            "sos_commands/host/hostnamectl_status": hostnamectl,
            "sos_commands/hardware/dmidecode": DMI.format(vendor),
            "proc/cpuinfo": FLAGS.format(flags),
        }
    )
    found = facts[Virtualization]
    guest = found.guest_of
    assert (guest.value if isinstance(guest, Known) else "") == guest_of
    assert isinstance(guest, Absent) == (guest_of == "")
    assert (found.container.value if isinstance(found.container, Known) else None) == container
