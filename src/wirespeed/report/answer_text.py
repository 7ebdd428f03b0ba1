"""What a run of `wirespeed measure` showed, in a few lines for whoever ran it. Pure."""

from collections.abc import Sequence

from wirespeed.model.trial import Outcome
from wirespeed.report import format as fmt
from wirespeed.report.headline import spread
from wirespeed.report.page import Spread
from wirespeed.report.text_lines import wrapped
from wirespeed.report.words import frames_in_words

WIDTH = 80


def answer_text(outcomes: Sequence[Outcome]) -> str:
    """Give the lines as a terminal of 80 columns shows them."""
    lines = (part for line in answer_lines(outcomes) for part in wrapped(line, WIDTH, "", "  "))
    return "".join(f"{line}\n" for line in lines)


def answer_lines(outcomes: Sequence[Outcome]) -> list[str]:
    """Say what was measured, what of it is proven and what was set aside. Needs an outcome."""
    duts = list(dict.fromkeys(o.dut for o in outcomes))
    sizes = list(dict.fromkeys(fmt.frame(o.mix.label) for o in outcomes))
    span = sizes[0] if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
    proven = [o for o in outcomes if o.throughput_pps is not None]
    return [
        f"Measured: the highest rate without a lost frame; {', '.join(duts)}; {span}.",
        *(_of_dut([o for o in outcomes if o.dut == dut]) for dut in duts if _any(proven, dut)),
        f"Proven: {len(proven)} of {len(outcomes)} rates. {_how(proven)}".rstrip(),
        *_set_aside(outcomes),
    ]


def _any(proven: Sequence[Outcome], dut: str) -> bool:
    return any(o.dut == dut for o in proven)


def _of_dut(outcomes: Sequence[Outcome]) -> str:
    by_size: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        by_size.setdefault(outcome.mix.label, []).append(outcome)
    figures = [(label, spread(same)) for label, same in by_size.items()]
    said = [_figure(label, figure) for label, figure in figures if isinstance(figure, Spread)]
    first, last = said[0], said[-1]
    dut = outcomes[0].dut
    return f"{dut} forwards {first}." if len(said) == 1 else f"{dut} forwards {first}, and {last}."


def _figure(label: str, figure: Spread) -> str:
    frames = frames_in_words(label)
    millions = fmt.significant(figure.median_pps / 1e6, 3)
    if figure.searches == 1:
        return f"{millions} million {frames} a second"
    low, high = (fmt.significant(pps / 1e6, 3) for pps in (figure.lowest_pps, figure.highest_pps))
    return f"{millions} million {frames} a second ({low} to {high} in {figure.proven} searches)"


def _how(proven: Sequence[Outcome]) -> str:
    if not proven:
        return "The page says why not."
    seconds = fmt.seconds(min(o.confirmed_seconds for o in proven))
    again = min(o.confirmations.trials if o.confirmations else 1 for o in proven)
    seconds = seconds if again == 1 else f"{again} times {seconds}"
    if any(o.windows is not None for o in proven):
        return f"Each lost no frame in {seconds} of short windows (not RFC 2544's trials)."
    return f"Each lost no frame in a trial of {seconds}."


def _set_aside(outcomes: Sequence[Outcome]) -> list[str]:
    windows = [o.windows for o in outcomes if o.windows is not None]
    void, made = sum(w.void for w in windows), sum(w.void + w.valid for w in windows)
    lines = []
    if void:
        lines.append(
            f"Set aside: {void} of {made} windows in which tester or DUT had no core "
            f"({void / made:.0%})."
        )
    far = [o for o in outcomes if o.cores_far_apart]
    if far:
        lines.append(
            f"In {len(far)} of {len(outcomes)} the two cores lay far apart: slower by the machine."
        )
    return lines
