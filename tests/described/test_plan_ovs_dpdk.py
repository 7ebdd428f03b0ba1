"""The plan beside the document `SR-IOV with a ConnectX-5`, approach 2 (2B1 to 2B3): line by line.

As in test_plan_document.py: each line of the plan stands beside the document's own, or has the
reason why the document has none; each line of the document that the plan leaves out has its reason
too. `sudo` and `--no-wait` are left out on both sides.
"""

import pytest

from described.doc_sriov import PFS, as_found, rebooted
from described.firmware import mlx5_eswitch
from described.host import Host, capture_of
from described.ovs import OpenVSwitch
from described.test_plan_document import UNPROBED, Row, compare, forgotten
from wirespeed.apply.planner import planned
from wirespeed.approaches.ovs_dpdk import ovs_dpdk
from wirespeed.approaches.traits import RequestedStep
from wirespeed.model.capture import Section, parse_capture
from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import CannotTellError, Known, Unreadable
from wirespeed.model.spec.members import read_spec_data
from wirespeed.model.spec.spec import Spec
from wirespeed.model.step import State
from wirespeed.steps.alternative import Alternative
from wirespeed.steps.ovs_config import OvsConfig

P0, P1 = "enp3s0f0np0", "enp3s0f1np1"
KERNEL = "/usr/lib/openvswitch-switch/ovs-vswitchd"
DPDK = "/usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk"
SET = "ovs-vsctl set Open_vSwitch ."
SYSFS = "/sys/bus/pci/devices"
RESTART = "systemctl restart openvswitch-switch"
DOCUMENT = (
    "apt install openvswitch-switch-dpdk dpdk",
    f"update-alternatives --set ovs-vswitchd {DPDK}",
    f"echo 0 | tee /sys/class/net/{P0}/device/sriov_numvfs",
    f"echo 0 | tee /sys/class/net/{P1}/device/sriov_numvfs",
    "devlink dev eswitch set pci/0000:03:00.0 mode switchdev",
    "devlink dev eswitch set pci/0000:03:00.1 mode switchdev",
    f"{SET} other_config:dpdk-init=true",
    f"{SET} other_config:hw-offload=true",
    "echo 1024 | tee /sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages",
    f'{SET} other_config:dpdk-extra="-a 0000:03:00.0,representor=pf[0,1]vf[0-1],'
    'dv_flow_en=1,dv_xmeta_en=1,dv_esw_en=1"',
    RESTART,
    f"ip link set down dev {P0}",
    f"ip link set down dev {P1}",
    "ip link add dev bond0 type bond mode active-backup miimon 100",
    f"ip link set dev {P0} master bond0",
    f"ip link set dev {P1} master bond0",
    f"ip link set mtu 9080 dev {P0}",
    f"ip link set mtu 9080 dev {P1}",
    "ip link set mtu 9080 dev bond0",
    "while ! [ $(cat /sys/kernel/debug/mlx5/0000:03:00.0/lag/state) == active ]; do sleep 1; done",
    f"echo 2 | tee /sys/class/net/{P0}/device/sriov_numvfs",
    "ovs-vsctl add-br br-phy -- set Bridge br-phy datapath_type=netdev "
    "-- br-set-external-id br-phy bridge-id br-phy -- set bridge br-phy fail-mode=standalone "
    "other_config:hwaddr=$(cat /sys/class/net/bond0/address)",
    "ovs-vsctl add-port br-phy p0 -- set Interface p0 type=dpdk mtu_request=9080 "
    "options:dpdk-lsc-interrupt=true options:dpdk-devargs=0000:03:00.0",
    "ip addr add 192.168.9.2/24 dev br-phy",
    "ovs-vsctl add-br br-vxlan -- set Bridge br-vxlan datapath_type=netdev "
    "-- br-set-external-id br-vxlan bridge-id br-vxlan -- set bridge br-vxlan fail-mode=standalone",
    "ovs-vsctl add-port br-vxlan pf0vf0 -- set Interface pf0vf0 mtu_request=9080 "
    "type=dpdk options:dpdk-devargs=0000:03:00.0,representor=[0]",
    "ovs-vsctl add-port br-vxlan vxlan0 -- set interface vxlan0 type=vxlan "
    "options:local_ip=192.168.9.2 options:remote_ip=192.168.9.1 "
    "options:key=42 options:dst_port=4789",
    f"ip link set up dev {P0}",
    f"ip link set up dev {P1}",
    "ip link set up dev bond0",
    "ip link set up dev enp3s0f0r0",
    "ip link set up dev br-phy",
    "ip link set up dev br-vxlan",
    "modprobe vfio-pci",
    "echo $(cat /sys/bus/pci/devices/0000:03:00.2/{vendor,device}) | tee "
    "/sys/bus/pci/drivers/vfio-pci/new_id",
    "echo 0000:03:00.2 | tee /sys/bus/pci/drivers/mlx5_core/unbind",
    "echo 0000:03:00.2 | tee /sys/bus/pci/drivers/vfio-pci/bind",
)
"""To the start of QEMU."""


def host(*, ovs: bool = True) -> HostFacts:
    described = Host()
    as_found(described)
    rebooted(described)
    mlx5_eswitch(described, PFS, mode="legacy")
    if ovs:
        OpenVSwitch({}).place(described)
    return HostFacts("beta", parse_capture(capture_of(described), "beta"))


def spec(kind: str = "none", **changes: object) -> Spec:
    storage = {"host": "alpha", "networks": ["storage"]}
    return read_spec_data(
        {
            "hosts": {n: {"reach": n, "ports": list(PFS)} for n in ("alpha", "beta")},
            "approach": "ovs-dpdk",
            "underlay": {"subnet": "192.168.9.0/24", "mtu": 9080},
            "networks": {
                "storage": {"segment": 42, "subnet": "192.168.10.0/24", "mtu": 9000},
                "public": {"segment": 40, "subnet": "192.168.20.0/24", "mtu": 1500},
            },
            "guests": {
                "far": storage,
                "vm-1": {"host": "beta", "networks": ["storage", "public"], "kind": kind},
            },
            **changes,
        }
    )


def found(wanted: RequestedStep) -> State:
    """Give what the document's host has before its approach 2."""
    step = wanted.step
    if isinstance(step, OvsConfig):
        due: State = {"is_restart_due": False} if step.restart else {}
        if step.key == "dpdk-init":
            due["dpdk_initialized"] = False
        return {"value": None, **due}
    data = step.model_dump()
    if data["step"] == "vf_count":
        # Those of the approach before; then none.
        return {"num_vfs": 2 if data["num_vfs"] == 0 else 0}
    states: dict[str, State] = {
        "hugepages": {"nr_hugepages": 0},
        "alternative": {"program": KERNEL, "is_auto": True},
        "eswitch_mode": {"mode": "legacy"},
        "steering_mode": {"mode": "smfs"},
        "module": {"is_loaded": False},
    }
    if data["step"] == "kernel_switch":
        return dict.fromkeys(data["paths"], "1")
    if data["step"] == "channels":
        return step.wanted({})
    return states.get(data["step"]) or step.made() or {}


def lines(of: Spec) -> list[str]:
    """Every command, without what each call of ovs-vsctl and each row of ours has."""
    steps = [planned("beta", w.step, Known(found(w), "test")) for w in ovs_dpdk(of, "beta", host())]
    shown = [command.line() for step in steps for command in step.commands]
    for word in (
        " --timeout=10",
        " --timeout=60",
        " --no-wait",
        " --may-exist",
        " external_ids:wirespeed=overlay",
    ):
        shown = [line.replace(word, "") for line in shown]
    return shown


def due(key: str) -> str:
    cleared = " -- set Open_vSwitch . dpdk_initialized=false" if key == "dpdk-init" else ""
    return (
        f" -- set Open_vSwitch . external_ids:wirespeed-restart-{key}=due"
        f" -- remove Open_vSwitch . external_ids rundir{cleared}"
    )


def done(key: str) -> str:
    return f"ovs-vsctl remove Open_vSwitch . external_ids wirespeed-restart-{key}"


NOTED = "in one transaction with the note that a restart is due: who is killed between still knows"
ITS_OWN = "each member joins by itself, so that a refusal names it"
BY_ADDRESS = "the same file, by the PCI address, which no other name of the netdev changes"
SETTLED = "the next step finds netdevs by name, and udev gives names some time after"
OURS = "a name of its own: a bond0 may be there already"
OVERRIDE = "driver_override is about this one function; new_id lets vfio-pci take all of its kind"
MAC = "the guest's address in the network, known before it starts"
GUESTS_TWO = "the second network of the guest; the document has one"
MAY_CONNECT = "the mark `wirespeed` says whose it is, and hwaddr is the port's by itself"
BOND_UP = "the bond is up with its members: the document says so once more at its end"
DOWN = "the bridge's own port stays down: up, it would hand the host what guests send"


def rows() -> list[Row]:
    document = iter(DOCUMENT)
    (apt, choose, no_vfs_0, no_vfs_1, mode_0, mode_1, init, offload, pages, extra, restart, down_0,
     down_1, bond, join_0, join_1, mtu_0, mtu_1, mtu_bond, active, vfs, br_phy, p0, address,
     br_vxlan, representor, tunnel, up_0, up_1, up_bond, up_representor, up_phy, up_vxlan, modprobe,
     new_id, unbind, bind) = document  # fmt: skip
    override = [
        line
        for vf, old in (("0000:03:00.2", (new_id, unbind, bind)), ("0000:03:00.3", ()))
        for line in (
            Row(f"echo vfio-pci | tee {SYSFS}/{vf}/driver_override", old, OVERRIDE),
            Row(f"echo {vf} | tee /sys/bus/pci/drivers_probe", (), OVERRIDE),
        )
    ]
    macs = [line for line in lines(spec()) if " mac " in line]
    unit = f"{RESTART}.service"
    return [
        Row("modprobe tun", (), "bridges in userspace have their own ports by it"),
        Row("modprobe vfio-pci", (modprobe,)),
        Row(pages, (pages,)),
        Row(f"{SET} other_config:dpdk-socket-mem=1024", (), "want of memory shows at the start"),
        Row(f"{SET} other_config:pmd-cpu-mask=0x80000000", (), "else it polls on CPU 0"),
        Row(extra.replace("other_config:", "'other_config:") + "'" + due("dpdk-extra"),
            (extra,), NOTED),
        Row(unit, (), "undo ends with it, after the choice of the build: the former one runs then"),
        Row(done("dpdk-extra"), (), NOTED),
        Row(choose, (apt, choose), "packages are the administrator's: without it nothing begins"),
        Row(offload, (offload,), "after that restart, so that undo's is after it is taken away"),
        Row(f"echo 0 | tee {SYSFS}/0000:03:00.0/sriov_numvfs", (no_vfs_0,), BY_ADDRESS),
        Row(f"echo 0 | tee {SYSFS}/0000:03:00.1/sriov_numvfs", (no_vfs_1,), BY_ADDRESS),
        Row(mode_0, (mode_0,)),
        Row("udevadm settle --timeout=30", (), SETTLED),
        *forgotten(P0),
        Row(mode_1, (mode_1,)),
        Row("udevadm settle --timeout=30", (), SETTLED),
        *forgotten(P1),
        Row("modprobe bonding max_bonds=0", (), "else the module makes a bond0 of its own"),
        Row("ip link add dev underlay0 type bond mode active-backup miimon 100", (bond,), OURS),
        Row(f"ip link set dev {P0} down", (down_0,), ITS_OWN),
        Row(f"ip link set dev {P0} master underlay0", (join_0,), OURS),
        Row(f"ip link set dev {P0} up", (up_0,), ITS_OWN),
        Row(f"ip link set dev {P1} down", (down_1,), ITS_OWN),
        Row(f"ip link set dev {P1} master underlay0", (join_1,), OURS),
        Row(f"ip link set dev {P1} up", (up_1,), ITS_OWN),
        Row("ip link set dev underlay0 up", (up_bond,), BOND_UP),
        Row("ip link set dev underlay0 mtu 9080", (mtu_0, mtu_1, mtu_bond),
            "bond_change_mtu() sets the members' too"),
        Row(f"echo 0 | tee {SYSFS}/0000:03:00.0/sriov_drivers_autoprobe", (), UNPROBED),
        Row(next(line for line in lines(spec()) if "lag/state" in line), (active,),
            "with a deadline, and a reason where it does not come"),
        Row(f"echo 2 | tee {SYSFS}/0000:03:00.0/sriov_numvfs", (vfs,), BY_ADDRESS),
        Row("udevadm settle --timeout=30", (), SETTLED),
        Row(macs[0], (), MAC),
        *override[:2],
        Row(macs[1], (), MAC),
        *override[2:],
        Row(init + due("dpdk-init"), (init,),
            "after card and VFs are ready: representors are found as DPDK starts"),
        Row(unit, (restart,), "one restart more than the document, for undo"),
        Row(done("dpdk-init"), (), NOTED),
        Row("ovs-vsctl add-br br-phy -- set Bridge br-phy datapath_type=netdev "
            "fail_mode=standalone", (br_phy,), MAY_CONNECT),
        Row("ovs-vsctl add-port br-phy phy-p0 -- set Interface phy-p0 type=dpdk "
            "'options:dpdk-devargs=\"0000:03:00.0\"' options:dpdk-lsc-interrupt=true "
            "mtu_request=9080 -- set Port phy-p0", (p0,),
            "a name that no netdev has; the interface's row and the port's have the mark"),
        Row("ip link set dev br-phy up", (up_phy,), "`dev` is said always"),
        Row(address, (address,)),
        Row("ovs-vsctl add-br br-storage -- set Bridge br-storage datapath_type=netdev "
            "fail_mode=standalone", (br_vxlan, up_vxlan), DOWN),
        Row("ovs-vsctl add-port br-storage t42-alpha -- set Interface t42-alpha type=vxlan "
            "options:dst_port=4789 options:key=42 options:local_ip=192.168.9.2 "
            "options:remote_ip=192.168.9.1 -- set Port t42-alpha", (tunnel,),
            "the name says which network and host"),
        Row("ovs-vsctl add-br br-public -- set Bridge br-public datapath_type=netdev "
            "fail_mode=standalone", (), GUESTS_TWO),
        Row("ovs-vsctl add-port br-storage vm-1-n0 -- set Interface vm-1-n0 type=dpdk "
            "'options:dpdk-devargs=\"0000:03:00.0,representor=[0]\"' mtu_request=9000 "
            "-- set Port vm-1-n0", (representor, up_representor),
            "the network's MTU; a port of DPDK is up when the switch has it"),
        Row("ovs-vsctl add-port br-public vm-1-n1 -- set Interface vm-1-n1 type=dpdk "
            "'options:dpdk-devargs=\"0000:03:00.0,representor=[1]\"' mtu_request=1500 "
            "-- set Port vm-1-n1", (), GUESTS_TWO),
    ]  # fmt: skip


def test_the_host_is_set_up_as_the_document_does_it_save_for_what_has_a_reason():
    compare(lines(spec()), rows(), DOCUMENT)


def test_undo_ends_with_a_restart_after_the_former_build_is_chosen():
    steps = [planned("beta", w.step, Known(found(w), "test")) for w in
             ovs_dpdk(spec(), "beta", host())]  # fmt: skip
    undone = [command.line() for step in reversed(steps) for command in step.undo]
    former = undone.index("update-alternatives --auto ovs-vswitchd")
    assert f"{RESTART}.service" in undone[former:]
    assert undone[former - 1] != f"{RESTART}.service"


def test_a_namespace_gets_the_vf_itself_and_the_switch_its_representor():
    shown = lines(spec("namespace"))
    assert any("ip netns exec vm-1" in line for line in shown)
    assert any("representor=[1]" in line for line in shown)
    assert not any("vfio-pci" in line for line in shown)


def test_one_port_without_failover():
    shown = lines(spec(failover="none"))
    assert any("representor=pf0vf[0-1]" in line for line in shown)
    assert not any("bond" in line or "lag/state" in line for line in shown)


def test_a_host_without_the_switch_is_told_which_package_it_takes():
    with pytest.raises(InputError) as caught:
        list(ovs_dpdk(spec(), "beta", host(ovs=False)))
    assert caught.value.what == "spec.no_ovs"
    assert "apt install openvswitch-switch-dpdk" in caught.value.next


def test_without_the_build_or_the_memory_nothing_begins():
    """Both are found when the plan is made, before anything is changed."""
    asked = {type(w.step).__name__: w.step for w in ovs_dpdk(spec(), "beta", host())}
    only_kernel = f"Name: ovs-vswitchd\nStatus: auto\nValue: {KERNEL}\n\nAlternative: {KERNEL}\n"
    build = asked["Alternative"]
    assert isinstance(build, Alternative)
    none = build.parse(Section("step", "x", only_kernel, "", 0))
    assert isinstance(none, Unreadable)
    small = "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages:0\n" \
        "/proc/meminfo:MemTotal:        1048576 kB\n"  # fmt: skip
    short = asked["Hugepages"].parse(Section("step", "x", small, "", 0))
    assert isinstance(short, Unreadable)
    for step, state, why in (
        (build, none, "apt install openvswitch-switch-dpdk"),
        (asked["Hugepages"], short, "of 1024 MiB at most 384 such pages can be spared"),
    ):
        with pytest.raises(CannotTellError, match=why):
            planned("beta", step, state)
