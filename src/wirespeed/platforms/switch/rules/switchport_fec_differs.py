"""A card and a switch port with different forward error correction."""

from collections.abc import Iterator

from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Known, known
from wirespeed.model.rule import HostExam, HostRule, of_each
from wirespeed.model.symptom import Symptom
from wirespeed.platforms.switch.facts.switchport_pairs import Pair, pairs

NONE = ("off", "none")


def _check(exam: HostExam) -> Iterator[Finding]:
    yield from of_each(pairs(exam.host), lambda pair: _pair(exam, pair))


def _pair(exam: HostExam, pair: Pair) -> Iterator[Finding]:
    theirs = known(pair.port.fec, f"FEC of {pair.place}")
    words = known(pair.link.fec_configured, f"configured FEC of {pair.netdev}")
    ours = {"off" if word.lower() in NONE else word.lower() for word in words}
    if theirs == "auto" or "auto" in ours or theirs in ours:
        return
    is_up = isinstance(pair.link.is_up, Known) and pair.link.is_up.value
    evidence = []
    if isinstance(pair.link.fec_configured, Known):
        text = f"{pair.netdev} has {', '.join(sorted(ours))}"
        evidence.append(Evidence.of(pair.link.fec_configured, text))
    if isinstance(pair.port.fec, Known):
        evidence.append(Evidence.of(pair.port.fec, f"{pair.place} has {theirs}"))
    yield exam.finding(
        Severity.RISK if is_up else Severity.FAULT,
        tuple(evidence),
        so="the link is up because one end adapted; after the next loss of link it may stay down"
        if is_up
        else "the link cannot come up: neither end can decode the other's FEC blocks",
        where=pair.netdev,
        remedies=(
            Remedy(
                text="set the same FEC on both ends, as one change with one undo: `wirespeed "
                "link HOST NETDEV SWITCH --fec rs`, or --fec auto",
                by_hand=ByHand.FAR_END,
            ),
        ),
        unpriced="it costs nothing until the link goes down",
    )


RULE = HostRule(
    slug="switchport.fec_differs",
    title="FEC differs between card and switch port",
    why="FEC changes the encoding on the wire, so both ends must use the same mode. If the two "
    "ends are set to different modes, the link stays down or flaps.",
    source="IEEE 802.3 clauses 74, 91 and 108",
    explains=(Symptom.NO_LINK, Symptom.DAMAGED_FRAMES),
    check=_check,
)
