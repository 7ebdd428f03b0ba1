"""A lane of a module whose light is near the alarm that the module's maker set, or beyond it."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from wirespeed.facts.link import Links
from wirespeed.facts.module import Modules
from wirespeed.facts.module_power import Light, ModulePower, ModulePowers
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Known, Unreadable, known
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.symptom import Symptom

THIN_DB = 0.75
"""What one pair of connectors may take: ANSI/TIA-568.3-D, at most 0.75 dB."""
DARK_DBM = -35.0
"""From here on no light: mlxlink prints -40 for none, ethtool -inf or -40."""


@dataclass(frozen=True, slots=True)
class Lane:
    """The lane of one direction that is nearest to its alarm."""

    direction: str
    number: int
    light: Known[Light]

    @property
    def dbm(self) -> float:
        """Light of the lane."""
        return self.light.value.lanes[self.number]

    @property
    def margin_db(self) -> float:
        """Give the dB to the nearer alarm; below 0: beyond it."""
        return self.light.value.margins()[self.number]

    @property
    def is_low(self) -> bool:
        """Whether the nearer alarm is that for too little light."""
        light = self.light.value
        return self.dbm - light.low_alarm < light.high_alarm - self.dbm


def _check(exam: PortExam) -> Iterator[Finding]:
    netdev = exam.port.netdev
    if netdev is None:
        raise DoesNotApplyError("without a netdev its module cannot be read")
    power = exam.host[ModulePowers].by_netdev[netdev]
    sides = {"received": power.received, "sent": power.sent}
    if not any(isinstance(side, Known) for side in sides.values()):
        for side in sides.values():
            if isinstance(side, Unreadable):
                known(side, "light of the module's lanes")
        raise DoesNotApplyError("it has no module that shows its light")
    flags = exam.host[Modules].by_netdev[netdev].alarms
    raised = flags.value if isinstance(flags, Known) else ()
    if any("power" in flag and "alarm" in flag for flag in raised):
        raise DoesNotApplyError("link.module_alarm has it")
    used = _used(power)
    nearest = [
        min(lanes, key=lambda lane: lane.margin_db)
        for name, side in sides.items()
        if isinstance(side, Known)
        and (lanes := [Lane(name, n, side) for n in used if n < len(side.value.lanes)])
    ]
    thin = [lane for lane in nearest if lane.margin_db < THIN_DB]
    if thin:
        yield _finding(exam, netdev, thin)


def _used(power: ModulePower) -> tuple[int, ...]:
    """Lanes that carry: one that is dark both ways beside others is not in use.

    A module of one wavelength (100GBASE-DR) has one of four, as has a port that runs on one lane.
    """
    sides = [side.value.lanes for side in (power.received, power.sent) if isinstance(side, Known)]
    dark = [
        all(side[n] < DARK_DBM for side in sides if n < len(side))
        for n in range(max(map(len, sides)))
    ]
    return tuple(n for n, is_dark in enumerate(dark) if all(dark) or not is_dark)


def _finding(exam: PortExam, netdev: str, thin: list[Lane]) -> Finding:
    up = exam.host[Links].by_netdev[netdev].is_up
    far = all(lane.direction == "received" for lane in thin)
    least = min(lane.margin_db for lane in thin)
    margin = (
        f"{least:.1f} dB are left to the alarm that the module's maker set"
        if least >= 0
        else "the light is beyond the alarm that the module's maker set"
    )
    return exam.finding(
        # Without a link, no light is what an unplugged fibre looks like.
        Severity.RISK if isinstance(up, Known) and up.value else Severity.NOTE,
        tuple(e for lane in thin for e in _evidence(lane)),
        so=f"{margin}; one pair of connectors may take {THIN_DB} dB",
        remedies=(
            Remedy(
                text=_remedy(thin[0], far),
                by_hand=ByHand.HARDWARE,
            ),
        ),
        unpriced="it costs nothing until bits are wrong or the link goes down",
    )


def _remedy(lane: Lane, far: bool) -> str:
    if not lane.is_low:
        return "too much light: use an attenuator, or a module for a shorter reach"
    if not far:
        return "its own laser is weak: replace the module"
    return (
        "clean the connectors at both ends; compare what the far end sends by lane (its own "
        "`ethtool -m`): a single weak lane is one fibre or one laser, all of them a connector "
        "or the length"
    )


def _evidence(lane: Lane) -> Iterator[Evidence]:
    light = lane.light.value
    shown = f"{lane.dbm:.1f} dBm" if lane.dbm > -math.inf else "no light"
    alarm = f"low alarm at {light.low_alarm:.1f}" if lane.is_low else (
        f"high alarm at {light.high_alarm:.1f}"
    )  # fmt: skip
    yield Evidence(
        found=f"lane {lane.number}: {shown} {lane.direction}, {alarm}", source=lane.light.source
    )
    others = [dbm for n, dbm in enumerate(light.lanes) if n != lane.number]
    if others:
        best = ", ".join(f"{dbm:.1f}" if dbm > -math.inf else "none" for dbm in others)
        yield Evidence(found=f"the other lanes: {best} dBm", source=lane.light.source)


RULE = PortRule(
    slug="link.light_near_alarm",
    title="Light of a lane near the module's alarm",
    why="A module measures the light of each lane and has limits that its maker set. The alarm "
    "comes when a limit is passed; the dB before it say how much dirt, bending and age the link "
    "still bears. Half of the light is 3 dB. One lane that is weaker than its siblings points to "
    "one fibre or laser, all of them alike to a connector or the length.",
    source="SFF-8636 section 6.2.3 and SFF-8472 table 9-5 (alarm thresholds, monitors); mstflint's "
    "mlxlink_commander.cpp, prepareDDMSection, and its register PDDR (*alarm low RX power "
    "threshold, taken from channel 0*); ethtool's sff-common.c; ANSI/TIA-568.3-D (0.75 dB)",
    explains=(Symptom.NO_LINK, Symptom.DAMAGED_FRAMES, Symptom.THIN_MARGIN, Symptom.LINK_FLAPS),
    check=_check,
)
