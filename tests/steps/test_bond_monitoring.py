"""A bond that watches nothing watches its links, and nothing again."""

import json
from typing import Any

import pytest
from described_links import DEFAULTS, DescribedLinks, Netdev
from proof import Answer, plan_on, prove
from samples import reason_of, section_of

from wirespeed.model.command import Command
from wirespeed.steps.bond_monitoring import BondMonitoring

STEP = BondMonitoring(netdev="bond0")


class DescribedBond(DescribedLinks):
    """bond_option_miimon_set() of bond_options.c: an interval ends what ARP did."""

    def run(self, command: Command) -> Answer:
        match command.argv:
            case ("ip", "-j", "-d", "link", "show", "dev", "bond0"):
                return Answer(json.dumps([{}, self._printed("bond0")]))
            case ("ip", "link", "set", "dev", "bond0", "type", "bond", "miimon", interval):
                options = self.netdevs["bond0"].options
                options["miimon"] = int(interval)
                if options["miimon"]:
                    options["arp_interval"] = 0
                return Answer()
            case _:
                return super().run(command)


def bond(**options: Any) -> DescribedBond:
    return DescribedBond({"bond0": Netdev(kind="bond", options=DEFAULTS | options)})


def test_it_is_watched_and_not_again():
    prove(STEP, bond(), bond(miimon=100))


def test_another_interval_is_as_good():
    plan = plan_on(STEP, bond(miimon=250)).steps[0]
    assert plan.commands == () and "250" in plan.no_op


def test_a_bond_that_asks_by_arp_is_left_alone():
    output = bond(arp_interval=100).run(STEP.read()).output
    assert "by ARP" in reason_of(STEP, section_of(output))


@pytest.mark.parametrize(
    "data", [{}, {"miimon": "0"}, {"miimon": 0}, {"miimon": 0, "arp_interval": True}]
)
def test_what_does_not_tell_is_unreadable(data: dict[str, Any]):
    link = {"ifname": "bond0", "linkinfo": {"info_kind": "bond", "info_data": data}}
    reason_of(STEP, section_of(json.dumps([link])))


@pytest.mark.parametrize("links", ["", "{", "[]", '[{"ifname": "bond0"}]', '[{"linkinfo": 1}]'])
def test_what_is_no_bond_is_unreadable(links: str):
    reason_of(STEP, section_of(links))
    reason_of(STEP, section_of("", 'Device "bond0" does not exist.', 1))
