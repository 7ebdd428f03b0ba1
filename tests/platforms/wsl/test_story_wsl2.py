"""The WSL2 document's story: from its machine as found, through the commands, and back.

Each stage's ceiling against the document's figures is in tests/described/test_wsl2_both_sides.py.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from itertools import cycle
from pathlib import Path

import described_wsl2 as described
import pytest
from click.testing import CliRunner, Result
from described_powershell import DescribedPowerShell
from described_windows import BlueScreenError, DescribedWindows
from described_wsl2 import CARD, OWN, SWITCH, Linux, LinuxControl, captured, machine

from wirespeed.apply.persist import boot_steps, persist_steps
from wirespeed.apply.record import Record
from wirespeed.apply.run import read_journal
from wirespeed.apply.run_place import run_folder
from wirespeed.commands import apply as apply_command
from wirespeed.commands import undo as undo_command
from wirespeed.commands.apply import apply
from wirespeed.commands.undo import undo
from wirespeed.doctor.diagnose import diagnose
from wirespeed.model.capture import parse_capture
from wirespeed.model.error import ApplyError, LeftChangedError
from wirespeed.model.fact import HostFacts
from wirespeed.model.journal import Begun, whole_plan
from wirespeed.model.plan import PlannedStep
from wirespeed.model.spec.spec import Spec
from wirespeed.platforms.windows import control as control_powershell
from wirespeed.platforms.windows.control import WindowsControl
from wirespeed.runs import undo_run as undo_run_module
from wirespeed.runs.persist_run import netdevs_of
from wirespeed.runs.run_hosts import REBOOT_DUE
from wirespeed.steps.file_content import FileContent

SPEC = """\
hosts: {desk: {reach: winssh://ann@desk, ports: ["0000:0a:00.0"]}}
approach: wsl2
underlay: {subnet: 10.10.10.0/24, mtu: 9000}
"""
WINDOWS_STEPS = ["windows_filter", "windows_switch", *["windows_property"] * 3, "wsl_config"]


class Desk:
    """The machine, reached by the commands."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, spec: str = SPEC) -> None:
        self.windows, self.linux = machine()
        self.start = deepcopy((self.windows, self.linux))
        self.shell = DescribedPowerShell(self.windows)
        self.spec = folder / "desk.yaml"
        self.spec.write_text(spec)
        self.wsl = LinuxControl(self.linux, self.windows)
        controls = {
            "desk": self.wsl,
            "desk.windows": WindowsControl("desk.windows", self.shell, back_s=5.0),
        }

        @contextmanager
        def controls_of(_: Spec) -> Iterator[dict[str, object]]:
            yield controls  # type: ignore[misc]

        for module in (apply_command, undo_command, undo_run_module):
            monkeypatch.setattr(module, "controls_of", controls_of)
        monkeypatch.setattr(control_powershell, "PAUSE_S", 0.0)

    def call(self, command: object, *options: str, input: str | None = None) -> Result:
        arguments = [str(self.spec), *options]
        return CliRunner().invoke(command, arguments, input=input, standalone_mode=False)  # type: ignore[arg-type]

    def planned(self) -> list[PlannedStep]:
        entries = read_journal(run_folder(self.spec))
        return [step for e in entries if isinstance(e, Begun) for step in e.plan.steps]

    @property
    def state(self) -> tuple[DescribedWindows, Linux]:
        return self.windows, self.linux


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    return Desk(tmp_path, monkeypatch)


def test_wsl2_as_found_the_doctor_names_the_switch_and_the_filter(desk: Desk):
    text = captured(desk.windows)
    found = diagnose(HostFacts("desk", parse_capture(text, "desk")), described.doc_wsl2.question())
    assert {"windows.switch_without_card", "windows.foreign_filter"} <= {
        finding.rule for finding in found.findings
    }


def test_wsl2_in_bridged_mode_is_only_planned_when_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    bridged = Desk(tmp_path, monkeypatch, f"{SPEC}wsl: {{networking: bridged}}\n")
    assert bridged.call(apply, "--yes").return_value == REBOOT_DUE
    config = bridged.planned()[-1]
    assert "LOSES LAN AND INTERNET" in config.why
    assert bridged.windows.files[".wslconfig"].decode() == (
        described.WSLCONFIG + f"networkingMode=bridged\r\nvmSwitch={SWITCH}\r\n"
    )


def test_wsl2_the_filter_is_unbound_before_the_switch_is_made(desk: Desk):
    done = desk.call(apply, "--yes")
    assert done.return_value == REBOOT_DUE, done.output
    kinds = [planned.step["step"] for planned in desk.planned()]
    assert kinds == WINDOWS_STEPS
    assert {planned.host for planned in desk.planned()} == {"desk.windows"}
    made = next(n for n, line in enumerate(desk.shell.ran) if line.startswith("New-VMSwitch"))
    assert [line.split()[0] for line in desk.shell.ran[:made]] == ["Disable-NetAdapterBinding"] * 3
    assert OWN not in " ".join(desk.shell.ran)
    assert desk.windows.boots == 1, "it did not crash"


def test_wsl2_is_shut_down_only_when_it_is_asked_for_and_that_is_named(desk: Desk):
    done = desk.call(apply, "--yes")
    assert "with `wsl --shutdown` in Windows: this ends every distribution" in done.output
    assert desk.linux.boots == 1
    asked = desk.call(apply, "--reboot", input="n\n")
    assert asked.return_value == REBOOT_DUE and "wsl --shutdown" in asked.output
    assert desk.linux.boots == 1
    assert desk.call(undo).return_value == 0
    assert desk.state == desk.start


def test_wsl2_all_the_way_and_back(desk: Desk):
    done = desk.call(apply, "--yes", "--reboot")
    assert done.return_value == 0, (done.output, done.exception)
    windows, linux = desk.state
    assert windows.switches[SWITCH].adapter == CARD
    assert [a.bindings.get("nt_rtf64") for a in windows.adapters.values()] == [
        False, True, False, False, False,
    ]  # fmt: skip
    assert windows.adapters[CARD].properties["*LsoV2IPv4"] == ["1"]
    assert windows.adapters[CARD].properties["*JumboPacket"] == ["9014"]
    assert windows.files[".wslconfig"].decode() == (
        described.WSLCONFIG + "networkingMode=mirrored\r\n"
    )
    assert (linux.boots, linux.rings, linux.modules) == (2, {"rx": 3502, "tx": 2560}, {"tcp_bbr"})
    assert linux.files["/sys/class/net/eth2/mtu"] == "9000\n"
    assert linux.files["/proc/sys/net/ipv4/tcp_congestion_control"] == "bbr\n"
    assert [
        linux.files[f"/sys/class/net/eth2/queues/tx-{n}/xps_cpus"].strip() for n in range(8)
    ] == ["000001", "000002", "000004", "000008", "000010", "000020", "000040", "000080"]
    again = desk.call(apply, "--yes")
    assert again.return_value == 0 and "0 of" in again.output
    back = desk.call(undo)
    assert back.return_value == 0, (back.output, back.exception)
    assert desk.state == desk.start
    assert windows.boots == 1


def test_wsl2_a_switch_made_while_the_filter_is_bound_takes_windows_down(desk: Desk):
    """Somebody binds the filter again between our reading and the switch: the document's Step 3."""
    real = desk.windows.run
    line = "New-VMSwitch"

    def run(command):  # noqa: ANN001, ANN202
        if command.argv[0] == line:
            desk.windows.adapters[CARD].bindings["nt_rtf64"] = True
        return real(command)

    desk.windows.run = run  # type: ignore[method-assign]
    done = desk.call(apply, "--yes")
    assert isinstance(done.exception, ApplyError | LeftChangedError), done.output
    assert "restarted while it ran" in str(done.exception)
    del desk.windows.run
    assert desk.windows.boots == 2
    assert desk.state == desk.start
    with pytest.raises(BlueScreenError):
        desk.windows._detach()


@pytest.mark.parametrize("trouble", ["fail", "hang", "lose", "crash"])
def test_wsl2_trouble_at_any_command_ends_in_the_goal_or_as_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trouble: str
):
    whole = Desk(tmp_path, monkeypatch)
    assert whole.call(apply, "--yes").return_value == REBOOT_DUE
    goal = whole.state
    assert whole.shell.count > 8
    ended: set[str] = set()
    for number in range(whole.shell.count):
        folder = tmp_path / str(number)
        folder.mkdir()
        one = Desk(folder, monkeypatch)
        one.shell.trouble = {number: trouble}
        done = one.call(apply, "--yes")
        if done.exception is None:
            assert one.state == goal, number
            ended.add("goal")
        else:
            assert isinstance(done.exception, ApplyError), (number, done.exception)
            assert one.state == one.start, (number, done.exception)
            ended.add("as found")
    assert "as found" in ended
    assert ("goal" in ended) == (trouble == "lose")


@pytest.mark.parametrize("trouble", ["fail", "hang", "lose", "crash"])
def test_wsl2_trouble_in_an_undo_is_finished_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trouble: str
):
    whole = Desk(tmp_path, monkeypatch)
    whole.call(apply, "--yes")
    before = whole.shell.count
    assert whole.call(undo).return_value == 0
    for number in range(before, whole.shell.count):
        folder = tmp_path / str(number)
        folder.mkdir()
        one = Desk(folder, monkeypatch)
        one.call(apply, "--yes")
        one.shell.trouble = {number: trouble}
        first = one.call(undo)
        if first.exception is not None:
            assert isinstance(first.exception, LeftChangedError)
            assert one.call(undo).return_value == 0
        assert one.state == one.start, number


@pytest.mark.parametrize("troubles", [("fail", "hang"), ("restart",), ("lose", "", "")])
def test_wsl2_trouble_at_any_command_of_its_linux_ends_in_the_goal_or_as_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, troubles: tuple[str, ...]
):
    """Both sides are put back: what the Windows side had come to was the first stage's end."""
    whole = Desk(tmp_path, monkeypatch)
    assert whole.call(apply, "--yes", "--reboot").return_value == 0
    goal, commands = deepcopy(whole.state), whole.wsl.count
    assert commands > 12
    assert whole.call(undo).return_value == 0
    for number, trouble in zip(range(whole.wsl.count), cycle(troubles), strict=False):
        if not trouble:
            continue
        folder = tmp_path / str(number)
        folder.mkdir()
        one = Desk(folder, monkeypatch)
        one.wsl.trouble = {number: trouble}
        done = one.call(apply, "--yes", "--reboot")
        if number < commands and trouble != "lose":
            assert isinstance(done.exception, ApplyError), (number, done.exception)
            assert one.state == one.start, number
            continue
        assert done.return_value == 0, (number, done.exception)
        assert one.state == goal, number
        back = one.call(undo)
        if back.exception is not None:
            assert isinstance(back.exception, LeftChangedError), (number, back.exception)
            assert one.call(undo).return_value == 0, number
        assert one.state == one.start, number


def test_wsl2_what_persists_waits_for_the_netdev_for_the_card_is_on_the_other_side(desk: Desk):
    desk.call(apply, "--yes", "--reboot")
    entries = read_journal(run_folder(desk.spec))
    plan = whole_plan(entries)
    assert plan is not None
    assert netdevs_of(plan, "desk") == ["eth2"]
    lasting = list(boot_steps(Record(plan, lambda _: None, entries), "desk"))
    script = next(s for s in persist_steps("desk", ["eth2"], lasting) if s.subject.endswith(".sh"))
    assert isinstance(script, FileContent)
    assert "\nawait eth2\n" in script.content
    assert "run ip link set dev eth2 mtu 9000\n" in script.content
    assert "NetAdapter" not in script.content
    assert list(boot_steps(Record(plan, lambda _: None, entries), "desk.windows")) == []
