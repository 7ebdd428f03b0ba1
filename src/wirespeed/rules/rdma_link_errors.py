"""An InfiniBand link that damages what it carries, by the counters of its port."""

from collections.abc import Iterator

from wirespeed.facts.counters import Counters, Place
from wirespeed.facts.rdma import RdmaPort
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Absent, Known, known
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.symptom import Symptom
from wirespeed.rules.rdma_packets_lost import rdma_ports

SYMBOLS = "symbol_error"
ERRORS = (
    SYMBOLS,
    "link_error_recovery",
    "link_downed",
    "local_link_integrity_errors",
    "port_rcv_errors",
)
SYMBOLS_AN_HOUR = 120
"""Of a link with the bit error rate that the specification allows, 10^-12."""
FEW = {SYMBOLS: 1000, "link_downed": 10}
"""So many since the driver was loaded are a cable pulled, a switch restarted, a boot."""


def _check(exam: PortExam) -> Iterator[Finding]:
    ports = [one for one in rdma_ports(exam) if one.is_infiniband]
    if not ports:
        raise DoesNotApplyError("it has no port of InfiniBand")
    for one in ports:
        present = [name for name in ERRORS if not isinstance(one.rises[name], Absent)]
        if not present:
            raise DoesNotApplyError(f"the driver of {one.device} has no such counter")
        rises = {name: known(one.rises[name], f"{name} of {one.device}") for name in present}
        seconds = _seconds(exam)
        grown = {
            name: count
            for name, count in rises.items()
            if count and not (name == SYMBOLS and _is_allowed(count, seconds))
        }
        old = {} if grown else {name: n for name, n in _totals(one).items() if n > _few(name)}
        if not (grown or old):
            continue
        yield exam.finding(
            Severity.FAULT if grown else Severity.NOTE,
            tuple(
                Evidence(
                    found=f"{one.device}: {name} grew by {count}"
                    if grown
                    else f"{one.device}: {name} {count}, before this capture",
                    source=one.source(name),
                )
                for name, count in (grown or old).items()
            ),
            so=_consequence(grown, seconds),
            remedies=(
                Remedy(
                    text="plug the cable out and in at both ends and clean its ends if it is "
                    "optical, then try another cable, then another port of the switch; see which "
                    "end counts (`ibqueryerrors`): it is the receiving one",
                    by_hand=ByHand.HARDWARE,
                ),
            ),
            unpriced="what a retry costs depends on what each queue pair has in flight"
            if grown
            else "it grew no more than is allowed during the capture",
        )


def _seconds(exam: PortExam) -> float | None:
    """Give how long the capture read; None: the frames of the port were not read twice."""
    passed = exam.host[Counters].delta(exam.port.netdev, Place.RECEIVED)
    return passed.value.seconds if isinstance(passed, Known) else None


def _is_allowed(symbols: int, seconds: float | None) -> bool:
    return seconds is not None and symbols <= SYMBOLS_AN_HOUR * seconds / 3600


def _totals(port: RdmaPort) -> dict[str, int]:
    """Give what was counted before the capture."""
    return {
        name: total.value - rise.value
        for name in ERRORS
        if isinstance(total := port.totals[name], Known)
        and isinstance(rise := port.rises[name], Known)
    }


def _few(name: str) -> int:
    return FEW.get(name, 0)


def _consequence(grown: dict[str, int], seconds: float | None) -> str:
    if not grown:
        return "the link made errors before this capture, and during it no more than a good one may"
    if set(grown) == {SYMBOLS}:
        meanwhile = "" if seconds is None else f" in {seconds:.3g} s"
        return (
            f"symbol errors grew{meanwhile}, and a good link makes at most {SYMBOLS_AN_HOUR} an "
            "hour: it is about to train again, or to lose packets"
        )
    return (
        "packets arrive damaged or the link trains again: what was in flight is sent again, and "
        "the port carries nothing meanwhile"
    )


RULE = PortRule(
    slug="rdma.link_errors",
    title="InfiniBand link makes errors",
    why="Links of InfiniBand lose nothing to full queues, so damage is what slows them. A symbol "
    "error is one that the receiver could not decode; link_error_recovery counts how often the "
    "link trained again, link_downed how often that failed; port_rcv_errors are damaged packets.",
    source="InfiniBand Architecture Specification volume 1, section 16.1.3 (PortCounters); "
    "https://docs.oracle.com/cd/E19654-01/820-7751-12/z40004881932077.html (120 symbol errors an "
    "hour); https://github.com/NVIDIA/NVSentinel (link counter detection)",
    shows=(Symptom.DAMAGED_FRAMES,),
    explains=(Symptom.RDMA_LOSS, Symptom.LOW_FIGURE),
    check=_check,
)
