"""What the lines of a run amount to; expected values are worked out by hand."""

import pytest

from wirespeed.measure.network.summary import summarize
from wirespeed.model.network_trial import (
    ForgedKind,
    HostCpu,
    IdleTrial,
    Iperf3Trial,
    IsolationTrial,
    IsolationVerdict,
    Pair,
    PingTrial,
)
from wirespeed.model.spread import Spread

PAIR = Pair(client="gpu-1", server="ceph-1", network="storage")
G = 1e9


def run(number: int, sent: float, returned: float | None, **more: object) -> Iperf3Trial:
    values: dict[str, object] = {
        "pair": PAIR, "mtu": 9000, "streams": 2, "number": number, "seconds": 10,
        "bidirectional": returned is not None, "sent_bps": sent, "returned_bps": returned,
        "retransmits": 1, "returned_retransmits": 2, "client_cpu_percent": 90.0 + number,
        "server_cpu_percent": 50.0,
    }  # fmt: skip
    return Iperf3Trial.model_validate(values | more)


def ping(number: int, mean: float | None, mdev: float | None, **more: object) -> PingTrial:
    values: dict[str, object] = {
        "pair": PAIR, "number": number, "is_warmup": number == 0, "sent": 100, "received": 100,
        "rtt_us_mean": mean, "rtt_us_mdev": mdev, "rtt_us_min": mean, "rtt_us_max": mean,
    }  # fmt: skip
    return PingTrial.model_validate(values | more)


def test_the_median_is_of_all_six_values_of_three_runs_in_both_directions():
    runs = [run(1, 70 * G, 60 * G), run(2, 80 * G, 61 * G), run(3, 75 * G, 90 * G)]
    (cell,) = summarize(runs).iperf3
    # 60 61 70 75 80 90
    assert cell.bps == Spread(72.5 * G, 60 * G, 90 * G, 6, runs=3)
    assert cell.name == "iperf3/9000/2"
    assert cell.client_cpu_percent == Spread(92.0, 91.0, 93.0, 3)
    assert cell.server_cpu_percent == Spread(50.0, 50.0, 50.0, 3)
    assert cell.retransmits == 9


def test_one_direction_gives_one_value_a_run():
    runs = [run(1, 3 * G, None), run(2, 1 * G, None), run(3, 2 * G, None)]
    (cell,) = summarize(runs).iperf3
    assert cell.bps == Spread(2 * G, 1 * G, 3 * G, 3)
    assert cell.retransmits == 3


def test_a_failed_run_counts_nowhere_but_among_the_failed():
    runs = [run(1, 3 * G, 3 * G), run(2, 0, 0, failed="refused", client_cpu_percent=0.0)]
    (cell,) = summarize(runs).iperf3
    assert cell.bps == Spread(3 * G, 3 * G, 3 * G, 2, runs=1)
    assert cell.client_cpu_percent == Spread(91.0, 91.0, 91.0, 1)
    assert cell.failed == ("refused",)


def test_a_cell_whose_runs_all_failed_has_no_figures():
    (cell,) = summarize([run(1, 0, 0, failed="refused")]).iperf3
    assert cell.bps is None
    assert cell.host_cores_per_gbps == {}
    assert cell.retransmits is None


def test_resent_segments_that_one_run_does_not_tell_are_not_known():
    (cell,) = summarize([run(1, G, G), run(2, G, G, returned_retransmits=None)]).iperf3
    assert cell.retransmits is None


def test_what_a_host_spends_for_each_gigabit_is_by_host():
    cpu = [
        HostCpu(host="alpha", busy_cores=4, cores=8),
        HostCpu(host="beta", busy_cores=2, cores=8),
    ]
    (cell,) = summarize([run(1, 5 * G, 3 * G, host_cpu=cpu)]).iperf3
    assert cell.host_cores_per_gbps == {
        "alpha": Spread(0.5, 0.5, 0.5, 1),
        "beta": Spread(0.25, 0.25, 0.25, 1),
    }


def test_what_a_host_spends_is_of_the_run_and_not_of_the_time_around_it():
    """8 cores busy for a run of 1 s, in 3 s between the readings; 1 core is busy at rest."""
    rest = IdleTrial(number=1, cpu=HostCpu(host="alpha", busy_cores=1, cores=16))
    mean = (8 * 1 + 1 * 2) / 3
    cpu = [HostCpu(host="alpha", busy_cores=mean, cores=16, window_s=3)]
    trials = [rest, run(1, 80 * G, 20 * G, host_cpu=cpu, seconds=1)]
    (cell,) = summarize(trials).iperf3
    assert cell.host_cores_per_gbps["alpha"].median == pytest.approx(0.08)
    # Without a reading at rest, how much was busy around the run is not known.
    (unread,) = summarize(trials[1:]).iperf3
    assert unread.host_cores_per_gbps == {}


def test_cells_differ_by_pair_mtu_and_streams_and_stand_in_order_of_their_first_run():
    other = Pair(client="gpu-1", server="ceph-1", network="public")
    runs = [run(1, G, G), run(1, G, G, mtu=1500), run(1, G, G, streams=6), run(1, G, G, pair=other)]
    cells = summarize([*runs, run(2, G, G)]).iperf3
    assert [(c.pair.network, c.name) for c in cells] == [
        ("storage", "iperf3/9000/2"),
        ("storage", "iperf3/1500/2"),
        ("storage", "iperf3/9000/6"),
        ("public", "iperf3/9000/2"),
    ]
    assert [c.bps.n if c.bps else 0 for c in cells] == [4, 2, 2, 2]


def test_warm_ups_count_nowhere_and_losses_are_added_up():
    runs = [ping(0, 900, 900, received=1), ping(1, 30, 7), ping(2, 28, 5, received=98)]
    (cell,) = summarize([*runs, ping(3, 32, 9)]).pings
    assert cell.mean_us == Spread(30, 28, 32, 3)
    assert cell.mdev_us == Spread(7, 5, 9, 3)
    assert (cell.sent, cell.lost) == (300, 2)


def test_a_ping_that_lost_everything_has_no_times_and_is_no_failure():
    (cell,) = summarize([ping(1, None, None, received=0)]).pings
    assert cell.mean_us is None
    assert (cell.sent, cell.lost, cell.failed) == (100, 100, ())


@pytest.mark.parametrize(
    ("verdicts", "worst"),
    [
        (("apart", "apart"), "apart"),
        (("apart", "not enforced by this card"), "not enforced by this card"),
        (("not enforced by this card", "not shown"), "not shown"),
        (("not shown", "leaked"), "leaked"),
    ],
)
def test_two_guests_are_as_far_apart_as_the_worst_kind_of_frame_says(
    verdicts: tuple[str, str], worst: str
):
    kinds = (ForgedKind.UNTAGGED, ForgedKind.FORGED_SOURCE_MAC)
    trials = [
        IsolationTrial(
            forged=kind, sender="a", sender_network="n", receiver="b", receiver_network="m",
            sent=200, arrived=0, heard_control=5, verdict=IsolationVerdict(verdict),
        )
        for kind, verdict in zip(kinds, verdicts, strict=True)
    ]  # fmt: skip
    (row,) = summarize(trials).isolation
    assert row.verdict == worst
    assert [trial.forged for trial in row.trials] == list(kinds)
