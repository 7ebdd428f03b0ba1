"""A limit is named only with the counters that say so."""

import pytest
from trial_builder import build_trial, ports

from wirespeed.measure.search.ledger import build_ledger
from wirespeed.measure.search.limit import dut_core_taken, limit_of_ceiling, limit_of_failure
from wirespeed.model.trial import DutReading, Limit, Trial

FULL_RING = {"refused_frames": 50_000}


def limit_of(trial: Trial) -> Limit:
    return limit_of_failure(trial, build_ledger(trial))


def reading(**fields: object) -> DutReading:
    return DutReading.model_validate({"ports": ports(ipackets=950_000, opackets=950_000)} | fields)


BACK = ports(ipackets=950_000)


def overloaded(**fields: object) -> Trial:
    return build_trial(
        missing=50_000, stream_counts=FULL_RING, dut=reading(**fields), tester_ports=BACK
    )


def test_a_full_input_queue_before_a_core_that_counts_itself_busy_is_a_busy_core():
    # 2000 cycles x 950,000 packets of 2e9 cycles: 95 %
    limit = limit_of(overloaded(busy_cycles_per_packet=2000.0))
    assert limit.by == "DUT core busy"
    assert "95.0%" in limit.evidence[0]
    assert any("DUT input queue: 50000" in line for line in limit.evidence)


def test_a_full_input_queue_before_an_idle_core_is_no_verdict():
    limit = limit_of(overloaded(busy_cycles_per_packet=200.0, cpu_run_ns=1_000_000_000))
    assert limit.by == "cannot tell"
    assert any("busy for 9.5%" in line for line in limit.evidence)


def test_without_a_cycle_count_a_thread_that_ran_all_the_time_is_a_busy_core():
    assert limit_of(overloaded(cpu_run_ns=1_000_000_000)).by == "DUT core busy"


def test_without_a_cycle_count_a_thread_that_did_not_always_run_is_no_verdict():
    assert limit_of(overloaded(cpu_run_ns=900_000_000)).by == "cannot tell"


def test_a_dut_that_cannot_send_was_limited_by_the_tester():
    trial = build_trial(
        missing=1000,
        dut=DutReading(ports=ports(ipackets=1_000_000, opackets=999_000), forward_tx_dropped=1000),
        tester_ports=ports(ipackets=999_000),
    )
    assert limit_of(trial).by == "tester"


def test_frames_that_one_end_sent_and_the_other_did_not_get_were_lost_on_the_wire():
    trial = build_trial(missing=1000, dut=reading(ports=ports(ipackets=999_000, opackets=999_000)),
                        tester_ports=ports(ipackets=999_000))  # fmt: skip
    assert limit_of(trial).by == "wire"


def test_loss_that_no_counter_claims_is_no_verdict():
    limit = limit_of(build_trial(missing=1000))
    assert limit == Limit(by="cannot tell", evidence=("no counter claims the loss",))


SILENT = {"silence_ns_max": 8_000_000, "silence_ns_sum": 8_000_000}


def test_what_a_cable_between_two_hosts_lost_is_not_laid_to_a_core_that_was_away():
    """Its silence would explain 8000 frames; the ports at the cable's ends count 100 lost there."""
    for place, dut, back in (
        ("wire to the DUT", ports(ipackets=999_900, opackets=999_900), 999_900),
        ("wire from the DUT", ports(ipackets=1_000_000, opackets=1_000_000), 999_900),
    ):
        trial = build_trial(
            missing=100,
            dut=DutReading(ports=dut, far=True),
            tester_ports=ports(opackets=1_000_000, ipackets=back),
            **SILENT,
        )
        limit = limit_of(trial)
        assert limit.by == "wire"
        assert any(line.startswith(f"{place}: 100 frames") for line in limit.evidence)


def test_what_a_dut_on_another_host_took_in_and_did_not_send_is_not_laid_to_the_tester():
    trial = build_trial(
        missing=100,
        dut=DutReading(ports=ports(ipackets=1_000_000, opackets=999_900), far=True),
        tester_ports=ports(opackets=1_000_000, ipackets=999_900),
        **SILENT,
    )
    limit = limit_of(trial)
    assert limit.by == "cannot tell"
    assert any(line.startswith("DUT transmit: 100 frames") for line in limit.evidence)


def test_between_two_hosts_a_core_that_was_away_is_told_where_no_counter_claims_the_loss():
    trial = build_trial(
        missing=7_900,
        dut=DutReading(ports=ports(ipackets=1_000_000, opackets=1_000_000), far=True),
        tester_ports=ports(opackets=1_000_000, ipackets=1_000_000),
        **SILENT,
    )
    assert limit_of(trial).by == "DUT core taken away"


def test_a_loss_that_the_duts_silence_explains_is_a_core_taken_away():
    # 8 ms at 1 Mpps: 8000 frames
    trial = build_trial(missing=7_900, stream_counts={"refused_frames": 7_900}, **SILENT)
    assert limit_of(trial).by == "DUT core taken away"
    assert "7900 are missing" in dut_core_taken(trial)[0]


def test_a_loss_larger_than_the_silence_explains_is_the_duts_own():
    trial = build_trial(missing=8_100, stream_counts={"refused_frames": 8_100}, **SILENT)
    assert dut_core_taken(trial) == ()
    assert limit_of(trial).by != "DUT core taken away"


def test_many_short_silences_are_the_machines_everyday_noise():
    trial = build_trial(missing=100, silence_ns_max=900_000, silence_ns_sum=8_000_000)
    assert dut_core_taken(trial) == ()


def test_short_silences_that_explain_a_loss_before_an_idle_core_are_named_all_the_same():
    short = {"silence_ns_max": 900_000, "silence_ns_sum": 60_000_000}
    for reading_fields in ({"busy_cycles_per_packet": 200.0}, {"cpu_run_ns": 1_000_000_000}):
        trial = build_trial(
            missing=50_000,
            stream_counts=FULL_RING,
            dut=reading(**reading_fields),
            tester_ports=BACK,
            **short,
        )
        assert limit_of(trial).by == "DUT core taken away"
    busy = build_trial(missing=50_000, stream_counts=FULL_RING, tester_ports=BACK,
                       dut=reading(busy_cycles_per_packet=2000.0), **short)  # fmt: skip
    assert limit_of(busy).by == "DUT core busy"


def test_a_trial_that_lost_nothing_needs_no_excuse():
    assert dut_core_taken(build_trial(**SILENT)) == ()


def test_what_the_kernel_and_the_hypervisor_say_goes_with_it():
    trial = build_trial(
        missing=100, dut=reading(cpu_wait_ns=7_000_000, steal_ns=10_000_000), **SILENT
    )
    evidence = dut_core_taken(trial)
    assert "waited 7.00 ms" in evidence[1]
    assert "took 10 ms" in evidence[2]


@pytest.mark.parametrize(
    ("max_load", "link", "asked", "by"),
    [
        (1e6, 1e6, None, "line rate"),
        (0.99995e6, 1e6, None, "line rate"),
        (0.9e6, 1e6, None, "tester"),
        (1e6, None, None, "tester"),
        (1e6, None, 1e6, "cannot tell"),
        (1e6, 1e6, 1e6, "line rate"),
    ],
)
def test_a_ceiling_that_was_passed_is_the_line_the_tester_or_what_was_asked_for(
    max_load: float, link: float | None, asked: float | None, by: str
):
    limit = limit_of_ceiling(max_load, link_load_pps=link, asked_load_pps=asked, confirmed=None)
    assert limit.by == by
