"""Whether anything that was found explains a measured figure that is far below the path. Pure."""

from collections.abc import Sequence

from wirespeed.model.finding import Finding, Severity

MEASURED = "measured."
EXPLAINED = "; the other findings come first"
UNEXPLAINED = ", and nothing that was found here explains it"


def with_explanation(findings: Sequence[Finding], ports: Sequence[str]) -> tuple[Finding, ...]:
    """Say of a figure far below the path whether another finding may be the reason.

    `ports`: names of all ports; a finding about another of them explains nothing here.
    """
    return tuple(_explained(finding, findings, ports) for finding in findings)


def _explained(finding: Finding, findings: Sequence[Finding], ports: Sequence[str]) -> Finding:
    if finding.rule != "measured.far_below_ceiling":
        return finding
    others = [
        other
        for other in findings
        if other.severity is not Severity.NOTE
        and not other.rule.startswith(MEASURED)
        and (other.where == finding.where or other.where not in ports)
    ]
    return finding.model_copy(update={"so": finding.so + (EXPLAINED if others else UNEXPLAINED)})
