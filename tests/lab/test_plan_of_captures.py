"""A plan of a host's capture is the plan of the host itself, before and after it is applied."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from program import wirespeed

from wirespeed.lab.machine_spec import LabSpec, MachineSpec
from wirespeed.lab.machines import Machines

pytestmark = [pytest.mark.machines, pytest.mark.rare, pytest.mark.timeout(900)]
PORTS = ("0000:01:00.0", "0000:02:00.0")
WANTED = {
    "approach": "legacy-vlan",
    "underlay": {"subnet": "192.168.9.0/24", "mtu": 9080},
    "networks": {
        "storage": {"segment": 42, "subnet": "192.168.10.0/24", "mtu": 9000},
        "public": {"segment": 40, "subnet": "192.168.20.0/24", "mtu": 1500},
    },
    "guests": {
        "ceph-1": {"host": "alpha", "kind": "namespace", "networks": ["storage", "public"]},
        "gpu-1": {"host": "alpha", "networks": ["storage"]},
    },
}


@pytest.fixture(scope="module")
def lab() -> Iterator[Machines]:
    alone = LabSpec(hosts=(MachineSpec(name="alpha"),), wiring="switch")
    with Machines(alone, name=f"test-{os.getpid()}-captures") as lab:
        yield lab


def spec_of(folder: Path, name: str, reach: str) -> str:
    path = folder / f"{name}.yaml"
    path.write_text(json.dumps({"hosts": {"alpha": {"reach": reach, "ports": PORTS}}, **WANTED}))
    return str(path)


def done(*arguments: str) -> str:
    ended = wirespeed(*arguments)
    assert ended.returncode == 0, f"{arguments}\n{ended.stdout}\n{ended.stderr}"
    return ended.stdout


def test_the_legacy_plan_of_a_capture_is_that_of_the_host(lab: Machines, tmp_path: Path) -> None:
    place = lab.hosts["alpha"].state.destination
    live = spec_of(tmp_path, "live", f"ssh://{place}")

    def from_capture(name: str) -> str:
        capture = tmp_path / f"{name}.txt"
        done("capture", place, "--seconds", "0", "--out", str(capture))
        return done("plan", spec_of(tmp_path, name, str(capture)), "--json")

    before = from_capture("before")
    assert before == done("plan", live, "--json")
    assert any(not step["no_op"] for step in json.loads(before)["steps"])
    done("apply", live, "--yes")
    after = from_capture("after")
    assert after == done("plan", live, "--json")
    assert all(step["no_op"] for step in json.loads(after)["steps"])
