"""Answers of the doctor, made by hand."""

from typing import Any

from wirespeed.catalog import rules
from wirespeed.doctor.causes import join
from wirespeed.doctor.places import Places
from wirespeed.model.ceiling import Band, Ceiling, Direction, Input, Ledger
from wirespeed.model.command import Command, write_file
from wirespeed.model.finding import (
    ByHand,
    Change,
    Danger,
    Diagnosis,
    Evidence,
    Finding,
    Price,
    Remedy,
    Severity,
    StepCall,
    Verdict,
)
from wirespeed.model.question import Purpose, Question
from wirespeed.model.rule import HostRule, Rule
from wirespeed.model.units import line_rate_pps

WIDTH = "/sys/bus/pci/devices/0000:3b:00.0/current_link_width"


def pps(gbps: float, frame_bytes: int = 1518) -> float:
    """Frames per second that take so many Gb/s of wire time."""
    return float(line_rate_pps(round(gbps * 1e9), frame_bytes))


def ceilings(
    element: str, low: float, high: float, frame_bytes: int = 1518, *only: Direction
) -> tuple[Ceiling, ...]:
    """One element of so many Gb/s, both ways unless one is named."""
    return tuple(
        Ceiling(
            element=element,
            direction=direction,
            frame_bytes=frame_bytes,
            load_pps=Band(low=pps(low, frame_bytes), high=pps(high, frame_bytes)),
            formula="lanes x speed",
            inputs=(Input(name="lanes", shown="x4", source=f"cat {WIDTH}"),),
        )
        for direction in only or tuple(Direction)
    )


def ledger(port: str = "enp59s0") -> Ledger:
    """A slot of x4 below a link of 100 Gb/s."""
    found = (*ceilings("ethernet", 100, 100), *ceilings("pcie 0000:3b:00.0", 52, 58))
    return Ledger(port=port, frame_bytes=1518, ceilings=found)


def finding(**differs: Any) -> Finding:
    """The card in a slot that is too narrow."""
    narrow = Finding(
        rule="pcie.width_below_capability",
        where="enp59s0",
        severity=Severity.FAULT,
        evidence=(
            Evidence(found="x4 now", source=f"cat {WIDTH}"),
            Evidence(found="the slot can do x16", source=f"cat {WIDTH}"),
            Evidence(found="0 errors", source="ethtool -S enp59s0"),
        ),
        so="the link moves 4/16 of what the card could",
        remedies=(
            Remedy(text="reseat the card", by_hand=ByHand.HARDWARE),
            Remedy(
                text="train the link anew",
                commands=(
                    Command(argv=("setpci", "-s", "0000:3a:00.0", "CAP_EXP+10.w=20:20")),
                    write_file("/sys/bus/pci/rescan", "1"),
                ),
                danger=Danger.DROPS_LINK,
                by_hand=ByHand.NO_UNDO,
            ),
        ),
        prices=tuple(
            Price(
                direction=direction,
                now_pps=pps(52),
                after_pps=pps(98.1),
                bound_by_after="ethernet",
            )
            for direction in Direction
        ),
    )
    return narrow.model_copy(update=differs)


def verdict(rule: str = "queues.rings_small", **differs: Any) -> Verdict:
    """What a rule could not tell."""
    unknown = Verdict(
        rule=rule,
        where="enp59s0",
        outcome="cannot tell",
        reason="rings: ethtool is not installed",
        would_tell="ethtool -g enp59s0",
    )
    return unknown.model_copy(update=differs)


class Rules(dict[str, Rule]):
    """Every rule; one that is made up is called by its slug, and explains nothing."""

    def __missing__(self, slug: str) -> Rule:
        return HostRule(slug=slug, title=slug, why="", source="", check=lambda _: ())


def diagnosis(*findings: Finding, **differs: Any) -> Diagnosis:
    """One host with one port."""
    joined = join(findings, Rules({rule.slug: rule for rule in rules()}), Places({}))
    answer = Diagnosis(
        host="alpha",
        question=Question(purpose=Purpose.DPDK),
        findings=joined.findings,
        causes=joined.causes,
        verdicts=(),
        ledgers=(ledger(),),
    )
    return answer.model_copy(update=differs)


def filled_with(text: str) -> Diagnosis:
    """An answer in which every text that can come from a host is `text`."""
    element = ceilings(text, 10, 20)
    item = Input(name=text, shown=text, source=text, assumed=True)
    element = tuple(c.model_copy(update={"formula": text, "inputs": (item,)}) for c in element)
    found = Finding(
        rule=text,
        where=text,
        severity=Severity.RISK,
        evidence=(Evidence(found=text, source=text),),
        so=text,
        remedies=(
            Remedy(
                text=text,
                commands=(Command(argv=("echo", text), stdin=text),),
                danger=Danger.FIRMWARE,
                steps=(StepCall.of(text, **{text: text}),),
            ),
        ),
        changes=(Change(after=element[0]),),
        prices=finding().prices[:1],
        unpriced=text,
    )
    return Diagnosis(
        host=text,
        question=Question(peer=text, workload=text, ports=(text,)),
        about=((text, text),),
        findings=(found, found.model_copy(update={"prices": ()})),
        verdicts=tuple(
            Verdict(rule=text, where=text, outcome=outcome, reason=text, would_tell=text)
            for outcome in ("absent", "cannot tell", "does not apply")
        ),
        ledgers=(Ledger(port=text, frame_bytes=1518, ceilings=element, unknown=(text,)),),
        warnings=(text,),
        faults=(text,),
    )


HOSTILE = (
    "\x1b[2J\x1b]0;owned\x07",
    "\x9b31m\u202etxt.exe\u200b\x7f",
    "<script>alert(1)</script>\"'><img src=x onerror=y>&amp;",
    "{{ 7 * 7 }}{% include 'x' %}",
    "x" * 100_000,
    "이더넷 어댑터 " * 40,
    "a\nb\r\nc",
)
