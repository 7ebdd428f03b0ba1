"""Facts that hosts of a fleet share are those that each host alone would have."""

from typing import Self

import pytest

from described.healthy import kinds
from described.host import capture_of
from wirespeed.doctor.diagnose import diagnose
from wirespeed.fleet.compared import settings_of
from wirespeed.fleet.shared_facts import MOST, FactMemory, SharedFacts
from wirespeed.model.capture import Capture, Section, parse_capture
from wirespeed.model.fact import Fact, HostFacts
from wirespeed.model.question import Question


def captured(complete: bool = True, **sections: str) -> Capture:
    def section(name: str, output: str) -> Section:
        return Section(name=name, subject="", output=output, errors="", returncode=0)

    return Capture([section(*item) for item in sections.items()], complete=complete)


class Counted(Fact):
    """How often it was parsed, and what it read."""

    script = ""
    parsed = 0

    def __init__(self, said: str) -> None:
        self.said = said

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        Counted.parsed += 1
        rows = [f"{name}={one.output}" for name, one in sorted(capture.sections("many").items())]
        for name in ("a", "b"):
            section = capture.section(name)
            rows.append("none" if section is None else section.output)
        return cls(" ".join((*rows, str(capture.complete))))


@pytest.fixture(autouse=True)
def _none_parsed() -> None:
    Counted.parsed = 0


def test_a_host_with_the_same_text_in_what_a_fact_reads_has_the_same_fact():
    memory = FactMemory()
    first = memory.parse(Counted, captured(a="1", b="2", other="x"))
    second = memory.parse(Counted, captured(a="1", b="2", other="y", more="z"))
    assert second is first and Counted.parsed == 1


@pytest.mark.parametrize(
    "other",
    [
        captured(a="1", b="3"),
        captured(a="1"),
        captured(a="1", b="2", many="m"),
        captured(False, a="1", b="2"),
    ],
    ids=["another text", "a section less", "a section more", "cut off"],
)
def test_a_host_that_differs_in_what_a_fact_reads_has_a_fact_of_its_own(other: Capture):
    memory = FactMemory()
    memory.parse(Counted, captured(a="1", b="2"))
    assert memory.parse(Counted, other).said == Counted.parse(other).said
    # And the other way round: what was not there may come.
    memory = FactMemory()
    memory.parse(Counted, other)
    again = captured(a="1", b="2")
    assert memory.parse(Counted, again).said == Counted.parse(again).said


def test_only_so_many_texts_are_remembered():
    memory = FactMemory()
    for number in range(MOST + 5):
        memory.parse(Counted, captured(a=str(number)))
    assert len(memory.by_fact[Counted]) == MOST
    assert memory.by_fact[Counted][0].read["a", ""].output == str(MOST + 4)


def test_every_described_host_is_judged_as_it_would_be_alone():
    """In a row, twice: each host after all others, and after itself."""
    memory, question = FactMemory(), Question()
    names = ["dual_xeon_100g", "proxmox", "epyc_200g", "guest_virtio", "ice_25g", "container"]
    texts = {name: capture_of(kinds()[name]()) for name in names}
    for name, text in [*texts.items(), *texts.items()]:
        alone = HostFacts(name, parse_capture(text, name))
        among = SharedFacts(name, parse_capture(text, name), memory)
        assert diagnose(among, question) == diagnose(alone, question), name
        assert settings_of(among) == settings_of(alone), name
