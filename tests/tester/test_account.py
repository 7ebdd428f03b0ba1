"""What the tester does not know of its own trial makes the trial void, and never a zero."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tester_programs import Tester

pytestmark = pytest.mark.dpdk


def failing(built: Path, nth: int, what: str = "stats") -> dict[str, str]:
    """The environment in which the nth reading of counters fails, or the launch of lcore nth."""
    library = built / "tests" / f"{what}_fail.so"
    return {"LD_PRELOAD": str(library), f"{what.upper()}_FAIL": str(nth)}


@pytest.mark.parametrize(("nth", "when"), [(1, "before"), (2, "after")])
def test_a_port_whose_counters_cannot_be_read_voids_the_trial(
    built: Path, start_tester: Callable[..., Tester], nth: int, when: str
):
    tester = start_tester(environment=failing(built, nth))
    tester.open("net_ring0")
    result = tester.trial()
    assert result["valid"] is False
    reasons = result["invalid_reasons"]
    said = f"tester.counters_unreadable: port 0 {when} the trial: "
    assert any(reason.startswith(said) for reason in reasons), reasons
    assert result["counters"] == [], "no zeros, and no counts since the port's start"
    assert tester.trial(number=2)["counters"][0]["opackets"] == 2000


def test_the_counters_of_a_port_that_cannot_be_read_are_an_error(
    built: Path, start_tester: Callable[..., Tester]
):
    tester = start_tester(environment=failing(built, 1))
    tester.open("net_ring0")
    reply = tester.ask("counters")
    assert (reply["event"], reply["what"]) == ("error", "port.counters_unreadable")
    assert reply["where"] == "net_ring0"
    assert tester.ask("counters")["ports"][0]["opackets"] == 0


@pytest.mark.parametrize("lcore", [1, 2])
def test_a_worker_that_cannot_be_launched_ends_the_trial_at_once_and_the_next_one_runs(
    built: Path, start_tester: Callable[..., Tester], lcore: int
):
    tester = start_tester(workers=2, environment=failing(built, lcore, "launch"))
    workers = [{"lcore": 1, "tx": [[0, 0]], "rx": []}, {"lcore": 2, "tx": [], "rx": [[0, 0]]}]
    tester.ask("open", ports=[{"device": "net_ring0"}], workers=workers)
    begin = time.monotonic()
    reply = tester.trial(prime=False)
    assert time.monotonic() - begin < 5, "it waits for no frames"
    assert (reply["event"], reply["what"]) == ("error", "tester.lcore_busy")
    assert reply["found"] == f"lcore {lcore} takes no work: Device or resource busy"
    assert tester.trial(number=2)["streams"][0]["offered_frames"] > 0
