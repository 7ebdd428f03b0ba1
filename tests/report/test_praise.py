"""Praise of a port is earned: with a link, a whole path, and nothing that bears upon it unknown."""

import pytest

from report.diagnoses import ceilings, diagnosis, finding, verdict
from wirespeed.model.ceiling import Ledger
from wirespeed.model.finding import Diagnosis, Severity
from wirespeed.model.question import Purpose, Question
from wirespeed.report.diagnosis_hosts import summary_lines
from wirespeed.report.diagnosis_text import diagnosis_lines
from wirespeed.report.diagnosis_view import bound_texts

FAST = ceilings("ethernet", 100, 100)


def good(**differs: object) -> Diagnosis:
    ledgers = (Ledger(port="p0", frame_bytes=1518, ceilings=FAST),)
    return diagnosis(**{"ledgers": ledgers, "question": Question(), **differs})


def without_link(port: str = "p0") -> Ledger:
    supported = tuple(
        c.model_copy(
            update={"inputs": tuple(i.model_copy(update={"assumed": True}) for i in c.inputs)}
        )
        for c in FAST
    )
    return Ledger(port=port, frame_bytes=1518, ceilings=supported)


def note(rule: str, where: str = "p0"):
    return finding(rule=rule, where=where, severity=Severity.NOTE, prices=())


def test_a_port_of_which_all_is_known_is_praised():
    assert bound_texts(good()) == ("nothing holds p0 below 100.0 Gb/s, bound by ethernet",)


def test_a_port_without_a_link_carries_nothing_whatever_else_was_found():
    for findings in ((), (finding(),)):
        (text,) = bound_texts(good(ledgers=(without_link(),)).model_copy(
            update={"findings": findings}))  # fmt: skip
        assert text.startswith("p0 has no link, so it carries nothing now")


@pytest.mark.parametrize(
    ("differs", "reason"),
    [
        (
            {
                "ledgers": (
                    Ledger(port="p0", frame_bytes=1518, ceilings=FAST, unknown=("pcie: hidden",)),
                )
            },
            "unknown ceiling: pcie: hidden",
        ),
        ({"findings": (note("errors.physical"),)}, "see errors.physical"),
        ({"findings": (note("tcp.segments_resent", "alpha"),)}, "see tcp.segments_resent"),
        (
            {"verdicts": (verdict(rule="errors.port_buffer", where="p0"),)},
            "could not be determined: errors.port_buffer",
        ),
        ({"findings": (note("driver.refused", "0000:5e:00.1"),)}, "see driver.refused"),
        ({"findings": (note("bond.link_flaps", "bond0"),)}, "see bond.link_flaps"),
        (
            {
                "question": Question(purpose=Purpose.DPDK),
                "verdicts": (verdict(rule="memory.no_hugepages", where="alpha"),),
            },
            "could not be determined: memory.no_hugepages",
        ),
    ],
)
def test_what_is_doubtful_withholds_praise_and_is_named(differs: dict[str, object], reason: str):
    (text,) = bound_texts(good(**differs))
    assert text == f"p0 carries at most 100.0 Gb/s, bound by ethernet ({reason})"


@pytest.mark.parametrize(
    "differs",
    [
        {"findings": (note("memory.swapping"),)},
        {"verdicts": (verdict(rule="cpu.turbo_off", where="p0"),)},
        {
            "question": Question(purpose=Purpose.TCP),
            "verdicts": (verdict(rule="memory.no_hugepages", where="alpha"),),
        },
        {
            "ledgers": (
                Ledger(
                    port="p0", frame_bytes=1518, ceilings=FAST, unknown=("cores: not measured",)
                ),
            )
        },
    ],
)
def test_what_does_not_bear_upon_the_port_leaves_praise(differs: dict[str, object]):
    assert bound_texts(good(**differs))[0].startswith("nothing holds p0 below")


def test_a_fault_of_one_port_does_not_blemish_another():
    ledgers = tuple(Ledger(port=p, frame_bytes=1518, ceilings=FAST) for p in ("p0", "p1"))
    first, second = bound_texts(good(ledgers=ledgers, findings=(note("errors.physical", "p1"),)))
    assert first.startswith("nothing holds p0")
    assert second.startswith("p1 carries at most")


def test_ports_that_the_head_leaves_out_are_counted():
    ledgers = tuple(Ledger(port=f"p{n}", frame_bytes=1518, ceilings=FAST) for n in range(6))
    about = tuple((f"p{n}", "mlx5_core") for n in range(6))
    lines = [line.text for line in diagnosis_lines(good(ledgers=ledgers, about=about))]
    assert "  and 2 more ports: --verbose shows them" in lines
    assert "  and 2 more: --verbose shows them" in lines


def test_of_many_hosts_one_without_any_link_is_not_good():
    lines = [line.text for line in summary_lines([good(ledgers=(without_link(),)), good()])]
    assert any("none of its ports has a link" in line for line in lines)
    assert any("good: p0 100.0 Gb/s" in line for line in lines)
