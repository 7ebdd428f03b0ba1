"""A host with systemd takes a whole run back by itself: not confirmed in time, reset meanwhile."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from program import wirespeed

from wirespeed.host.clock import Deadline, sleep_s
from wirespeed.lab.machine_spec import LabSpec, MachineSpec
from wirespeed.lab.machines import Machine, Machines
from wirespeed.model.error import HostError, MeasurementError

pytestmark = [pytest.mark.machines, pytest.mark.rare, pytest.mark.timeout(900)]
PORTS = ("0000:01:00.0", "0000:02:00.0")
SOON_S = 20
AFTER_BOOT_S = 60
"""Longer than the rest of the apply and the way to the reset take; counts afresh at boot."""
UNITS = "/etc/systemd/system"


@pytest.fixture(scope="module")
def host() -> Iterator[Machine]:
    alpha = MachineSpec(name="alpha", systemd=True, disk=True)
    name = f"test-{os.getpid()}-tryout"
    with Machines(LabSpec(hosts=(alpha,), wiring="switch"), name=name) as lab:
        yield lab.hosts["alpha"]


@pytest.fixture
def spec(host: Machine, tmp_path: Path) -> Path:
    path = tmp_path / "spec.yaml"
    story = {
        "hosts": {"alpha": {"reach": f"ssh://{host.state.destination}", "ports": PORTS}},
        "approach": "legacy-vlan",
        "underlay": {"subnet": "192.168.9.0/24", "mtu": 9080},
        "networks": {},
        "guests": {},
    }
    path.write_text(json.dumps(story))
    return path


def sh(host: Machine, line: str) -> str:
    return host.run(["sh", "-c", line], timeout_s=30).output.strip()


def standing(host: Machine) -> str:
    return " ".join(sh(host, "cat /sys/class/net/enp[12]s0/mtu").split())


def of_tries(host: Machine) -> str:
    names = "^([.]?[0-9a-f]{32}|[.]?wirespeed-try)"
    folders = f"/var/lib/wirespeed/try {UNITS} {UNITS}/timers.target.wants"
    return sh(host, f"ls -A {folders} 2>/dev/null | grep -E '{names}' || :")


def await_result(host: Machine) -> None:
    """Wait until the host says that it took a run back."""
    deadline = Deadline(240)
    while True:
        try:
            if "undone" in sh(host, "cat /var/lib/wirespeed/try/*/result 2>/dev/null || :"):
                return
        except (HostError, MeasurementError):
            pass
        assert not deadline.expired
        sleep_s(1)


def test_legacy_what_is_confirmed_stays_and_leaves_nothing_of_its_timer(host: Machine, spec: Path):
    before = standing(host)
    applied = wirespeed("apply", str(spec), "--yes", "--try", str(SOON_S))
    assert applied.returncode == 0, applied.stdout + applied.stderr
    timers = sh(host, "systemctl list-timers --all --no-legend 'wirespeed-try-*'")
    assert "wirespeed-try-" in timers
    confirmed = wirespeed("confirm", str(spec))
    assert confirmed.returncode == 0, confirmed.stdout + confirmed.stderr
    after = standing(host)
    assert "9080" in after
    sleep_s(SOON_S + 3)
    assert standing(host) == after and of_tries(host) == ""
    undone = wirespeed("undo", str(spec))
    assert undone.returncode == 0, undone.stdout + undone.stderr
    assert standing(host) == before


def test_legacy_what_is_not_confirmed_is_taken_back_by_the_host(host: Machine, spec: Path):
    before = standing(host)
    applied = wirespeed("apply", str(spec), "--yes", "--try", str(SOON_S))
    assert applied.returncode == 0, applied.stdout + applied.stderr
    assert "9080" in standing(host)
    await_result(host)
    assert standing(host) == before
    late = wirespeed("confirm", str(spec))
    assert late.returncode == 1 and "try.went_back" in late.stderr, late.stdout + late.stderr
    assert standing(host) == before and of_tries(host) == ""
    assert wirespeed("status", str(spec)).returncode == 0


def reset(host: Machine) -> None:
    """As by somebody who trips over its cable: nothing is shut down, nothing is written out."""
    before, deadline = boot_id(host), Deadline(300)
    assert before
    at_once = "(sleep 0.2; echo b >/proc/sysrq-trigger) </dev/null >/dev/null 2>&1 &"
    host.run(["sh", "-c", f"echo 1 >/proc/sys/kernel/sysrq; {at_once}"], timeout_s=30)
    while boot_id(host) in ("", before):
        assert not deadline.expired, "it did not come back"
        sleep_s(1)


def boot_id(host: Machine) -> str:
    try:
        return sh(host, "cat /proc/sys/kernel/random/boot_id")
    except (HostError, MeasurementError):
        return ""


def test_legacy_a_host_whose_power_fails_takes_the_run_back_when_it_is_up_again(
    host: Machine, spec: Path
):
    """What is on its disk is what the tool itself has put there: nothing here calls sync."""
    before = standing(host)
    applied = wirespeed("apply", str(spec), "--yes", "--try", str(AFTER_BOOT_S))
    assert applied.returncode == 0, applied.stdout + applied.stderr
    assert "9080" in standing(host)
    reset(host)
    # A boot forgets an MTU by itself: so it is set, for the host to take it back.
    again = "ip link set dev enp1s0 mtu 9080; ip link set dev enp2s0 mtu 9080"
    sh(host, f"[ -e /var/lib/wirespeed/try/*/taken ] || {{ {again}; }}")
    await_result(host)
    assert sh(host, "cat /var/lib/wirespeed/try/*/result") == "undone", "no command of it failed"
    late = wirespeed("confirm", str(spec))
    assert late.returncode == 1 and "try.went_back" in late.stderr, late.stdout + late.stderr
    assert "could not be removed" not in late.stderr
    assert standing(host) == before and of_tries(host) == ""
    assert wirespeed("status", str(spec)).returncode == 0


def test_legacy_what_was_confirmed_before_the_power_failed_is_not_taken_back(
    host: Machine, spec: Path
):
    applied = wirespeed("apply", str(spec), "--yes", "--try", str(AFTER_BOOT_S))
    assert applied.returncode == 0, applied.stdout + applied.stderr
    confirmed = wirespeed("confirm", str(spec))
    assert confirmed.returncode == 0, confirmed.stdout + confirmed.stderr
    reset(host)
    assert of_tries(host) == ""
    assert sh(host, "systemctl list-timers --all --no-legend 'wirespeed-try-*'") == ""
    undone = wirespeed("undo", str(spec))
    assert undone.returncode == 0, undone.stdout + undone.stderr
