"""What the tests of a tester and a forwarder on PCI ports of lab hosts have in common."""

import json
from collections.abc import Sequence
from pathlib import Path

from wirespeed.host.local import LocalRunner
from wirespeed.lab.machines import Machine, Machines

PORTS = ("0000:01:00.0", "0000:02:00.0")
MOST_PPS = 1000
STORY = {
    "approach": "dpdk",
    "dpdk": {
        "forwarder": "testpmd-io",
        "memory_mib": 256,
        "hugepages": {"page_kib": 2048, "count": 160},
        "rx_descriptors": 512,
        "tx_descriptors": 512,
    },
    "measure": {
        "rfc2544": {
            "flows": 64,
            "seconds": 1,
            "width": 0.05,
            "max_load_pps": MOST_PPS,
            # QEMU stands still for 10 to 40 % of a trial.
            "gap_limit_ms": 1000,
            "stalled_share": 1,
        }
    },
}
OWN_WORDS = """
for port in 0000:01:00.0 0000:02:00.0; do
    basename $(readlink -f /sys/bus/pci/devices/$port/driver)
    cat /sys/bus/pci/devices/$port/driver_override
    ls /sys/bus/pci/devices/$port/net
done
cat /proc/sys/vm/nr_hugepages
cat /sys/bus/pci/devices/0000:0[12]:00.0/sriov_numvfs
ls /sys/bus/pci/devices
cat /sys/class/net/*/flags
ls /sys/module | grep vfio
ls -d /run/wirespeed*
"""
PROGRAMS = "testpmd|wirespeed-tester|dropping"
FORWARDER = Path(__file__).parent / "dropping_forwarder.c"
RUNNING = f"ls /proc/[0-9]*/exe -l 2>/dev/null | grep -E '{PROGRAMS}' | wc -l"
DROPPED, NUMBER, FLOWS, QUEUES = 5, 14, 64, 2
"""Of a trial of more than 14 x 64 frames, the frames number 14 of the first 5 of 64 flows: none of
a slower one."""


def sh(host: Machine, script: str) -> str:
    return host.run(["sh", "-c", script]).output


def running(host: Machine) -> int:
    return int(sh(host, RUNNING))


def spec_in(
    folder: Path, lab: Machines, *, frame_bytes: Sequence[int] = (64,), use_vfs: bool = False
) -> Path:
    roles = {"alpha": "tester", "beta": "dut"}
    hosts = {
        name: {
            "reach": f"ssh://{lab.hosts[name].state.destination}",
            "role": role,
            "cores": "0",
            "ports": PORTS,
            "use_vfs": use_vfs,
        }
        for name, role in roles.items()
    }
    path = folder / "spec.yaml"
    story = json.loads(json.dumps({"hosts": hosts, **STORY}))
    story["measure"]["rfc2544"]["frame_bytes"] = frame_bytes
    path.write_text(json.dumps(story))
    return path


def built_forwarder(folder: Path) -> Path:
    """Build the forwarder that drops known frames, with DPDK's headers of this machine."""
    made = folder / "dropping"
    here = LocalRunner()
    asked = here.run(["pkg-config", "--cflags", "--libs", "libdpdk"])
    assert asked.returncode == 0, asked.errors
    # Of its libraries only those that it needs: the lab's hosts do not have all.
    argv = ["cc", "-O2", "-o", str(made), str(FORWARDER), "-Wl,--as-needed", *asked.output.split()]
    compiled = here.run(argv)
    assert compiled.returncode == 0, compiled.errors
    return made
