"""A link whose bit errors are near what its FEC can correct."""

import math
from collections.abc import Iterator

from wirespeed.facts.link_margin import LinkMargin, LinkMargins
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import CannotTellError, Known, known
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.shown import shown

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
LEFT = 1e-12
"""What a link may leave wrong behind its FEC: IEEE 802.3."""
LEAST_MINUTES = 1.0


def _check(exam: PortExam) -> Iterator[Finding]:
    address = exam.port.pci_address or ""
    if exam.port.driver != "mlx5_core":
        raise DoesNotApplyError("mlxlink reads cards of mlx5 alone")
    seen = exam.host[LinkMargins].by_address.get(address)
    if seen is None:
        raise DoesNotApplyError("it is not a PCI function")
    margin, source = known(seen, "bit errors before FEC"), f"mlxlink -d {address} -c --json"
    raw = known(margin.raw_ber, "bit errors before FEC")
    limit = _limit(margin, source)
    minutes = margin.minutes.value if isinstance(margin.minutes, Known) else 0.0
    if minutes < LEAST_MINUTES:
        raise CannotTellError("bit errors were counted for less than a minute", source)
    left = margin.effective_ber.value if isinstance(margin.effective_ber, Known) else 0.0
    decades = math.inf if raw == 0 else math.log10(limit / raw)
    if decades >= THIN_DECADES and left <= LEFT and not _is_full(margin):
        return
    is_none = decades < NONE_DECADES or left > LEFT
    yield exam.finding(
        Severity.FAULT if is_none else Severity.RISK,
        tuple(_evidence(margin, raw, left, limit, source)),
        so=f"{_in_decades(decades)} to what the FEC of this link corrects"
        + ("; single code words needed nearly all that it corrects" if _is_full(margin) else "")
        + ("; it leaves bits wrong, and frames are lost" if left > LEFT else "")
        + ("" if is_none else ": warmth or a dirty connector takes as much"),
        remedies=(
            Remedy(
                text="clean the connectors and seat the module or cable again; then swap them for "
                "another, at one end at a time, and see which end takes the errors with it",
                by_hand=ByHand.HARDWARE,
            ),
        ),
        unpriced="it costs nothing until FEC leaves bits wrong; what it lost is in errors.physical",
    )


def _corrects(margin: LinkMargin) -> int | None:
    """Symbols in a code word that its FEC corrects; None: not known, or no FEC."""
    fec = margin.fec.value.replace(" ", "") if isinstance(margin.fec, Known) else ""
    return next((symbols for code, symbols in CORRECTS.items() if code in fec), None)


def _is_full(margin: LinkMargin) -> bool:
    corrects = _corrects(margin)
    worst = margin.worst_block
    return isinstance(worst, Known) and corrects is not None and worst.value > FULL_BLOCK * corrects


def _limit(margin: LinkMargin, source: str) -> float:
    fec = known(margin.fec, "which FEC runs")
    if fec in ("No FEC", "N/A"):
        return WITHOUT_FEC
    for code, limit in LIMITS.items():
        if code in fec.replace(" ", ""):
            return limit
    raise CannotTellError(f"what {shown(fec, 40)} corrects is not known", source)


def _in_decades(decades: float) -> str:
    if decades <= 0:
        return "there is no margin"
    return f"the margin is {decades:.1f} decades" if decades < math.inf else "no bit was wrong"


def _evidence(
    margin: LinkMargin, raw: float, left: float, limit: float, source: str
) -> Iterator[Evidence]:
    yield Evidence(
        found=f"bit error rate {raw:.0e} before FEC, of at most {limit:.1e}", source=source
    )
    if isinstance(margin.worst_block, Known) and (corrects := _corrects(margin)) is not None:
        yield Evidence.of(
            margin.worst_block,
            f"{margin.worst_block.value} wrong symbols in the worst code word, of {corrects} that "
            "can be corrected",
        )
    if left > LEFT:
        yield Evidence(found=f"bit error rate {left:.0e} after FEC", source=source)
    if isinstance(margin.link_downs, Known) and margin.link_downs.value:
        times = margin.link_downs.value
        yield Evidence(found=f"the link went down {times} times since", source=source)
    if isinstance(margin.recommendation, Known):
        yield Evidence(
            found=f"the card says: {shown(margin.recommendation.value, 120)}", source=source
        )


RULE = PortRule(
    slug="signal.margin_thin",
    title="Bit errors near what FEC corrects",
    why="A link with FEC always has bit errors and corrects them all, up to a rate from which it "
    "loses whole blocks within a decade. Nothing in the frame counters shows how near that is. "
    "The margin is the ratio of the rate that the FEC is specified for to the rate that is "
    "measured, in powers of ten. Errors that come in bursts show in the histogram of code words "
    "first: its last filled bin against what the code corrects.",
    source="IEEE 802.3 clauses 95.1.1 and 112 (5e-5 with RS(528,514)), 121.1.1 and 138.1.1 "
    "(2.4e-4 with RS(544,514)), 30.5.1.1; mlxlink of MFT 4.34: "
    "https://github.com/yuuki/mlxlink_exporter (real output)",
    check=_check,
)
