"""The plan beside the document `SR-IOV with a ConnectX-5`, approach 3: line by line.

As in test_plan_document.py: what differs has its reason. Open vSwitch runs there with an empty
database, which no capture has in the words of steps: it answers beside the capture.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from described.doc_sriov import PFS, as_found, mlx5_eswitch, ports, rebooted
from described.host import Host, capture_of
from described.ovs import OpenVSwitch
from described.planned import spec_of
from described.test_plan_document import OVERRIDE, PROBED, SYSFS, UNPROBED, Row, compare, forgotten
from wirespeed.apply.control_recorded import RecordedControl
from wirespeed.apply.make import plan_spec
from wirespeed.apply.record import names_of
from wirespeed.apply.recorded_answers import RecordedAnswers
from wirespeed.approaches.guest_network import guest_mac
from wirespeed.approaches.ovs_tc import ovs_tc
from wirespeed.doctor.collector import collector_script
from wirespeed.model.capture import Section, parse_capture
from wirespeed.model.command import Command
from wirespeed.model.fact import HostFacts
from wirespeed.model.plan import Plan
from wirespeed.model.spec.spec import Spec
from wirespeed.runs.hosts_of_spec import read_spec
from wirespeed.steps.channels import Channels
from wirespeed.steps.vf_count import AWAIT_LAG

P0, P1 = "enp3s0f0np0", "enp3s0f1np1"
VF = "0000:03:00.2"
LAG = "/sys/kernel/debug/mlx5/0000:03:00.0/lag/state"
STEP_2C = (
    f"echo 0 | tee /sys/class/net/{P1}/device/sriov_numvfs",
    f"echo 0 | tee /sys/class/net/{P0}/device/sriov_numvfs",
    "devlink dev eswitch set pci/0000:03:00.0 mode switchdev",
    "devlink dev eswitch set pci/0000:03:00.1 mode switchdev",
    "ip link add dev bond0 type bond mode active-backup miimon 100",
    f"ip link set dev {P0} master bond0",
    f"ip link set dev {P1} master bond0",
    "ip link set dev bond0 up",
    "ip addr add 192.168.9.2/24 dev bond0",
    f'while ! [ $(cat {LAG}) == "active" ]; do printf .; sleep 1; done; echo',
    f"echo 2 | tee /sys/class/net/{P0}/device/sriov_numvfs",
    "systemctl start openvswitch-switch.service",
    "ovs-vsctl set Open_vSwitch . other_config:hw-offload=true",
    "systemctl restart openvswitch-switch.service",
    "ovs-vsctl add-br ovs-sriov",
    "ovs-vsctl add-port ovs-sriov enp3s0f0r0",
    "ovs-vsctl add-port ovs-sriov vxlan0 -- set interface vxlan0 type=vxlan "
    "options:local_ip=192.168.9.2 options:remote_ip=192.168.9.1 options:key=42",
    f"ip link set dev {P0} mtu 9080",
    f"ip link set dev {P1} mtu 9080",
    "ip link set dev bond0 mtu 9080",
    "ip link set dev enp3s0f0r0 mtu 9000",
    "ip link set dev ovs-sriov up",
    "ip link set dev enp3s0f0r0 up",
    "modprobe vfio-pci",
    f"echo $(cat {SYSFS}/{VF}/{{vendor,device}}) | tee -a /sys/bus/pci/drivers/vfio-pci/new_id",
    f"echo {VF} | tee /sys/bus/pci/drivers/mlx5_core/unbind",
    f"echo {VF} | tee /sys/bus/pci/drivers/vfio-pci/bind",
)
"""From the VFs' removal to the start of QEMU."""
ONCE = "there are none: the step is there, and has nothing to do"
NAMED = "the netdev is made anew: udev has named it when this returns"
OFFLOAD = "on by default with this driver; off, OVS would offload nothing, and say nothing"
OWN_BOND = "a name that no distribution gives by itself"
JOINS = "a port joins a bond only while it is down"
NO_BOND0 = "bonding, loaded by the first bond, would leave a bond0 of its own behind"
DEADLINE = "the same wait, for a minute at most, and then with a reason"
COUNT = "as many as the guests of this host have networks; by the PCI address"
MAC = "measuring knows each guest by its MAC; without one, the VF draws its own"
RESTART = "in one transaction with a note that a restart is due, so that a kill between is seen"
MARK = "marked as ours, so that undo removes nothing else; repeated, it does nothing"
TUNNEL = "the port of VXLAN is said, and the mark; the tunnel is called by network and host"
RUNS = "a host where it does not run is refused before anything is changed, and told this"
BY_PORT = "no name is taken on trust: the kernel's port of VF 0 of this PF, named after its guest"
BY_BOND = "a bond hands its MTU down to its members"
BRIDGE_DOWN = (
    "left down: up, the bridge would hand its host what guests send, tunnels of theirs among it"
)


class HostControl(RecordedControl):
    """Of a capture; Open vSwitch answers with an empty database."""

    def said(self, command: Command) -> Section | None:
        if command.argv[0] != "ovs-vsctl":
            return super().said(command)
        tables = {"list": 0, "Open_vSwitch": 0} | dict.fromkeys(command.argv, 0)
        assert "list" in tables, command.line()
        if "Open_vSwitch" in command.argv:
            row = [["map", []], ["map", [["rundir", "/var/run/openvswitch"]]]]
            table = {"headings": ["other_config", "external_ids"], "data": [row]}
            return Section("step", "-", json.dumps(table), "", 0)
        count = command.argv.count("list")
        empty = json.dumps({"headings": ["name"], "data": []})
        return Section("step", "-", "\n".join([empty] * count), "", 0)


def described(*, switchdev: bool = False, channels: int = 32) -> str:
    host = Host()
    as_found(host)
    rebooted(host)
    if switchdev:
        mlx5_eswitch(host, PFS, mode="switchdev")
    ports(host, channels=channels, switchdev=switchdev)
    OpenVSwitch({}).place(host)
    return capture_of(host)


@cache
def before() -> str:
    """The document's host before its approach 3, with Open vSwitch running."""
    return described()


def spec_here(folder: Path, guests: dict[str, Any], **changes: object) -> Spec:
    path = spec_of(folder, {"alpha": before(), "beta": before()}, guests)
    path.write_text(json.dumps(json.loads(path.read_text()) | {"approach": "ovs-tc"} | changes))
    return read_spec(path)


def guests(**more: object) -> dict[str, Any]:
    names = {"ceph-1": "alpha", "gpu-1": "beta"}
    return {g: {"host": h, "networks": ["storage"], **more} for g, h in names.items()}


def planned(spec: Spec) -> Plan:
    facts = {name: HostFacts(name, parse_capture(before(), name)) for name in spec.hosts}
    answers = RecordedAnswers(collector_script())
    controls = {name: HostControl(facts[name].capture, answers) for name in facts}
    return plan_spec(spec, facts, controls)


def steps(spec: Spec, capture: str) -> list[str]:
    facts = HostFacts("beta", parse_capture(capture, "beta"))
    return [
        f"{wanted.step.model_dump()['step']} {wanted.step.subject}"
        for wanted in ovs_tc(spec, "beta", facts)
    ]


def test_the_host_is_set_up_as_the_document_does_it_save_for_what_has_a_reason(tmp_path: Path):
    plan = planned(spec_here(tmp_path, guests()))
    lines = [c.line() for step in plan.steps if step.host == "beta" for c in step.commands]
    ovs = "ovs-vsctl --timeout=10 "
    settle = "udevadm settle --timeout=30"
    mark = "external_ids:wirespeed=overlay"
    of_port = f"{mark} -- set Port {{}} {mark}"
    rows = [
        Row("modprobe vfio-pci", (STEP_2C[23],)),
        Row(STEP_2C[2], (STEP_2C[2],)),
        Row(settle, (), NAMED),
        *forgotten(P0),
        Row(STEP_2C[3], (STEP_2C[3],)),
        Row(settle, STEP_2C[:2], f"{NAMED}; {ONCE}"),
        *forgotten(P1),
        Row(f"ethtool -K {P0} hw-tc-offload on", (), OFFLOAD),
        Row(f"ethtool -K {P1} hw-tc-offload on", (), OFFLOAD),
        Row("modprobe bonding max_bonds=0", (), NO_BOND0),
        Row(STEP_2C[4].replace("bond0", "underlay0"), (STEP_2C[4],), OWN_BOND),
        Row(f"ip link set dev {P0} down", (), JOINS),
        Row(f"ip link set dev {P0} master underlay0", (STEP_2C[5],), OWN_BOND),
        Row(f"ip link set dev {P0} up", (), JOINS),
        Row(f"ip link set dev {P1} down", (), JOINS),
        Row(f"ip link set dev {P1} master underlay0", (STEP_2C[6],), OWN_BOND),
        Row(f"ip link set dev {P1} up", (), JOINS),
        Row("ip link set dev underlay0 up", (STEP_2C[7],), OWN_BOND),
        Row("ip link set dev underlay0 mtu 9080", STEP_2C[17:20], BY_BOND),
        Row("ip addr add 192.168.9.2/24 dev underlay0", (STEP_2C[8],), OWN_BOND),
        Row(f"echo 0 | tee {SYSFS}/0000:03:00.0/sriov_drivers_autoprobe", (), UNPROBED),
        Row(Command(argv=("sh", "-c", AWAIT_LAG, LAG)).line(), (STEP_2C[9],), DEADLINE),
        Row(f"echo 1 | tee {SYSFS}/0000:03:00.0/sriov_numvfs", (STEP_2C[10],), COUNT),
        Row(settle, (), "representors have their names when this returns"),
        Row(f"ip link set dev {P0} vf 0 mac {guest_mac('gpu-1', 'storage')}", (), MAC),
        Row(f"echo vfio-pci | tee {SYSFS}/{VF}/driver_override", (STEP_2C[24],), OVERRIDE),
        Row(f"echo {VF} | tee /sys/bus/pci/drivers_probe", STEP_2C[25:27], PROBED),
        Row(
            f"{ovs}--no-wait set Open_vSwitch . other_config:hw-offload=true -- set Open_vSwitch . "
            "external_ids:wirespeed-restart-hw-offload=due -- remove Open_vSwitch . external_ids "
            "rundir",
            (STEP_2C[12],),
            RESTART,
        ),
        Row(STEP_2C[13], (STEP_2C[13],)),
        Row(
            f"{ovs}--no-wait remove Open_vSwitch . external_ids wirespeed-restart-hw-offload",
            (STEP_2C[11],),
            f"{RESTART}; {RUNS}",
        ),
        Row(
            f"{ovs}--may-exist add-br br-storage -- set Bridge br-storage datapath_type=system "
            f"fail_mode=standalone {mark}",
            (STEP_2C[14], STEP_2C[21]),
            f"{MARK}; {BRIDGE_DOWN}",
        ),
        Row(
            f"{ovs}--may-exist add-port br-storage t42-alpha -- set Interface t42-alpha type=vxlan "
            "options:dst_port=4789 options:key=42 options:local_ip=192.168.9.2 "
            f"options:remote_ip=192.168.9.1 {of_port.format('t42-alpha')}",
            (STEP_2C[16],),
            TUNNEL,
        ),
        Row(next(line for line in lines if "devlink port show" in line), (), BY_PORT),
        Row("ip link set dev gpu-1-n0 mtu 9000", (STEP_2C[20],), BY_PORT),
        Row("ip link set dev gpu-1-n0 up", (STEP_2C[22],), BY_PORT),
        Row(
            f"{ovs}--may-exist add-port br-storage gpu-1-n0 -- set Interface gpu-1-n0 type=system "
            f"{of_port.format('gpu-1-n0')}",
            (STEP_2C[15],),
            f"{MARK}; {BY_PORT}",
        ),
    ]
    compare(lines, rows, STEP_2C)


def test_channels_are_read_again_after_the_change_of_mode(tmp_path: Path):
    """The document's note: 32 before, 1 after; the plan is made before."""
    plan = planned(spec_here(tmp_path, guests()))
    mode, channels = (
        next(s for s in plan.steps if s.host == "beta" and s.name == name)
        for name in ("eswitch_mode 0000:03:00.0", f"channels {P0}")
    )
    assert channels.goal == {"combined": 32}
    assert not set(names_of(mode.step)).isdisjoint(names_of(channels.step))


@pytest.mark.parametrize(("now", "wanted"), [(24, 24), (1, 32)])
def test_a_card_that_is_in_the_mode_keeps_its_vfs_and_gets_lost_channels_back(
    tmp_path: Path, now: int, wanted: int
):
    capture = described(switchdev=True, channels=now)
    facts = HostFacts("beta", parse_capture(capture, "beta"))
    spec = spec_here(tmp_path, guests())
    channels = [
        one.step.combined for one in ovs_tc(spec, "beta", facts) if isinstance(one.step, Channels)
    ]
    assert channels == [wanted, wanted]
    found = steps(spec, capture)
    assert found.count("vf_count 0000:03:00.0") == 1
    assert "vf_count 0000:03:00.1" not in found


def test_a_namespace_gets_the_vf_of_the_first_port_alone(tmp_path: Path):
    found = steps(spec_here(tmp_path, guests(kind="namespace")), before())
    assert "module vfio-pci" not in found
    assert f"vf_in_namespace {VF} as net0p0 in gpu-1" in found
    assert not [one for one in found if "0000:03:02" in one]
    # In its place, before anything of the guest is set.
    assert found.index("representor_name VF 0 of 0000:03:00.0 as gpu-1-n0") < found.index(
        f"vf_in_namespace {VF} as net0p0 in gpu-1"
    )


def test_without_fail_over_no_lag_is_awaited(tmp_path: Path):
    plan = planned(spec_here(tmp_path, guests(), failover="none"))
    assert not [c for step in plan.steps for c in step.commands if AWAIT_LAG in c.argv]
