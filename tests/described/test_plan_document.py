"""The plan beside the document `SR-IOV with a ConnectX-5`, approach 1: line by line, in order.

Each line of the plan stands beside the document's own, or has the reason why the document has none;
each line of the document that the plan leaves out has its reason too. `sudo` and the quotes that a
shell needs not are left out on both sides, and `tee -a` is `tee`: a file of sysfs has no end.
"""

import shlex
from dataclasses import dataclass
from pathlib import Path

from described.planned import before, commands, spec_of
from wirespeed.steps.eswitch_mode import AS_FOUND

P0, P1 = "enp3s0f0np0", "enp3s0f1np1"
SYSFS = "/sys/bus/pci/devices"
STEP_2A1 = (
    f"echo 2 | tee /sys/class/net/{P1}/device/sriov_numvfs",
    f"echo 2 | tee /sys/class/net/{P0}/device/sriov_numvfs",
    f"ip link set dev {P0} vf 1 vlan 40",
    f"ip link set dev {P1} vf 1 vlan 40",
    "modprobe vfio-pci",
    f"echo $(cat {SYSFS}/0000:03:00.3/{{vendor,device}}) | tee "
    "/sys/bus/pci/drivers/vfio-pci/new_id",
    "echo 0000:03:00.3 | tee /sys/bus/pci/drivers/mlx5_core/unbind",
    "echo 0000:03:02.3 | tee /sys/bus/pci/drivers/mlx5_core/unbind",
    "echo 0000:03:00.3 | tee /sys/bus/pci/drivers/vfio-pci/bind",
    "echo 0000:03:02.3 | tee /sys/bus/pci/drivers/vfio-pci/bind",
    f"ip link set mtu 9080 dev {P0}",
    f"ip link set mtu 9080 dev {P1}",
)
"""To the start of QEMU."""
STEP_2A2 = (
    "ip link add dev bond0 type bond mode active-backup miimon 100",
    "ip link set dev ens4 down",
    "ip link set dev ens5 down",
    "ip link set dev bond0 down",
    "ip link set ens4 master bond0",
    "ip link set ens5 master bond0",
    "ip link set dev ens4 up mtu 9000",
    "ip link set dev ens5 up mtu 9000",
    "ip link set dev bond0 up mtu 9000",
    "ip addr add 192.168.10.2/24 dev bond0",
)


@dataclass(frozen=True)
class Row:
    """One line of the plan."""

    plan: str
    document: tuple[str, ...] = ()
    reason: str = ""
    """Why it is not the document's, word by word."""


MODULE_FIRST = "the module before anything that needs it, so that its absence changes nothing"
MTU_FIRST = "before VFs are there: some drivers refuse a VF's MTU above its port's, or reset them"
BY_ADDRESS = "the same file, by the PCI address, which no other name of the netdev changes"
MAC = "both VFs of a pair get one MAC, so that a bond of them needs no trust"
STORAGE = "the first network of the guest; the document leaves its VF 0 untagged"
OVERRIDE = "driver_override is about this one function; new_id lets vfio-pci take all of its kind"
PROBED = (
    "bound by the override; nothing was to be unbound, as it is unbound only if a driver has it"
)
UNPROBED = "else the host's own driver takes each VF as it is made, and lets it go again"
SPARE = "the guest owns VF 0 too, for its first network"


def host_rows(netdev: str, pf: str, vf_0: str, vf_1: str, macs: tuple[str, str]) -> list[Row]:
    """What the plan does with one port, before it goes on to the next."""
    bind = "echo {} | tee /sys/bus/pci/drivers/{}/{}"
    rows = [
        Row(
            f"ip link set dev {netdev} mtu 9080", (f"ip link set mtu 9080 dev {netdev}",), MTU_FIRST
        ),
        Row(f"echo 0 | tee {SYSFS}/{pf}/sriov_drivers_autoprobe", (), UNPROBED),
        Row(
            f"echo 2 | tee {SYSFS}/{pf}/sriov_numvfs",
            (f"echo 2 | tee /sys/class/net/{netdev}/device/sriov_numvfs",),
            BY_ADDRESS,
        ),
        Row(f"ip link set dev {netdev} vf 0 mac {macs[0]}", (), MAC),
        Row(f"ip link set dev {netdev} vf 0 vlan 42", (), STORAGE),
        Row(f"ip link set dev {netdev} vf 1 mac {macs[1]}", (), MAC),
        Row(f"ip link set dev {netdev} vf 1 vlan 40", (f"ip link set dev {netdev} vf 1 vlan 40",)),
        Row(f"echo vfio-pci | tee {SYSFS}/{vf_0}/driver_override", (), SPARE),
        Row(f"echo {vf_0} | tee /sys/bus/pci/drivers_probe", (), SPARE),
    ]
    new_id = (STEP_2A1[5],) if vf_1 == "0000:03:00.3" else ()
    rows.append(Row(f"echo vfio-pci | tee {SYSFS}/{vf_1}/driver_override", new_id, OVERRIDE))
    by_hand = bind.format(vf_1, "mlx5_core", "unbind"), bind.format(vf_1, "vfio-pci", "bind")
    rows.append(Row(f"echo {vf_1} | tee /sys/bus/pci/drivers_probe", by_hand, PROBED))
    return rows


def forgotten(netdev: str) -> list[Row]:
    """Channels and rings as found, set again after the change of mode."""
    found = ("-L", netdev, "combined", "32"), ("-G", netdev, "rx", "1024", "tx", "1024")
    reason = "the driver forgets them with the change of mode, and with the way back"
    begin = ("sh", "-c", AS_FOUND, "sh", "ethtool")
    return [Row(shlex.join((*begin, *words)), (), reason) for words in found]


def compare(planned: list[str], rows: list[Row], document: tuple[str, ...]) -> None:
    assert planned == [row.plan for row in rows]
    for row in rows:
        is_the_same = row.document == (row.plan,)
        assert is_the_same or row.reason, f"{row.plan}: it differs, and nobody says why"
    named = [line for row in rows for line in row.document]
    assert sorted(named) == sorted(document), "each line of the document stands beside one"


def test_the_host_is_set_up_as_the_document_does_it_save_for_what_has_a_reason(tmp_path: Path):
    guests = {
        "ceph-1": {"host": "alpha", "networks": ["storage"]},
        "gpu-1": {"host": "beta", "networks": ["storage", "public"]},
    }
    spec = spec_of(tmp_path, {"alpha": before(), "beta": before()}, guests)
    planned = commands(spec, "beta")
    # Which MAC a guest has is nobody's choice but ours: the same on both ports, and another for
    # each network.
    macs = [line.split()[-1] for line in planned if " mac " in line]
    assert macs[:2] == macs[2:]
    assert len(set(macs)) == 2
    rows = [
        Row("modprobe vfio-pci", ("modprobe vfio-pci",), MODULE_FIRST),
        *host_rows(P0, "0000:03:00.0", "0000:03:00.2", "0000:03:00.3", (macs[0], macs[1])),
        *host_rows(P1, "0000:03:00.1", "0000:03:02.2", "0000:03:02.3", (macs[0], macs[1])),
    ]
    compare(planned, rows, STEP_2A1)


IN = "ip netns exec gpu-1 "
SHORTER = "`dev` is said always: a netdev may be called as a word of `ip`"
BY_BOND = "bond_change_mtu() sets the members' too, and one command cannot do half of it"
ITS_OWN = "each member joins by itself, so that a refusal names it"


def test_a_guest_bonds_its_ports_as_the_document_does_save_for_what_has_a_reason(tmp_path: Path):
    guests = {
        "ceph-1": {"host": "alpha", "networks": ["storage"], "kind": "namespace"},
        "gpu-1": {"host": "beta", "networks": ["storage"], "kind": "namespace"},
    }
    spec = spec_of(tmp_path, {"alpha": before(), "beta": before()}, guests)
    inside = [
        line.removeprefix(IN)
        for line in commands(spec, "beta")
        if line.startswith(IN) and line.split()[-2:] != ["lo", "up"]
    ]
    rows = [
        Row(STEP_2A2[0], (STEP_2A2[0],)),
        Row("ip link set dev net0p0 down", (STEP_2A2[1],), ITS_OWN),
        Row("ip link set dev net0p0 master bond0", (STEP_2A2[4],), SHORTER),
        Row("ip link set dev net0p0 up", (STEP_2A2[6],), BY_BOND),
        Row("ip link set dev net0p1 down", (STEP_2A2[2],), ITS_OWN),
        Row("ip link set dev net0p1 master bond0", (STEP_2A2[5],), SHORTER),
        Row("ip link set dev net0p1 up", (STEP_2A2[7],), BY_BOND),
        # A bond is down when it is made.
        Row("ip link set dev bond0 up", (STEP_2A2[3],), "it is down as it is made"),
        Row("ip link set dev bond0 mtu 9000", (STEP_2A2[8],), BY_BOND),
        Row(STEP_2A2[9], (STEP_2A2[9],)),
    ]
    compare(inside, rows, STEP_2A2)
