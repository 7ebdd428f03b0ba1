"""The steps of Open vSwitch with tunnels, on a host without an embedded switch."""

import json

import pytest

from wirespeed.approaches.ovs_tc import ovs_tc
from wirespeed.model.capture import parse_capture
from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.spec.members import read_spec_data
from wirespeed.model.spec.spec import Spec
from wirespeed.steps.bond import Bond

PORTS = {"0000:01:00.0": "enp1s0", "0000:02:00.0": "enp2s0"}
RUNNING = json.dumps(
    {"headings": ["ovs_version", "other_config"], "data": [["3.1.0", ["map", []]]]}
)


def spec(**changes: object) -> Spec:
    hosts = {n: {"reach": f"ssh://{n}", "ports": list(PORTS)} for n in ("alpha", "beta")}
    return read_spec_data(
        {
            "hosts": hosts,
            "approach": "ovs-tc",
            "underlay": {"subnet": "192.168.9.0/24", "mtu": 9080},
            "networks": {
                "storage": {"segment": 42, "subnet": "192.168.10.0/24", "mtu": 9000},
                "public": {"segment": 40, "subnet": "192.168.20.0/24", "mtu": 1500},
            },
            "guests": {
                "c1": {"host": "alpha", "networks": ["storage"], "kind": "namespace"},
                "c2": {"host": "beta", "networks": ["storage", "public"], "kind": "namespace"},
            },
            **changes,
        }
    )


def host(ovs: tuple[str, int] = (RUNNING, 0), driver: str = "igb", died: str = "") -> HostFacts:
    lines = ["wirespeed-capture 1 case", "case begin ports -"]
    lines += [
        f"{netdev} driver={driver} physfn= port= device=/sys/devices/pci0000:00/{address}"
        for address, netdev in PORTS.items()
    ]
    output, code = ovs
    lines += ["", "case end 0", "case begin ovs-db -", output, "", f"case end {code}"]
    if died:
        lines += ["case begin ovs-upcall -", "case errors", died, "case end 1"]
    return HostFacts("alpha", parse_capture("\n".join([*lines, "case done", ""]), "alpha"))


def steps(of: Spec, name: str = "alpha", facts: HostFacts | None = None) -> list[str]:
    return [
        f"{wanted.step.model_dump()['step']} {wanted.step.subject}"
        for wanted in ovs_tc(of, name, facts or host())
    ]


def addresses(of: Spec, name: str) -> dict[str, str]:
    """By the subject of the step that gives it."""
    found = {}
    for wanted in ovs_tc(of, name, host()):
        data = wanted.step.model_dump(mode="json")
        data = data.get("inner", data)
        if data["step"] == "address":
            found[wanted.step.subject] = data["address"]
    return found


def test_the_steps_of_a_host_in_their_order():
    assert steps(spec()) == [
        "offloads enp1s0",
        "offloads enp2s0",
        "module bonding",
        "bond underlay0",
        "mtu underlay0",
        "address underlay0",
        "ovs_bridge br-storage",
        "ovs_port t42-beta in br-storage",
        "namespace c1",
        "in_namespace lo in c1",
        "veth c1-n0 to net0p0 in c1",
        "mtu c1-n0",
        "link_up c1-n0",
        "ovs_port c1-n0 in br-storage",
        "in_namespace net0p0 in c1",
        "in_namespace net0p0 in c1",
        "in_namespace net0p0 in c1",
    ]


def test_a_network_of_one_host_has_a_bridge_and_no_tunnel():
    found = steps(spec(), "beta")
    assert "ovs_bridge br-public" in found
    assert [one for one in found if one.startswith("ovs_port t")] == [
        "ovs_port t42-alpha in br-storage"
    ]


def test_without_failover_one_port_carries_the_underlay():
    found = steps(spec(failover="none"))
    assert "link_up enp1s0" in found
    assert not [one for one in found if one.startswith("bond ")]
    assert "address enp1s0" in found


def test_by_lacp_both_ports_carry_flows_by_their_ports_and_addresses():
    (bond,) = (
        w.step for w in ovs_tc(spec(failover="lacp"), "alpha", host()) if isinstance(w.step, Bond)
    )
    assert (bond.mode, bond.xmit_hash_policy, bond.members) == (
        "802.3ad", "layer3+4", ("enp1s0", "enp2s0"),
    )  # fmt: skip
    assert "LACP" in bond.why
    assert [s.split()[0] for s in steps(spec(failover="lacp"))] == [
        s.split()[0] for s in steps(spec())
    ]


def test_hosts_and_guests_have_addresses_by_their_place_in_the_spec():
    assert addresses(spec(), "alpha") == {
        "underlay0": "192.168.9.1/24",
        "net0p0 in c1": "192.168.10.1/24",
    }
    assert addresses(spec(), "beta") == {
        "underlay0": "192.168.9.2/24",
        "net0p0 in c2": "192.168.10.2/24",
        "net1p0 in c2": "192.168.20.1/24",
    }


def test_the_workaround_for_tunnels_is_of_that_driver_alone():
    assert not [s for s in steps(spec(), facts=host(driver="mlx5_core")) if "offloads" in s]


def test_a_host_without_open_vswitch_is_refused():
    with pytest.raises(InputError) as caught:
        steps(spec(), facts=host(("ovs-vsctl: not found", 127)))
    assert caught.value.what == "spec.no_ovs"
    assert "apt install openvswitch-switch" in caught.value.next


def test_a_database_whose_daemon_died_is_refused_as_nobody_would_do_what_it_is_told():
    died = 'ovs-appctl: cannot read pidfile "/run/openvswitch/x.pid" (No such process)'
    with pytest.raises(InputError) as caught:
        steps(spec(), facts=host(died=died))
    assert caught.value.what == "spec.no_ovs"
    assert "ovs-vswitchd does not (" in caught.value.found


def test_a_switch_that_waits_for_flows_is_refused_as_no_guest_would_be_heard():
    for value, is_refused in (("true", True), ("false", False)):
        waits = RUNNING.replace('["map", []]', json.dumps(["map", [["flow-restore-wait", value]]]))
        assert waits != RUNNING
        if is_refused:
            with pytest.raises(InputError, match=r"spec\.ovs_waits"):
                steps(spec(), facts=host((waits, 0)))
        else:
            assert steps(spec(), facts=host((waits, 0)))


def test_a_virtual_machine_has_no_vf_behind_this_switch():
    guests = {"c1": {"host": "alpha", "networks": ["storage"], "kind": "qemu", "image": "/x"}}
    with pytest.raises(InputError) as caught:
        steps(spec(guests=guests))
    assert caught.value.what == "spec.guest_kind"
