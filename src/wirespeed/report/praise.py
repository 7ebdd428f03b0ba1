"""What an answer says of the most that a port carries; praise only where it is earned. Pure.

Praise, `nothing holds X below Y`, is a claim about the whole way. It is withheld where a port has
no link, where an element of the path is unknown, where a note tells of loss or of the link, and
where a condition that bears upon what the port carries could not be determined.
"""

from collections.abc import Iterator

from wirespeed.ceilings.ethernet import is_without_link
from wirespeed.model.ceiling import Ledger
from wirespeed.model.finding import Diagnosis, Finding, Verdict
from wirespeed.model.question import Purpose

BEARING = ("link.", "pcie.", "errors.", "pause.", "tcp.segments_resent")
"""Rules about what a port carries whatever it is used for: link, slot, loss and pause."""
BESIDE = ("cores", "tcp window")
"""Elements that depend on a purpose: without it they are unknown on every host."""
PRAISE = "nothing holds"
NO_LINK = "has no link, so it carries nothing now; at the fastest speed that it supports it would"


def bound_prefix(diagnosis: Diagnosis, ledger: Ledger, *, found: bool) -> str:
    """What stands before the figure: `nothing holds p0 below`, or `p0 carries at most`.

    `found`: something above a note was found on this host.
    """
    if is_without_link(ledger):
        return f"{ledger.port} {NO_LINK} carry at most"
    if found or doubts(diagnosis, ledger):
        return f"{ledger.port} carries at most"
    return f"{PRAISE} {ledger.port} below"


def doubts(diagnosis: Diagnosis, ledger: Ledger) -> tuple[str, ...]:
    """Why praise of this port is not earned, each a few words; empty where it is."""
    return tuple(dict.fromkeys(_doubts(diagnosis, ledger)))


def _doubts(diagnosis: Diagnosis, ledger: Ledger) -> Iterator[str]:
    beside = BESIDE[1:] if diagnosis.question.purpose is Purpose.DPDK else BESIDE
    for reason in ledger.unknown:
        if reason.partition(":")[0] not in beside:
            yield f"unknown ceiling: {reason}"
    for finding in diagnosis.findings:
        if _bears(diagnosis, ledger, finding):
            yield f"see {finding.rule}"
    missing = [
        verdict
        for verdict in diagnosis.verdicts
        if verdict.outcome == "cannot tell" and _bears(diagnosis, ledger, verdict)
    ]
    if missing:
        rules = list(dict.fromkeys(verdict.rule for verdict in missing))
        more = f" and {len(rules) - 2} more" if len(rules) > 2 else ""
        yield f"could not be determined: {', '.join(rules[:2])}{more}"


def _bears(diagnosis: Diagnosis, ledger: Ledger, said: Finding | Verdict) -> bool:
    # A name that is neither a port nor an adapter of this answer is the host as a whole.
    others = {one.port for one in diagnosis.ledgers} - {ledger.port}
    return said.rule.startswith(BEARING) and said.where not in others
