"""What a finding costs: the path's ceiling now, and after its remedy alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wirespeed.doctor.price import priced
from wirespeed.doctor.rank import rank
from wirespeed.model.bound import Bound, Limit
from wirespeed.model.ceiling import Band, Ceiling, Direction, Ledger
from wirespeed.model.finding import Change, Finding, Severity


def ceiling(element: str, low: float, direction: Direction = Direction.RECEIVE) -> Ceiling:
    return Ceiling(
        element=element,
        direction=direction,
        frame_bytes=1518,
        load_pps=Band(low=low, high=low * 1.1),
        formula="",
        inputs=(),
    )


def ledger(*ceilings: Ceiling) -> Ledger:
    return Ledger(port="eth0", frame_bytes=1518, ceilings=ceilings)


def finding(*after: Ceiling) -> Finding:
    return Finding(
        rule="a.rule",
        where="eth0",
        severity=Severity.FAULT,
        evidence=(),
        so="",
        changes=tuple(Change(after=c) for c in after),
    )


def test_a_remedy_lifts_the_path_to_the_next_lowest_element():
    (price,) = priced(
        finding(ceiling("pcie a", 16)),
        ledger(ceiling("ethernet", 8), ceiling("pcie a", 4), ceiling("cores", 100)),
    ).prices
    assert (price.now_pps, price.after_pps, price.cost_pps) == (4, 8, 4)
    assert price.bound_by_after == "ethernet"


def test_of_two_hops_the_one_that_is_mended_is_replaced_and_the_other_stays():
    (price,) = priced(
        finding(ceiling("pcie a", 16)),
        ledger(ceiling("pcie a", 4), ceiling("pcie b", 5)),
    ).prices
    assert (price.after_pps, price.bound_by_after) == (5, "pcie b")


def test_an_element_that_does_not_bound_costs_nothing():
    (price,) = priced(
        finding(ceiling("pcie a", 32)), ledger(ceiling("ethernet", 8), ceiling("pcie a", 16))
    ).prices
    assert price.cost_pps == 0


def test_a_remedy_that_changes_nothing_for_the_better_costs_nothing():
    (price,) = priced(finding(ceiling("pcie a", 3)), ledger(ceiling("pcie a", 4))).prices
    assert price.cost_pps == 0


def test_each_direction_has_its_own_price():
    transmit = Direction.TRANSMIT
    prices = priced(
        finding(ceiling("pcie a", 16), ceiling("pcie a", 16, transmit)),
        ledger(ceiling("ethernet", 8), ceiling("pcie a", 4), ceiling("ethernet", 8, transmit),
               ceiling("pcie a", 6, transmit)),
    ).prices  # fmt: skip
    assert {p.direction: p.cost_pps for p in prices} == {Direction.RECEIVE: 4, transmit: 2}


def test_an_element_whose_ceiling_is_not_known_now_has_no_price():
    found = priced(finding(ceiling("tcp window", 16)), ledger(ceiling("ethernet", 8)))
    assert found.prices == ()
    assert found.unpriced


def test_without_a_ledger_there_is_no_price():
    for empty in (None, ledger()):
        found = priced(finding(ceiling("pcie a", 16)), empty)
        assert found.prices == ()
        assert found.unpriced == "no ceiling of this path is known"


def test_a_rule_s_own_reason_for_no_price_is_kept():
    found = finding().model_copy(update={"unpriced": "it is about latency"})
    assert priced(found, ledger(ceiling("ethernet", 8))).unpriced == "it is about latency"


@given(st.lists(st.floats(1, 1e9), min_size=2, max_size=5), st.floats(1, 1e9))
def test_a_price_is_never_negative_and_never_more_than_the_rest_of_the_path_gives(
    lows: list[float], after: float
):
    now = [ceiling(f"pcie {n}", low) for n, low in enumerate(lows)]
    (price,) = priced(finding(ceiling("pcie 0", after)), ledger(*now)).prices
    assert price.now_pps == min(lows)
    assert price.after_pps == pytest.approx(min([after, *lows[1:]]))
    assert price.cost_pps >= 0


def test_what_a_finding_measured_counts_in_place_of_the_ledgers_own():
    whole = ceiling("ethernet", 100)
    found = finding().model_copy(
        update={"changes": (Change(after=whole, now=ceiling("ethernet", 75)),)}
    )
    (price,) = priced(found, ledger(whole, ceiling("pcie a", 200))).prices
    assert (price.now_pps, price.after_pps, price.bound_by_after) == (75, 100, "ethernet")
    (price,) = priced(found, ledger(whole, ceiling("pcie a", 50))).prices
    assert price.cost_pps == 0


def test_a_bound_stands_in_place_of_the_reason_and_ranks_nothing():
    bound = Bound.of_share(Limit.AT_MOST, 1, "of it", "all")
    only_bound = finding().model_copy(update={"bounds": (bound,), "unpriced": "not known"})
    assert priced(only_bound, None).unpriced == ""
    assert priced(only_bound, None).prices == ()
    assert priced(finding(), None).unpriced
    both = finding(ceiling("pcie a", 16)).model_copy(update={"bounds": (bound,)})
    assert priced(both, ledger(ceiling("pcie a", 4))).prices[0].cost_pps == 12
    cheap = priced(finding(ceiling("pcie a", 5)), ledger(ceiling("pcie a", 4)))
    assert sorted([only_bound, cheap], key=rank) == [cheap, only_bound]
