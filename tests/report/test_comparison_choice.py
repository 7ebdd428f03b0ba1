"""Which approach to take: only what is clearly apart decides, and it is said why."""

from dataclasses import replace

import pytest

from wirespeed.model.network_trial import HostCpu, IdleTrial, NetworkTrial
from wirespeed.model.proof import Compared
from wirespeed.model.spec.members import read_spec_data
from wirespeed.model.spread import Spread
from wirespeed.report.comparison import Comparison, NotShown
from wirespeed.report.comparison_choice import Choice, Figure, choose, is_behind
from wirespeed.report.proof_page import Proof

from .diagnoses import diagnosis
from .proofs import HOSTS, SPEC, difference, failover, iperf3, ping, proof

LEGACY, DPDK, TC = "legacy-vlan", "ovs-dpdk", "ovs-tc"


def by(
    approach: str,
    gbps: tuple[float, ...],
    *,
    ping_us: tuple[float, ...] = (30, 30, 30),
    resting: float = 0.05,
    outages_ms: tuple[float, ...] = (100, 110),
) -> Proof:
    """A proof on hosts that are real, with these figures; the rest of it is the same for all."""
    whole = proof()
    spec = read_spec_data({**whole.opening.spec.model_dump(), "approach": approach})
    isolation = tuple(trial for trial in whole.trials if trial.kind == "isolation")
    cpu = HostCpu(host="alpha", busy_cores=resting, cores=8)
    own: list[NetworkTrial] = [IdleTrial(number=n, cpu=cpu) for n in (1, 2, 3)]
    own += [iperf3(n, one, one) for n, one in enumerate(gbps, 1)]
    own += [ping(n, one, 5) for n, one in enumerate(ping_us, 1)]
    ports = whole.opening.spec.hosts["alpha"].ports
    own += [failover(port, one) for port, one in zip(ports, outages_ms, strict=True)]
    return replace(
        whole,
        opening=whole.opening.model_copy(update={"spec": spec}),
        found=tuple(diagnosis(host=host) for host in HOSTS),
        trials=(*own, *isolation),
    )


def choice(*approaches: Proof | NotShown) -> Choice:
    return choose(Comparison("spec.yaml", approaches, SPEC))


def test_the_one_that_is_clearly_better_somewhere_and_worse_nowhere_is_taken():
    found = choice(by(LEGACY, (70, 71, 72)), by(TC, (83, 84, 85)))
    assert found.approach == TC
    assert found.headline.startswith("Take ovs-tc")
    assert found.reasons == (
        "legacy-vlan is behind in throughput, in 1 of 1 figures: iperf3/9000/2 of ceph-1 and gpu-1 "
        "in storage, 71.0 Gb/s (70.0 to 72.0, n 6) beside 84.0 Gb/s (83.0 to 85.0, n 6) of ovs-tc",
    )


def test_figures_that_overlap_decide_nothing_and_the_simplest_is_named():
    found = choice(by(TC, (80, 90, 100)), by(LEGACY, (70, 80, 95)))
    assert found.approach == LEGACY
    assert "too close to tell" in found.reasons[0]
    assert "unless you need what it lacks" in found.headline


def test_a_difference_that_is_clear_and_small_decides_nothing():
    # Apart, and 3 % of the better one.
    found = choice(by(LEGACY, (96.0, 96.1, 96.2)), by(TC, (99.0, 99.1, 99.2)))
    assert found.approach == LEGACY
    assert "within 5 %" in found.reasons[0]


def test_where_each_is_behind_in_something_it_depends_and_both_sides_are_told():
    found = choice(by(TC, (80, 81, 82)), by(DPDK, (95, 96, 97), resting=1.0))
    assert found.approach is None
    assert found.headline == (
        "It depends on what counts for you. throughput: ovs-dpdk; host CPU at rest: ovs-tc."
    )
    assert {reason.split(",")[0] for reason in found.reasons} == {
        "ovs-tc is behind in throughput",
        "ovs-dpdk is behind in host CPU at rest",
    }


def test_the_daemons_of_a_host_at_rest_are_no_polling():
    found = choice(by(LEGACY, (80, 81, 82), resting=0.01), by(TC, (80, 81, 82), resting=0.09))
    assert not any("at rest" in reason for reason in found.reasons)


def test_a_longer_round_trip_is_worse_and_a_shorter_one_better():
    found = choice(
        by(LEGACY, (80, 81, 82), ping_us=(20, 21, 22)), by(TC, (80, 81, 82), ping_us=(30, 31, 32))
    )
    assert found.approach == LEGACY
    assert "ovs-tc is behind in round trip" in found.reasons[0]


def test_round_trips_that_differ_by_no_more_than_ping_can_tell_decide_nothing():
    # 8 % apart. Means of 13.9 and 14.0 us are told as 13 and 14.
    found = choice(
        by(LEGACY, (80, 81, 82), ping_us=(13, 13, 13)), by(TC, (80, 81, 82), ping_us=(14, 14, 14))
    )
    assert not any("round trip" in reason for reason in found.reasons)


def test_what_is_not_proven_is_out_whatever_its_figures():
    fast = replace(by(TC, (99, 99, 99)), undone=Compared(compared=9, differences=(difference(),)))
    found = choice(by(LEGACY, (10, 10, 10)), fast)
    assert found.approach == LEGACY
    assert "it alone is proven" in found.headline
    (why,) = found.reasons[:1]
    assert why.startswith("ovs-tc is out. Not proven: undo: 1 differs, 9 values of a fresh reading")


def test_what_could_not_be_built_is_named_with_its_reason():
    absent = NotShown(DPDK, "spec.no_ovs", "not installed", "apt install")
    found = choice(by(LEGACY, (10, 10, 10)), absent)
    assert "ovs-dpdk is out: it was not shown here (spec.no_ovs)." in found.reasons


def test_nothing_proven_recommends_nothing():
    found = choice(NotShown(DPDK, "spec.no_ovs", "not installed", ""))
    assert found.approach is None
    assert "None can be recommended" in found.headline


def test_emulated_hosts_choose_nothing_by_speed():
    emulated = [
        replace(one, found=proof().found) for one in (by(LEGACY, (1, 1, 1)), by(TC, (9, 9, 9)))
    ]
    found = choice(*emulated)
    assert found.approach is None
    assert "emulated" in found.headline
    assert not any("behind" in reason for reason in found.reasons)


def spread(*values: float) -> Spread:
    return Spread(sorted(values)[len(values) // 2], min(values), max(values), len(values))


@pytest.mark.parametrize(
    ("one", "other", "is_worse"),
    [
        # Two sets of 3 lie apart by chance in 2 of 20 cases, of 2 and 3 in 2 of 10.
        ((70, 71, 72), (80, 81, 82), True),
        ((70, 71), (80, 81, 82), False),
        ((70,), (80,), False),
        ((70, 71, 80), (80, 81, 82), False),
        ((80, 81, 82), (70, 71, 72), False),
    ],
)
def test_so_few_values_that_chance_may_have_parted_them_tell_nothing(
    one: tuple[float, ...], other: tuple[float, ...], is_worse: bool
):
    figure = Figure("throughput", "x", "Gb/s", is_more_better=True, by={})
    assert is_behind(spread(*one), spread(*other), figure) is is_worse


@pytest.mark.parametrize(("runs", "decides"), [(2, False), (3, True)])
def test_both_directions_of_a_run_are_one_run(runs: int, decides: bool):
    # 2 against 2 runs lie apart by chance in 2 of 6 cases, 3 against 3 in 2 of 20.
    slow, fast = ((70, 71, 72)[:runs], (83, 84, 85)[:runs])
    assert (choice(by(LEGACY, slow), by(TC, fast)).approach == TC) is decides


def test_a_difference_below_what_the_figure_resolves_is_none():
    finest = Figure("fail-over", "x", "ms", is_more_better=False, by={}, resolution=5.0)
    assert not is_behind(spread(7, 7, 7), spread(3, 3, 3), finest)
    assert is_behind(spread(9, 9, 9), spread(3, 3, 3), finest)
