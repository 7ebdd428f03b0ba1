"""A bond hashes by addresses and ports, and by what it did before again."""

import json
from typing import Any

import pytest
from described_links import DEFAULTS, DescribedLinks, Netdev
from proof import Answer, plan_on, prove
from pydantic import ValidationError
from samples import reason_of, section_of

from wirespeed.model.command import Command
from wirespeed.model.finding import Danger
from wirespeed.steps.bond_hash_policy import BondHashPolicy

STEP = BondHashPolicy(netdev="bond0")
KERNEL = ("layer2", "layer2+3", "layer3+4", "encap2+3", "encap3+4", "vlan+srcmac")
"""docs.kernel.org/networking/bonding.html, xmit_hash_policy."""


class DescribedBond(DescribedLinks):
    def run(self, command: Command) -> Answer:
        match command.argv:
            case ("ip", "-j", "-d", "link", "show", "dev", "bond0"):
                return Answer(json.dumps([{}, self._printed("bond0")]))
            case ("ip", "link", "set", "dev", "bond0", "type", "bond", "xmit_hash_policy", policy):
                assert policy in KERNEL
                self.netdevs["bond0"].options["xmit_hash_policy"] = policy
                return Answer()
            case _:
                return super().run(command)


def bond(**options: Any) -> DescribedBond:
    return DescribedBond({"bond0": Netdev(kind="bond", options=DEFAULTS | options)})


@pytest.mark.parametrize("mode", ["802.3ad", "balance-xor"])
@pytest.mark.parametrize("policy", [one for one in KERNEL if one != "layer3+4"])
def test_by_addresses_and_ports_and_back(mode: str, policy: str):
    goal = bond(mode=mode, xmit_hash_policy="layer3+4")
    prove(STEP, bond(mode=mode, xmit_hash_policy=policy), goal)


def test_the_command_leaves_the_link_up():
    one = plan_on(STEP, bond(mode="802.3ad")).steps[0]
    assert [c.line() for c in (*one.commands, *one.undo)] == [
        "ip link set dev bond0 type bond xmit_hash_policy layer3+4",
        "ip link set dev bond0 type bond xmit_hash_policy layer2",
    ]
    assert one.danger is Danger.NONE


@pytest.mark.parametrize("mode", ["balance-rr", "active-backup", "broadcast", "balance-alb"])
def test_a_mode_without_a_hash_is_refused(mode: str):
    output = bond(mode=mode).run(STEP.read()).output
    assert "by a hash" in reason_of(STEP, section_of(output))


@pytest.mark.parametrize("policy", [None, 1, "layer9"])
def test_a_policy_that_no_kernel_has_is_never_overwritten(policy: Any):
    data = {"mode": "802.3ad", "xmit_hash_policy": policy}
    link = {"ifname": "bond0", "linkinfo": {"info_kind": "bond", "info_data": data}}
    assert "xmit_hash_policy" in reason_of(STEP, section_of(json.dumps([link])))


@pytest.mark.parametrize("links", ["", "{", "[]", '[{"ifname": "bond0"}]', '[{"linkinfo": 1}]'])
def test_what_is_no_bond_is_unreadable(links: str):
    reason_of(STEP, section_of(links))
    reason_of(STEP, section_of("", 'Device "bond0" does not exist.', 1))


def test_a_policy_that_there_is_not_cannot_be_asked_for():
    with pytest.raises(ValidationError):
        BondHashPolicy.model_validate({"netdev": "bond0", "policy": "layer4"})
