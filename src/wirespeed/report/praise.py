"""What an answer says of the most that a port carries; praise only where it is earned. Pure.

Praise, `nothing holds X below Y`, is a claim about the whole way. It is withheld where a port has
no link, where an element of the path is unknown, where a note tells of loss, of the link or of a
card that no driver took, and where a condition that bears upon what the port carries, or upon the
purpose that was asked for, could not be determined.
"""

from collections.abc import Iterator
from functools import cache

from wirespeed.catalog import rules
from wirespeed.ceilings.ethernet import is_without_link
from wirespeed.model.ceiling import Ledger
from wirespeed.model.finding import Diagnosis, Finding, Verdict
from wirespeed.model.question import Purpose

BEARING = (
    "link.", "signal.", "pcie.", "errors.", "pause.", "tcp.segments_resent", "driver.refused",
    "bond.link_flaps",
)  # fmt: skip
"""Rules about what a port carries whatever it is used for: link, slot, driver, loss and pause."""
OF_ANY_PORT = ("driver.refused",)
"""A card beside it that nothing drives may be the one that was meant."""
BESIDE = ("cores", "tcp window")
"""Elements that depend on a purpose: without it they are unknown on every host."""
PRAISE = "nothing holds"
NO_LINK = "has no link, so it carries nothing now; at the fastest speed that it supports it would"


def bound_prefix(diagnosis: Diagnosis, ledger: Ledger, *, found: bool) -> str:
    """The words before the figure: `nothing holds p0 below`, or `p0 carries at most`.

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
        if verdict.outcome == "cannot tell"
        and (_bears(diagnosis, ledger, verdict) or _is_asked_for(diagnosis, ledger, verdict))
    ]
    if missing:
        slugs = list(dict.fromkeys(verdict.rule for verdict in missing))
        more = f" and {len(slugs) - 2} more" if len(slugs) > 2 else ""
        yield f"could not be determined: {', '.join(slugs[:2])}{more}"


def _bears(diagnosis: Diagnosis, ledger: Ledger, said: Finding | Verdict) -> bool:
    if isinstance(said, Finding) and said.rule in OF_ANY_PORT:
        return True
    return said.rule.startswith(BEARING) and _is_about(diagnosis, ledger, said)


def _is_asked_for(diagnosis: Diagnosis, ledger: Ledger, verdict: Verdict) -> bool:
    """Whether the rule was asked because of the purpose; latency bounds no figure of a load."""
    purpose = diagnosis.question.purpose
    if purpose is None or purpose is Purpose.LATENCY:
        return False
    return verdict.rule in _rules_for(purpose) and _is_about(diagnosis, ledger, verdict)


@cache
def _rules_for(purpose: Purpose) -> frozenset[str]:
    return frozenset(
        rule.slug for rule in rules() if rule.purposes is not None and purpose in rule.purposes
    )


def _is_about(diagnosis: Diagnosis, ledger: Ledger, said: Finding | Verdict) -> bool:
    # A name that is neither a port nor an adapter of this answer is the host as a whole.
    return said.where not in {one.port for one in diagnosis.ledgers} - {ledger.port}
