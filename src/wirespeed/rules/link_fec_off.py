"""A fast link without forward error correction, on which frames arrive damaged."""

from collections.abc import Iterator

from wirespeed.facts.counters import Counters, Place
from wirespeed.facts.counters_loss import loss_at
from wirespeed.facts.ethtool import ethtool_command
from wirespeed.facts.link import Link, link_that_is_up
from wirespeed.model.finding import Danger, Evidence, Finding, Remedy, Severity, StepCall
from wirespeed.model.observed import Absent, Known, known
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.symptom import Symptom

FEC_BPS = 25 * 10**9
"""The slowest link that has FEC for more than backplanes."""


def _check(exam: PortExam) -> Iterator[Finding]:
    link = link_that_is_up(exam.host, exam.port)
    if isinstance(link.link_bps, Absent) or isinstance(link.fec_active, Absent):
        raise DoesNotApplyError("the driver does not report speed or FEC")
    if known(link.link_bps, f"speed of {link.netdev}") < FEC_BPS:
        raise DoesNotApplyError("links below 25 Gb/s do not use FEC")
    active = known(link.fec_active, f"active FEC of {link.netdev}")
    if not {word.lower() for word in active} <= {"off", "none"}:
        return
    loss = loss_at(exam.host[Counters], exam.port, Place.PHYSICAL, Place.RECEIVED)
    if loss is None:
        return
    off = Evidence(found="no FEC on a link of 25 Gb/s or more", source=link.fec_active.source)
    yield exam.finding(
        Severity.FAULT if loss.now else Severity.RISK,
        (off, *loss.evidence),
        so=f"frames {loss.are} lost to bit errors that FEC would correct",
        remedies=(
            Remedy(
                text="turn FEC on at both ends, the switch port included: RS, or the mode that "
                "the cable's specification requires",
                commands=(ethtool_command("--set-fec", link.netdev, "encoding", _best(link)),),
                danger=Danger.DROPS_LINK,
                steps=(StepCall.of("fec", netdev=link.netdev, encoding=_best(link)),),
            ),
        ),
        unpriced=loss.unpriced,
    )


def _best(link: Link) -> str:
    """The strongest that the port supports, as ethtool wants it written."""
    supported = link.supported.fec.value if isinstance(link.supported.fec, Known) else ()
    names = {"RS": "rs", "BASER": "baser"}
    return next((names[name] for name in names if name in supported), "auto")


RULE = PortRule(
    slug="link.fec_off",
    title="FEC off on a link with damaged frames",
    why="IEEE 802.3 requires forward error correction for 25 Gb/s over copper longer than 3 m "
    "and over most optics, and for 50 Gb/s lanes over any medium. Without it the link has "
    "more bit errors than the standard allows, and each costs a frame.",
    source="IEEE 802.3 clauses 108 and 110 (25GBASE-R, CR: CA-L needs RS-FEC, CA-N none)",
    explains=(Symptom.NO_LINK, Symptom.DAMAGED_FRAMES),
    check=_check,
)
