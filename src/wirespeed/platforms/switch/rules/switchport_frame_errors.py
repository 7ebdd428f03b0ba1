"""Frames that came damaged to a switch's port."""

from collections.abc import Iterator

from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import CannotTellError, Known, Observed, known
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule
from wirespeed.model.symptom import Symptom
from wirespeed.platforms.switch.facts.switchport import Switch, Switches
from wirespeed.platforms.switch.facts.switchport_port import SwitchPort

MAX_FINDINGS = 64
COUNTERS = {
    "fcs_errors": "frames with a wrong checksum",
    "runts": "frames that were cut short",
    "symbol_errors": "symbol errors",
    "input_errors": "damaged frames of any kind",
}
"""Of a SwitchPort."""


def _check(exam: HostExam) -> Iterator[Finding]:
    switches = exam.host[Switches].by_name
    if not switches:
        raise DoesNotApplyError("the capture has no switch")
    found = [one for name, switch in switches.items() for one in _switch(exam, name, switch)]
    yield from found[:MAX_FINDINGS]


def _switch(exam: HostExam, name: str, switch: Switch) -> Iterator[Finding]:
    ports = known(switch.ports, f"the ports of {name}")
    counted = [port for port in ports if Known in (type(port.fcs_errors), type(port.input_errors))]
    if not counted:
        unknown = next((port.fcs_errors for port in ports), None)
        source = unknown.source if unknown is not None else f"wirespeed capture {name}"
        raise CannotTellError(f"no port of {name} shows its errors", source)
    later = {one.name: one for one in switch.later.value} if isinstance(switch.later, Known) else {}
    for port in counted:
        seen = [*_counted(port, later.get(port.name), switch.seconds)]
        is_rising = any(rise for _, rise in seen)
        if seen:
            yield exam.finding(
                Severity.FAULT if is_rising else Severity.RISK,
                tuple(evidence for evidence, _ in seen),
                so="frames from the host are damaged on the cable, and the switch drops them",
                where=f"{port.name} of {name}",
                remedies=(
                    Remedy(
                        text="clear the counters and see whether they rise; if so, clean or "
                        "replace cable and modules, and set the same FEC at both ends",
                        by_hand=ByHand.FIND_FIRST,
                    ),
                ),
                unpriced="what was lost with them is not known"
                if is_rising
                else "the counters' age is unknown, so no loss rate can be computed",
            )


def _counted(
    port: SwitchPort, later: SwitchPort | None, seconds: int
) -> Iterator[tuple[Evidence, int]]:
    """Say of each counter that is above 0 what it has, and by how much it rose since.

    They are not added: a short frame with a wrong check sum may be in two of them.
    """
    for name, what in COUNTERS.items():
        now = getattr(port, name)
        then = getattr(later, name) if later is not None else None
        rise = _value(then) - _value(now) if isinstance(then, Known) else 0
        if not isinstance(now, Known) or max(now.value, rise) == 0:
            continue
        text = f"{now.value} {what}"
        if isinstance(then, Known) and rise >= 0:
            text += f", {rise or 'none'} more within {seconds} s"
        yield Evidence.of(now, text), max(rise, 0)


def _value(observed: Observed[int]) -> int:
    return observed.value if isinstance(observed, Known) else 0


RULE = HostRule(
    slug="switchport.frame_errors",
    title="Damaged frames at the switch port",
    why="The host counts damaged frames that it receives; only the switch counts those that the "
    "host sends. TCP treats each loss as congestion.",
    source="IEEE 802.3 clause 30.3.1.1.6 (aFrameCheckSequenceErrors)",
    explains=(Symptom.SEGMENTS_RESENT, Symptom.RDMA_LOSS, Symptom.LOW_FIGURE),
    check=_check,
)
