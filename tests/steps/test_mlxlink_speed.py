"""The speed of a ConnectX port by mlxlink, with a link and without one."""

from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from proof import Answer, UnknownCommandError, plan_on, prove
from pydantic import ValidationError
from samples import section_of

from wirespeed.model.command import Command
from wirespeed.model.finding import Danger
from wirespeed.model.observed import Known, Unreadable
from wirespeed.steps.mlxlink_speed import MlxlinkSpeed

SAMPLES = Path(__file__).parents[1] / "facts" / "samples" / "mlxlink"
CARD = "0000:3b:00.0"
TEN = MlxlinkSpeed(pci_address=CARD, link_mode="10G")
AUTO = MlxlinkSpeed(pci_address=CARD, link_mode=None, tool="mstlink")


@dataclass
class Card:
    """A ConnectX-4 Lx as mlxlink shows and sets it; a link runs on as it is until it starts anew.

    The far end does whatever it is asked for, or has no link at all.
    """

    speeds: str = "25G,10G,1G"
    negotiates: bool = True
    cable: str = "25G,10G"
    runs_at: str = "N/A"
    """The link, when there is one."""
    is_started: bool = True

    def run(self, command: Command) -> Answer:
        match command.argv:
            case ("mlxlink" | "mstlink", "-d", "0000:3b:00.0", *rest):
                return self._did(rest)
        raise UnknownCommandError(command.line())

    def _did(self, words: list[str]) -> Answer:
        match words:
            case []:
                return Answer(self.shown())
            case ["--speeds", speeds, "--link_mode_force", "--yes"]:
                if "," in speeds:
                    text = "--link_mode_force should receive exactly one speed using --speeds"
                    return Answer("", f"-E- {text}\n", 1)
                self.speeds, self.negotiates = speeds, False
            case ["--speeds", speeds, "--yes"]:
                self.speeds, self.negotiates = speeds, True
            case ["--port_state", "DN", "--yes"]:
                self.is_started = False
            case ["--port_state", "UP", "--yes"]:
                if not self.is_started and self.runs_at != "N/A":
                    self.runs_at = self.speeds.partition(",")[0]
                self.is_started = True
            case _:
                raise UnknownCommandError(" ".join(words))
        return Answer()

    def shown(self) -> str:
        mode = "ON" if self.negotiates else f"FORCE - {self.speeds}"
        text = (SAMPLES / "forced_no_link.txt").read_text(encoding="utf-8")
        text = text.replace("FORCE - 10G", mode).replace("(10G)", f"({self.speeds})")
        state = (
            "Disable" if not self.is_started else "Polling" if self.runs_at == "N/A" else "Active"
        )
        text = text.replace("State                              : Polling", f"State : {state}")
        text = text.replace("Speed                              : N/A", f"Speed : {self.runs_at}")
        return text.replace("(25G,10G)", f"({self.cable})")


def test_a_port_is_set_by_hand_while_it_has_no_link():
    prove(TEN, start=Card(), goal=Card(speeds="10G", negotiates=False))


def test_a_link_that_is_up_runs_at_the_speed_that_was_set():
    start = Card(runs_at="25G")
    prove(TEN, start=start, goal=Card(speeds="10G", negotiates=False, runs_at="10G"))


@pytest.mark.parametrize(
    ("link_mode", "runs_at", "is_taken"),
    [
        ("10G", "10GbE", True),
        ("10G", "KX4", True),
        ("1G", "KX", True),
        ("10G", "25GbE", False),
        ("10G", "KX", False),
    ],
)
def test_a_card_before_connectx_6_names_the_speed_of_its_link_otherwise(
    link_mode: str, runs_at: str, *, is_taken: bool
):
    """`_ETHSpeed2Str` of mstflint's mlxlink_maps.cpp, beside `EthSupportedSpeeds2Str`."""
    step = MlxlinkSpeed(pci_address=CARD, link_mode=link_mode)
    card = Card(speeds=link_mode, negotiates=False, cable="10G,1G", runs_at=runs_at)
    found = step.parse(section_of(card.shown()))
    assert isinstance(found, Known) and found.value["is_taken"] is is_taken


def test_a_port_that_was_stopped_stays_stopped():
    start = Card(is_started=False)
    prove(TEN, start=start, goal=replace(start, speeds="10G", negotiates=False))


def test_a_port_negotiates_what_its_cable_can_do():
    start = Card(speeds="10G", negotiates=False)
    prove(AUTO, start=start, goal=replace(start, speeds="25G,10G", negotiates=True))


def test_a_port_that_is_set_to_another_speed_comes_back_to_that():
    start = Card(speeds="25G", negotiates=False)
    prove(TEN, start=start, goal=replace(start, speeds="10G"))


def test_it_takes_the_link_down_and_names_what_is_typed():
    assert TEN.danger is Danger.DROPS_LINK
    lines = [command.line() for command in plan_on(TEN, Card()).steps[0].commands]
    assert lines == [
        f"mlxlink -d {CARD} --port_state DN --yes",
        f"mlxlink -d {CARD} --speeds 10G --link_mode_force --yes",
        f"mlxlink -d {CARD} --port_state UP --yes",
    ]


def test_what_a_connectx_6_printed_is_read():
    text = (SAMPLES / "connectx6_100g.txt").read_text(encoding="utf-8")
    cable = "100G_4X,50G_2X,40G,25G,10G,1G"
    for printed in (text, text.replace("ON\n", "\x1b[32mON\x1b[0m\n")):
        assert TEN.parse(section_of(printed)) == Known(
            {
                "negotiates": True,
                "speeds": "100G_2X,100G_4X,50G_1X,50G_2X,40G,25G,10G,1G",
                "cable": cable,
                "is_started": True,
                "is_taken": True,
            },
            f"mlxlink -d {CARD}",
        )
    four = TEN.model_copy(update={"link_mode": "100G_4X"})
    assert isinstance(four.parse(section_of(text)), Known)
    # The tool wants the number of lanes where there are several.
    found = TEN.model_copy(update={"link_mode": "100G"}).parse(section_of(text))
    assert isinstance(found, Unreadable) and cable in found.reason


def test_speeds_of_a_port_that_can_run_slower_than_1g_are_read():
    """EthExtSupportedSpeeds2Str of mstflint's mlxlink_utils.cpp."""
    speeds = "50G_1X,25G,10G,5G,2.5G,1G,100M,10M"
    found = AUTO.parse(section_of(Card(speeds=speeds, cable="1G,100M,10M").shown()))
    assert isinstance(found, Known)
    assert (found.value["speeds"], found.value["cable"]) == (speeds, "1G,100M,10M")


@pytest.mark.parametrize("link_mode", ["2.5G", "100M", "1600G_8X"])
def test_a_port_is_set_to_a_speed_of_any_name(link_mode: str):
    step = MlxlinkSpeed(pci_address=CARD, link_mode=link_mode)
    card = Card(cable=f"{link_mode},1G")
    prove(step, start=card, goal=replace(card, speeds=link_mode, negotiates=False))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("FORCE - 10G", "N/A"),
        ("State     ", "Stat "),
        ("Auto Negotiation", "Something"),
        ("(10G)", "()"),
        ("0x18001000 (25G,10G)", "N/A"),
    ],
)
def test_what_it_does_not_say_is_not_known(old: str, new: str):
    text = (SAMPLES / "forced_no_link.txt").read_text(encoding="utf-8")
    assert isinstance(TEN.parse(section_of(text)), Known)
    assert isinstance(TEN.parse(section_of(text.replace(old, new))), Unreadable)


@pytest.mark.parametrize("speed", ["10", "10g", "10G; reboot", "-s", "", "2.7G", "2.5"])
def test_no_such_speed(speed: str):
    with pytest.raises(ValidationError):
        MlxlinkSpeed(pci_address=CARD, link_mode=speed)
