"""VFs and representors are kept from NetworkManager and networkd, where these run."""

import shutil
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from described_files import DescribedFiles
from proof import Answer, prove
from test_legacy_vlan import host, spec, steps

from wirespeed.approaches.legacy_vlan import legacy_vlan
from wirespeed.approaches.unmanaged import not_kept_off, unmanaged
from wirespeed.facts.installed import MANAGERS, Installed
from wirespeed.host.local import LocalRunner
from wirespeed.model.command import Command
from wirespeed.model.observed import Known
from wirespeed.model.plan import Plan
from wirespeed.report.plan_text import plan_lines
from wirespeed.steps.file_content import FileContent

PF, VFS = "0000:03:00.0", ("0000:03:00.2", "0000:03:00.3")
RULES = "/etc/udev/rules.d/86-wirespeed-0000-03-00.0.rules"
NETWORK = "/etc/systemd/network/05-wirespeed-0000-03-00.0.network"


@dataclass
class Reloading(DescribedFiles):
    """Files, and what the programs that read them have in mind: what stood there when they read."""

    known: dict[str, dict[str, str]] = field(default_factory=dict)

    def run(self, command: Command) -> Answer:
        match command.argv:
            case ("udevadm", "control", "--reload"):
                self.known["udev"] = self._below("/etc/udev/rules.d/")
            case ("networkctl", "reload"):
                self.known["networkd"] = self._below("/etc/systemd/network/")
            case _:
                return super().run(command)
        return Answer()

    def _below(self, folder: str) -> dict[str, str]:
        suffix = ".rules" if "udev" in folder else ".network"
        return {p: c for p, c in self.files.items() if p.startswith(folder) and p.endswith(suffix)}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reloading) and self._written() == other._written()

    def _written(self) -> dict[str, str]:
        return {p: c for p, c in self.files.items() if not p.endswith(".wirespeed")}


def files(*managers: str) -> list[FileContent]:
    return list(unmanaged(host(managers=managers), PF, VFS))


def test_where_neither_program_runs_nothing_is_written():
    assert files() == []


def test_where_it_cannot_be_read_whether_one_runs_the_plan_says_that_none_is_kept_off():
    said = not_kept_off(host())
    assert said.startswith("whether NetworkManager or networkd runs could not be read (")
    assert said.endswith("no file keeps them off its VFs and representors")
    assert not_kept_off(host(managers=["networkd"])) == ""
    shown = " ".join(" ".join(plan_lines(Plan(steps=(), notes=(f"alpha: {said}",)))).split())
    assert f"alpha: {said}" in shown


def test_where_network_manager_runs_one_rule_of_udev_is():
    (rules,) = files("NetworkManager")
    assert rules.path == RULES
    vfs, representors = rules.content.splitlines()
    assert 'KERNELS=="0000:03:00.2|0000:03:00.3"' in vfs
    assert (
        f'KERNELS=="{PF}"' in representors and 'ATTR{phys_port_name}=="*vf[0-9]*"' in representors
    )
    # NetworkManager(8), UDEV PROPERTIES.
    assert all('ENV{NM_UNMANAGED}="1"' in line for line in (vfs, representors))


def test_networkd_is_told_by_a_file_that_matches_what_udev_sets():
    network, rules = files("networkd", "NetworkManager")
    assert (network.path, network.read_by) == (NETWORK, "networkd")
    assert network.content == (
        f"[Match]\nProperty=WIRESPEED_UNMANAGED={PF}\n\n[Link]\nUnmanaged=yes\n"
    )
    assert rules.content.count(f'ENV{{WIRESPEED_UNMANAGED}}="{PF}"') == 2


def test_a_program_that_runs_is_known_by_what_it_writes(tmp_path: Path):
    """By the fact's own shell text, on files elsewhere: folders alone are there on any host."""
    script = Installed.script
    for path in MANAGERS.values():
        script = script.replace(path, f"{tmp_path}{path}")
        (tmp_path / path[1:]).parent.mkdir(parents=True)
    shell = 'show() { shift 2; "$@"; }\n'
    found = LocalRunner().run(["sh", "-c", shell + script])
    assert "manager" not in found.output
    for path in MANAGERS.values():
        (tmp_path / path[1:]).touch()
    found = LocalRunner().run(["sh", "-c", shell + script])
    assert {line for line in found.output.splitlines() if line.startswith("manager")} == {
        "manager NetworkManager",
        "manager networkd",
    }
    managers = host(managers=["networkd"])[Installed].managers
    assert isinstance(managers, Known) and managers.value == {"networkd"}


@pytest.mark.parametrize("number", [0, 1])
def test_who_reads_the_file_reads_it_again_after_apply_and_after_undo(number: int):
    step = files("networkd")[number]
    prove(step, Reloading(), Reloading({step.path: step.content}))
    host, none, all_of_it = Reloading(), {"content": None}, {"content": step.content}
    for now, to, known in ((none, all_of_it, {step.path: step.content}), (all_of_it, none, {})):
        for command in step.commands(now, to):
            assert host.run(command).returncode == 0
        assert host.known[step.read_by] == known


def test_they_come_before_the_vfs_of_each_port():
    found = steps(host(managers=["networkd"]))
    for port, first in (("03-00.0", "vf_count 0000:03:00.0"), ("03-00.1", "vf_count 0000:03:00.1")):
        written = [place for place, step in enumerate(found) if f"wirespeed-0000-{port}" in step]
        assert len(written) == 2 and max(written) < found.index(first)


def test_a_host_without_guests_gets_none():
    wanted = legacy_vlan(spec(), "beta", host(managers=["networkd"]))
    assert not [one for one in wanted if isinstance(one.step, FileContent)]


def test_udev_takes_the_rules(tmp_path: Path):
    """udevadm checks each key, operator and its value: `verify`, since systemd 254."""
    (rules,) = files("NetworkManager")
    path = tmp_path / "86-wirespeed.rules"
    path.write_text(rules.content)
    if shutil.which("udevadm") is None:
        pytest.skip("no udevadm here")
    done = LocalRunner().run(["udevadm", "verify", "--no-summary", str(path)])
    if "Unknown command verb" in done.errors:
        pytest.skip("udevadm cannot verify: it is older than systemd 254")
    assert done.returncode == 0, done.errors
