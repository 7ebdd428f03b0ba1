"""A link whose bit errors are near what its FEC can correct."""

import math
from collections.abc import Iterator

from wirespeed.facts.fec_histogram import (
    BY_CORRECTED,
    LOW_LATENCY,
    SYMBOL_BITS,
    FecHistogram,
    FecHistograms,
)
from wirespeed.facts.link import Links
from wirespeed.facts.link_margin import LinkMargin, LinkMargins
from wirespeed.model.bound import Bound, Limit
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Absent, CannotTellError, Known, known
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.shown import shown
from wirespeed.model.symptom import Symptom

LIMITS = {"544,514": 2.4e-4, "528,514": 5e-5, "272,257": 2.4e-4}
"""Code of the FEC, as mlxlink names it, to the bit error rate that it is specified for."""
CORRECTS = {"544,514": 15, "528,514": 7, "272,257": 7}
"""Symbols that it corrects in one code word: half of those that it adds."""
FULL_BLOCK = 0.8
"""Of those, what a healthy link never needs: a real one of 400 Gb/s had 8 of 15 in three days."""
WITHOUT_FEC = 1e-12
THIN_DECADES, NONE_DECADES = 1.0, 0.3
"""A factor of ten is what temperature and a dirty connector take; below a factor of two nothing is
left for them."""
ONE_LANE = 10
"""A decade more than every other lane: it is this lane's wire, fibre or laser."""
LEFT = 1e-12
"""What a link may leave wrong behind its FEC: IEEE 802.3."""
LEAST_MINUTES = 1.0
NO_FEC = ("No FEC", "N/A")
LOST = "bit error rate x 8 x frame bytes"


def _check(exam: PortExam) -> Iterator[Finding]:
    margin, source = _margin(exam)
    raw = known(margin.raw_ber, "bit errors before FEC")
    limit = _limit(margin, source)
    if known(margin.minutes, "how long bit errors were counted") < LEAST_MINUTES:
        raise CannotTellError("bit errors have been counted for less than a minute", source)
    wrong = _wrong_ber(margin, raw)
    decades = math.inf if raw == 0 else math.log10(limit / raw)
    if decades >= THIN_DECADES and wrong <= LEFT and not _is_full(margin):
        return
    is_none = decades < NONE_DECADES or wrong > LEFT
    yield exam.finding(
        Severity.FAULT if is_none else Severity.RISK,
        tuple(_evidence(margin, raw, wrong, limit, source)),
        so="; ".join(_consequences(margin, raw, wrong, limit, source)),
        remedies=(
            Remedy(
                text="clean the connectors and reseat the module or cable; then replace them, "
                "one end at a time, and see which end the errors follow",
                by_hand=ByHand.HARDWARE,
            ),
        ),
        bounds=_lost(exam, wrong) if wrong > LEFT else (),
        unpriced=f"it costs nothing until FEC leaves bit errors: `ethtool -S {exam.port.netdev}` "
        "counts the frames lost",
    )


def _wrong_ber(margin: LinkMargin, raw: float) -> float:
    """Bits that are wrong in the frames, of all: what FEC leaves, or all where there is none."""
    if _has_no_fec(margin):
        return raw
    return margin.effective_ber.value if isinstance(margin.effective_ber, Known) else 0.0


def _has_no_fec(margin: LinkMargin) -> bool:
    return isinstance(margin.fec, Known) and margin.fec.value in NO_FEC


def _consequences(
    margin: LinkMargin, raw: float, wrong: float, limit: float, source: str
) -> Iterator[str]:
    made_for = (
        "what is allowed without FEC"
        if _has_no_fec(margin)
        else "what the FEC of this link is made for"
    )
    if raw >= limit:
        yield f"the bit error rate is higher than {made_for}"
    elif raw > 0:
        most = "at most " if _is_estimate(source) else ""
        yield f"the bit error rate is {most}{limit / raw:.2g} times lower than {made_for}"
    if _is_full(margin):
        yield "single code words needed nearly all of the correction"
    if wrong > LEFT:
        yield "frames arrive with wrong bits, and are lost"
    elif raw < limit:
        yield "heat or a dirty connector can use up this margin"


def _lost(exam: PortExam, wrong: float) -> tuple[Bound, ...]:
    """Frames with a wrong bit. At most: wrong bits come together, several in one frame."""
    share = min(1.0, wrong * 8 * exam.question.frame_bytes)
    return (Bound.of_share(Limit.AT_MOST, share, "of the frames are lost", LOST),)


def _margin(exam: PortExam) -> tuple[LinkMargin, str]:
    """Give what mlxlink counted; else what follows from the kernel's histogram of code words."""
    address, netdev = exam.port.pci_address or "", exam.port.netdev or ""
    histogram = exam.host[FecHistograms].by_netdev.get(netdev)
    seen = exam.host[LinkMargins].by_address.get(address)
    if exam.port.driver == "mlx5_core" and isinstance(seen, Known):
        return seen.value, seen.source
    if isinstance(histogram, Known):
        return _from_histogram(exam, histogram), histogram.source
    if exam.port.driver != "mlx5_core" or seen is None:
        raise DoesNotApplyError("mlxlink reads only mlx5 cards, and the driver gives no histogram")
    return known(seen, "bit errors before FEC"), seen.source


def _from_histogram(exam: PortExam, histogram: Known[FecHistogram]) -> LinkMargin:
    """Give the margin that a histogram shows, as mlxlink would."""
    link, source = exam.host[Links].by_netdev[exam.port.netdev or ""], histogram.source
    bins = histogram.value
    code = BY_CORRECTED.get(bins.most)
    if code is None:
        raise CannotTellError(
            f"which code has a histogram of up to {bins.most} wrong symbols is not known", source
        )
    if bins.most == CORRECTS["272,257"] and "LLRS" in known(link.fec_active, "the active FEC"):
        code = LOW_LATENCY
    ber, words = bins.least_ber(code[0]), bins.words()
    if ber is None or words is None:
        raise CannotTellError("the driver counted no code words, or hides the counts", source)
    link_bps = known(link.link_bps, "the speed of the link")
    return LinkMargin(
        raw_ber=Known(ber, source),
        effective_ber=Absent(source),
        fec=Known(f"{code[0]},{code[1]}", source),
        minutes=Known(words * code[0] * SYMBOL_BITS / link_bps / 60, source),
        link_downs=Absent(source),
        lanes_ber=Absent(source),
        eye=Absent(source),
        worst_block=Known(bins.worst, source),
        recommendation=Absent(source),
    )


def _is_estimate(source: str) -> bool:
    """Whether the rate is what the symbols show, and no bits were counted."""
    return source.startswith("ethtool")


def _corrects(margin: LinkMargin) -> int | None:
    """Symbols in a code word that its FEC corrects; None: not known, or no FEC."""
    fec = margin.fec.value.replace(" ", "") if isinstance(margin.fec, Known) else ""
    return next((symbols for code, symbols in CORRECTS.items() if code in fec), None)


def _is_full(margin: LinkMargin) -> bool:
    corrects = _corrects(margin)
    worst = margin.worst_block
    return isinstance(worst, Known) and corrects is not None and worst.value > FULL_BLOCK * corrects


def _limit(margin: LinkMargin, source: str) -> float:
    fec = known(margin.fec, "the active FEC")
    if fec in NO_FEC:
        return WITHOUT_FEC
    for code, limit in LIMITS.items():
        if code in fec.replace(" ", ""):
            return limit
    raise CannotTellError(f"the correction capability of {shown(fec)} is not known", source)


def _evidence(
    margin: LinkMargin, raw: float, wrong: float, limit: float, source: str
) -> Iterator[Evidence]:
    where = "without FEC" if _has_no_fec(margin) else "before FEC"
    least = "at least " if _is_estimate(source) else ""
    yield Evidence(
        found=f"bit error rate {least}{raw:.0e} {where}; the limit is {limit:.1e}", source=source
    )
    if isinstance(margin.worst_block, Known) and (corrects := _corrects(margin)) is not None:
        yield Evidence.of(
            margin.worst_block,
            f"{margin.worst_block.value} wrong symbols in the worst code word, of {corrects} that "
            "can be corrected",
        )
    if wrong > LEFT and not _has_no_fec(margin):
        yield Evidence(found=f"bit error rate {wrong:.0e} after FEC", source=source)
    yield from _lanes(margin)
    if isinstance(margin.link_downs, Known) and margin.link_downs.value:
        times = margin.link_downs.value
        yield Evidence(
            found=f"the link went down {times} times since the counters were cleared", source=source
        )
    if isinstance(margin.recommendation, Known):
        yield Evidence(found=f"the card says: {shown(margin.recommendation.value)}", source=source)


def _lanes(margin: LinkMargin) -> Iterator[Evidence]:
    """Name the lane with most of the errors, and the eye of each: a lane is a wire or a fibre."""
    if isinstance(margin.lanes_ber, Known) and len(margin.lanes_ber.value) > 1:
        rates = margin.lanes_ber.value
        worst = max(range(len(rates)), key=rates.__getitem__)
        others = max(ber for lane, ber in enumerate(rates) if lane != worst)
        if rates[worst] >= ONE_LANE * others:
            yield Evidence.of(
                margin.lanes_ber,
                f"bit error rate of lane {worst}: {rates[worst]:.0e}; of the others at most "
                f"{others:.0e}",
            )
    if isinstance(margin.eye, Known):
        grades = ", ".join(map(str, margin.eye.value))
        yield Evidence.of(margin.eye, f"eye by lane: {grades} (no limit is published)")


RULE = PortRule(
    slug="signal.margin_thin",
    title="Bit errors near what FEC corrects",
    why="A link with FEC always has bit errors, and FEC corrects all of them up to a limit. "
    "When the error rate is ten times that limit, whole blocks are lost. No frame counter "
    "shows how near the limit is. The margin is the ratio of the rate that the FEC is "
    "specified for to the measured rate. Errors in bursts show first in the "
    "histogram of code words: compare its last filled bin with what the code corrects. If the "
    "kernel gives the histogram and mlxlink is missing, the rate is wrong symbols / (code "
    "words x symbols x 10 bits), counting each wrong symbol as one wrong bit, which is the "
    "minimum.",
    source="IEEE 802.3 clauses 95.1.1 and 112 (5e-5 with RS(528,514)), 121.1.1 and 138.1.1 "
    "(2.4e-4 with RS(544,514)), 30.5.1.1; mlxlink of MFT 4.34: "
    "https://github.com/yuuki/mlxlink_exporter (real output); mstflint's mlxlink_commander.cpp; "
    "https://docs.kernel.org/networking/ethtool-netlink.html (ETHTOOL_A_FEC_STAT_HIST, 6.18); "
    "https://lore.kernel.org/netdev/20251014212018.7933-1-vadim.fedorenko@linux.dev/",
    price=f"at most, where bits are wrong in frames: {LOST}",
    shows=(Symptom.THIN_MARGIN,),
    explains=(Symptom.DAMAGED_FRAMES, Symptom.LINK_FLAPS),
    check=_check,
)
