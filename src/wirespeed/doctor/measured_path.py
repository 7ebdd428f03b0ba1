"""By which ports a measured figure may have gone: it is held against these. Pure.

Named ports first; then the port that has the run's address, or by which the peer is reached; then
those that have a link.
"""

from collections.abc import Iterator, Mapping, Sequence
from ipaddress import ip_address

from wirespeed.ceilings.ethernet import is_without_link
from wirespeed.facts.netstack import Link, NetStack
from wirespeed.facts.routes import Routes
from wirespeed.model.ceiling import Ledger
from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import CannotTellError, Known
from wirespeed.model.port import Port
from wirespeed.model.question import MeasuredBy, Question
from wirespeed.model.rule import DoesNotApplyError


def measured_paths(
    host: HostFacts,
    question: Question,
    ledgers: Mapping[Port, Ledger],
    others: Sequence[Ledger],
) -> tuple[Ledger, ...]:
    """Give the paths that the figure may be of.

    `others` are of what is no port of Linux. Raises DoesNotApplyError where there is none: it says
    which option was not used, and why.
    """
    if question.measured_bps is None:
        raise DoesNotApplyError("no measured figure was given: give it with --measured")
    by_port = {name: own for port, own in ledgers.items() for name in _names(port)}
    by_name = {**{ledger.port: ledger for ledger in others}, **by_port}
    named = tuple(dict.fromkeys(by_name[name] for name in question.ports if name in by_name))
    at = _netdevs_of_run(host, question.measured_by)
    by_address = tuple(dict.fromkeys(own for name in at for own in _below(host, name, by_port)))
    if at and (not by_address or (named and not set(named) & set(by_address))):
        raise _unused(
            question,
            f"the run went through {', '.join(at)}, as its address says, and the question is about "
            f"{_list(named or tuple(ledgers.values()))}",
        )
    chosen = named or by_address or _by_peer(host, question, by_port)
    chosen = chosen or tuple(ledgers.values()) or tuple(others)
    with_link = tuple(ledger for ledger in chosen if not is_without_link(ledger))
    if not with_link:
        why = "no port was read" if not chosen else f"{_list(chosen)}: no link, so nothing was sent"
        raise _unused(question, why)
    return with_link


def _names(port: Port) -> Iterator[str]:
    return filter(None, (port.netdev, port.pci_address, port.name))


def _netdevs_of_run(host: HostFacts, run: MeasuredBy | None) -> tuple[str, ...]:
    """Give the netdevs that have an address of the run: it may have been kept at either end."""
    if run is None or not run.addresses:
        return ()
    wanted = {ip_address(one) for one in run.addresses}
    if any(one.is_loopback for one in wanted):
        raise DoesNotApplyError(
            "the run went over the loopback address, so through no port",
            unused="--measured-by",
        )
    links = host[NetStack].links
    if not isinstance(links, Known):
        return ()
    own = {
        name: {one.ip for one in link.addresses.value}
        for name, link in links.value.items()
        if isinstance(link.addresses, Known)
    }
    at = tuple(name for name, addresses in own.items() if wanted & addresses)
    here = set().union(*(own[name] for name in at))
    # Two of one host that are in VRFs of their own reach each other by the cable.
    if wanted <= here and len(run.addresses) > 1 and not any(_in_vrf(links.value, n) for n in at):
        raise DoesNotApplyError(
            "both ends of the run have addresses of this host, so it went through no port: the "
            "kernel delivers to its own addresses itself",
            unused="--measured-by",
        )
    return at


def _in_vrf(links: Mapping[str, Link], name: str) -> bool:
    master = links[name].master
    above = links.get(master.value) if isinstance(master, Known) else None
    return above is not None and isinstance(above.kind, Known) and above.kind.value == "vrf"


def _by_peer(
    host: HostFacts, question: Question, by_name: Mapping[str, Ledger]
) -> tuple[Ledger, ...]:
    if question.peer is None:
        return ()
    try:
        netdevs = host[Routes].route_to(question.peer).value.netdevs
    except (CannotTellError, InputError):
        return ()
    return tuple(dict.fromkeys(own for name in netdevs for own in _below(host, name, by_name)))


def _below(host: HostFacts, netdev: str, by_name: Mapping[str, Ledger]) -> Iterator[Ledger]:
    below = sorted({netdev, *host[NetStack].ports_below(netdev)})
    return (by_name[name] for name in below if name in by_name)


def _list(ledgers: Sequence[Ledger]) -> str:
    return ", ".join(ledger.port for ledger in ledgers)


def _unused(question: Question, why: str) -> DoesNotApplyError:
    option = "--measured" if question.measured_by is None else "--measured-by"
    return DoesNotApplyError(why, unused=option)
