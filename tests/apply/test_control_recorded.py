"""What a capture answers for steps: the host's own words, and nothing that was not read."""

import json

import pytest

from wirespeed.apply.control_posix import PosixControl
from wirespeed.apply.control_recorded import NOT_HELD, RecordedControl
from wirespeed.apply.recorded_answers import RecordedAnswers
from wirespeed.doctor.collector import collector_script
from wirespeed.host.local import LocalRunner
from wirespeed.model.capture import parse_capture
from wirespeed.model.observed import Known, Observed, Unreadable
from wirespeed.model.step import State, Step
from wirespeed.steps.address import Address
from wirespeed.steps.bond import Bond
from wirespeed.steps.driver_override import DriverOverride
from wirespeed.steps.file_content import FileContent
from wirespeed.steps.firmware_settings import FirmwareSettings
from wirespeed.steps.in_namespace import InNamespace
from wirespeed.steps.link_up import LinkUp
from wirespeed.steps.module import Module
from wirespeed.steps.mtu import Mtu
from wirespeed.steps.namespace import Namespace
from wirespeed.steps.rings import Rings
from wirespeed.steps.sysctl import Sysctl
from wirespeed.steps.vf_count import VfCount
from wirespeed.steps.vf_in_namespace import VfInNamespace
from wirespeed.steps.vf_settings import VfSettings

PF = "0000:03:00.0"
DEVICES = "/sys/bus/pci/devices"
LINKS = [
    {"ifindex": 1, "ifname": "lo", "flags": ["LOOPBACK", "UP", "LOWER_UP"], "mtu": 65536},
    {
        "ifindex": 2, "ifname": "eth0", "flags": ["BROADCAST", "MULTICAST"], "mtu": 1500,
        "vfinfo_list": [
            {"vf": 0, "address": "02:00:00:00:00:01", "vlan_list": [{"vlan": 42}]},
        ],
    },
]  # fmt: skip
ADDRESSES = [
    {"ifname": "lo", "addr_info": [{"local": "127.0.0.1", "prefixlen": 8}]},
    {"ifname": "eth0", "addr_info": [{"local": "192.0.2.1", "prefixlen": 24}]},
]


def section(name: str, output: str, errors: str = "", code: object = 0, subject: str = "-") -> str:
    said = f"\nmark errors\n{errors}" if errors else ""
    return f"mark begin {name} {subject}\n{output}{said}\nmark end {code}\n"


def read(text: str, step: Step) -> Observed[State]:
    capture = parse_capture(f"wirespeed-capture 1 mark\n{text}", "a test")
    return RecordedControl(capture, RecordedAnswers(collector_script())).read([step])[0]


def value(found: Observed[State]) -> State:
    assert isinstance(found, Known), found
    return found.value


IP_LINK = section("ip-link", json.dumps(LINKS))
VLAN = VfSettings(netdev="eth0", vf=0, vlan=7)


def test_a_netdev_is_found_among_all():
    assert value(read(IP_LINK, Mtu(netdev="eth0", mtu=9000))) == {"mtu": 1500}
    assert value(read(IP_LINK, LinkUp(netdev="eth0"))) == {"up": False}
    assert value(read(IP_LINK, LinkUp(netdev="lo"))) == {"up": True}
    assert value(read(IP_LINK, VLAN))["vlan"] == 42


def test_a_netdev_that_the_host_had_not_is_unreadable_in_the_words_of_the_tool():
    found = read(IP_LINK, LinkUp(netdev="eth7"))
    assert isinstance(found, Unreadable)
    assert found.reason == 'Device "eth7" does not exist.'
    assert isinstance(read(IP_LINK, Mtu(netdev="eth7", mtu=9000)), Unreadable)


def test_an_address_is_found_at_its_netdev():
    text = section("ip-addr", json.dumps(ADDRESSES))
    own, other = (Address(netdev="eth0", address=f"192.0.2.{n}/24") for n in (1, 2))
    assert value(read(text, own)) == {"is_there": True}
    assert value(read(text, other)) == {"is_there": False}


def test_a_bond_is_sought_among_all_netdevs():
    bond = Bond(netdev="bond0", members=("eth0",), mode="active-backup", miimon_ms=100)
    assert value(read(IP_LINK, bond))["is_there"] is False


@pytest.mark.parametrize("code", ["1", ""])
def test_a_list_that_failed_or_was_cut_off_tells_of_no_netdev(code: str):
    text = f"mark begin ip-link -\n{json.dumps(LINKS)}\n" + (f"mark end {code}\n" if code else "")
    for step in (Mtu(netdev="eth0", mtu=9000), LinkUp(netdev="eth0"), VLAN):
        assert isinstance(read(text, step), Unreadable)


def test_a_file_is_found_wherever_the_collector_printed_it():
    text = section("sriov", f"{DEVICES}/{PF}/sriov_numvfs:4\n{DEVICES}/{PF}/sriov_totalvfs:16")
    assert value(read(text, VfCount(pci_address=PF, num_vfs=2))) == {"num_vfs": 4}
    text = section("sysctl", "/proc/sys/vm/swappiness:60")
    assert value(read(text, Sysctl(name="vm.swappiness", value="10", reason="r"))) == {
        "value": "60"
    }


def test_a_file_is_printed_with_its_last_line_end_as_cat_prints_it():
    path = "/etc/os-release"
    text = section("kernel", f"{path}:ID=debian\n{path}:VERSION_ID=13")
    step = FileContent(path=path, content="ID=debian\nVERSION_ID=13\n", reason="r")
    assert value(read(text, step)) == {"content": "ID=debian\nVERSION_ID=13\n"}


def test_several_files_of_a_function_are_put_together():
    text = section(
        "sriov",
        f"{DEVICES}/{PF}/driver_override:(null)\n{DEVICES}/{PF}/uevent:DRIVER=mlx5_core\n"
        f"{DEVICES}/{PF}/uevent:PCI_SLOT_NAME={PF}",
    )
    found = value(read(text, DriverOverride(pci_address=PF)))
    assert found == {"driver": "mlx5_core", "driver_override": None}


@pytest.mark.parametrize("why", ["No such file or directory", "Permission denied"])
def test_a_file_that_was_not_to_be_had_is_unreadable_with_the_reason(why: str):
    text = section("sriov", "", f"grep: {DEVICES}/{PF}/sriov_numvfs: {why}", 123)
    found = read(text, VfCount(pci_address=PF, num_vfs=2))
    assert isinstance(found, Unreadable)
    assert found.reason.endswith(why)


def test_the_last_file_of_a_section_that_was_cut_off_may_be_torn():
    text = f"mark begin sriov -\n{DEVICES}/{PF}/sriov_numvfs:1"
    assert isinstance(read(text, VfCount(pci_address=PF, num_vfs=2)), Unreadable)


def test_a_section_that_prints_no_files_is_not_taken_for_one():
    # An environment, which a user of the host may have written.
    line = f"{DEVICES}/{PF}/sriov_numvfs:4"
    for name in ("irqbalance-setup", "names", "threads", "ethtool"):
        found = read(section(name, line), VfCount(pci_address=PF, num_vfs=2))
        assert found == Unreadable(NOT_HELD[True], f"cat {DEVICES}/{PF}/sriov_numvfs")


def test_a_module_is_loaded_or_is_not_or_nobody_knows():
    step = Module(name="vfio-pci", reason="for a test")
    loaded = section("modules", "/sys/module/vfio\n/sys/module/vfio_pci")
    others = section("modules", "/sys/module/vfio\n/sys/module/vfio_pci_core")
    assert value(read(loaded, step)) == {"is_loaded": True}
    assert value(read(others, step)) == {"is_loaded": False}
    assert isinstance(read(section("modules", "", "", 1), step), Unreadable)
    assert isinstance(read("mark begin modules -\n/sys/module/vfio\n", step), Unreadable)
    assert read("", step) == Unreadable(NOT_HELD[True], "ls -d /sys/module/vfio_pci")


RINGS = """Ring parameters for eth0:
Pre-set maximums:
RX:\t\t4096
TX:\t\t4096
Current hardware settings:
RX:\t\t512
TX:\t\t256"""


def test_a_section_of_the_same_command_answers_for_its_own_subject():
    text = section("ethtool-rings", RINGS, subject="eth0")
    found = value(read(text, Rings(netdev="eth0", rx=4096)))
    assert found == {"rx": 512}
    assert isinstance(read(text, Rings(netdev="eth1", rx=4096)), Unreadable)


def test_a_tool_by_either_of_its_names_answers_for_itself_only():
    ours = FirmwareSettings(pci_address=PF, settings={"SRIOV_EN": 1}, tool="mstconfig")
    theirs = ours.model_copy(update={"tool": "mlxconfig"})
    text = section("mstconfig", "", "mstconfig: not found", 127, PF)
    found = read(text, ours)
    assert isinstance(found, Unreadable)
    assert "not installed" in found.reason
    assert read(text, theirs) == Unreadable(NOT_HELD[True], theirs.read().line())


def test_what_was_not_recorded_is_unreadable_by_the_command_that_would_tell():
    step = Sysctl(name="net.ipv4.conf.all.rp_filter", value="0", reason="r")
    found = read(section("sysctl", "/proc/sys/vm/swappiness:60"), step)
    assert found == Unreadable(NOT_HELD[True], "cat /proc/sys/net/ipv4/conf/all/rp_filter")


INSIDE = [{"ifname": "lo", "flags": [], "ifalias": "wirespeed"},
          {"ifname": "net0p0", "flags": ["UP"], "mtu": 9000, "parentbus": "pci",
           "parentdev": "0000:03:00.2", "address": "02:00:00:00:00:01"}]  # fmt: skip
NAMESPACES = "".join(
    (
        IP_LINK,
        section("namespaces", "ceph-1\nmany"),
        section("namespace-link", json.dumps(INSIDE), subject="ceph-1"),
    )
)


def test_a_step_in_a_namespace_reads_what_is_in_it():
    inner = Mtu(netdev="net0p0", mtu=1500)
    assert value(read(NAMESPACES, InNamespace.of("ceph-1", inner))) == {"mtu": 9000}
    assert isinstance(read(NAMESPACES, inner), Unreadable)
    up = InNamespace.of("ceph-1", LinkUp(netdev="net0p0"))
    assert value(read(NAMESPACES, up)) == {"up": True}
    assert value(read(NAMESPACES, Namespace(namespace="ceph-1"))) == {
        "is_there": True,
        "is_ours": True,
    }


def test_a_namespace_that_is_not_there_is_said_to_be_missing_as_ip_says_it():
    assert value(read(NAMESPACES, Namespace(namespace="gpu-1"))) == {
        "is_there": False,
        "is_ours": False,
    }
    found = read(NAMESPACES, InNamespace.of("gpu-1", Mtu(netdev="net0p0", mtu=1500)))
    assert isinstance(found, Unreadable)
    assert "Cannot open network namespace" in found.reason


def test_a_namespace_whose_netdevs_were_not_listed_is_unreadable():
    for step in (
        Namespace(namespace="many"),
        InNamespace.of("many", Mtu(netdev="net0p0", mtu=1500)),
        VfInNamespace(pci_address="0000:03:00.2", namespace="many", netdev="net0p0"),
    ):
        assert isinstance(read(NAMESPACES, step), Unreadable)
    assert isinstance(read(IP_LINK, Namespace(namespace="gpu-1")), Unreadable)


def test_a_netdev_is_sought_on_the_host_and_in_a_namespace_by_one_command():
    def place(vf: str, namespace: str) -> Observed[State]:
        step = VfInNamespace(pci_address=vf, namespace=namespace, netdev="net0p0")
        return read(NAMESPACES, step)

    assert value(place("0000:03:00.2", "ceph-1"))["namespace"] == "ceph-1"
    # No such namespace, and no such netdev on the host.
    assert isinstance(place("0000:03:00.2", "gpu-1"), Unreadable)
    text = NAMESPACES.replace(
        '"ifname": "eth0"', '"ifname": "e1", "parentbus": "pci", "parentdev": "0000:03:00.6"'
    )
    step = VfInNamespace(pci_address="0000:03:00.6", namespace="gpu-1", netdev="net0p0")
    assert value(read(text, step)) == {"namespace": None, "netdev": "e1", "is_up": False}


def test_nothing_is_changed():
    control = RecordedControl(parse_capture("wirespeed-capture 1 mark\n", "t"), RecordedAnswers(""))
    with pytest.raises(AssertionError):
        control.change(Mtu(netdev="eth0", mtu=9000), ())


def test_a_capture_of_this_machine_answers_as_the_machine_itself():
    runner = LocalRunner()
    done = runner.run(("sh", "-s"), stdin=collector_script())
    recorded = RecordedControl(
        parse_capture(done.output, "here"), RecordedAnswers(collector_script())
    )
    modules = runner.run(("ls", "/sys/module")).output.split()[:3]
    functions = runner.run(("ls", "/sys/bus/pci/devices")).output.split()
    steps: list[Step] = [
        Mtu(netdev="lo", mtu=1500),
        LinkUp(netdev="lo"),
        LinkUp(netdev="no-such"),
        Address(netdev="lo", address="127.0.0.1/8"),
        Address(netdev="lo", address="127.0.0.2/8"),
        Module(name="no-such", reason="r"),
        *(Module(name=name, reason="r") for name in modules),
        *(Sysctl(name=name, value="1", reason="r") for name in SYSCTLS),
    ]
    network = [
        address
        for address in functions
        if runner.run(("cat", f"{DEVICES}/{address}/class")).output.startswith("0x02")
    ]
    steps += [DriverOverride(pci_address=address) for address in network]
    steps += [VfCount(pci_address=address, num_vfs=1) for address in network]
    live = PosixControl("here", runner).read(steps)
    for step, there, here in zip(steps, recorded.read(steps), live, strict=True):
        assert type(there) is type(here), step
        if isinstance(here, Known):
            assert there == here


SYSCTLS = ("net.core.rmem_max", "net.ipv4.tcp_rmem", "vm.swappiness", "kernel.numa_balancing")
