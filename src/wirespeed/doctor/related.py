"""How the findings of one host belong together: a cause and what it brings about. Pure.

Each rule sees its own condition alone. Two findings of one port may be one chain, as an overheated
module and a link that is down; and a measured figure far below the path may have its reason in
another finding, or in none.
"""

from collections.abc import Sequence

from wirespeed.model.finding import Finding, Severity
from wirespeed.rules.measured_far_below_ceiling import TOOL_LIMITS

MEASURED = "measured."
EXPLAINED = "; the other findings come first"
UNEXPLAINED = ", and nothing that was found here explains it"
DAMAGE = ("link.down", "errors.physical")
SLOW_SLOT = ("errors.pcie_back_pressure", "errors.port_buffer", "pause.sent")
EFFECTS = {
    "link.module_overheated": DAMAGE,
    "link.module_alarm": DAMAGE,
    "link.light_near_alarm": (*DAMAGE, "signal.margin_thin"),
    "link.module_unqualified": ("link.down",),
    "link.fec_off": DAMAGE,
    "link.fec_not_as_configured": DAMAGE,
    "link.half_duplex": ("errors.physical", "errors.transmit_drops"),
    "link.autonegotiation_disagrees": ("link.down", "link.half_duplex"),
    "pcie.width_below_capability": SLOW_SLOT,
    "pcie.speed_below_capability": SLOW_SLOT,
    "pcie.hop_below_card": SLOW_SLOT,
    "errors.no_receive_buffer": ("pause.sent",),
    "queues.rings_below_maximum": ("errors.no_receive_buffer", "pause.sent"),
    "driver.reset_card": ("link.down", "bond.link_flaps", "link.flaps"),
    "pcie.slot_power_low": ("link.down",),
    "errors.pcie_back_pressure": ("errors.port_buffer", "pause.sent"),
}
"""Rule to what it brings about on the same port, by the `why` and `source` of both rules. A hot or
unfit module is turned off or damages frames (SFF-8636, alarms); a slot that takes frames too slowly
fills the card's buffer, which pauses the peer or drops (mlx5 counters, rx_discards_phy)."""


def related(findings: Sequence[Finding], ports: Sequence[str]) -> tuple[Finding, ...]:
    """Name cause and effect in both findings, and whether a low figure is explained.

    A cause that is a note is raised to a risk where its effect is above a note: it would be named
    without its remedy otherwise. `ports`: names of all ports; a finding about another port
    explains nothing.
    """
    return tuple(_with_effects(_explained(f, findings, ports), findings) for f in findings)


def cause_first(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Keep the order, except that no effect comes before its cause of the same or a worse rank.

    A cause that is ranked as a note stays where it is.
    """
    ordered: list[Finding] = []
    waiting = list(findings)
    while waiting:
        chosen = next((f for f in waiting if not _has_cause_in(f, waiting)), waiting[0])
        waiting.remove(chosen)
        ordered.append(chosen)
    return tuple(ordered)


def _has_cause_in(effect: Finding, others: Sequence[Finding]) -> bool:
    return any(
        _brings_about(cause, effect) and cause.severity is not Severity.NOTE for cause in others
    )


def _brings_about(cause: Finding, effect: Finding) -> bool:
    if cause.where != effect.where or effect.rule not in EFFECTS.get(cause.rule, ()):
        return False
    # A slot that does not bound the port is a note: it is not what fills the buffer.
    return cause.severity is not Severity.NOTE or not cause.rule.startswith("pcie.")


def _with_effects(finding: Finding, findings: Sequence[Finding]) -> Finding:
    effects = [other for other in findings if _brings_about(finding, other)]
    causes = [other for other in findings if _brings_about(other, finding)]
    so, severity = finding.so, finding.severity
    if effects:
        so += f"; the likely reason of {_rules(effects)} on this port"
        if severity is Severity.NOTE and any(e.severity is not Severity.NOTE for e in effects):
            severity = Severity.RISK
    if causes:
        so += f"; {_rules(causes)} on this port is the likely reason: fix that first"
    return finding.model_copy(update={"so": so, "severity": severity})


def _rules(findings: Sequence[Finding]) -> str:
    return " and ".join(dict.fromkeys(finding.rule for finding in findings))


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
    if not others and TOOL_LIMITS in finding.so:
        return finding
    return finding.model_copy(update={"so": finding.so + (EXPLAINED if others else UNEXPLAINED)})
