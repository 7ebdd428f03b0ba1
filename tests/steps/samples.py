"""Real outputs, kept with the tests of the facts, as sections of a step."""

from pathlib import Path

from wirespeed.model.capture import Section
from wirespeed.model.observed import Known, Unreadable
from wirespeed.model.step import State, Step

SAMPLES = Path(__file__).parent.parent / "facts" / "samples"
HOSTILE = (
    "",
    "\0\0\0",
    "RX: 99999999999999999999\n" * 3,
    "Current hardware settings:\nRX: -1\nTX: x\nCombined: \n",
    "Features for \x1b[31m:\nx: maybe\n",
    "ü" * 5000,
)


def section_of(output: str = "", errors: str = "", code: int | None = 0) -> Section:
    """Give what a step's reading printed."""
    return Section("step", "x", output, errors, code)


def sample(name: str) -> Section:
    """Give a kept output: `ethtool/rings_i40e_6.7`."""
    return section_of((SAMPLES / f"{name}.txt").read_text(encoding="utf-8"))


def state_of(step: Step, section: Section) -> State:
    """Give the state that must be known."""
    found = step.parse(section)
    assert isinstance(found, Known), found
    assert found.source == step.read().line()
    return found.value


def reason_of(step: Step, section: Section) -> str:
    """Give why the state is not known, which it must not be."""
    found = step.parse(section)
    assert isinstance(found, Unreadable), found
    return found.reason


def is_never_guessed(step: Step) -> None:
    """Show it hostile outputs, failures and a capture that was cut off: nothing is a state."""
    for output in HOSTILE:
        reason_of(step, section_of(output))
    tool = step.read().argv[0]
    assert "not installed" in reason_of(step, section_of("", f"sh: 1: {tool}: not found\n", 127))
    reason_of(step, section_of("", "netlink error: Operation not permitted\n", 1))
    reason_of(step, section_of("", "netlink error: Operation not supported\n", 1))
    reason_of(step, section_of("RX:\t5", code=None))
