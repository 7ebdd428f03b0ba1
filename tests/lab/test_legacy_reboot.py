"""A host that reboots in the midst of an apply, for real: the next undo, or apply, ends well.

Its VFs, MTUs and namespaces are gone with the boot; the journal is all that is left.
"""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from program import start, wirespeed

from wirespeed.apply.control_posix import PosixControl
from wirespeed.apply.run_place import run_folder
from wirespeed.host.clock import Deadline, sleep_s
from wirespeed.host.reach_destination import Remote
from wirespeed.host.ssh_session import SshSession
from wirespeed.lab.machines import Machine, Machines
from wirespeed.model.error import HostError, MeasurementError

pytestmark = [pytest.mark.machines, pytest.mark.rare, pytest.mark.timeout(900)]
PORTS = ("0000:01:00.0", "0000:02:00.0")
BOOT_ID = "/proc/sys/kernel/random/boot_id"


@pytest.fixture(scope="module")
def lab() -> Iterator[Machines]:
    with Machines(name=f"test-{os.getpid()}-reboot") as lab:
        yield lab


@pytest.fixture
def spec(lab: Machines, tmp_path: Path) -> Path:
    path = tmp_path / "spec.yaml"
    reach = f"ssh://{lab.hosts['alpha'].state.destination}"
    story = {
        "hosts": {"alpha": {"reach": reach, "ports": PORTS}},
        "approach": "legacy-vlan",
        "underlay": {"subnet": "192.168.9.0/24", "mtu": 9080},
        "networks": {"storage": {"segment": 42, "subnet": "192.168.10.0/24", "mtu": 9000}},
        "guests": {"ceph-1": {"host": "alpha", "networks": ["storage"], "kind": "namespace"}},
    }
    path.write_text(json.dumps(story))
    return path


def boot_id(host: Machine) -> str:
    try:
        return host.run(["cat", BOOT_ID], timeout_s=20).output.strip()
    except (HostError, MeasurementError):
        return ""


def reboot(host: Machine) -> None:
    """As by somebody who trips over its cable: nothing is shut down."""
    before, deadline = boot_id(host), Deadline(180)
    assert before
    at_once = "(sleep 0.2; echo b >/proc/sysrq-trigger) </dev/null >/dev/null 2>&1 &"
    host.run(["sh", "-c", f"echo 1 >/proc/sys/kernel/sysrq; {at_once}"])
    while boot_id(host) in ("", before):
        assert not deadline.expired
        sleep_s(0.5)


def set_up(host: Machine) -> dict[str, str]:
    """Give what the story sets, by the host's own words."""
    read = {
        "mtu": "cat /sys/class/net/enp1s0/mtu /sys/class/net/enp2s0/mtu",
        "vfs": "cat /sys/bus/pci/devices/0000:0[12]:00.0/sriov_numvfs",
        "namespaces": "ls /run/netns 2>/dev/null || true",
        "lock": "ls -d /run/wirespeed.lock 2>/dev/null || true",
    }
    return {
        what: " ".join(host.run(["sh", "-c", line]).output.split()) for what, line in read.items()
    }


AS_FOUND = {"mtu": "1500 1500", "vfs": "0 0", "namespaces": "", "lock": ""}
AS_WANTED = {"mtu": "9080 9080", "vfs": "1 1", "namespaces": "ceph-1", "lock": ""}


def interrupted_apply(lab: Machines, spec: Path) -> subprocess.CompletedProcess[str]:
    """Reboot the host when half of the steps are done."""
    journal = run_folder(spec) / "journal.jsonl"
    process = start("apply", str(spec), "--yes")
    deadline = Deadline(240)
    while not journal.exists() or journal.read_text().count('"kind":"intent"') < 7:
        assert process.poll() is None, process.communicate()
        assert not deadline.expired
        sleep_s(0.02)
    reboot(lab.hosts["alpha"])
    output, errors = process.communicate(timeout=400)
    return subprocess.CompletedProcess([], process.returncode, output, errors)


@pytest.mark.parametrize("then", ["undo", "apply"])
def test_legacy_a_host_that_reboots_in_mid_apply_is_undone_or_finished(
    lab: Machines, spec: Path, then: str
):
    alpha = lab.hosts["alpha"]
    assert set_up(alpha) == AS_FOUND
    stopped = interrupted_apply(lab, spec)
    # Either it noticed that the connection is gone, or that the host has lost what was done.
    assert stopped.returncode in (1, 3), stopped.stdout + stopped.stderr
    if stopped.returncode == 3:
        said = " ".join(stopped.stderr.split())
        assert "steps are in place" in said or "not in their original state" in said, stopped.stderr

    done = wirespeed(then, str(spec), *(["--yes"] if then == "apply" else []))
    assert done.returncode == 0, done.stdout + done.stderr
    assert set_up(alpha) == (AS_WANTED if then == "apply" else AS_FOUND)
    if then == "apply":
        assert wirespeed("drift", str(spec)).returncode == 0
        assert wirespeed("undo", str(spec)).returncode == 0
        assert set_up(alpha) == AS_FOUND


def test_legacy_a_host_is_rebooted_and_its_boot_id_is_the_proof(lab: Machines):
    place = lab.hosts["alpha"].state.destination
    with SshSession(Remote(place, place)) as session:
        control = PosixControl("alpha", session)
        before = control.boot_id()
        after = control.reboot(before, within_s=180)
        assert before != after == control.boot_id()
        assert boot_id(lab.hosts["alpha"]) == after
