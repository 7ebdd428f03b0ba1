"""Offload features."""

import pytest
from described_ethtool import DescribedPorts, Port
from proof import plan_on, prove
from pydantic import ValidationError
from samples import is_never_guessed, reason_of, sample, section_of, state_of

from wirespeed.steps.offloads import Offloads

USUAL = {
    "tx-checksum-ipv4": "off",
    "tx-checksum-ip-generic": "on",
    "tx-scatter-gather": "on",
    "tx-scatter-gather-fraglist": "off",
    "tx-tcp-segmentation": "on",
    "tx-tcp-ecn-segmentation": "off",
    "tx-tcp-mangleid-segmentation": "off",
    "tx-tcp6-segmentation": "on",
    "generic-receive-offload": "on",
    "large-receive-offload": "off",
    "tx-udp_tnl-segmentation": "on",
}
FIXED = frozenset({"tx-checksum-ipv4", "tx-scatter-gather-fraglist"})
TSO = "tcp-segmentation-offload"


def host(**changed: str) -> DescribedPorts:
    features = USUAL | {key.replace("_", "-"): word for key, word in changed.items()}
    return DescribedPorts({"eth0": Port(features=features, fixed=FIXED)})


def step(**features: bool) -> Offloads:
    named = {key.replace("_", "-"): is_on for key, is_on in features.items()}
    return Offloads(netdev="eth0", features=named)


def test_features_by_name():
    prove(
        step(generic_receive_offload=False, large_receive_offload=True),
        host(),
        host(generic_receive_offload="off", large_receive_offload="on"),
    )
    tunnels = Offloads(netdev="eth0", features={"tx-udp_tnl-segmentation": False})
    assert [c.line() for c in plan_on(tunnels, host()).steps[0].commands] == [
        "ethtool -K eth0 tx-udp_tnl-segmentation off"
    ]


def test_a_group_comes_back_member_by_member():
    off = host(tx_tcp_segmentation="off", tx_tcp6_segmentation="off")
    prove(step(tcp_segmentation_offload=False), host(), off)
    planned = plan_on(step(tcp_segmentation_offload=False), host()).steps[0]
    assert [c.line() for c in planned.undo] == [
        "ethtool -K eth0 tx-tcp-segmentation on tx-tcp6-segmentation on"
    ]


def test_a_group_that_is_turned_on_leaves_mangled_ids_off():
    every = {"tx_tcp_segmentation": "on", "tx_tcp_ecn_segmentation": "on"}
    prove(step(tcp_segmentation_offload=True), host(), host(**every))


def test_a_member_by_name_outweighs_its_group():
    one = Offloads(netdev="eth0", features={TSO: False, "tx-tcp6-segmentation": True})
    prove(one, host(), host(tx_tcp_segmentation="off"))


def test_what_cannot_be_changed_is_left_out_of_a_group():
    off = host(tx_checksum_ip_generic="off")
    prove(step(tx_checksumming=False), host(), off)


def test_a_feature_that_another_setting_holds_back_comes_back_as_it_was():
    # Segmentation is requested, and off for want of scatter-gather.
    start = host(tx_scatter_gather="off")
    goal = host(tx_scatter_gather="on", tx_tcp_segmentation="off", tx_tcp6_segmentation="off")
    prove(step(scatter_gather=True, tcp_segmentation_offload=False), start, goal)
    both = step(scatter_gather=True, tcp_segmentation_offload=True)
    prove(both, start, host(tx_tcp_ecn_segmentation="on"))


@pytest.mark.parametrize("is_on", [True, False])
def test_what_only_another_setting_holds_back_is_not_touched(is_on: bool):
    # Its undo would end as `Could not change any device features`.
    held = section_of(host(tx_scatter_gather="off").run(step(x=True).read()).output)
    reason = reason_of(Offloads(netdev="eth0", features={"tx-tcp6-segmentation": is_on}), held)
    assert reason.startswith("tx-tcp6-segmentation is off [requested on]")


def test_a_fixed_feature_is_refused_unless_it_is_so_already():
    output = section_of(host().run(step(x=True).read()).output)
    wrong = step(tx_checksum_ipv4=True)
    assert reason_of(wrong, output) == "tx-checksum-ipv4 is off and fixed"
    assert state_of(step(tx_checksum_ipv4=False), output) == {"tx-checksum-ipv4": "off"}
    assert "no x" in reason_of(step(x=True), output)


def test_a_real_output():
    section = sample("ethtool/features_vxlan")
    tso = step(tcp_segmentation_offload=True, scatter_gather=False)
    assert state_of(tso, section) == {
        "tx-tcp-segmentation": "off [requested on]",
        "tx-tcp-ecn-segmentation": "off [requested on]",
        "tx-tcp6-segmentation": "off [requested on]",
        "tx-scatter-gather": "on",
        "tx-scatter-gather-fraglist": "on",
    }


def test_it_is_never_guessed():
    is_never_guessed(step(tcp_segmentation_offload=True))


@pytest.mark.parametrize("features", [{}, {"-x": True}, {"gro ": True}, {"a\nb": True}])
def test_no_such_step(features: dict[str, bool]):
    with pytest.raises(ValidationError):
        Offloads(netdev="eth0", features=features)
