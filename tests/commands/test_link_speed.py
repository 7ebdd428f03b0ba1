"""`wirespeed link` on the described ends of the link-speed story."""

from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from test_link_speed_story import HOST, NETDEV, TEN, Ends, Wire, as_found, switch

from wirespeed.apply import gate
from wirespeed.commands.link import link
from wirespeed.host.reach_destination import SwitchHost
from wirespeed.model.capture import Capture, Section
from wirespeed.model.error import InputError, LeftChangedError, WirespeedError
from wirespeed.model.fact import HostFacts
from wirespeed.model.switch_kind import SwitchKind
from wirespeed.platforms.switch.cable_proof import Match, PortMatch
from wirespeed.runs import link_run as module

PROVEN = PortMatch(Match.PROVEN, "Te1/0/1 hears enp59s0f0 by LLDP")
SWITCH = "switch+dell_os6://admin@sw1/Te1/0/1"


def unread(host: str) -> HostFacts:
    """A host of which no port, file or counter was read."""
    return HostFacts(host, Capture((), complete=True))


@pytest.fixture
def wire(monkeypatch: pytest.MonkeyPatch) -> Wire:
    found = Wire(switch(SwitchKind.DELL_OS6))
    monkeypatch.setattr(gate, "refuse_cutoff", lambda *_: None)
    monkeypatch.setattr(module, "facts_at", unread)
    monkeypatch.setattr(module, "port_proof", lambda *_: PROVEN)
    return use(monkeypatch, found)


def use(monkeypatch: pytest.MonkeyPatch, wire: Wire, **faults: object) -> Wire:
    @contextmanager
    def ends(host: str, place: SwitchHost) -> Iterator[dict[str, object]]:
        made = Ends(wire, TEN, **faults)  # type: ignore[arg-type]
        made.session.count = 0
        (card, at_switch) = (
            made.controls[HOST],
            *[h for p, h in made.controls.items() if p != HOST],
        )
        yield {host: card, place.text: at_switch}

    monkeypatch.setattr(module, "ends", ends)
    return wire


def call(folder: Path, *more: str) -> Result:
    arguments = [HOST, NETDEV, SWITCH, "--run", str(folder / "x.run"), *more]
    return CliRunner().invoke(link, arguments, standalone_mode=False)


def error_of(result: Result) -> WirespeedError:
    assert isinstance(result.exception, WirespeedError), result.output
    return result.exception


def test_a_link_speed_is_shown_and_nothing_is_done(wire: Wire, tmp_path: Path):
    result = call(tmp_path, "--speed", "10G")
    assert result.return_value == 1
    assert "speed 10000" in result.output and "autoneg off" in result.output
    assert wire.link_mbit == 1000 and not (tmp_path / "x.run").exists()


def test_a_link_speed_is_set_at_both_ends_and_put_back(wire: Wire, tmp_path: Path):
    assert call(tmp_path, "--speed", "10G", "--apply", "--yes").return_value == 0
    assert wire.link_mbit == 10000
    assert call(tmp_path, "--speed", "10G").return_value == 0
    again = call(tmp_path, "--speed", "auto", "--apply", "--yes")
    assert error_of(again).what == "run.applied_before"
    result = call(tmp_path, "--undo")
    assert result.return_value == 0 and result.output.count("restored") == 2
    assert wire.link_mbit == 1000
    assert "nothing to undo" in call(tmp_path, "--undo").output


def test_no_link_speed_is_set_at_a_port_that_an_operator_sets_up(
    wire: Wire, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    address = "0000:3b:00.0"
    device = f"/sys/devices/pci0000:3a/0000:3a:00.0/{address}"
    port = f"{NETDEV} driver=mlx5_core physfn= port= device={device}\n"

    def owned(host: str) -> HostFacts:
        sections = (
            Section("ports", "", port, "", 0),
            Section("port-owners", "", f"operator {address} no", "", 0),
        )
        return HostFacts(host, Capture(sections, complete=True))

    monkeypatch.setattr(module, "facts_at", owned)
    error = error_of(call(tmp_path, "--speed", "10G", "--apply", "--yes"))
    assert error.what == "plan.port_of_operator"
    assert wire.link_mbit == 1000 and not (tmp_path / "x.run").exists()


@pytest.mark.parametrize(
    ("found", "more", "what"),
    [
        (Match.CONTRADICTED, ["--yes"], "link.wrong_port"),
        (Match.CONTRADICTED, [], "link.wrong_port"),
        (Match.UNKNOWN, ["--yes"], "link.port_not_proven"),
    ],
)
def test_no_link_speed_is_set_at_a_port_that_may_be_another_s(
    wire: Wire, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, found: Match, more: list[str],
    what: str,
):  # fmt: skip
    monkeypatch.setattr(module, "port_proof", lambda *_: PortMatch(found, "why"))
    start = deepcopy(wire)
    result = call(tmp_path, "--speed", "10G", "--apply", *more)
    assert error_of(result).what == what
    assert wire == start and not (tmp_path / "x.run").exists()
    assert call(tmp_path, "--speed", "10G", "--apply", "--yes", "--port-is-right").return_value == 0
    assert wire.link_mbit == 10000


def test_who_is_at_the_terminal_is_asked_for_the_port_before_a_link_speed_is_set(
    wire: Wire, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(
        module, "port_proof", lambda *_: PortMatch(Match.UNKNOWN, "hears no neighbor")
    )
    arguments = [HOST, NETDEV, SWITCH, "--run", str(tmp_path / "x.run"), "--speed", "10G"]
    for answer, code, mbit in (("n", 1, 1000), ("y", 0, 10000)):
        result = CliRunner().invoke(
            link, [*arguments, "--apply"], input=answer, standalone_mode=False
        )
        assert "hears no neighbor" in result.output and "Is enp59s0f0 in Te1/0/1" in result.output
        assert (result.return_value, wire.link_mbit) == (code, mbit)


def test_a_link_speed_whose_port_is_left_as_it_is_needs_no_proof_of_the_port(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    found = as_found()
    use(monkeypatch, found)
    monkeypatch.setattr(gate, "refuse_cutoff", lambda *_: None)
    monkeypatch.setattr(module, "facts_at", unread)
    monkeypatch.setattr(module, "port_proof", lambda *_: pytest.fail("it was asked"))
    assert call(tmp_path, "--speed", "10G", "--apply", "--yes").return_value == 0
    assert found.link_mbit == 10000


def test_a_link_speed_that_was_cut_short_says_how_to_take_it_back(
    wire: Wire, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    # Lines: a reading to plan by, one against staleness and one before the write, four of the
    # change, and its reading.
    use(monkeypatch, wire, at=7, fault="hangs")
    error = error_of(call(tmp_path, "--speed", "10G", "--apply", "--yes"))
    use(monkeypatch, wire)
    if isinstance(error, LeftChangedError):
        assert "--undo" in error.next
    assert call(tmp_path, "--undo").return_value == 0
    assert (wire.card_mbit, wire.switch_mbit) == (None, None)


def test_a_link_speed_that_is_not_known_is_not_planned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """A card that is forced tells to what only with a link."""
    found = as_found()
    use(monkeypatch, found)
    found.card_mbit = 25000
    monkeypatch.setattr(Ends, "_plan", lambda *_: None)
    assert error_of(call(tmp_path, "--speed", "10G")).what == "link.cannot_tell"


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ([HOST, NETDEV, "ssh://sw1", "--speed", "10G"], "link.switch"),
        ([HOST, NETDEV, "switch+dell_os6://sw1", "--speed", "10G"], "link.switch"),
        (["esxi://w", NETDEV, SWITCH, "--speed", "10G"], "link.host"),
        ([HOST, "-s", SWITCH, "--speed", "10G"], None),
        ([HOST, NETDEV, SWITCH, "--speed", "10"], None),
        ([HOST, NETDEV, SWITCH], None),
    ],
)
def test_no_such_link_speed(arguments: list[str], what: str | None):
    result = CliRunner().invoke(link, arguments, standalone_mode=False)
    assert result.exception is not None
    if what is not None:
        assert isinstance(result.exception, InputError) and result.exception.what == what


def test_a_link_speed_is_saved_at_the_switch_and_its_undo_too(wire: Wire, tmp_path: Path):
    result = call(tmp_path, "--speed", "10G", "--apply", "--save", "--yes")
    assert result.return_value == 0 and "not saved: speed" in result.output
    assert wire.described.saved["Te1/0/1"] == {"speed": "10000"}
    assert "is saved already" in call(tmp_path, "--save").output
    assert call(tmp_path, "--undo").return_value == 0
    assert wire.described.saved["Te1/0/1"] == {"speed": "10000"}
    assert call(tmp_path, "--save", "--yes").return_value == 0
    assert wire.described.saved["Te1/0/1"] == {}


def test_who_does_not_want_all_of_a_switch_saved_has_the_link_speed_all_the_same(
    wire: Wire, tmp_path: Path
):
    arguments = [HOST, NETDEV, SWITCH, "--run", str(tmp_path / "x.run"), "--speed", "10G"]
    result = CliRunner().invoke(
        link, [*arguments, "--apply", "--save"], input="y\nn\n", standalone_mode=False
    )
    assert result.return_value == 1 and "with changes by others" in result.output
    assert wire.link_mbit == 10000 and wire.described.saved["Te1/0/1"] == {}
    assert call(tmp_path, "--undo").return_value == 0
