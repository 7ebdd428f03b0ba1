"""The legacy VLAN story on real kernels: as found, plan, apply, verify, undo, as found again."""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from program import start, wirespeed

from wirespeed.apply.run_place import run_folder
from wirespeed.approaches.unmanaged import unmanaged
from wirespeed.host.clock import Deadline, sleep_s
from wirespeed.lab.machines import Machine, Machines
from wirespeed.model.capture import parse_capture
from wirespeed.model.fact import HostFacts

pytestmark = [pytest.mark.machines, pytest.mark.timeout(900)]
HOSTS = ("alpha", "beta")
PORTS = ("0000:01:00.0", "0000:02:00.0")
STORY = {
    "approach": "legacy-vlan",
    "underlay": {"subnet": "192.168.9.0/24", "mtu": 9080},
    "networks": {
        "storage": {"segment": 42, "subnet": "192.168.10.0/24", "mtu": 9000},
        "public": {"segment": 40, "subnet": "192.168.20.0/24", "mtu": 1500},
    },
    "guests": {
        "ceph-1": {"host": "alpha", "networks": ["storage"], "vcpus": 1, "memory_gib": 1},
        "gpu-1": {"host": "beta", "networks": ["storage", "public"], "vcpus": 1, "memory_gib": 1},
    },
}
OWN_WORDS = """
for port in enp1s0 enp2s0; do
    cat /sys/class/net/$port/mtu /sys/class/net/$port/device/sriov_numvfs
    ip -d link show dev $port | sed 's/state [A-Z]*//; s/,LOWER_UP//; s/NO-CARRIER,//; s/ *$//'
done
ip -br link | awk '{ print $1 }'
lspci | grep -c Virtual || true
ls /sys/module | grep -x bonding || true
ls -d /run/wirespeed* 2>/dev/null || true
"""
MANAGED = """\
wirespeed-capture 1 case
case begin installed -
manager NetworkManager

case end 0
case done
"""


@pytest.fixture(scope="module")
def lab() -> Iterator[Machines]:
    with Machines(name=f"test-{os.getpid()}-legacy") as lab:
        yield lab


@pytest.fixture
def spec(lab: Machines, tmp_path: Path) -> Path:
    path = tmp_path / "spec.yaml"
    hosts = {n: {"reach": f"ssh://{lab.hosts[n].state.destination}", "ports": PORTS} for n in HOSTS}
    # JSON is YAML too.
    path.write_text(json.dumps({"hosts": hosts, **STORY}))
    return path


def standing(lab: Machines) -> dict[str, str]:
    """What the story is about, by each host's own words, which takes a tenth of a capture's time.

    The word of a link's state is left out: it comes back a moment after the port.
    """
    return {name: sh(lab.hosts[name], OWN_WORDS) for name in HOSTS}


def sh(host: Machine, script: str) -> str:
    done = host.run(["sh", "-ec", script])
    assert done.returncode == 0, f"{script}\n{done.output}\n{done.errors}"
    return done.output.strip()


def assert_applied(lab: Machines) -> None:
    """By the hosts' own words, and not by what we wrote."""
    beta = lab.hosts["beta"]
    for port, netdev in zip(PORTS, ("enp1s0", "enp2s0"), strict=True):
        assert sh(beta, f"cat /sys/bus/pci/devices/{port}/sriov_numvfs") == "2"
        assert sh(beta, f"cat /sys/class/net/{netdev}/mtu") == "9080"
        shown = sh(beta, f"ip link show {netdev}")
        assert re.search(r"vf 0 .*vlan 42\b", shown), shown
        assert re.search(r"vf 1 .*vlan 40\b", shown), shown
        for vf in ("virtfn0", "virtfn1"):
            driver = sh(beta, f"basename $(readlink -f /sys/bus/pci/devices/{port}/{vf}/driver)")
            assert driver == "vfio-pci"
    assert sh(lab.hosts["alpha"], f"cat /sys/bus/pci/devices/{PORTS[0]}/sriov_numvfs") == "1"


def test_legacy_as_found_apply_no_op_undo_as_found(lab: Machines, spec: Path):
    before = standing(lab)

    applied = wirespeed("apply", str(spec), "--yes")
    assert applied.returncode == 0, applied.stdout + applied.stderr
    assert "26 of 30 steps to do" in applied.stdout
    assert applied.stdout.count("  verified  ") == 26
    assert_applied(lab)

    again = wirespeed("apply", str(spec), "--yes")
    assert again.returncode == 0, again.stderr
    assert "0 of 30 steps to do" in again.stdout

    undone = wirespeed("undo", str(spec))
    assert undone.returncode == 0, undone.stdout + undone.stderr
    assert undone.stdout.count("  restored  ") == 26
    assert standing(lab) == before


@pytest.mark.rare
@pytest.mark.parametrize("then", ["apply", "undo"])
def test_legacy_apply_that_was_killed_is_undone_or_finished(lab: Machines, spec: Path, then: str):
    before = standing(lab)
    journal = run_folder(spec) / "journal.jsonl"
    process = start("apply", str(spec), "--yes")
    deadline = Deadline(60)
    # In the midst of it: between a write and its result.
    while not journal.exists() or journal.read_text().count('"kind":"intent"') < 5:
        assert process.poll() is None and not deadline.expired
        sleep_s(0.01)
    process.kill()
    process.communicate(timeout=10)
    assert wirespeed("status", str(spec)).returncode == 1

    done = wirespeed(then, str(spec), *(["--yes"] if then == "apply" else []))
    assert done.returncode == 0, done.stdout + done.stderr
    if then == "apply":
        assert_applied(lab)
        assert wirespeed("undo", str(spec)).returncode == 0
    assert standing(lab) == before


@pytest.mark.rare
def test_legacy_a_plan_changes_nothing(lab: Machines, spec: Path):
    before = standing(lab)
    planned = wirespeed("plan", str(spec))
    assert planned.returncode == 0, planned.stderr
    assert "26 of 30 steps to do" in planned.stdout
    assert standing(lab) == before


@pytest.mark.rare
def test_legacy_a_step_that_fails_puts_all_back(lab: Machines, spec: Path):
    before = standing(lab)
    # More than igb takes (9216): the kernel refuses it when the first steps are done.
    spec.write_text(spec.read_text().replace("9080", "9400"))
    failed = wirespeed("apply", str(spec), "--yes")
    assert failed.returncode == 1
    assert "ERROR step.failed enp1s0 on alpha" in failed.stderr
    assert "mtu greater than device maximum" in " ".join(failed.stderr.split())
    assert "restored      module vfio-pci on alpha" in failed.stdout
    assert standing(lab) == before


def test_legacy_a_plan_is_refused_that_would_cut_the_session_off(spec: Path):
    story = json.loads(spec.read_text())
    alpha = {**story["hosts"]["alpha"], "ports": ["0000:00:02.0"]}
    story |= {"hosts": {"alpha": alpha}, "failover": "none", "guests": {}}
    spec.write_text(json.dumps(story))
    refused = wirespeed("apply", str(spec), "--yes")
    assert refused.returncode == 2
    assert "ERROR plan.cuts_off lab0 on alpha" in refused.stderr
    assert "carries your session" in " ".join(refused.stderr.split())


@pytest.mark.rare
def test_legacy_two_applies_to_one_host_exclude_each_other(lab: Machines, spec: Path):
    before = standing(lab)
    sh(lab.hosts["beta"], "mkdir /run/wirespeed.lock && echo elsewhere >/run/wirespeed.lock/owner")
    try:
        refused = wirespeed("apply", str(spec), "--yes")
    finally:
        sh(lab.hosts["beta"], "rm -r /run/wirespeed.lock")
    assert refused.returncode == 2
    assert "ERROR host.in_use beta" in refused.stderr
    assert "elsewhere" in refused.stderr
    assert standing(lab) == before
    assert sh(lab.hosts["alpha"], "ls /run").count("wirespeed.lock") == 0, (
        "the other one is given back"
    )


def test_legacy_udev_says_of_the_vfs_alone_that_they_are_not_network_managers(lab: Machines):
    """By the real udev, with the file that a plan writes where NetworkManager runs."""
    alpha, port = lab.hosts["alpha"], PORTS[0]
    pf = f"/sys/bus/pci/devices/{port}"
    offset, stride = (int(sh(alpha, f"cat {pf}/sriov_{name}")) for name in ("offset", "stride"))
    routing = [0x100 + offset + vf * stride for vf in range(2)]
    vfs = [f"0000:{r >> 8:02x}:{r >> 3 & 31:02x}.{r & 7}" for r in routing]
    facts = HostFacts("alpha", parse_capture(MANAGED, "alpha"))
    (rules,) = unmanaged(facts, port, vfs)
    try:
        sh(alpha, f"cat >{rules.path} <<'END'\n{rules.content}END\nudevadm control --reload")
        sh(alpha, f"echo 2 >{pf}/sriov_numvfs; udevadm settle --timeout=30")
        for vf in ("virtfn0", "virtfn1"):
            assert "NM_UNMANAGED=1" in properties(alpha, f"{pf}/{vf}/net/*")
        assert "NM_UNMANAGED" not in properties(alpha, f"{pf}/net/*")
    finally:
        sh(alpha, f"echo 0 >{pf}/sriov_numvfs; rm -f {rules.path}; udevadm control --reload")


def properties(host: Machine, path: str) -> str:
    return sh(host, f"udevadm info --query=property --path=$(readlink -f {path})")
