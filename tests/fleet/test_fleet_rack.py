"""10,000 varied hosts with 12 planted causes: all 12 are named, and none is invented.

Varied are a described host, and a capture that a host of the lab printed: there, 7 causes fit.
"""

import re
from typing import NamedTuple

import pytest
from fleet_base import base, captured, planted_there

from fleet_rack import PLANTED, Judge, Planted, has, host_of, name_of, traits_of
from wirespeed.fleet.judge import fleet_of
from wirespeed.fleet.records import Fleet, HostState
from wirespeed.host.workers import each_of_many
from wirespeed.model.question import Question


class Racks(NamedTuple):
    """What was said of all hosts, and what was planted."""

    fleet: Fleet
    plants: tuple[Planted, ...]


HOSTS = 1000
MANY = 10_000


@pytest.fixture(
    name="fleet",
    scope="module",
    params=[
        pytest.param((base, PLANTED, HOSTS), id="described"),
        pytest.param((base, PLANTED, MANY), id="described-10000", marks=pytest.mark.rare),
        pytest.param((captured, planted_there(), HOSTS), id="captured"),
        pytest.param(
            (captured, planted_there(), MANY), id="captured-10000", marks=pytest.mark.rare
        ),
    ],
)
def _fleet(request: pytest.FixtureRequest) -> Racks:
    text, plants, count = request.param
    judged = each_of_many(Judge(text(), plants), range(count))
    at = "2026-01-01T00:00:00.000+00:00"
    return Racks(fleet_of(judged, at, "varied", Question()), plants)


def test_fleet_every_planted_cause_is_named_by_what_its_hosts_share_and_none_is_invented(
    fleet: Racks,
):
    judged, plants = fleet
    found = {cause.rule: cause for cause in judged.causes}
    assert sorted(cause.rule for cause in judged.causes) == sorted(one.rule for one in plants)
    assert len(plants) >= 7
    for planted in plants:
        cause = found[planted.rule]
        hosts = tuple(name_of(n) for n in range(len(judged.hosts)) if has(planted, n))
        assert len(hosts) >= 19, planted
        assert cause.hosts == hosts, planted
        assert cause.common, planted
        assert cause.common[0].trait == planted.trait
        # ethtool says the board after the firmware's version.
        assert cause.common[0].value.partition(" (")[0] == planted.value
        assert cause.common[0].affected == cause.common[0].having == len(hosts)
        assert cause.common[0].elsewhere == 0


def test_fleet_hosts_without_a_planted_cause_are_well(fleet: Racks):
    judged, plants = fleet
    for number, host in enumerate(judged.hosts):
        planted = any(has(one, number) for one in plants)
        assert host.state is (HostState.FINDINGS if planted else HostState.WELL), host.name


def test_fleet_a_plant_hits_what_it_means_to():
    """The tool itself: each host's traits are its own, and each pattern is in the capture."""
    text = base()
    for planted in PLANTED:
        assert re.search(planted.pattern, text, re.M), planted
        assert planted.into(text) != text
    assert len({tuple(traits_of(number).values()) for number in range(HOSTS)}) > 500
    assert host_of(7).labels["rack"] == ("r000",)
