"""What was applied to a real host comes back when it boots, until that is taken away."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from program import wirespeed

from wirespeed.host.clock import Deadline, sleep_s
from wirespeed.lab.machine_spec import LabSpec, MachineSpec
from wirespeed.lab.machines import Machine, Machines
from wirespeed.model.error import WirespeedError

pytestmark = [pytest.mark.machines, pytest.mark.rare, pytest.mark.timeout(900)]
PORTS = ("0000:01:00.0", "0000:02:00.0")
UNIT = "wirespeed-two-tenants.service"
FILES = (
    "/etc/wirespeed-two-tenants.sh",
    f"/etc/systemd/system/{UNIT}",
    f"/etc/systemd/system/multi-user.target.wants/{UNIT}",
    "/run/wirespeed-two-tenants.done",
)
BOOT_S = 240


@pytest.fixture(scope="module")
def host() -> Iterator[Machine]:
    alpha = MachineSpec(name="alpha", systemd=True, disk=True)
    name = f"test-{os.getpid()}-boot"
    with Machines(LabSpec(hosts=(alpha,), wiring="switch"), name=name) as lab:
        yield lab.hosts["alpha"]


@pytest.fixture
def spec(host: Machine, tmp_path: Path) -> Path:
    path = tmp_path / "two-tenants.yaml"
    guest = {"host": "alpha", "vcpus": 1, "memory_gib": 1}
    path.write_text(
        json.dumps(
            {
                "hosts": {"alpha": {"reach": f"ssh://{host.state.destination}", "ports": PORTS}},
                "approach": "legacy-vlan",
                "underlay": {"subnet": "192.168.9.0/24", "mtu": 9080},
                "networks": {
                    "storage": {"segment": 42, "subnet": "192.168.10.0/24", "mtu": 9000},
                    "public": {"segment": 40, "subnet": "192.168.20.0/24", "mtu": 1500},
                },
                "guests": {
                    "ceph-1": {"kind": "namespace", "networks": ["storage"], **guest},
                    "gpu-1": {"kind": "none", "networks": ["storage", "public"], **guest},
                },
            }
        )
    )
    return path


def sh(host: Machine, script: str) -> str:
    done = host.run(["sh", "-ec", script])
    assert done.returncode == 0, f"{script}\n{done.output}\n{done.errors}"
    return done.output.strip()


def standing(host: Machine) -> str:
    """Ports, VFs, their drivers, namespaces and what is in them, modules: no counters, no order."""
    return sh(
        host,
        """
        for port in 0000:01:00.0 0000:02:00.0; do
            at=/sys/bus/pci/devices/$port
            echo "$port $(cat $at/sriov_numvfs) $(cat $at/net/*/mtu)"
            for vf in $at/virtfn*; do
                [ ! -e $vf ] || echo "${vf##*/} $(basename $(readlink -f $vf/driver))"
            done
        done
        ip link show enp1s0 | sed '1d'
        ip link show enp2s0 | sed '1d'
        ip -o link | sed 's/^[0-9]*: //; s/@if[0-9]*//' | cut -d: -f1 | sort
        for name in $(ip netns list | cut -d' ' -f1 | sort); do
            echo "in $name"
            ip -n $name -o -4 address | sed 's/^[0-9]*: //'
            ip -n $name -o link | grep -o '^[0-9]*: [^:]*:.* mtu [0-9]*' | sed 's/^[0-9]*: //' \
                | sed 's/<.*>//' | sort
        done
        lsmod | cut -d' ' -f1 | grep -x -e vfio_pci -e bonding || :
        """,
    )


def reboot(host: Machine) -> None:
    """Reboot it and wait until somebody can log in."""
    before = sh(host, "cat /proc/sys/kernel/random/boot_id")
    host.run(["systemctl", "--no-block", "reboot"])
    deadline = Deadline(BOOT_S)
    boot_id = before
    while boot_id in ("", before):
        assert not deadline.expired, "it did not come back"
        sleep_s(2)
        try:
            boot_id = host.run(["cat", "/proc/sys/kernel/random/boot_id"]).output.strip()
        except WirespeedError:
            continue


def await_boot(host: Machine) -> None:
    """Wait for the end of the boot, and so for our unit."""
    done = host.run(["systemctl", "is-system-running", "--wait"], timeout_s=BOOT_S)
    assert done.output.strip() == "running", sh(host, "systemctl --failed; journalctl -b")


def test_legacy_what_is_applied_comes_back_at_boot_and_is_forgotten_when_removed(
    host: Machine, spec: Path
):
    as_found = standing(host)
    refused = wirespeed("persist", str(spec), "--yes")
    assert refused.returncode == 2
    assert "ERROR run.missing" in refused.stderr

    applied = wirespeed("apply", str(spec), "--yes")
    assert applied.returncode == 0, applied.stdout + applied.stderr
    as_applied = standing(host)
    assert as_applied != as_found
    assert "in ceph-1" in as_applied

    lasting = wirespeed("persist", str(spec), "--yes")
    assert lasting.returncode == 0, lasting.stdout + lasting.stderr
    assert lasting.stdout.count("  verified  ") == 4
    assert standing(host) == as_applied, "nothing that runs is changed"
    # It prints nothing where nothing is wrong.
    assert sh(host, f"systemd-analyze verify /etc/systemd/system/{UNIT} 2>&1") == ""
    again = wirespeed("persist", str(spec), "--yes")
    assert "0 of 4 steps to do" in again.stdout

    reboot(host)
    await_boot(host)
    assert standing(host) == as_applied
    assert sh(host, f"systemctl is-active {UNIT}") == "active"
    drift = wirespeed("drift", str(spec))
    assert drift.returncode == 0, drift.stdout + drift.stderr
    # Once more by hand: all of it is done.
    sh(host, f"systemctl restart {UNIT}")
    assert standing(host) == as_applied

    # One that hangs holds nobody off who wants to log in, and can be taken away.
    sh(host, f"sed -i '/^await 0/i sleep 1000' {FILES[0]}; sync")
    reboot(host)
    assert sh(host, f"systemctl is-active {UNIT} || :") == "activating"
    removed = wirespeed("persist", "--remove", str(spec))
    assert removed.returncode == 0, removed.stdout + removed.stderr
    assert sh(host, f"ls {' '.join(FILES)} 2>&1 || :").count("No such file") == len(FILES)

    reboot(host)
    await_boot(host)
    assert standing(host) == as_found
    undone = wirespeed("undo", str(spec))
    assert undone.returncode == 0, undone.stdout + undone.stderr
    assert standing(host) == as_found
