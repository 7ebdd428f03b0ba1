"""Which port is lost when: on two ports of which one carries the flow, and it moves when lost."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from wirespeed.measure.network import failover as network_failover
from wirespeed.measure.network.failover import TRIES, failovers
from wirespeed.measure.network.port_switch import PortSwitch
from wirespeed.model.network_trial import FailoverVerdict, Pair
from wirespeed.model.spec.measure import FailoverSpec

PAIR = Pair(client="ceph-1", server="gpu-1", network="storage")
NOT_TOUCHED, SURVIVED = FailoverVerdict.NOT_TOUCHED, FailoverVerdict.SURVIVED
INVALID, LOST = FailoverVerdict.INVALID, FailoverVerdict.LOST
Turn = tuple[int, FailoverVerdict]


def turns(
    monkeypatch: pytest.MonkeyPatch,
    of_port: Callable[[int], FailoverVerdict],
    *,
    carrier: int = 0,
    has_primary: bool = False,
) -> list[Turn]:
    """Give the trials in their order; `of_port` says what becomes of one that carries the flow."""
    at = [carrier]

    def trial(_guests: object, _spec: object, _pair: object, switch: PortSwitch) -> object:
        verdict = NOT_TOUCHED
        if at[0] == switch.number:
            verdict = of_port(switch.number)
            at[0] = 0 if has_primary else 1 - switch.number
        return SimpleNamespace(number=switch.number, verdict=verdict)

    def carries(_guests: object, _pair: object, switch: PortSwitch) -> bool:
        return at[0] == switch.number

    monkeypatch.setattr(network_failover, "_trial", trial)
    monkeypatch.setattr(network_failover, "_carries", carries)
    switches = [SimpleNamespace(number=n, host="alpha", port=f"p{n}", how="away") for n in (0, 1)]
    made: list[Turn] = []

    def record(done: Any) -> None:
        made.append((done.number, done.verdict))

    failovers({}, FailoverSpec(), PAIR, cast("list[PortSwitch]", switches), record)
    return made


def test_a_port_that_carried_nothing_has_its_turn_when_the_flow_has_moved(
    monkeypatch: pytest.MonkeyPatch,
):
    made = turns(monkeypatch, lambda _: SURVIVED, carrier=1)
    assert made == [(0, NOT_TOUCHED), (1, SURVIVED), (0, SURVIVED)]


def test_after_a_trial_that_told_nothing_the_flow_is_brought_back(monkeypatch: pytest.MonkeyPatch):
    of_first = iter([INVALID, SURVIVED])
    made = turns(monkeypatch, lambda port: SURVIVED if port else next(of_first), carrier=1)
    assert made == [(0, NOT_TOUCHED), (1, SURVIVED), (0, INVALID), (1, SURVIVED), (0, SURVIVED)]


def test_a_port_that_never_tells_anything_ends_it_after_so_many_trials(
    monkeypatch: pytest.MonkeyPatch,
):
    made = turns(monkeypatch, lambda port: SURVIVED if port else INVALID)
    assert made.count((0, INVALID)) == 1 + TRIES
    assert set(made) == {(0, INVALID), (1, SURVIVED)}


def test_with_a_primary_port_the_other_is_not_waited_for(monkeypatch: pytest.MonkeyPatch):
    made = turns(monkeypatch, lambda _: SURVIVED, has_primary=True)
    assert made == [(0, SURVIVED), (1, NOT_TOUCHED)]


def test_what_is_lost_is_lost_and_not_tried_again(monkeypatch: pytest.MonkeyPatch):
    made = turns(monkeypatch, lambda port: LOST if port else SURVIVED)
    assert made == [(0, SURVIVED), (1, LOST)]


@pytest.mark.parametrize(
    ("host", "bonds", "sender"),
    [
        ("alpha", {}, "gpu-1"),
        ("beta", {}, "ceph-1"),
        ("alpha", {"alpha": "its bond"}, "ceph-1"),
    ],
)
def test_the_guest_of_the_host_that_loses_its_port_receives_if_it_has_a_bond_of_its_own(
    monkeypatch: pytest.MonkeyPatch, host: str, bonds: dict[str, str], sender: str
):
    senders: list[tuple[str, str]] = []

    def trial(_guests: object, _spec: object, pair: Pair, _switch: object) -> object:
        senders.append((pair.client, pair.network))
        return SimpleNamespace(verdict=SURVIVED)

    monkeypatch.setattr(network_failover, "_trial", trial)
    guests = {PAIR.client: SimpleNamespace(host="alpha"), PAIR.server: SimpleNamespace(host="beta")}
    switches = [SimpleNamespace(number=n, host=host, port=f"p{n}", how="away") for n in (0, 1)]
    record: list[object] = []
    failovers(
        cast("Any", guests),
        FailoverSpec(),
        PAIR,
        cast("Any", switches),
        record.append,
        bonds=cast("Any", bonds),
    )
    assert senders == [(sender, PAIR.network)] * 2
