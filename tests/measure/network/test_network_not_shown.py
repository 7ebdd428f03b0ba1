"""What could not be tried or measured between guests: it is not shown, with the reason; never 0."""

import json
from collections.abc import Sequence
from ipaddress import IPv4Address
from types import SimpleNamespace
from typing import cast

import pytest

from wirespeed.host.runner import Completed
from wirespeed.measure.network.capture import Attempt, Capture, Side
from wirespeed.measure.network.endpoint import Attachment, Endpoint
from wirespeed.measure.network.failover import _Guests, _invalid
from wirespeed.measure.network.forged import OF_NOBODY, PLAIN_KINDS
from wirespeed.measure.network.isolation import _unused_address, isolation
from wirespeed.measure.network.port_switch import PortSwitch, port_set_down
from wirespeed.measure.network.spoof_check import spoof_checks
from wirespeed.model.error import HostError, InputError
from wirespeed.model.network_trial import (
    NETWORK_TRIAL,
    FailoverTrial,
    ForgedKind,
    IsolationTrial,
    IsolationVerdict,
    NetworkTrial,
    Pair,
)
from wirespeed.model.spec.measure import FailoverSpec, IsolationSpec

SUBNET = "192.0.2."


class Says:
    """A host that answers every command alike."""

    def __init__(self, output: str = "", errors: str = "", code: int = 0) -> None:
        self.said = output, errors, code

    def run(self, argv: Sequence[str], **_: object) -> Completed:
        output, errors, code = self.said
        if code < 0:
            raise HostError("ssh.lost", where="alpha", found="the connection ended")
        return Completed(
            argv=tuple(argv), output=output, errors=errors, returncode=code, duration_s=0.1
        )


def mac_of(last: int) -> str:
    return f"02:00:00:00:00:{last:02x}"


def guest(last: int, network: str = "storage", prefix_length: int = 29) -> Endpoint:
    at = Attachment(
        network=network,
        netdev="net0",
        members=("net0p0", "net0p1"),
        mac=mac_of(last),
        address=IPv4Address(f"{SUBNET}{last}"),
        prefix_length=prefix_length,
        segment=42,
        mtu=1500,
    )
    return Endpoint(name=f"g{last}", host="alpha", runner=Says(), attachments={network: at})


def sides_of(*guests: Endpoint) -> list[Side]:
    return [Side(one, at) for one in guests for at in one.attachments.values()]


def tried(monkeypatch: pytest.MonkeyPatch, host: Says, *guests: Endpoint) -> list[IsolationTrial]:
    """Give the trials; no frame is sent, as every capture says that it failed."""

    def fails(_: Capture, attempts: Sequence[Attempt], *_progress: object) -> list[str]:
        return ["no frame was sent"] * len(attempts)

    monkeypatch.setattr(Capture, "accounts", fails)
    made: list[NetworkTrial] = []
    isolation({one.name: one for one in guests}, {"alpha": host}, IsolationSpec(), made.append)
    return [trial for trial in made if isinstance(trial, IsolationTrial)]


def vfs(**of_first: object) -> str:
    first = {"address": mac_of(1), "spoofchk": True} | of_first
    return json.dumps([{"ifname": "eth0", "vfinfo_list": [first]}, {"ifname": "lo"}])


@pytest.mark.parametrize(
    ("host", "why"),
    [
        (Says(code=-1), "ssh.lost: the connection ended"),
        (Says(errors="Cannot open netlink socket", code=1), "Cannot open netlink socket"),
        (Says("[{"), "ip -j link show: "),
        (Says('{"a": 1}'), "ip -j link show: "),
        (Says(vfs(address=None)), 'a VF of "eth0" has no address'),
        (
            Says(vfs(spoofchk=None)),
            f"does not say whether it checks the source of the VF {mac_of(1)}",
        ),
    ],
)
def test_an_error_of_the_spoof_check_is_not_shown_with_the_reason(
    monkeypatch: pytest.MonkeyPatch, host: Says, why: str
):
    first, *_ = tried(monkeypatch, host, guest(1), guest(2))
    assert (first.forged, first.verdict) == (
        ForgedKind.FORGED_SOURCE_MAC,
        IsolationVerdict.NOT_SHOWN,
    )
    assert (first.sender, first.receiver) == ("g1", "g2")
    assert why in first.said


@pytest.mark.parametrize("said", [vfs(spoofchk=False), "[]", vfs(address=mac_of(9))])
def test_where_no_check_is_promised_none_is_missed(monkeypatch: pytest.MonkeyPatch, said: str):
    assert tried(monkeypatch, Says(said), guest(1), guest(2)) == []


def test_a_promised_check_is_tried(monkeypatch: pytest.MonkeyPatch):
    (trial,) = tried(monkeypatch, Says(vfs()), guest(1), guest(2))
    assert trial.said == "no frame was sent"
    assert spoof_checks(Says(vfs())).by_mac == {mac_of(1): True}  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("last", "prefix_length", "unused"),
    [((1, 2), 29, 6), ((1, 6), 29, 5), ((1, 2, 3, 4, 5, 6), 29, None), ((1, 2), 30, None),
     ((0, 1), 31, None), ((1,), 32, None)],
)  # fmt: skip
def test_of_a_full_subnet_no_address_is_unused(
    last: Sequence[int], prefix_length: int, unused: int | None
):
    sides = sides_of(*(guest(n, prefix_length=prefix_length) for n in last))
    found = _unused_address(sides, sides[0].attachment)
    assert found == (None if unused is None else IPv4Address(f"{SUBNET}{unused}"))


def test_what_needs_an_unused_address_of_a_full_subnet_is_not_shown(
    monkeypatch: pytest.MonkeyPatch,
):
    full = [guest(n, prefix_length=30) for n in (1, 2)]
    trials = tried(monkeypatch, Says("[]"), *full, guest(3, "public"))
    to_full = [t for t in trials if t.receiver == "g1"]
    assert {t.forged for t in to_full} == set(PLAIN_KINDS), "each kind is recorded once"
    assert len(to_full) == len(PLAIN_KINDS)
    said = {t.forged: t.said for t in to_full}
    for kind in PLAIN_KINDS:
        if kind in OF_NOBODY:
            assert said[kind] == "every address of 192.0.2.0/30 is a guest's: none is left to forge"
        else:
            assert said[kind] == "no frame was sent"


def test_a_failover_that_measured_nothing_has_no_figures():
    pair = Pair(client="g1", server="g2", network="storage")
    guests = _Guests({"g1": guest(1), "g2": guest(2)}, {})
    switch = cast(
        "PortSwitch",
        SimpleNamespace(host="alpha", port="0000:03:00.0", number=0, how="set down on its host"),
    )
    trial = _invalid(guests, FailoverSpec(), pair, switch, "bond.unreadable: x")
    told = json.loads(trial.model_dump_json())
    measured = ("_packets", "_ms", "carried_")
    figures = {key: told[key] for key in told if any(word in key for word in measured)}
    assert len(figures) > 10 and set(figures.values()) == {None}
    assert not trial.is_measured and trial.longest_outage_ms is None
    assert NETWORK_TRIAL.validate_json(trial.model_dump_json()) == trial


def test_a_record_of_before_with_zeros_where_nothing_was_measured_is_told_too():
    older = {
        "kind": "failover", "pair": {"client": "a", "server": "b", "network": "n"}, "host": "alpha",
        "port": "p", "how": "x", "load_pps": 1000, "offered_packets": 0, "received_packets": 0,
        "lost_packets": 0, "outage_ms": 0, "return_outage_ms": 0, "carried_before": "",
        "carried_during": "", "carried_after": "", "longest_pause_ms": 0, "verdict": "invalid",
    }  # fmt: skip
    trial = NETWORK_TRIAL.validate_python(older)
    assert isinstance(trial, FailoverTrial)
    assert not trial.is_measured and trial.longest_outage_ms is None


def ip_says(flags: str, *addresses: str, **above: tuple[str, str]) -> str:
    """`ip -j address` of iproute2, as far as it is read; `above`: name to lower one and address."""
    links = [
        {"ifname": "lo", "flags": ["UP"], "addr_info": [{"local": "::1", "scope": "host"}]},
        {"ifname": "eth0", "flags": flags.split(), "addr_info": infos(*addresses)},
        *(
            {"ifname": name, "link": lower, "flags": ["UP"], "addr_info": infos(address)}
            for name, (lower, address) in above.items()
        ),
    ]
    return json.dumps(links)


def infos(*addresses: str) -> list[dict[str, str]]:
    return [
        {"local": address, "scope": "link" if address.startswith("fe80") else "global"}
        for address in addresses
    ]


@pytest.mark.parametrize(
    ("carried", "output", "found", "then"),
    [
        ({"eth0": "your session"}, "", "it carries your session", "give the spec other ports"),
        ({}, "no JSON", "its state cannot be read", "run `ip address show dev eth0` on alpha"),
        ({}, ip_says("BROADCAST"), "it is not up", "run `ip link set dev eth0 up` on alpha"),
        ({}, ip_says("UP", "10.0.0.1"), "it has the address 10.0.0.1", "move the address"),
        (
            {},
            ip_says("UP", "fe80::1", v1=("eth0", "fe80::1"), v2=("v1", "10.0.0.1")),
            "v2, which is on it, has the address 10.0.0.1",
            "move the address",
        ),
    ],
)
def test_a_port_that_is_in_use_is_not_set_down_and_it_is_said_what_to_do(
    carried: dict[str, str], output: str, found: str, then: str
):
    with pytest.raises(InputError) as caught:
        port_set_down(
            Says(output), host="alpha", port="x", number=0, netdev="eth0", carried=carried
        )
    error = caught.value
    assert (error.what, error.where) == ("port.in_use", "eth0 on alpha")
    assert error.found.startswith(found)
    assert error.next.startswith(then) and error.next.endswith("to leave fail-over out")


def test_a_port_is_set_down_though_a_vlan_of_another_one_has_an_address():
    says = ip_says("UP BROADCAST", "fe80::1", v1=("eth0", "fe80::1"), v2=("eth1", "10.0.0.1"))
    port = port_set_down(Says(says), host="a", port="x", number=0, netdev="eth0", carried={})
    assert port.how == "set down on its host"
