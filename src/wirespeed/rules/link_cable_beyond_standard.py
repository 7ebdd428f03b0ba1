"""A passive copper cable longer than the standard is for, or with weaker FEC than its class."""

from collections.abc import Iterator

from wirespeed.facts.ethtool import ethtool_command
from wirespeed.facts.link import Link, link_that_is_up
from wirespeed.facts.module import Module, Modules
from wirespeed.model.finding import ByHand, Danger, Evidence, Finding, Remedy, Severity, StepCall
from wirespeed.model.observed import Absent, Known, known
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.symptom import Symptom

GBIT = 10**9
REACH_M = {10: 7.0, 25: 5.0, 50: 3.0, 100: 2.0}
"""Gb/s of a lane, slowest first, to the length that its clause of IEEE 802.3 plans, "at least":
40GBASE-CR4 clause 85 (7 m, in makers' lists too), 25GBASE-CR and 100GBASE-CR4 110 and 92,
50GBASE-CR 136 (3 m by the objectives of 802.3cd). 2 m of 100GBASE-CR1 (162) were not found in a
text that is open to all. 10 Gb/s over such copper is a standard of SFF-8431, and of no IEEE one."""
LANES = (1, 2, 4, 8)
"""How many a copper link may have."""
WITHOUT_RS_M = 3.0
"""CA-25G-N and CA-25G-S, clause 110.10."""
ACTIVE = ("Active", "AOC", "ACC")
WEAK = {"off": 0, "none": 0, "baser": 1}
"""The modes that are too weak for a class, by their place in NAMES."""
NAMES = ("no FEC", "BASE-R FEC", "RS-FEC")
ENCODINGS = {1: "baser", 2: "rs"}


def _check(exam: PortExam) -> Iterator[Finding]:
    link = link_that_is_up(exam.host, exam.port)
    module = exam.host[Modules].by_netdev[link.netdev]
    if isinstance(module.cable_m, Absent):
        raise DoesNotApplyError("no cable is fixed to its module")
    metres = known(module.cable_m, f"length of the cable of {link.netdev}")
    if not _is_passive_copper(module):
        raise DoesNotApplyError("its cable is not known to be passive copper")
    gbit = known(link.link_bps, f"speed of {link.netdev}") // GBIT
    lane = _lane_gbit(module.lanes, gbit)
    if lane is None:
        raise DoesNotApplyError(f"no length is published for {gbit} Gb/s on such a module")
    if metres > REACH_M[lane]:
        yield _too_long(exam, module, metres, gbit, lane)
    elif lane == 25:
        yield from _weak(exam, link, module, metres)


def _lane_gbit(lanes: int, gbit: int) -> int | None:
    """Gb/s of a lane; where two are possible, the slower one, whose cables may be longer."""
    fit = (lane for lane in REACH_M if gbit / lane in LANES and gbit <= lane * lanes)
    return next(fit, None)


def _is_passive_copper(module: Module) -> bool:
    if not isinstance(module.compliance, Known):
        return False
    lines = module.compliance.value
    is_copper = any("-CR" in line or "Passive" in line for line in lines)
    return is_copper and not any(word in line for line in lines for word in ACTIVE)


def _length(module: Module, metres: float) -> Evidence:
    return Evidence(found=f"passive copper cable of {metres:g} m", source=module.cable_m.source)


def _too_long(exam: PortExam, module: Module, metres: float, gbit: int, lane: int) -> Finding:
    standard = "SFF-8431" if gbit == 10 else "IEEE 802.3"
    return exam.finding(
        Severity.RISK,
        (
            _length(module, metres),
            Evidence(
                found=f"{gbit} Gb/s: at least {lane} Gb/s per lane",
                source=f"ethtool {exam.port.netdev}",
            ),
        ),
        so=f"{standard} is designed for {REACH_M[lane]:g} m at {lane} Gb/s per lane: a longer "
        "cable may have more bit errors than the standard allows, more so with heat and bends, "
        "unless its maker guarantees the loss of that class",
        remedies=(
            Remedy(
                text=f"use a cable of at most {REACH_M[lane]:g} m, an active one, or optics",
                by_hand=ByHand.HARDWARE,
            ),
        ),
        unpriced=_unpriced(exam),
    )


def _unpriced(exam: PortExam) -> str:
    return (
        f"it costs nothing until frames are damaged: `ethtool -S {exam.port.netdev}` counts those"
    )


def _weak(exam: PortExam, link: Link, module: Module, metres: float) -> Iterator[Finding]:
    least, why = _least(module, metres)
    active = known(link.fec_active, f"active FEC of {link.netdev}")
    words = {word.lower() for word in active}
    if not words or words - WEAK.keys():
        return
    strongest = max(WEAK[word] for word in words)
    if strongest >= least:
        return
    encoding = ENCODINGS[least]
    supported = link.supported.fec
    lacks = isinstance(supported, Known) and encoding.upper() not in map(str.upper, supported.value)
    yield exam.finding(
        Severity.RISK,
        (
            _length(module, metres),
            Evidence(found=why, source=f"ethtool -m {link.netdev}"),
            Evidence(found=f"{NAMES[strongest]} is active", source=link.fec_active.source),
        ),
        so=f"IEEE 802.3 requires {NAMES[least]} on such a cable: without it the link may have "
        "more bit errors than the standard allows, and each costs a frame",
        remedies=(
            Remedy(
                text=f"this port does not offer {NAMES[least]}: use one that does, or, at 25 Gb/s, "
                f"a cable of class CA-25G-N ({WITHOUT_RS_M:g} m at most)",
                by_hand=ByHand.HARDWARE,
            )
            if lacks
            else Remedy(
                text=f"set {NAMES[least]} at both ends, the switch port included",
                commands=(ethtool_command("--set-fec", link.netdev, "encoding", encoding),),
                danger=Danger.DROPS_LINK,
                steps=(StepCall.of("fec", netdev=link.netdev, encoding=encoding),),
            ),
        ),
        unpriced=_unpriced(exam),
    )


def _least(module: Module, metres: float) -> tuple[int, str]:
    """The weakest FEC that this cable may have, and what says so."""
    # A class is a loss: a cable may be longer than is usual for it. The length tells without one.
    lines = module.compliance.value if isinstance(module.compliance, Known) else ()
    for mark, least in (("CA-L", 2), ("CA-S", 1), ("CA-N", 0)):
        if any(mark in line for line in lines):
            return least, f"cable class {mark}"
    if metres > WITHOUT_RS_M:
        return 2, f"longer than the {WITHOUT_RS_M:g} m of classes CA-S and CA-N"
    return 0, ""


RULE = PortRule(
    slug="link.cable_beyond_standard",
    title="Copper cable too long, or its FEC too weak",
    why="Each class of copper cable has a maximum signal loss, which decides the FEC that it "
    "needs: CA-25G-N (up to 3 m) needs none, CA-25G-S (up to 3 m) BASE-R, CA-25G-L (up to 5 "
    "m) RS. IEEE 802.3 is designed for 3 m at 50 Gb/s per lane and for 2 m at 100 Gb/s. A "
    "longer cable is fine if its loss stays within its class. With more loss the link often "
    "comes up, and loses frames when the cable gets warm.",
    source="IEEE 802.3 clauses 92, 110.10, 136, 162; NVIDIA, Cumulus Linux user guide, Switch Port "
    "Attributes (the three classes, their losses and FEC); "
    "https://docs.nvidia.com/networking/display/cablemanagfaq/frequently+asked+questions+(faq); "
    "names: ethtool, qsfp.c and sfpid.c",
    explains=(Symptom.NO_LINK, Symptom.DAMAGED_FRAMES, Symptom.THIN_MARGIN, Symptom.LINK_FLAPS),
    check=_check,
)
