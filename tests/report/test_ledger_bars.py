"""The ledger as bars: what is drawn, what is marked, and that it fits."""

import math

import pytest

from wirespeed.model.ceiling import Band, Ceiling, Direction, Ledger
from wirespeed.model.units import line_rate_pps
from wirespeed.report.ledger_bars import ledger_bars
from wirespeed.report.text_lines import columns_of


def ceiling(
    element: str, low_gbps: float, high_gbps: float, *directions: Direction, frame_bytes: int = 1518
) -> list[Ceiling]:
    """One element in each direction, both unless some are named."""
    low, high = (
        g if math.isinf(g) else float(line_rate_pps(int(g * 1e9), frame_bytes))
        for g in (low_gbps, high_gbps)
    )
    return [
        Ceiling(
            element=element,
            direction=direction,
            frame_bytes=frame_bytes,
            load_pps=Band(low=low, high=high),
            formula="",
            inputs=(),
        )
        for direction in directions or tuple(Direction)
    ]


def ledger(*ceilings: list[Ceiling], unknown: tuple[str, ...] = (), frame_bytes: int = 1518):
    found = tuple(c for pair in ceilings for c in pair)
    return Ledger(port="enp59s0", frame_bytes=frame_bytes, ceilings=found, unknown=unknown)


def test_directions_that_are_alike_are_drawn_once_and_the_lowest_is_marked():
    found = ledger(ceiling("ethernet", 100, 100), ceiling("pcie 0000:3b:00.0", 50, 75))
    drawn = ledger_bars(found, width=86)  # which leaves 40 columns for 100 Gb/s
    assert drawn == [
        "enp59s0: most that each element carries of 1518-byte frames, Gb/s",
        "  both directions",
        "    ethernet           " + "█" * 40 + "         100.0",
        "    pcie 0000:3b:00.0  " + "█" * 20 + "░" * 10 + " " * 10 + "  50.0 to 75.0  < bound",
    ]


def test_directions_that_differ_are_drawn_apart_each_with_its_bound():
    drawn = ledger_bars(
        ledger(
            ceiling("ethernet", 100, 100),
            ceiling("cores", 40, 40, Direction.RECEIVE),
            ceiling("cores", 120, 120, Direction.TRANSMIT),
        )
    )
    assert [line.split()[0] for line in drawn[1:]] == [
        "receive", "ethernet", "cores", "transmit", "ethernet", "cores",
    ]  # fmt: skip
    assert [line.endswith("< bound") for line in drawn] == [
        False, False, False, True, False, True, False,
    ]  # fmt: skip


def test_where_bands_overlap_each_element_may_be_the_bound():
    found = ledger(ceiling("ethernet", 60, 60), ceiling("pcie", 50, 75), ceiling("cores", 60, 99))
    marks = [line[-7:] for line in ledger_bars(found)[2:]]
    assert marks == ["< maybe", "< maybe", "to 99.0"]


def test_an_element_far_above_the_bound_is_cut_and_marked():
    drawn = ledger_bars(ledger(ceiling("ethernet", 10, 10), ceiling("cores", 900, math.inf)))
    assert "▶" not in drawn[2]
    assert "▶  900.0 to no bound" in drawn[3]
    assert drawn[3].count("▶") == 1
    assert drawn[2].count("█") == pytest.approx((drawn[3].count("█") + 1) / 2.5, abs=1)


def test_short_frames_are_counted_in_mpps():
    drawn = ledger_bars(ledger(ceiling("ethernet", 100, 100, frame_bytes=64), frame_bytes=64))
    assert drawn[0].endswith("64-byte frames, Mpps")
    assert " 148.8  < bound" in drawn[2]  # RFC 2544's figure for 64 bytes, ten times 10 Gb/s


def test_ceilings_of_both_directions_at_once_are_said_to_be_that():
    found = ledger(ceiling("ethernet", 100, 100)).model_copy(update={"bidirectional": True})
    assert "Gb/s, both directions at once" in " ".join(" ".join(ledger_bars(found)).split())


def test_what_could_not_be_computed_is_listed_with_its_reason():
    drawn = ledger_bars(ledger(unknown=("pcie: width of 0000:3b:00.0: Permission denied",)))
    assert drawn[1:] == ["  not known: pcie: width of 0000:3b:00.0: Permission denied"]


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("name", ["\x1b[31mred\x1b[0m", "이더넷 어댑터" * 9, "x" * 10**5])
def test_whatever_a_host_called_its_elements_the_lines_are_harmless_and_fit(name: str, width: int):
    found = ledger(ceiling(name, 10, 1234567), ceiling("ethernet", 100, 100), unknown=(name,))
    for line in ledger_bars(found.model_copy(update={"port": name}), width):
        assert line.isprintable()
        assert columns_of(line) <= width
