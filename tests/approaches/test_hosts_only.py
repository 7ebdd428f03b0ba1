"""The steps of hosts without guests, and what a spec of them cannot say."""

import re

import pytest

from described import doc_sriov
from described.host import Host, capture_of
from described.port import netdev
from wirespeed.apply.spec_file import parse_spec
from wirespeed.approaches.hosts_only import hosts_only
from wirespeed.model.capture import parse_capture
from wirespeed.model.error import InputError, MeasurementError
from wirespeed.model.fact import HostFacts
from wirespeed.model.spec.members import HostsOnly
from wirespeed.runs.measuring import measuring_of

SPEC = """\
hosts:
  alpha: {reach: ssh://alpha, ports: ["PORT"]}
  beta: {reach: ssh://beta, ports: ["PORT"]}
approach: none
underlay: {subnet: 192.168.9.0/24, mtu: 9000}
tuning: {rings: largest, channels: 4, pause: false}
"""


def spec_of(text: str) -> HostsOnly:
    found = parse_spec(text, "spec.yaml")
    assert isinstance(found, HostsOnly)
    return found


def facts_of() -> HostFacts:
    host = Host()
    doc_sriov.as_found(host)
    return HostFacts("alpha", parse_capture(capture_of(host), "alpha"))


def steps_of(text: str, name: str = "beta") -> list[tuple[str, dict[str, object]]]:
    steps = [wanted.step for wanted in hosts_only(spec_of(text), name, facts_of())]
    return [
        (step.model_dump()["step"], step.model_dump(mode="json", exclude={"step", "netdev"}))
        for step in steps
    ]


def test_ports_are_tuned_before_they_get_their_mtu_link_and_address():
    assert steps_of(SPEC.replace("PORT", doc_sriov.PFS[0])) == [
        ("channels", {"combined": 4, "rx": None, "tx": None}),
        ("rings", {"rx": 8192, "tx": 8192}),
        ("pause", {"autoneg": False, "rx": False, "tx": False}),
        ("mtu", {"mtu": 9000}),
        ("link_up", {}),
        ("address", {"address": "192.168.9.2/24"}),
    ]


@pytest.mark.parametrize(("vlan", "above"), [(40, "enp3s0f0np0.40"), (4000, "vlan4000")])
def test_the_address_of_a_vlan_is_on_a_netdev_of_its_own(vlan: int, above: str):
    text = SPEC.replace("mtu: 9000", f"mtu: 9000, vlan: {vlan}").partition("tuning")[0]
    port = doc_sriov.NETDEVS[0]
    steps = list(hosts_only(spec_of(text.replace("PORT", doc_sriov.PFS[0])), "beta", facts_of()))
    assert [one.step.model_dump(mode="json", exclude_none=True) for one in steps] == [
        {"step": "mtu", "netdev": port, "mtu": 9000},
        {"step": "link_up", "netdev": port},
        {"step": "vlan", "netdev": above, "lower": port, "vlan": vlan},
        {"step": "mtu", "netdev": above, "mtu": 9000},
        {"step": "address", "netdev": above, "address": "192.168.9.2/24"},
    ]
    assert [one.is_made for one in steps] == [False, False, False, True, True]


@pytest.mark.parametrize(
    ("vlan", "own"),
    [("", []), (", vlan: 40", ["vlan", "enp3s0f0np0.40"])],
)
def test_what_the_kernel_would_lower_is_lowered_first(vlan: str, own: list[str]):
    # Undo goes the other way: the port is raised before the VLANs on it, which the kernel does not
    # raise (vlan_device_event, net/8021q/vlan.c).
    text = SPEC.replace("mtu: 9000", f"mtu: 1500{vlan}").partition("tuning")[0]
    host, port = Host(), doc_sriov.NETDEVS[0]
    doc_sriov.as_found(host)
    netdev(host, port, mtu=9000)
    for name, lower, number, mtu in (
        (f"{port}.40", port, 40, 9000),
        ("inner", f"{port}.40", 7, 8996),
        ("small", port, 41, 1500),
    ):
        kind = {"info_kind": "vlan", "info_data": {"id": number}}
        netdev(host, name, mtu=mtu, link=lower, linkinfo=kind)
    facts = HostFacts("beta", parse_capture(capture_of(host), "beta"))
    steps = hosts_only(spec_of(text.replace("PORT", doc_sriov.PFS[0])), "beta", facts)
    found = [one.step.model_dump(mode="json") for one in steps]
    assert [one["netdev"] for one in found if one["step"] == "mtu"] == ["inner", f"{port}.40", port]
    assert [w for one in found if one["step"] == "vlan" for w in ("vlan", one["netdev"])] == own


def test_without_a_network_and_tuning_nothing_is_wanted():
    text = SPEC.partition("underlay")[0].replace("PORT", doc_sriov.PFS[0])
    assert steps_of(text) == []
    assert [name for name, _ in steps_of(text + "tuning: {pause: true}\n")] == ["pause"]


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('["PORT"]}\n  beta', '["PORT", "0000:03:00.1"]}\n  beta', "takes one port"),
        ("192.168.9.0/24", "192.168.9.0/31", "no room for the hosts"),
        ("192.168.9.0/24", "fd00:9::/64", "IPv4"),
        ("192.168.9.0/24", "127.0.0.0/24", "underlay.subnet: found 127.0.0.0/24"),
        ("mtu: 9000", "mtu: 9000, tunnel: geneve", "underlay.tunnel: there is no field"),
        ("mtu: 9000", "mtu: 9000, vlan: 4095", "underlay.vlan"),
        ("mtu: 9000", "mtu: 9000, vlan: 0", "underlay.vlan"),
        ("rings: largest", "rings: 4096", "tuning.rings"),
        ("channels: 4", "channels: 0", "tuning.channels"),
        ("approach: none", "approach: none\nnetworks: {}\nguests: {}\nfailover: none", ""),
        ("approach: none", "approach: none\nfailover: active-backup", "failover: none"),
        ("approach: none", "approach: none\nwsl: {}", "wsl: it belongs to approach: wsl2"),
        (
            "approach: none",
            "approach: none\nnetworks: {n: {segment: 1, subnet: 10.0.0.0/24, mtu: 1500}}",
            "neither networks nor guests",
        ),
        ("approach: none", "approach: nothing", "it must be one of dpdk, esxi, legacy-vlan"),
        ("approach: none\n", "", "approach: it is missing; it must be one of dpdk, esxi, legacy"),
    ],
)
def test_what_hosts_alone_cannot_have_is_refused(old: str, new: str, why: str):
    assert old in SPEC
    text = SPEC.replace(old, new).replace("PORT", doc_sriov.PFS[0])
    if not why:
        spec_of(text)
        return
    with pytest.raises(InputError) as caught:
        spec_of(text)
    assert caught.value.what == "spec.invalid" and why in caught.value.found


def test_nothing_is_measured_without_two_hosts_and_a_network():
    for text in (SPEC.partition("underlay")[0], re.sub("  beta.*\n", "", SPEC)):
        spec = spec_of(text.replace("PORT", doc_sriov.PFS[0]))
        with pytest.raises(MeasurementError) as caught:
            measuring_of(spec)({}, lambda _: None).measure({}, lambda _: None, lambda _: None)
        assert caught.value.what == "hosts.none"


def test_an_approach_that_is_not_measured_is_refused():
    spec = parse_spec(
        'hosts: {desk: {reach: here, ports: ["0000:0a:00.0"]}}\napproach: wsl2\n'
        "underlay: {subnet: 10.10.10.0/24, mtu: 9000}\n",
        "spec.yaml",
    )
    with pytest.raises(InputError) as caught:
        measuring_of(spec)
    assert caught.value.what == "spec.not_measured"
