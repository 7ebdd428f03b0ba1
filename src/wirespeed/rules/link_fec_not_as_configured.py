"""Forward error correction that is set to one thing and runs as another."""

import re
from collections.abc import Iterator

from wirespeed.facts.ethtool import ethtool_command
from wirespeed.facts.link import Link, link_that_is_up, mode_bps
from wirespeed.model.finding import Danger, Evidence, Finding, Remedy, Severity, StepCall
from wirespeed.model.observed import Absent, Known, known
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.symptom import Symptom
from wirespeed.rules.link_fec_off import FEC_BPS

NONE = {"off", "none"}
LANE_BPS = 50 * 10**9
"""The slowest lane that never runs without RS (IEEE 802.3cd clause 134)."""
LANES = re.compile(r"\d+base[A-Z]+(\d*)")
"""`50000baseCR/Full`, `100000baseLR2_ER2_FR2/Full`: the lanes of a mode, where not one."""


def _check(exam: PortExam) -> Iterator[Finding]:
    link = link_that_is_up(exam.host, exam.port)
    configured, active = link.fec_configured, link.fec_active
    if isinstance(configured, Absent) or isinstance(active, Absent):
        raise DoesNotApplyError("the driver does not report FEC")
    if isinstance(link.link_bps, Absent):
        raise DoesNotApplyError("the driver does not report the speed")
    bps = known(link.link_bps, f"speed of {link.netdev}")
    if bps < FEC_BPS:
        # What is set may be for other speeds: mlx5e_get_fec_mode of mlx5/core/en/port.c gives the
        # first of all.
        raise DoesNotApplyError("links below 25 Gb/s do not use FEC")
    wanted = _names(known(configured, f"configured FEC of {link.netdev}"))
    running = _names(known(active, f"active FEC of {link.netdev}"))
    if "auto" in wanted or wanted & running:
        return
    if wanted == {"none"} and "rs" in running and _may_need_rs(link, bps):
        return
    yield exam.finding(
        Severity.RISK,
        (
            Evidence(
                found=f"configured: {', '.join(sorted(wanted))}; active: "
                f"{', '.join(sorted(running))}",
                source=active.source,
            ),
        ),
        so="the two ends are configured differently, and the link may come up without the FEC "
        "that it needs",
        remedies=(
            Remedy(
                text="set the same FEC on both ends, the switch port included, or let them "
                "negotiate it",
                commands=(ethtool_command("--set-fec", link.netdev, "encoding", "auto"),),
                danger=Danger.DROPS_LINK,
                steps=(StepCall.of("fec", netdev=link.netdev, encoding="auto"),),
            ),
        ),
        unpriced="it costs damaged frames: see the counters of physical errors",
    )


def _may_need_rs(link: Link, bps: int) -> bool:
    """Whether a link of this speed may have lanes that do not run without RS."""
    modes = link.supported.modes.value if isinstance(link.supported.modes, Known) else ()
    found = [match for mode in modes if mode_bps(mode) == bps and (match := LANES.match(mode))]
    return any(bps >= LANE_BPS * int(match[1] or 1) for match in found)


def _names(words: tuple[str, ...]) -> set[str]:
    return {"none" if word.lower() in NONE else word.lower() for word in words}


RULE = PortRule(
    slug="link.fec_not_as_configured",
    title="Active FEC mode differs from the configured one",
    why="At 25 Gb/s and more, each kind of cable and module needs its own FEC: none or BASE-R "
    "for a short copper cable, RS for longer ones, optics and all lanes of 50 Gb/s. Both "
    "ends must use the same. If one end is set by hand and the other negotiates, the link is "
    "down, flaps, or loses frames.",
    source="IEEE 802.3 clauses 74, 91 and 108; "
    "https://docs.kernel.org/networking/ethtool-netlink.html (FEC_GET)",
    explains=(Symptom.NO_LINK, Symptom.DAMAGED_FRAMES),
    check=_check,
)
