"""Frames that came damaged to a switch's port."""

from collections.abc import Iterator

from wirespeed.facts.switchport import Switch, Switches
from wirespeed.facts.switchport_port import SwitchPort
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import CannotTellError, Known, Observed, known
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule

MAX_FINDINGS = 64


def _check(exam: HostExam) -> Iterator[Finding]:
    switches = exam.host[Switches].by_name
    if not switches:
        raise DoesNotApplyError("the capture has no switch")
    found = [one for name, switch in switches.items() for one in _switch(name, switch)]
    yield from found[:MAX_FINDINGS]


def _switch(name: str, switch: Switch) -> Iterator[Finding]:
    ports = known(switch.ports, f"the ports of {name}")
    counted = [port for port in ports if Known in (type(port.fcs_errors), type(port.input_errors))]
    if not counted:
        unknown = next((port.fcs_errors for port in ports), None)
        source = unknown.source if unknown is not None else f"wirespeed capture {name}"
        raise CannotTellError(f"no port of {name} shows its errors", source)
    for port in counted:
        evidence = tuple(_evidence(port))
        if evidence:
            yield Finding(
                rule=RULE.slug,
                where=f"{port.name} of {name}",
                severity=Severity.RISK,
                evidence=evidence,
                so="what the host sends there is damaged on the way, and dropped by the switch",
                remedies=(
                    Remedy(
                        text="clear the counters, and see whether they rise; then clean or replace "
                        "cable and modules, and give both ends the same FEC",
                        by_hand=ByHand.FIND_FIRST,
                    ),
                ),
                unpriced="since when they were counted is not known",
            )


def _evidence(port: SwitchPort) -> Iterator[Evidence]:
    counters: tuple[tuple[Observed[int], str], ...] = (
        (port.fcs_errors, "frames with a wrong check sum"),
        (port.runts, "frames that were cut short"),
        (port.symbol_errors, "symbol errors"),
        (port.input_errors, "damaged frames, of whatever kind"),
    )
    for observed, what in counters:
        if isinstance(observed, Known) and observed.value:
            yield Evidence.of(observed, f"{observed.value} {what}")


RULE = HostRule(
    slug="switchport.frame_errors",
    title="Damaged frames at the switch's port",
    why="The host sees what comes to it damaged, and never what it sends: that is counted at the "
    "switch. TCP takes each loss for congestion.",
    source="IEEE 802.3 clause 30.3.1.1.6 (aFrameCheckSequenceErrors)",
    purposes=None,
    check=_check,
)
