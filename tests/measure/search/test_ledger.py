"""Every frame has a fate, and no counter is added to one that counts the same frames."""

from hypothesis import given
from hypothesis import strategies as st
from trial_builder import build_trial, ports

from wirespeed.measure.search.ledger import build_ledger
from wirespeed.model.trial import DutReading, Trial


def fates(trial: Trial) -> dict[str, int]:
    return {fate.place: fate.frames for fate in build_ledger(trial).lost}


def test_frames_that_the_ring_refused_were_lost_at_the_dut_input_queue():
    trial = build_trial(1000, 30, stream_counts={"refused_frames": 30})
    assert fates(trial) == {"DUT input queue": 30}
    assert build_ledger(trial).unexplained_frames == 0


def test_each_stretch_of_the_way_is_named_by_the_counters_at_its_ends():
    # 1000 offered, 100 refused, 900 accepted; 20 lost on the wire, 7 missed and 3 without mbuf at
    # the DUT; 870 received there, 11 dropped at its transmit ring, 859 sent; 9 lost on the way
    # back, 4 missed by the tester: 846 arrive, of which 6 are corrupted.
    trial = build_trial(
        1000,
        160,
        stream_counts={"refused_frames": 100, "corrupted_frames": 6},
        dut=DutReading(
            ports=ports(ipackets=870, opackets=859, imissed=7, rx_nombuf=3),
            forward_tx_dropped=11,
        ),
        tester_ports=ports(ipackets=846, imissed=4),
    )
    assert fates(trial) == {
        "DUT input queue": 100,
        "wire to the DUT": 20,
        "DUT receive queue": 7,
        "DUT no mbuf": 3,
        "DUT transmit": 11,
        "tester receive queue": 4,
        "wire from the DUT": 9,
        "corrupted": 6,
    }
    assert build_ledger(trial).unexplained_frames == 0


def test_allocations_that_fail_again_and_again_lose_no_frame_by_themselves():
    """A driver that tries again counts each poll: 5 million here. 30 frames find its ring full."""
    kept = ports(ipackets=1000, opackets=1000, rx_nombuf=5_000_000)
    trial = build_trial(1000, 0, dut=DutReading(ports=kept), tester_ports=ports(ipackets=1000))
    assert fates(trial) == {}
    assert build_ledger(trial).unexplained_frames == 0
    full = ports(ipackets=970, opackets=970, imissed=30, rx_nombuf=5_000_000)
    trial = build_trial(1000, 30, dut=DutReading(ports=full), tester_ports=ports(ipackets=970))
    assert fates(trial) == {"DUT receive queue": 30}
    assert build_ledger(trial).unexplained_frames == 0


def test_a_dut_without_a_drop_counter_lost_what_came_in_and_did_not_go_out():
    trial = build_trial(
        1000,
        50,
        dut=DutReading(ports=ports(ipackets=1000, opackets=950)),
        tester_ports=ports(ipackets=950),
    )
    assert fates(trial) == {"DUT transmit": 50}


def test_oerrors_are_not_added_to_the_engines_own_drops():
    trial = build_trial(
        1000,
        50,
        dut=DutReading(ports=ports(ipackets=1000, opackets=950, oerrors=50), forward_tx_dropped=50),
        tester_ports=ports(ipackets=950),
    )
    assert fates(trial) == {"DUT transmit": 50}


def test_a_tester_port_that_could_not_be_read_claims_nothing_of_the_way_back():
    trial = build_trial(
        1000,
        50,
        dut=DutReading(ports=ports(ipackets=1000, opackets=1000)),
        valid=False,
        invalid_reasons=("tester.counters_unreadable: port 0 after the trial: I/O error",),
    )
    assert fates(trial) == {}
    assert build_ledger(trial).unexplained_frames == 50


def test_loss_that_no_counter_claims_stays_unexplained():
    ledger = build_ledger(build_trial(1000, 50))
    assert ledger.lost == ()
    assert ledger.unexplained_frames == 50


def test_a_counter_that_claims_more_than_is_missing_leaves_a_negative_rest():
    ledger = build_ledger(build_trial(1000, 2, stream_counts={"misdelivered_frames": 5}))
    assert ledger.unexplained_frames == -3


@given(
    offered=st.integers(1, 10**9),
    missing=st.integers(0, 10**6),
    counts=st.dictionaries(
        st.sampled_from(["refused_frames", "corrupted_frames", "misdelivered_frames"]),
        st.integers(0, 10**6),
    ),
    dut=st.dictionaries(
        st.sampled_from(["ipackets", "opackets", "imissed", "rx_nombuf"]), st.integers(0, 10**9)
    ),
    dropped=st.none() | st.integers(0, 10**6),
)
def test_sent_is_received_plus_lost_plus_unexplained(
    offered: int, missing: int, counts: dict[str, int], dut: dict[str, int], dropped: int | None
):
    trial = build_trial(
        offered,
        min(missing, offered),
        stream_counts=counts,
        dut=DutReading(ports=ports(**dut), forward_tx_dropped=dropped),
        tester_ports=ports(),
    )
    ledger = build_ledger(trial)
    lost = sum(fate.frames for fate in ledger.lost)
    assert ledger.offered_frames == ledger.received_frames + lost + ledger.unexplained_frames
    assert all(fate.frames > 0 for fate in ledger.lost)


def test_between_two_hosts_every_stretch_is_named_by_the_ports_at_its_ends():
    """1000 handed over; 10 stay in the tester's port, 20 on the cable, 30 come in damaged, 40
    find the queue full, 50 no buffer, 60 are not sent, 70 get lost on the way back, 80 come back
    damaged, 90 find the tester's queue full; 550 come back."""
    trial = build_trial(
        1000,
        missing=450,
        dut=DutReading(
            ports=ports(ipackets=850, ierrors=30, imissed=40, rx_nombuf=50, opackets=790),
            forward_tx_dropped=60,
            far=True,
        ),
        tester_ports=ports(opackets=990, ipackets=550, ierrors=80, imissed=90),
    )
    assert fates(trial) == {
        "tester transmit": 10,
        "wire to the DUT": 20,
        "DUT port": 30,
        "DUT receive queue": 40,
        "DUT no mbuf": 50,
        "DUT transmit": 60,
        "wire from the DUT": 70,
        "tester port": 80,
        "tester receive queue": 90,
    }
    assert build_ledger(trial).unexplained_frames == 0


def test_between_two_hosts_a_tester_port_that_could_not_be_read_claims_nothing_of_what_it_sent():
    trial = build_trial(
        1000, missing=10, dut=DutReading(ports=ports(ipackets=990, opackets=990), far=True)
    )
    assert fates(trial) == {"wire to the DUT": 10}
