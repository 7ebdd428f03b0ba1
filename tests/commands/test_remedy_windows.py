"""`wirespeed remedy` of a Windows host: what the doctor found there, mended and taken back."""

from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from described_powershell import DescribedPowerShell
from described_powershell_timer import TimedPowerShell
from described_windows import DescribedWindows
from described_wsl2 import CARD, OWN, windows_as_found

from described.windows import Windows, as_found, external_switch, guid
from wirespeed.apply import guard_timer_change
from wirespeed.apply.control_posix import PosixControl
from wirespeed.commands import remedy as command
from wirespeed.commands import undo as undo_command
from wirespeed.doctor.diagnose import diagnose
from wirespeed.model.capture import parse_capture
from wirespeed.model.error import ApplyError, InputError, WirespeedError
from wirespeed.model.fact import HostFacts
from wirespeed.model.finding import Diagnosis
from wirespeed.model.question import Question
from wirespeed.model.spec.spec import Spec
from wirespeed.platforms.windows import control as control_powershell
from wirespeed.platforms.windows.control import WindowsControl
from wirespeed.runs import hosts_of_spec, remedy_run
from wirespeed.runs import undo_run as undo_run_module

HOST, SWITCH = "winssh://ann@desk", "wirespeed-external"


class Desk:
    """A Windows with a virtual machine on its internal switch, and the document's filter."""

    def __init__(
        self,
        folder: Path,
        monkeypatch: pytest.MonkeyPatch,
        shell: type[DescribedPowerShell] = DescribedPowerShell,
    ) -> None:
        self.windows: DescribedWindows = deepcopy(windows_as_found())
        self.start = deepcopy(self.windows)
        self.shell = shell(self.windows)
        self.folder = folder
        self.sessions: list[dict[str, str]] = []
        self.lso = "1"
        controls = WindowsControl("desk", self.shell, back_s=5.0)

        @contextmanager
        def controls_of(spec: Spec) -> Iterator[dict[str, WindowsControl]]:
            assert list(spec.hosts) == ["desk"]
            yield {"desk": controls}

        def examine(hosts: list[str], question: Question) -> Iterator[tuple[Diagnosis, str]]:
            assert hosts == [HOST]
            text = self.capture()
            yield diagnose(HostFacts(HOST, parse_capture(text, HOST)), question), text

        for module in (remedy_run, undo_command, undo_run_module):
            monkeypatch.setattr(module, "controls_of", controls_of)
        monkeypatch.setattr(remedy_run, "examine", examine)
        monkeypatch.setattr(control_powershell, "PAUSE_S", 0.0)

    def capture(self) -> str:
        rows = Windows()
        as_found(rows)
        rows.add("vm-adapters", VMName="db", SwitchId=guid(2), SwitchName="FSE Switch",
                 Mac="00155D000001", IovWeight=0, VmqWeight=100, Status=["Ok"],
                 IsManagementOs=False)  # fmt: skip
        if SWITCH in self.windows.switches:
            external_switch(rows)
        names = {row["Guid"]: row["Description"] for row in rows.rows["adapters"]}
        for row in rows.rows["bindings"]:
            bound = self.windows.adapters[names[row["Guid"]]].bindings
            row["Enabled"] = bound[row["ComponentId"]]
        rows.rows["sessions"] = [*self.sessions]
        for end, is_on in self.windows.multichannel.items():
            rows.rows[f"smb-{end.lower()}"] = [{"Multichannel": is_on}]
        if (moves := self.windows.migration) is not None:
            rows.add("migration", Enabled=True, Smb=moves["EnableSmbTransport"],
                     Compressed=moves["EnableCompression"])  # fmt: skip
        for (_, name), algorithm in self.windows.teams.items():
            rows.add("switch-teams", Name=name, Cards=[CARD, OWN], Mode="SwitchIndependent",
                     LoadBalancingAlgorithm={4: "HyperVPort", 5: "Dynamic"}[algorithm])  # fmt: skip
        for row in rows.rows["advanced"]:
            if row["Keyword"] == "*LsoV2IPv4":
                row["Value"] = [self.lso]
        return rows.capture()

    def call(self, run: str, *more: str) -> Result:
        arguments = [HOST, "--run", str(self.folder / run), *more]
        return CliRunner().invoke(command.remedy, arguments, standalone_mode=False)

    def undo(self, run: str) -> Result:
        return CliRunner().invoke(
            undo_command.undo, [str(self.folder / run)], standalone_mode=False
        )


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    return Desk(tmp_path, monkeypatch)


def error_of(result: Result) -> WirespeedError:
    assert isinstance(result.exception, WirespeedError), (result.output, result.exception)
    return result.exception


def test_what_a_windows_lacks_is_planned_and_nothing_is_done(desk: Desk):
    result = desk.call("a")
    assert result.return_value == 1
    assert "windows_filter nt_rtf64" in result.output
    left = result.output.partition("not planned:")[2]
    assert "windows.switch_without_card: by hand first" in left
    assert desk.windows == desk.start


def test_the_filter_is_mended_then_the_switch_and_both_are_taken_back(desk: Desk):
    assert desk.call("a", "--apply", "--yes").return_value == 0
    bound = [a.bindings.get("nt_rtf64") for a in desk.windows.adapters.values()]
    assert bound == [False, True, False, False], "on its own card it stays"
    between = deepcopy(desk.windows)
    second = desk.call("b", "--apply", "--yes")
    assert second.return_value == 0, (second.output, second.exception)
    assert desk.windows.switches[SWITCH].adapter == CARD
    assert desk.undo("b").return_value == 0
    assert desk.windows == between
    assert desk.undo("a").return_value == 0
    assert desk.windows == desk.start and desk.windows.boots == 1


@pytest.mark.parametrize("trouble", ["fail", "hang", "crash"])
def test_trouble_at_any_command_leaves_windows_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trouble: str
):
    for number in range(3):
        folder = tmp_path / str(number)
        folder.mkdir()
        desk = Desk(folder, monkeypatch)
        desk.shell.trouble = {number: trouble}
        assert isinstance(error_of(desk.call("a", "--apply", "--yes")), ApplyError)
        assert desk.windows == desk.start, number


def test_a_property_that_came_back_is_set_once_its_filter_is_gone(desk: Desk):
    """As the document's author set it; the registry has what the filter left."""
    desk.lso = "0"
    asked = ("--wanted", "*LsoV2IPv4=1", "--apply", "--yes")
    first = desk.call("a", *asked)
    assert "unbind the filter first" in " ".join(first.output.split())
    assert desk.call("b", *asked, "--of", "windows.property_not_in_force").return_value == 0
    assert desk.windows.adapters[CARD].properties["*LsoV2IPv4"] == ["1"]
    assert error_of(desk.call("c", "--wanted", "LSO")).what == "options.invalid"


BY_SMB = {"EnableCompression": False, "EnableSmbTransport": True}


@pytest.mark.parametrize(
    ("rule", "changed"),
    [
        ("windows.smb_multichannel_off", {"multichannel": {"Client": True, "Server": True}}),
        ("windows.migration_not_by_smb", {"migration": BY_SMB}),
        ("windows.team_balancing", {"teams": {("VMSwitchTeam", "Guests"): 4}}),
    ],
)
def test_smb_migration_and_teams_are_set_and_set_back(
    desk: Desk, rule: str, changed: dict[str, object]
):
    desk.windows.multichannel = {"Client": False, "Server": False}
    desk.windows.migration = {"EnableCompression": True, "EnableSmbTransport": False}
    desk.windows.teams = {("VMSwitchTeam", "Guests"): 5}
    start = deepcopy(desk.windows)
    left = desk.call("look").output.partition("not planned:")[2]
    assert "windows.migration_not_by_smb: by hand first" in " ".join(left.split())
    done = desk.call("a", "--of", rule, "--apply", "--yes")
    assert done.return_value == 0, (done.output, done.exception)
    assert desk.windows == replace(start, **changed)
    assert desk.undo("a").return_value == 0
    assert desk.windows == start


def test_the_card_of_the_session_is_left_alone(desk: Desk):
    desk.sessions = [{"Address": "10.10.10.1", "RemoteAddress": "10.10.10.2"}]
    error = error_of(desk.call("a", "--apply", "--yes"))
    assert error.what == "plan.cuts_off"
    assert desk.windows == desk.start


@pytest.mark.parametrize("is_cut", [False, True])
def test_the_card_of_the_session_is_mended_under_a_timer_of_windows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_cut: bool
):
    for name in ("PAUSE_S", "SETTLE_S"):
        monkeypatch.setattr(guard_timer_change, name, 0.0)
    desk = Desk(tmp_path, monkeypatch, TimedPowerShell)
    desk.sessions = [{"Address": "10.10.10.1", "RemoteAddress": "10.10.10.2"}]
    shell = desk.shell
    assert isinstance(shell, TimedPowerShell)
    if is_cut:
        shell.is_cut = lambda host: not host.adapters[CARD].bindings["nt_rtf64"]
        shell.fires_at = 3
    done = desk.call("a", "--apply", "--yes", "--allow-cutoff")
    if is_cut:
        error = error_of(done)
        assert isinstance(error, ApplyError) and "undid it itself" in error.found
        assert desk.windows == desk.start
    else:
        assert done.return_value == 0, (done.output, done.exception)
        assert not desk.windows.adapters[CARD].bindings["nt_rtf64"]
    assert shell.folders == {}, "nothing of it stays there"


def test_a_windows_without_a_card_has_nothing_to_mend(desk: Desk, monkeypatch: pytest.MonkeyPatch):
    text = Windows(rows={"adapters": [], "host": [{"Build": 26100}], "hardware": []}).capture()
    monkeypatch.setattr(Desk, "capture", lambda _: text)
    error = error_of(desk.call("a"))
    assert isinstance(error, InputError) and error.what == "remedy.no_port"


def test_a_host_is_controlled_as_its_address_says():
    spec = remedy_run.spec_for_host(HOST, HostFacts(HOST, parse_capture(whole(), HOST)))
    with hosts_of_spec.controls_of(spec) as controls:
        assert isinstance(controls["desk"], WindowsControl)
    linux = {name: h.model_copy(update={"reach": "here"}) for name, h in spec.hosts.items()}
    with hosts_of_spec.controls_of(spec.model_copy(update={"hosts": linux})) as controls:
        assert type(controls["desk"]) is PosixControl
    assert spec.hosts["desk"].ports == ("0000:0a:00.0",)


def whole() -> str:
    rows = Windows()
    as_found(rows)
    return rows.capture()
