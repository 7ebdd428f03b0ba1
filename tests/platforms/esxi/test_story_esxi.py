"""Test 5 of the DPDK report: one ESXi machine, by its shell and by its API, from found to ready.

The shell is a described one behind a real sshd, the API is VMware's own simulator: two hosts in a
spec, as one machine is named twice.
"""

from pathlib import Path
from typing import Any

import pytest
from described_esxi import DescribedEsxi, described_esxi
from vcsim import PASSWORD, Vcsim

from wirespeed.apply.run_place import run_folder
from wirespeed.commands.apply import apply
from wirespeed.commands.plan import plan
from wirespeed.commands.undo import undo
from wirespeed.host import vsphere
from wirespeed.host.vsphere import VsphereSession
from wirespeed.platforms.esxi import control as control_esxi

pytestmark = pytest.mark.sshd
SPEC = """\
hosts:
  vmhost: {{reach: "esxi://vmhost", ports: ["0000:af:00.0", "0000:af:00.1"]}}
  vmhost-api: {{reach: "{api}", ports: ["0000:0b:00.0"]}}
approach: esxi
esxi:
  parameters: {{max_vfs: "1,1,1,1,1,1,1", supported_num_ports: "8"}}
  guests:
    "{number}":
      reserve_memory: true
      reserve_cpu_mhz: 2700
      affinity: 0-1
      numa_node: 0
      latency_sensitivity: high
"""
FOUND = "DRSS=4"
READY = "DRSS=4 max_vfs=1,1,1,1,1,1,1 supported_num_ports=8"
REBOOT_DUE = 4


def run(command: Any, *words: object) -> int:
    return int(command.main([str(word) for word in words], standalone_mode=False) or 0)


def test_one_esxi_machine_goes_from_found_to_ready_and_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    shell, api = described_esxi(tmp_path / "esxi", is_old=True), Vcsim()
    assert shell.home and shell.server
    try:
        vsphere._password.cache_clear()
        monkeypatch.setenv("HOME", str(shell.home.folder))
        monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
        monkeypatch.setattr(control_esxi, "ESXI_LOCK", str(shell.lock))
        monkeypatch.setenv(vsphere.PASSWORD, PASSWORD)
        monkeypatch.setenv(vsphere.THUMBPRINT, api.thumbprint)
        _story(shell, api, tmp_path / "spec.yaml", capsys)
        assert shell.says("refused") == ""
    finally:
        shell.server.close()
        api.close()


def _story(
    shell: DescribedEsxi, api: Vcsim, spec: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = vsphere.VsphereHost(api.url, "127.0.0.1", "root", api.port)
    with VsphereSession(place) as session:
        number = sorted(session.host()["guests"])[0]
        session._machine(number).PowerOffVM_Task()
        before = session.guest(number)
        spec.write_text(SPEC.format(api=api.url, number=number))

        assert run(plan, spec) == 0
        said = capsys.readouterr().out
        first, second = said.index("esxcli system module"), said.index(f"ReconfigVM_Task {number}")
        assert first < second and "reboot" in said
        assert PASSWORD not in said

        assert run(apply, spec, "--yes") == REBOOT_DUE
        assert (shell.says("options"), shell.says("running")) == (READY, FOUND)
        assert session.guest(number) == {
            **(before or {}),
            "memoryAllocation.reservation": 32,
            "memoryReservationLockedToMax": True,
            "cpuAllocation.reservation": 2700,
            "cpuAffinity.affinitySet": "0,1",
            "latencySensitivity.level": "high",
            "extraConfig.numa.nodeAffinity": "0",
        }
        shell.put("maintenance", "")
        assert run(apply, spec, "--yes", "--reboot") == 0
        assert shell.says("running") == READY
        journal = (run_folder(spec) / "journal.jsonl").read_text()
        assert PASSWORD not in journal

        assert run(undo, spec) == 0
        assert shell.says("options") == FOUND
        assert session.guest(number) == before
