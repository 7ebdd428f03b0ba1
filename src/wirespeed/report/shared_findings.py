"""Findings that say the same of several places, told once. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from wirespeed.doctor.places import ADDRESS, alike
from wirespeed.model.finding import Finding, Remedy


@dataclass(frozen=True, slots=True)
class Shared:
    """One finding, and every place where the same was found."""

    finding: Finding
    places: tuple[str, ...]
    besides: tuple[str, ...] = ()
    """What was seen at the other places, where it differs by more than names."""


def shared_findings(findings: Sequence[Finding]) -> tuple[Shared, ...]:
    """Merge findings that say the same of several places, in the order of the first."""
    return tuple(one_of([findings[n] for n in numbers]) for numbers in alike(findings))


def one_of(findings: Sequence[Finding]) -> Shared:
    """Tell the first, with what is else at the other places, and the commands for all of them."""
    first = findings[0]
    seen = _names_out(first)
    return Shared(
        finding=first.model_copy(update={"remedies": _merged(findings)}),
        places=tuple(dict.fromkeys(finding.where for finding in findings)),
        besides=tuple(
            f"{one.where}: {'; '.join(evidence.found for evidence in one.evidence)}"
            for one in findings[1:]
            if _names_out(one) != seen
        ),
    )


def _names_out(finding: Finding) -> tuple[str, ...]:
    """What was seen, without the names and addresses of its place."""
    texts = (evidence.found for evidence in finding.evidence)
    return tuple(ADDRESS.sub("*", text.replace(finding.where, "*")) for text in texts)


def _merged(findings: Sequence[Finding]) -> tuple[Remedy, ...]:
    """Remedies of the first, each with the commands of all."""
    return tuple(
        remedy.model_copy(
            update={
                "commands": tuple(
                    dict.fromkeys(
                        command
                        for one in findings
                        for command in (one.remedies[nth : nth + 1] or (remedy,))[0].commands
                    )
                )
            }
        )
        for nth, remedy in enumerate(findings[0].remedies)
    )
