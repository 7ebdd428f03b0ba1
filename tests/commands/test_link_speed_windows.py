"""`wirespeed link` with a card of Windows at one end: the link-speed document's own case."""

from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from described_mlx5cmd import NAME, WORDS, MlxCard, said_by
from described_powershell import DescribedPowerShell
from described_switch import DescribedSwitch, switch
from described_windows import Adapter, DescribedWindows
from test_control_switchport import DescribedSession

from described.windows import Windows, as_found, guid
from wirespeed.commands.link import link
from wirespeed.host.reach_destination import SwitchHost
from wirespeed.model.capture import parse_capture, with_section
from wirespeed.model.error import ApplyError, InputError, LeftChangedError, WirespeedError
from wirespeed.model.fact import HostFacts
from wirespeed.model.switch_kind import SwitchKind
from wirespeed.platforms.switch.cable_proof import Match, PortMatch
from wirespeed.platforms.switch.control import SwitchControl
from wirespeed.platforms.windows import control as control_powershell
from wirespeed.platforms.windows.control import WindowsControl
from wirespeed.platforms.windows.steps.windows_link import WindowsLink
from wirespeed.platforms.windows.steps.windows_property import WindowsProperty
from wirespeed.runs import link_run as module
from wirespeed.runs import link_settings

HOST, SWITCH, PORT = "winssh://ann@desk", "switch+dell_os6://admin@sw1/Te1/0/1", "Te1/0/1"


@dataclass
class Card(MlxCard):
    """The card; its far end is the switch's port."""

    at: DescribedSwitch = field(default_factory=lambda: switch(SwitchKind.DELL_OS6))
    far: int | None = field(default=None, compare=False)
    is_broken: bool = False
    boots: int = field(default=1, compare=False)

    @property
    def link(self) -> int | None:
        mbit = self.at.ports[PORT].get("speed")
        self.far = int(mbit) // 1000 if mbit else None
        return None if self.is_broken else super().link


class Desk:
    """Both ends, reached by the command."""

    def __init__(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, card: Card | None = None
    ) -> None:
        self.card = card or Card()
        self.start = deepcopy(self.card)
        self.shell = DescribedPowerShell(self.card)  # type: ignore[arg-type]
        self.session = DescribedSession(self.card.at)
        self.windows = Windows()
        as_found(self.windows)
        self.said = [f"adapter {guid(7).upper()}", "of another", f"adapter {guid(10).upper()}"]
        self.folder = folder / "x.run"
        control = WindowsControl(HOST, self.shell, back_s=5.0)

        @contextmanager
        def ends(host: str, place: SwitchHost) -> Iterator[dict[str, object]]:
            at_switch = SwitchControl(self.session, reconnect_s=0.05, pause_s=0.01)
            yield {host: control, place.text: at_switch}

        monkeypatch.setattr(module, "ends", ends)
        monkeypatch.setattr(module, "facts_at", lambda _: self.facts())
        monkeypatch.setattr(module, "port_proof", lambda *_: PortMatch(Match.PROVEN, ""))
        monkeypatch.setattr(control_powershell, "PAUSE_S", 0.0)
        monkeypatch.setattr(WindowsLink, "settle_s", 0.0)

    def facts(self) -> HostFacts:
        text = self.windows.capture()
        if self.said:
            words = WORDS[self.card.says](self.card.is_set, self.card.link)
            said = "\n".join([*self.said, words, ""])
            text = with_section(text, "x", "windows-mlx5cmd-link", said)
        return HostFacts(HOST, parse_capture(text, HOST))

    def call(self, *more: str, name: str = NAME) -> Result:
        arguments = [HOST, name, SWITCH, "--run", str(self.folder), *more]
        return CliRunner().invoke(link, arguments, standalone_mode=False)

    def set_to(self, gbit: str, card_is: str) -> Result:
        return self.call("--speed", gbit, "--card-is", card_is, "--apply", "--yes")


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    return Desk(tmp_path, monkeypatch)


def forced(says: str = "a list") -> Card:
    """As found: the switch is set to 10 Gb/s, as it always was there; there is no link."""
    return Card(at=switch(SwitchKind.DELL_OS6, speed="10000"), says=says)


def error_of(result: Result) -> WirespeedError:
    assert isinstance(result.exception, WirespeedError), (result.output, result.exception)
    return result.exception


def test_a_link_speed_is_not_planned_before_a_person_read_what_mlx5cmd_says(desk: Desk):
    error = error_of(desk.call("--speed", "10G"))
    assert error.what == "link.card_is"
    assert said_by(desk.card) in error.found and "another" not in error.found
    assert "--card-is auto" in error.next
    assert desk.shell.ran == []


def test_the_link_speed_of_both_ends_is_shown_and_nothing_is_done(desk: Desk):
    result = desk.call("--speed", "10G", "--card-is", "auto")
    assert result.return_value == 1
    assert f"mlx5cmd.exe -LinkSpeed -Name '{NAME}' -Set 10" in result.output
    assert "speed 10000" in result.output
    assert desk.card == desk.start


@pytest.mark.parametrize("says", WORDS)
def test_link_speed_25g_card_at_a_10g_switch_with_no_link_comes_up_and_goes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: str
):
    desk = Desk(tmp_path, monkeypatch, forced(says))
    assert desk.card.link is None
    assert desk.set_to("10G", "auto").return_value == 0
    assert (desk.card.is_set, desk.card.link) == (10, 10)
    assert desk.call("--undo").return_value == 0
    assert desk.card == desk.start and desk.card.link is None


@pytest.mark.parametrize("says", sorted(WORDS.keys() - {"with the link"}))
def test_link_speed_1g_of_two_that_negotiate_becomes_10g_and_goes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: str
):
    desk = Desk(tmp_path, monkeypatch, Card(says=says))
    assert desk.card.link == 1
    assert desk.set_to("10G", "auto").return_value == 0
    assert desk.card.link == 10
    assert desk.call("--speed", "10G", "--card-is", "10G").return_value == 0
    assert error_of(desk.set_to("auto", "10G")).what == "run.applied_before"
    assert desk.call("--undo").return_value == 0
    assert desk.card == desk.start and desk.card.link == 1


def test_link_speed_words_that_change_with_the_link_are_not_taken_for_what_is_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The card goes back first, and cannot say so before the switch has brought the link back."""
    desk = Desk(tmp_path, monkeypatch, Card(says="with the link"))
    assert desk.set_to("10G", "auto").return_value == 0
    assert desk.card.link == 10
    first = desk.call("--undo")
    assert isinstance(first.exception, LeftChangedError)
    assert desk.card == desk.start and desk.card.link == 1
    assert desk.call("--undo").return_value == 0
    assert desk.card == desk.start


def test_link_speed_back_to_automatic_at_both_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    card = forced()
    card.is_set = 10
    desk = Desk(tmp_path, monkeypatch, card)
    assert desk.set_to("auto", "10G").return_value == 0
    assert (desk.card.is_set, desk.card.far, desk.card.link) == (None, None, 1)


def test_a_link_that_stays_down_at_that_link_speed_is_put_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    card = forced()
    card.is_broken = True
    desk = Desk(tmp_path, monkeypatch, card)
    assert error_of(desk.set_to("10G", "auto")).what == "step.cannot_verify"
    assert desk.card == desk.start


@pytest.mark.parametrize("trouble", ["fail", "hang", "lose", "crash"])
def test_trouble_at_the_cards_command_ends_at_that_link_speed_or_as_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trouble: str
):
    desk = Desk(tmp_path, monkeypatch)
    desk.shell.trouble = {0: trouble}
    result = desk.set_to("10G", "auto")
    if trouble == "lose":
        assert result.return_value == 0 and desk.card.link == 10
    else:
        assert isinstance(error_of(result), ApplyError)
        assert desk.card == desk.start and desk.card.link == 1
    if desk.card != desk.start:
        desk.shell.trouble = {desk.shell.count: "hang"}
        assert isinstance(error_of(desk.call("--undo")), LeftChangedError)
        assert desk.call("--undo").return_value == 0
        assert desk.card == desk.start


@pytest.mark.parametrize("fault", ["refused", "hangs", "lost", "restarts"])
def test_a_fault_at_any_line_of_the_switch_ends_at_that_link_speed_or_as_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str
):
    whole = Desk(tmp_path, monkeypatch)
    assert whole.set_to("10G", "auto").return_value == 0
    for at in range(whole.session.count):
        folder = tmp_path / str(at)
        folder.mkdir()
        desk = Desk(folder, monkeypatch)
        desk.session.fault, desk.session.at = fault, at
        result = desk.set_to("10G", "auto")
        if isinstance(result.exception, LeftChangedError):
            assert desk.call("--undo").return_value == 0, at
        if result.exception is None:
            assert (desk.card.is_set, desk.card.link) == (10, 10), at
        else:
            assert desk.card.is_set is None, at
            assert desk.card.link == 1, at


def test_the_link_speed_of_the_card_that_the_session_goes_by_is_left_alone(desk: Desk):
    desk.windows.add("sessions", Address="10.10.10.1", RemoteAddress="10.10.10.2")
    error = error_of(desk.set_to("10G", "auto"))
    assert error.what == "plan.cuts_off" and "a session" in error.found
    assert desk.card == desk.start


@pytest.mark.parametrize(
    ("name", "what", "found"),
    [
        ("eth9", "link.netdev", "there are 이더넷 10, 이더넷 7"),
        ("이더넷 7", "link.netdev", "is not a Mellanox card, and its driver has no property"),
        ("vEthernet (Default Switch)", "link.netdev", "0 cards"),
    ],
)
def test_no_card_whose_link_speed_mlx5cmd_sets(desk: Desk, name: str, what: str, found: str):
    error = error_of(desk.call("--speed", "10G", "--card-is", "auto", name=name))
    assert error.what == what and found in error.found


def test_no_link_speed_without_mlx5cmd(desk: Desk):
    desk.said = []
    desk.windows.failures["mlx5cmd-link"] = (127, "mlx5cmd.exe: not found")
    error = error_of(desk.call("--speed", "10G", "--card-is", "auto"))
    assert isinstance(error, InputError) and error.what == "link.cannot_tell"
    assert "not installed" in error.found


def test_no_link_speed_of_half_a_gigabit(desk: Desk):
    error = error_of(desk.call("--speed", "2.5G", "--card-is", "auto"))
    assert error.what == "link.card" and "2.5 Gb/s" in error.found


OTHER, OWN = "이더넷 7", "Realtek PCIe 10GbE Family Controller"


class Realtek(Desk):
    """A card of another maker, whose driver lists what *SpeedDuplex may be."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, *valid: str) -> None:
        super().__init__(folder, monkeypatch)
        self.host = DescribedWindows({OWN: Adapter(OTHER, properties={"*SpeedDuplex": ["0"]})})
        self.shell.host = self.host
        self.is_up = True
        self.windows.rows["default-routes"] = []
        self.windows.add("advanced", Guid=guid(7), Keyword="*SpeedDuplex", Value=["0"],
                         DisplayValue="x", Default="0", Valid=[*valid])  # fmt: skip
        monkeypatch.setattr(link_settings, "COMES_UP_S", 0.0)
        monkeypatch.setattr(link_settings, "PAUSE_S", 0.0)
        monkeypatch.setattr(WindowsProperty, "settle_s", 0.0)

    @property
    def value(self) -> str:
        return self.host.adapters[OWN].properties["*SpeedDuplex"][0]

    def facts(self) -> HostFacts:
        is_up = self.is_up or self.value == "0"
        self.windows.change("adapters", 7, Status="Up" if is_up else "Disconnected")
        return super().facts()


@pytest.mark.parametrize("value", ["7", "10000"])
def test_the_link_speed_of_another_makers_card_is_one_that_its_driver_lists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str
):
    desk = Realtek(tmp_path, monkeypatch, "0", "6", value)
    result = desk.call("--speed", "10G", "--apply", "--yes", name=OTHER)
    assert result.return_value == 0, (result.output, result.exception)
    assert desk.value == value
    assert desk.card.at.ports[PORT]["speed"] == "10000"
    assert desk.call("--undo", name=OTHER).return_value == 0
    assert desk.value == "0" and "speed" not in desk.card.at.ports[PORT]


def test_a_link_speed_that_takes_the_link_of_another_makers_card_down_is_put_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    desk = Realtek(tmp_path, monkeypatch, "0", "7")
    desk.is_up = False
    error = error_of(desk.call("--speed", "10G", "--apply", "--yes", name=OTHER))
    assert error.what == "link.down"
    assert desk.value == "0" and "speed" not in desk.card.at.ports[PORT]


def test_a_link_speed_that_the_driver_does_not_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    desk = Realtek(tmp_path, monkeypatch, "0", "6")
    error = error_of(desk.call("--speed", "10G", name=OTHER))
    assert error.what == "link.card" and "0, 6" in error.found
