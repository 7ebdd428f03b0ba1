"""Whether packets of the wanted size go from one guest to another, and with which MTU. Bounded."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from wirespeed.host.clock import Deadline, sleep_s
from wirespeed.measure.network.endpoint import Attachment, Endpoint
from wirespeed.measure.network.lease import borrowed, said
from wirespeed.model.command import Command
from wirespeed.model.error import LeftChangedError, MeasurementError
from wirespeed.model.network_trial import Pair

PATH_S = 60.0
"""A port that was reset by a new MTU, and then ARP, a bond and a switch, are there by then: its
spanning tree listens for 15 s and learns for 15 s once the link is up, but for edge ports."""
ICMP_HEADERS_BYTES = 28
"""IPv4 20 and ICMP 8, which the size that ping is told does not count."""
_PAUSE_S = 0.2
_READ_MTUS = """\
for netdev; do
    cd "/sys/class/net/$netdev" || exit
    for place in . upper_* upper_*/upper_*; do
        test ! -r "$place/mtu" || echo "${place##*/} $(cat "$place/mtu")"
    done | sed "s|^[.] |$netdev |"
done
"""
"""Of each netdev, of those on it (VLANs), and of those on these (VLANs in VLANs)."""


def await_path(endpoints: dict[str, Endpoint], pair: Pair, mtu: int) -> None:
    """Wait until an unfragmented packet of `mtu` bytes is answered.

    Raises MeasurementError `network.no_path` when none is within PATH_S.
    """
    client, server = endpoints[pair.client], endpoints[pair.server]
    address = str(server.attachments[pair.network].address)
    size = str(mtu - ICMP_HEADERS_BYTES)
    deadline = Deadline(PATH_S)
    argv = ("env", "LC_ALL=C", "ping", "-n", "-c", "1", "-W", "1", "-M", "do", "-s", size, address)
    while True:
        done = client.runner.run(argv, timeout_s=10.0)
        if done.returncode == 0:
            return
        if deadline.expired:
            raise MeasurementError(
                "network.no_path",
                where=f"{pair.client} to {pair.server} in {pair.network}",
                found=f"no packet of {mtu} bytes was answered within {PATH_S:g} s: {said(done)}",
                so="nothing can be measured there",
                next="run `wirespeed doctor` on both hosts, and check VLAN and MTU of the switch "
                "ports between; and that these are edge ports of spanning tree",
            )
        sleep_s(_PAUSE_S)


@contextmanager
def mtu_of(endpoints: dict[str, Endpoint], pair: Pair, mtu: int, seconds: int) -> Iterator[None]:
    """Let both guests of a pair have this MTU in its network, bond and members alike.

    It is the netdevs' own, not a route's, as an administrator would set it: a route's would leave
    the rings' buffers large. The kernel lowers that of a VLAN on such a netdev with it, and does
    not raise it again (vlan_device_event() in net/8021q/vlan.c): it is put back as well. Both
    guests put their own back after `seconds`, whatever becomes of us (`borrowed`); at the end each
    is read again. Where it is so already nothing is changed. Raises as `borrowed`, and
    MeasurementError `network.no_mtu` where it cannot be read.
    """
    with ExitStack() as stack:
        for name in (pair.client, pair.server):
            endpoint = endpoints[name]
            attachment = endpoint.attachments[pair.network]
            own, above = _mtus(endpoint, attachment)
            if set(own.values()) != {mtu}:
                lowered = {netdev: value for netdev, value in above.items() if value > mtu}
                before = own | lowered
                stack.callback(_require_back, endpoint, attachment, before)
                # A bond hands its own on to its members.
                change = [_set(attachment.netdev, mtu)]
                back = [_set(netdev, value) for netdev, value in before.items()]
                stack.enter_context(borrowed(endpoint.runner, name, change, back, seconds))
        yield


def _mtus(endpoint: Endpoint, attachment: Attachment) -> tuple[dict[str, int], dict[str, int]]:
    """Read them: the bond's first, then its members'; and of what is stacked on these."""
    netdevs = [attachment.netdev, *(attachment.members if attachment.is_bond else ())]
    done = endpoint.runner.run(("sh", "-c", _READ_MTUS, "sh", *netdevs), timeout_s=30.0)
    found = {}
    for line in done.output.splitlines():
        name, _, digits = line.partition(" ")
        if digits.isdecimal():
            found[name if name in netdevs else name.removeprefix("upper_")] = int(digits)
    own = {netdev: found.pop(netdev) for netdev in netdevs if netdev in found}
    if done.returncode or len(own) != len(netdevs):
        raise MeasurementError(
            "network.no_mtu",
            where=f"{', '.join(netdevs)} in {endpoint.name}",
            found=said(done),
            next=f"run `ip link` in {endpoint.name}: it shows which of these is missing there",
        )
    return own, found


def _require_back(endpoint: Endpoint, attachment: Attachment, before: dict[str, int]) -> None:
    own, above = _mtus(endpoint, attachment)
    now = {netdev: (own | above).get(netdev) for netdev in before}
    if now != before:
        raise LeftChangedError(
            "host.left_changed",
            where=endpoint.name,
            found=f"the MTU is {now}; it was {before} before",
            so="later measurements would not be comparable",
            next="; ".join(_set(netdev, value).line() for netdev, value in before.items()),
        )


def _set(netdev: str, mtu: int) -> Command:
    return Command(argv=("ip", "link", "set", "dev", netdev, "mtu", str(mtu)))
