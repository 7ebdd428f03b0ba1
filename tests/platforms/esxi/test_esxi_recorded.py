"""A plan of ESXi hosts that are captures in files: what it would take, before anyone goes there."""

import json
from pathlib import Path
from typing import Any

import pytest

from wirespeed.commands.apply import apply
from wirespeed.commands.plan import plan
from wirespeed.model.error import InputError

SPEC = """\
hosts:
  vmhost: {reach: ./shell.capture, ports: ["0000:af:00.0"]}
  vmhost-api: {reach: ./api.capture, ports: ["0000:af:00.0"]}
approach: esxi
esxi:
  parameters: {max_vfs: "1,1"}
  guests: {"7": {reserve_memory: true, numa_node: 1}}
"""
PORTS = [{"Name": "vmnic4", "PCIDevice": "0000:af:00.0", "Driver": "nmlx5_core"}]
MODULE = [{"Name": "DRSS", "Value": "4"}, {"Name": "max_vfs", "Value": ""}]
API = {
    "version": "6.5.0",
    "pnic": [{"device": "vmnic4", "pci": "0000:af:00.0", "driver": "nmlx5_core", "speedMb": 0}],
    "guests": {
        "7": {
            "hardware.memoryMB": 32768,
            "memoryAllocation.reservation": 1024,
            "memoryReservationLockedToMax": False,
            "cpuAllocation.reservation": 0,
            "cpuAffinity.affinitySet": "",
            "latencySensitivity.level": "normal",
            "extraConfig.numa.nodeAffinity": "",
            "powerState": "poweredOn",
        }
    },
}


@pytest.fixture(name="spec")
def _spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    put(tmp_path / "shell.capture", {"esxi-ports": PORTS, "esxi-module": MODULE})
    put(tmp_path / "api.capture", {"vsphere": API})
    path = tmp_path / "spec.yaml"
    path.write_text(SPEC)
    return path


def put(path: Path, sections: dict[str, Any]) -> None:
    text = "wirespeed-capture 1 case\n"
    for name, said in sections.items():
        text += f"case begin {name} -\n{json.dumps(said)}\n\ncase end 0\n"
    path.write_text(f"{text}case done\n")


def run(command: Any, *words: object) -> int:
    return int(command.main([str(word) for word in words], standalone_mode=False) or 0)


def test_captures_of_an_esxi_host_are_planned_by_both_ways(
    spec: Path, capsys: pytest.CaptureFixture[str]
):
    assert run(plan, spec, "--json") == 0
    steps = json.loads(capsys.readouterr().out)["steps"]
    assert [(step["host"], step["step"]["step"]) for step in steps] == [
        ("vmhost", "esxi_module_parameters"),
        ("vmhost-api", "esxi_guest"),
    ]
    driver, guest = (step["commands"][0]["argv"] for step in steps)
    assert driver[-1] == "DRSS=4 max_vfs=1,1"
    assert guest == [
        "ReconfigVM_Task",
        "7",
        "memoryAllocation.reservation=32768",
        "memoryReservationLockedToMax=true",
        "extraConfig.numa.nodeAffinity=1",
    ]
    assert steps[1]["undo"][0]["argv"][2:] == [
        "memoryAllocation.reservation=1024",
        "memoryReservationLockedToMax=false",
        "extraConfig.numa.nodeAffinity=",
    ]


def test_a_capture_of_an_esxi_host_is_not_changed(spec: Path):
    with pytest.raises(InputError) as caught:
        run(apply, spec, "--yes")
    assert caught.value.what == "spec.not_esxi"


def test_a_capture_without_the_drivers_parameters_plans_nothing(spec: Path):
    put(spec.parent / "shell.capture", {"esxi-ports": PORTS})
    with pytest.raises(InputError) as caught:
        run(plan, spec)
    assert caught.value.what == "plan.cannot_tell"
