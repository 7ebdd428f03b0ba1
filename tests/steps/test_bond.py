"""A bond is made of ports, and each port gets its master and its state back."""

import json
from typing import Any

import pytest
from described_links import DEFAULTS, DescribedLinks, Netdev
from proof import plan_on, prove
from pydantic import ValidationError

from wirespeed.model.capture import Section
from wirespeed.model.observed import Unreadable
from wirespeed.steps.bond import Bond

PLAIN: dict[str, Any] = {
    "netdev": "bond0", "members": ("ens4", "ens5"), "mode": "active-backup", "miimon_ms": 100,
}  # fmt: skip
STEP = Bond(**PLAIN)
MIIMON = DEFAULTS | {"mode": "active-backup", "miimon": 100}


def host(ens4: Netdev, ens5: Netdev, **others: Netdev) -> DescribedLinks:
    return DescribedLinks({"ens4": ens4, "ens5": ens5, **others})


def bonded(options: dict[str, Any], **others: Netdev) -> DescribedLinks:
    bond = Netdev(kind="bond", options=options)
    member = {"master": "bond0"}
    return host(Netdev(**member), Netdev(**member), **others, bond0=bond)


def test_it_is_made_of_ports_that_are_up():
    prove(STEP, host(Netdev(), Netdev()), bonded(MIIMON))


def test_ports_that_were_down_are_down_again():
    prove(STEP, host(Netdev(is_up=False), Netdev()), bonded(MIIMON))


@pytest.mark.parametrize("is_up", [False, True])
def test_a_port_goes_back_to_its_bridge(is_up: bool):
    bridge = Netdev(kind="bridge")
    start = host(Netdev(is_up=is_up, master="br0"), Netdev(), br0=bridge)
    prove(STEP, start, bonded(MIIMON, br0=bridge))


def test_a_port_goes_back_to_its_other_bond():
    other = Netdev(kind="bond", options=dict(DEFAULTS))
    start = host(Netdev(master="bond9"), Netdev(is_up=False), bond9=other)
    prove(STEP, start, bonded(MIIMON, bond9=other))


def test_a_bond_of_ours_that_has_lost_a_port_gets_it_again():
    start = bonded(MIIMON)
    start.netdevs["ens5"] = Netdev(is_up=False)
    start.netdevs["bond0"].is_up = False
    prove(STEP, start, bonded(MIIMON))


def test_vfs_are_watched_by_arp_with_a_primary_port():
    arp = {
        "mode": "active-backup", "arp_interval_ms": 100, "primary": "ens5",
        "arp_ip_targets": ("192.0.2.1", "192.0.2.2"), "fail_over_mac": "active",
        "arp_validate": "active",
    }  # fmt: skip
    step = Bond(netdev="bond0", members=("ens4", "ens5"), **arp)  # type: ignore[arg-type]
    options = DEFAULTS | {
        "mode": "active-backup", "arp_interval": 100, "primary": "ens5",
        "arp_ip_target": ["192.0.2.1", "192.0.2.2"], "fail_over_mac": "active",
        "arp_validate": "active",
    }  # fmt: skip
    prove(step, host(Netdev(), Netdev()), bonded(options))


def test_lacp_hashes_by_ports():
    lacp = {"mode": "802.3ad", "xmit_hash_policy": "layer3+4"}
    options = DEFAULTS | lacp | {"miimon": 100}
    prove(Bond(**PLAIN | lacp), host(Netdev(), Netdev()), bonded(options))


def test_the_commands_are_the_seeds():
    plan = plan_on(STEP, host(Netdev(), Netdev(is_up=False))).steps[0]
    assert [c.line() for c in plan.commands] == [
        "ip link add dev bond0 type bond mode active-backup miimon 100",
        "ip link set dev ens4 down",
        "ip link set dev ens4 master bond0",
        "ip link set dev ens4 up",
        "ip link set dev ens5 down",
        "ip link set dev ens5 master bond0",
        "ip link set dev ens5 up",
        "ip link set dev bond0 up",
    ]
    assert [c.line() for c in plan.undo] == [
        "ip link set dev ens4 nomaster",
        "ip link set dev ens4 up",
        "ip link set dev ens5 nomaster",
        "ip link set dev ens5 down",
        "ip link del dev bond0",
    ]


def test_ports_that_a_step_makes_first_are_down():
    """As a VF's netdev is that has just moved into a namespace."""
    start = host(Netdev(is_up=False), Netdev(is_up=False))
    assert STEP.made() == plan_on(STEP, start).steps[0].before


def reason(links: object) -> str:
    text = links if isinstance(links, str) else json.dumps(links)
    state = STEP.parse(Section("step", "bond0", text, "", 0))
    assert isinstance(state, Unreadable)
    return state.reason


def test_the_bond_of_another_is_left_alone():
    """As the module makes it where nobody says max_bonds=0; of another kind; watched otherwise."""
    for link, word in (
        (Netdev(kind="bond", options=dict(DEFAULTS)), "mode balance-rr"),
        (Netdev(kind="bridge"), "not a bond"),
        (Netdev(), "not a bond"),
        (Netdev(kind="bond", options=MIIMON | {"arp_interval": 500}), "arp_interval 500"),
    ):
        host_of_another = host(Netdev(), Netdev(), bond0=link)
        assert word in reason(host_of_another.run(STEP.read()).output)


def test_a_port_of_open_vswitch_is_left_alone():
    one = Netdev(master="ovs-system")
    links = host(one, Netdev(), **{"ovs-system": Netdev(kind="openvswitch")})
    assert reason(links.run(STEP.read()).output) == "ens4 belongs to 'ovs-system'"


@pytest.mark.parametrize(
    "links",
    [
        "",
        "{",
        [],
        {"ifname": "ens4"},
        [{"ifname": "ens4", "flags": ["UP"]}],
        [{"ifname": "ens4", "master": 7}, {"ifname": "ens5"}],
        [{"ifname": "ens4", "master": "-x"}, {"ifname": "ens5"}],
        [{"ifname": "ens4"}, {"ifname": "ens5"}, {"ifname": "bond0", "linkinfo": [1]}],
    ],
)
def test_what_is_no_list_of_both_ports_is_unreadable(links: object):
    reason(links)


@pytest.mark.parametrize(
    "change",
    [
        {"members": ("ens4", "ens4")},
        {"members": ("ens4", "bond0")},
        {"members": ()},
        {"miimon_ms": 0},
        {"arp_interval_ms": 100, "arp_ip_targets": ("192.0.2.1",)},
        {"miimon_ms": 0, "arp_interval_ms": 100},
        {"mode": "802.3ad", "miimon_ms": 0, "arp_interval_ms": 9, "arp_ip_targets": ("192.0.2.1",)},
        {"arp_validate": "active"},
        {"primary": "ens6"},
        {"primary": "ens4", "mode": "802.3ad"},
        {"netdev": "-x"},
    ],
)
def test_it_takes_only_a_bond_that_the_kernel_would_make(change: dict[str, Any]):
    with pytest.raises(ValidationError):
        Bond(**PLAIN | change)
