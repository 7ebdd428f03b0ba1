"""A virtual machine as guest, on real kernels: it boots with VFs of both ports, and bonds them."""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from program import wirespeed

from wirespeed.commands.hosts_of_spec import read_spec, runners_of
from wirespeed.lab.machine_spec import LabSpec, MachineSpec
from wirespeed.lab.machines import Machine, Machines

pytestmark = [
    pytest.mark.machines,
    pytest.mark.timeout(1800),
    pytest.mark.skip(reason="a guest of an emulated host takes minutes to boot: by hand only"),
]
PORTS = ("0000:01:00.0", "0000:02:00.0")
BOOT = "/usr/lib/lab"
STORY = {
    "approach": "legacy-vlan",
    "underlay": {"subnet": "192.168.9.0/24", "mtu": 9080},
    "networks": {"storage": {"segment": 42, "subnet": "192.168.10.0/24", "mtu": 9000}},
    "guests": {
        "gpu-1": {
            "host": "alpha",
            "networks": ["storage"],
            "kind": "qemu",
            "memory_gib": 0.375,
            # A lab's host boots from these, and so does a guest of its own.
            "image": "/dev/vda",
            "kernel": f"{BOOT}/vmlinux",
            "initrd": f"{BOOT}/initramfs",
            # The second option: under an emulated CPU that is starved, the kernel takes its timer
            # for broken.
            "append": "console=ttyS0 no_timer_check mitigations=off no5lvl quiet panic=-1",
        },
        "ceph-1": {"host": "beta", "networks": ["storage"], "kind": "namespace"},
    },
}


@pytest.fixture(scope="module")
def lab() -> Iterator[Machines]:
    hosts = (MachineSpec(name="alpha", memory_mib=1536), MachineSpec(name="beta"))
    with Machines(LabSpec(hosts=hosts), name=f"test-{os.getpid()}-vm") as lab:
        yield lab


@pytest.fixture
def spec(lab: Machines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    path = tmp_path / "spec.yaml"
    hosts = {
        name: {"reach": f"ssh://{host.state.destination}", "ports": PORTS}
        for name, host in lab.hosts.items()
    }
    path.write_text(json.dumps({"hosts": hosts, **STORY}))
    return path


def sh(host: Machine, script: str) -> str:
    done = host.run(["sh", "-ec", script])
    assert done.returncode == 0, f"{script}\n{done.output}\n{done.errors}"
    return done.output


def standing(lab: Machines) -> str:
    """What is on the host of the virtual machine: VFs, drivers, netdevs, processes, files."""
    return sh(
        lab.hosts["alpha"],
        "cat /sys/bus/pci/devices/0000:0[12]:00.0/sriov_numvfs; ip -br link; "
        "ls -d /sys/module/vfio_pci 2>&1 || :; pgrep -a qemu || :; "
        "find /run/wirespeed -type f -o -type p 2>/dev/null || :",
    )


def test_legacy_a_virtual_machine_owns_vfs_of_both_ports(lab: Machines, spec: Path):
    before = standing(lab)
    applied = wirespeed("apply", str(spec), "--yes", timeout_s=800)
    assert applied.returncode == 0, applied.stdout + applied.stderr
    assert "bond bond0 on gpu-1" in " ".join(applied.stdout.split())
    alpha = lab.hosts["alpha"]
    drivers = sh(alpha, "basename -a $(readlink -f /sys/bus/pci/devices/0000:0[12]:10.0/driver)")
    assert drivers.split() == ["vfio-pci", "vfio-pci"], "the host has let go of both VFs"
    with runners_of(read_spec(spec)) as runners:
        inside = runners["gpu-1"].run(("sh", "-c", "hostname; cat /proc/net/bonding/bond0"))
        lines = inside.output.split("\n")
        assert lines[0] == "gpu-1"
        assert re.findall(r"Slave Interface: (\S+)", inside.output) == ["net0p0", "net0p1"]
        # Full frames of MTU 9000, not to be cut up, over the VLAN that the card puts on them.
        ping = ("ping", "-c", "3", "-w", "30", "-M", "do", "-s", "8972", "192.168.10.2")
        answered = runners["gpu-1"].run(ping)
        assert answered.returncode == 0, answered.output
        # Nothing else leads to it, nor it to anything else.
        away = runners["gpu-1"].run(("ip", "-4", "route", "show", "default"))
        assert away.output == ""
    again = wirespeed("apply", str(spec), "--yes")
    assert again.returncode == 0, again.stdout + again.stderr
    undone = wirespeed("undo", str(spec), timeout_s=300)
    assert undone.returncode == 0, undone.stdout + undone.stderr
    assert standing(lab) == before
