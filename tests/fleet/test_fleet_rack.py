"""10,000 described hosts with 12 planted causes: all 12 are named, and none is invented."""

import re

import pytest
from fleet_base import base

from fleet_rack import PLANTED, Judge, has, host_of, name_of, traits_of
from wirespeed.fleet.judge import fleet_of
from wirespeed.fleet.records import Fleet, HostState
from wirespeed.host.workers import each_of_many
from wirespeed.model.question import Question

HOSTS = 1000
MANY = pytest.param(10_000, marks=pytest.mark.rare)
"""Half a minute."""


@pytest.fixture(name="fleet", scope="module", params=[HOSTS, MANY])
def _fleet(request: pytest.FixtureRequest) -> Fleet:
    judged = each_of_many(Judge(base()), range(request.param))
    return fleet_of(judged, "2026-01-01T00:00:00.000+00:00", "described", Question())


def test_fleet_every_planted_cause_is_named_by_what_its_hosts_share_and_none_is_invented(
    fleet: Fleet,
):
    found = {cause.rule: cause for cause in fleet.causes}
    assert sorted(cause.rule for cause in fleet.causes) == sorted(one.rule for one in PLANTED)
    for planted in PLANTED:
        cause = found[planted.rule]
        hosts = tuple(name_of(n) for n in range(len(fleet.hosts)) if has(planted, n))
        assert len(hosts) >= 19, planted
        assert cause.hosts == hosts, planted
        assert cause.common, planted
        assert cause.common[0].trait == planted.trait
        # ethtool says the board after the firmware's version.
        assert cause.common[0].value.partition(" (")[0] == planted.value
        assert cause.common[0].affected == cause.common[0].having == len(hosts)
        assert cause.common[0].elsewhere == 0


def test_fleet_hosts_without_a_planted_cause_are_well(fleet: Fleet):
    for number, host in enumerate(fleet.hosts):
        planted = any(has(one, number) for one in PLANTED)
        assert host.state is (HostState.FINDINGS if planted else HostState.WELL), host.name


def test_fleet_a_plant_hits_what_it_means_to():
    """The tool itself: each host's traits are its own, and each pattern is in the capture."""
    text = base()
    for planted in PLANTED:
        assert re.search(planted.pattern, text, re.M), planted
        assert planted.into(text) != text
    assert len({tuple(traits_of(number).values()) for number in range(HOSTS)}) > 500
    assert host_of(7).labels["rack"] == ("r000",)
