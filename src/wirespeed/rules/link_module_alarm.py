"""A module whose own flags say that light, bias or voltage is out of its range."""

from collections.abc import Iterator

from wirespeed.facts.link import Links
from wirespeed.facts.module import Modules
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Absent, Known, known
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.symptom import Symptom

TEMPERATURE = "temperature"
"""link.module_overheated has it, with its degrees."""
MOST_SHOWN = 6
FAR = (
    "no light, or too little, arrives from the far end: suspect its laser, the fibre or a connector"
)
NEAR = "this module's own laser or supply voltage is out of range"


def _check(exam: PortExam) -> Iterator[Finding]:
    port = exam.port
    if port.netdev is None:
        raise DoesNotApplyError("without a netdev its module cannot be read")
    flags = exam.host[Modules].by_netdev[port.netdev].alarms
    if isinstance(flags, Absent):
        raise DoesNotApplyError("it has no module, or one without alarm flags")
    raised = [f for f in known(flags, "the module's alarms") if TEMPERATURE not in f.lower()]
    if not raised:
        return
    up = exam.host[Links].by_netdev[port.netdev].is_up
    is_up = isinstance(up, Known) and up.value
    has_alarm = any("alarm" in flag for flag in raised)
    is_far = all("rx power low" in flag.lower() for flag in raised)
    yield exam.finding(
        # Without a link, no light is what an unplugged fibre looks like.
        Severity.RISK if is_up and has_alarm else Severity.NOTE,
        tuple(Evidence(found=flag, source=flags.source) for flag in raised[:MOST_SHOWN]),
        so=FAR if is_far else NEAR,
        remedies=(
            Remedy(
                text="clean the connectors at both ends; check that the far end sends light "
                "(`ethtool -m` there, or the switch's command), then swap the fibre, then "
                "the far module"
                if is_far
                else (
                    "replace the module; if it receives too much light, use an attenuator or a "
                    "module for a shorter reach"
                ),
                by_hand=ByHand.HARDWARE,
            ),
        ),
        unpriced="it costs nothing until bit errors occur or the link goes down",
    )


RULE = PortRule(
    slug="link.module_alarm",
    title="Transceiver module raises an alarm",
    why="A module compares its optical power, laser current and supply voltage with its maker's "
    "limits and raises a flag when one is exceeded. Low received power points to the far "
    "end, the fibre or a connector; a flag for bias, voltage or transmitted power points to "
    "this module.",
    source="SFF-8472 table 9-13 and SFF-8636 section 6.2.3 (alarm and warning flags); ethtool's "
    "sff-common.c and qsfp.c",
    explains=(Symptom.NO_LINK, Symptom.DAMAGED_FRAMES, Symptom.LINK_FLAPS),
    check=_check,
)
