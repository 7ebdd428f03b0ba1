"""Fields that choose a queue."""

import pytest
from described_ethtool import DescribedPorts, Port
from proof import plan_on, prove
from samples import is_never_guessed, reason_of, section_of

from wirespeed.steps.rss_fields import RssFields

STEP = RssFields(netdev="eth0", flow="udp4", fields="sdfn")


def host(udp4: str) -> DescribedPorts:
    return DescribedPorts({"eth0": Port(flow_fields={"udp4": udp4, "tcp4": "sdfn"})})


@pytest.mark.parametrize("before", ["sd", "s", "fn"])
def test_other_fields_come_back(before: str):
    prove(STEP, host(before), host("sdfn"))


def test_the_commands():
    planned = plan_on(STEP, host("sd")).steps[0]
    assert planned.read.line() == "ethtool -n eth0 rx-flow-hash udp4"
    assert planned.commands[0].line() == "ethtool -N eth0 rx-flow-hash udp4 sdfn"
    assert planned.undo[0].line() == "ethtool -N eth0 rx-flow-hash udp4 sd"


def test_fields_that_could_not_be_set_again_are_not_known():
    nothing = host("").run(STEP.read()).output
    assert "None" in nothing
    reason_of(STEP, section_of(nothing))
    reason_of(STEP, section_of(host("sd").run(STEP.read()).output + "GTP TEID\n"))


def test_it_is_never_guessed():
    is_never_guessed(STEP)
