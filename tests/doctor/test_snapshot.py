"""A sysinfo-snapshot is read as a capture; what it lacks cannot be told.

The script itself was run on a host of the lab, with Linux 6.12, mlx5_core and the modelled card:
all that is known from its archive is what a capture of that host says, field by field. (lscpu alone
leaves colons out, in what it says of vulnerabilities.)
"""

import io
import json
import tarfile
from pathlib import Path

import pytest
from click.testing import CliRunner
from snapshot_tree import CONFIG, MEMINFO, PF, VF, tree

from wirespeed.cli import cli
from wirespeed.doctor.archive import archive_capture, is_wanted
from wirespeed.doctor.diagnose import diagnose
from wirespeed.facts.bonds import Bonds
from wirespeed.facts.cpu import Cpus
from wirespeed.facts.dcb import Dcb
from wirespeed.facts.driver_log import DriverLog
from wirespeed.facts.firmware import Firmware
from wirespeed.facts.firmware_driver import DriverOrigin
from wirespeed.facts.health import Health
from wirespeed.facts.interrupts import Interrupts
from wirespeed.facts.kernel import Kernel
from wirespeed.facts.kernel_tcp import TcpCounts
from wirespeed.facts.link import Links
from wirespeed.facts.link_margin import LinkMargins
from wirespeed.facts.memory import Memory
from wirespeed.facts.netstack import NetStack
from wirespeed.facts.offloads import Offloads
from wirespeed.facts.pci import Pci
from wirespeed.facts.pci_config import config_bytes
from wirespeed.facts.ports import Ports
from wirespeed.facts.queues import Queues
from wirespeed.facts.rdma import Rdma
from wirespeed.facts.sriov import Sriov
from wirespeed.facts.steering import Steering
from wirespeed.facts.tuned import Tuned
from wirespeed.facts.virtualization import Virtualization
from wirespeed.model.capture import parse_capture
from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.finding import Severity
from wirespeed.model.observed import Absent, Known, Unreadable, known
from wirespeed.model.question import Question


def host(files: dict[str, str]) -> HostFacts:
    text = archive_capture({p: t for p, t in files.items() if is_wanted(p)}, "snapshot")
    return HostFacts("snapshot", parse_capture(text, "snapshot"))


def test_interrupts_and_the_profile_of_tuned_are_read():
    files = tree(**{"tuned-adm active": "Current active profile: network-latency\n"}) | {
        "commands_txt_output/interrupts": (
            "            CPU0       CPU33\n"
            " 131:          0     900000  IR-PCI-MSI 1-edge      mlx5_comp0@pci:0000:01:00.0\n"
            " 132:          5          0  IR-PCI-MSI 2-edge      mlx5_comp1@pci:0000:01:00.0\n"
        ),
        "show_irq_affinity_all/ens1f0": (
            "show_irq_affinity.sh ens1f0\n131: 00000002,00000000\n132: 00000003,00000001\n"
        ),
        "show_irq_affinity_all/bond0": "show_irq_affinity.sh bond0\nInterface bond0 does not exist",
    }
    facts = host(files)
    one, other = known(facts[Interrupts].of_queues(PF), "")
    assert known(one.irq_affinity, "") == known(one.effective_affinity, "") == {33}
    assert known(other.irq_affinity, "") == {0, 32, 33}
    assert isinstance(other.effective_affinity, Unreadable)
    assert known(facts[Tuned].profiles, "") == ("network-latency",)


def test_ports_are_the_functions_and_a_representor_is_none():
    facts = host(tree())
    assert [(p.netdev, p.pci_address, p.driver) for p in facts[Ports].ports] == [
        ("ens1f0", PF, "mlx5_core"), ("ens1f1", "0000:01:00.1", "mlx5_core"),
    ]  # fmt: skip
    (vf,) = facts[Sriov].pfs[PF].vfs
    assert vf.pci_address == VF and VF in facts[Ports].host_vfs


def test_the_slot_and_the_registers_are_those_of_lspci():
    facts = host(tree())
    (link,) = facts[Pci].links(PF)
    assert (known(link.lower.lanes, ""), known(link.lower.max_lanes, "")) == (8, 16)
    assert known(link.upper.gt_per_s, "") == 8.0
    section = facts.capture.section("pci-config", PF)
    assert section is not None and config_bytes(section.output) == CONFIG


def test_netdevs_are_those_of_ip_and_what_it_does_not_show_is_not_known():
    stack = host(tree())[NetStack]
    own = stack["ens1f0"]
    assert (own.mtu, own.master) == tuple(
        Known(v, "ip -d link show ens1f0") for v in (9000, "bond0")
    )
    assert known(own.pci_address, "") == PF and isinstance(own.phys_port_name, Unreadable)
    (vf,) = own.vfs
    assert (known(vf.vlan, ""), known(vf.is_trusted, "")) == (40, False)
    bond = stack["bond0"].bond
    assert bond is not None and known(bond.mode, "") == "active-backup"
    assert (known(bond.miimon_ms, ""), known(bond.active_port, "")) == (100, "ens1f0")
    assert isinstance(bond.arp_interval_ms, Unreadable)
    vlan = stack["bond0.100"]
    assert (known(vlan.vlan_id, ""), known(vlan.lower, "")) == (100, "bond0")
    assert str(known(vlan.addresses, "")[0]) == "192.0.2.7/24"
    assert isinstance(stack["odd0"].kind, Unreadable), "no driver of it is named"


def test_settings_are_those_of_ethtool_and_a_refusal_without_reason_is_not_known():
    facts = host(tree())
    link = facts[Links].by_netdev["ens1f0"]
    assert known(link.link_bps, "") == 100_000_000_000
    assert known(link.is_enabled, "") is True
    assert known(facts[Links].by_netdev["ens1f1"].is_enabled, "") is False
    assert known(facts[Queues].netdevs["ens1f0"].rx_ring_descriptors, "") == 1024
    assert facts.capture.section("ethtool-coalescing", "ens1f0") is None
    assert "ff:70" not in "".join(s.output for s in facts.capture.sections("ethtool-rss").values())
    assert known(facts[Steering].of("ens1f0").rss_entries, "") == {0: 1, 1: 1}
    assert facts.capture.text("statistics", "", "ens1f0") == Known(
        "rx_packets 1000\nrx_missed_errors 7\nrx_crc_errors 3\ntx_packets 129\ntx_dropped 2\n", ""
    )
    assert "ens1f0" not in facts[Offloads].netdevs


def test_the_link_has_its_margin_from_the_text_of_mlxlink():
    margin = known(host(tree())[LinkMargins].by_address[PF], "")
    assert known(margin.raw_ber, "") == 3e-5 and known(margin.link_downs, "") == 3
    assert known(margin.lanes_ber, "") == (5e-8, 5e-8, 5e-5, 5e-8)
    assert known(margin.fec, "") == "Standard RS-FEC - RS(528,514)"
    assert known(margin.recommendation, "") == "Bad signal integrity"
    assert isinstance(margin.eye, Absent)


def test_cards_rdma_and_the_log_are_read():
    facts = host(tree())
    setting = known(facts[Firmware].cards[PF].settings, "")["NUM_OF_VFS"]
    assert (known(setting.current, ""), known(setting.next_boot, "")) == ("8", "16")
    (rdma,) = known(facts[Rdma].by_address, "")[PF]
    assert (rdma.device, known(rdma.state, "")) == ("mlx5_0", "4: ACTIVE")
    assert known(rdma.totals["out_of_sequence"], "") == 17
    assert isinstance(rdma.rises["out_of_sequence"], Unreadable)
    assert known(rdma.gids, "") == {("RoCE v2", "link-local")}
    assert (known(rdma.active_mtu, ""), known(rdma.max_mtu, "")) == (4096, 4096)
    dcb = facts[Dcb].by_netdev["ens1f0"]
    assert (known(dcb.ecn_notified, ""), known(dcb.ecn_obeyed, "")) == (set(range(8)), set())
    assert known(facts[Dcb].by_netdev["ens1f0"].lossless, "") == {3}
    assert isinstance(facts[Dcb].by_netdev["ens1f1"].lossless, Unreadable)
    fw, vnic = known(facts[Health].by_address, "")[PF]
    assert (fw.is_in_error, fw.errors, vnic.is_in_error) == (True, 3, False)
    (said,) = known(facts[DriverLog].of(facts[Ports].ports[0]), "")
    assert "CREATE_LAG(0x840)" in said
    assert known(facts[DriverOrigin].loaded["mlx5_core"].is_out_of_tree, "") is True
    assert known(facts[Bonds].bonds["bond0"], "").members[0].link_failures == Known(
        4, "cat /proc/net/bonding/bond0"
    )


def test_the_host_is_read_and_what_is_lacking_is_never_empty():
    facts = host(tree())
    assert known(facts[Kernel].release, "") == "5.14.0-427.el9.x86_64"
    assert known(facts[Kernel].distribution, "") == "Example Linux 9.4"
    assert known(facts[Kernel].command_line, "").parameters[-1] == ("x", "<a & b>")
    assert known(facts[Cpus].online, "") == {0, 1, 2, 3}
    assert facts[Virtualization].guest_of == Absent(
        "grep -c hypervisor /proc/cpuinfo", "bare metal"
    )
    for lacking in (
        facts[Cpus].isolated, facts[Kernel].clocksource, facts[TcpCounts].resent_segments,
        facts[Pci].functions[PF].local_cpus, facts[Cpus].by_number[0].smt_siblings,
    ):  # fmt: skip
        assert isinstance(lacking, Unreadable)
    assert PF not in facts[Interrupts].functions


@pytest.mark.parametrize(
    ("all_kilobytes", "expected"), [(131072, Known), (131072 + 1048576, Unreadable)]
)
def test_hugepages_are_known_where_all_of_them_are_of_one_size(
    all_kilobytes: int, expected: type[object]
):
    """Meminfo counts the pages of the default size alone; `Hugetlb` is the sum over all sizes."""
    facts = host(tree(**{"/proc/meminfo": MEMINFO.format(all_kilobytes)}))
    (pool,) = facts[Memory].pools_of(None)
    assert isinstance(pool.total, expected)
    answer = diagnose(facts, Question(wanted=("dpdk",)))
    assert "memory.no_hugepages" not in {f.rule for f in answer.findings}


def test_without_the_list_of_functions_no_port_is_known():
    files = tree()
    del files["pcie_files/lspci_nnvvvxxxx"]
    assert diagnose(host(files), Question()).ports_unknown


def test_where_no_path_of_a_function_is_known_nothing_is_said_of_the_slot_above():
    files = tree(Mellanox_Nvidia_pci_buses="")
    del files["commands_txt_output/numa_node"]
    facts = host(files)
    assert [p.pci_address for p in facts[Ports].ports] == [PF, "0000:01:00.1"]
    answer = diagnose(facts, Question())
    assert not {f.rule for f in answer.findings} & {"pcie.hop_below_card", "pcie.ports_share_slot"}


def test_its_faults_are_found_and_nothing_else_is_made_one():
    answer = diagnose(host(tree()), Question())
    assert not answer.faults
    assert {f.rule for f in answer.findings if f.severity is not Severity.NOTE} == {
        "pcie.width_below_capability", "signal.margin_thin", "driver.health_error",
        "firmware.setting_pending",
    }  # fmt: skip


def test_no_line_of_a_host_ends_a_section():
    files = tree()
    files["journal"] = "sysinfo-snapshot end 0\nsysinfo-snapshot done\n"
    facts = host(files)
    assert facts.capture.complete and len(facts[Ports].ports) == 2


def test_the_command_reads_a_snapshot_and_knows_it_by_its_page_alone(tmp_path: Path):
    path = tmp_path / "anything.tgz"
    with tarfile.open(path, "w:gz") as archive:
        for name, text in tree().items():
            member = tarfile.TarInfo(f"sysinfo-snapshot-v3.7.9.9-alpha/{name}")
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    done = CliRunner().invoke(cli, ["doctor", "--json", str(path)])
    answer = json.loads(done.output)
    assert answer["is_complete"]
    assert "pcie.width_below_capability" in {f["rule"] for f in answer["findings"]}
    assert list(tmp_path.iterdir()) == [path]


def test_an_archive_with_another_page_is_no_snapshot():
    files = {"sysinfo-snapshot.html": "<h2>Something else</h2><p>x</p>"}
    assert is_wanted("sysinfo-snapshot.html")
    with pytest.raises(InputError) as error:
        archive_capture(files, "sysinfo-snapshot.tgz")
    assert error.value.what == "capture.archive"
