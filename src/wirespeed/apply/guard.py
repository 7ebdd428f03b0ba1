"""Which netdevs a host is reached by: what takes them down may cut the user off. Pure."""

from collections.abc import Container, Iterable, Iterator, Mapping

from wirespeed.catalog import platforms
from wirespeed.facts.netstack import NetStack
from wirespeed.facts.ports import Ports
from wirespeed.facts.routes import Routes
from wirespeed.facts.session import Session
from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.finding import Danger
from wirespeed.model.observed import CannotTellError, Known, known, value_or_none
from wirespeed.model.plan import Plan, PlannedStep

ANYWHERE = "192.0.2.1"
"""An address that nobody has (RFC 5737): the default route is what leads there."""

HARMLESS = (Danger.NONE, Danger.REBOOT, Danger.WSL_SHUTDOWN)
"""Of the way to a host. A reboot is announced as one, and so is the end of WSL."""


def carriers(host: HostFacts) -> dict[str, str]:
    """Netdevs that carry the session or the default route, each with what it carries.

    Raises CannotTellError where routes are not known.
    """
    found: dict[str, str] = {}
    known(host[NetStack].links, "netdevs and what they belong to")
    peer = value_or_none(host[Session].peer)
    for address, what in ((ANYWHERE, "the default route"), (peer, "your session")):
        if address is None:
            continue
        for netdev in host[Routes].route_to(address).value.netdevs:
            below = host[NetStack].ports_below(netdev) or {netdev}
            found |= dict.fromkeys(below, what)
    return found


def refuse_cutoff(plan: Plan, hosts: Mapping[str, HostFacts]) -> None:
    """Raise InputError `plan.cuts_off` for a step that may take the way to the host down.

    Raises `plan.cutoff_unknown` if that interface cannot be determined: under sudo, for example.
    """
    for planned in plan.steps:
        try:
            cuts = _cuts(planned, hosts)
        except CannotTellError as error:
            raise InputError(
                "plan.cutoff_unknown",
                where=f"{planned.subject} on {planned.host}",
                found=f"this step {planned.danger}, and the interface that carries your session "
                f"could not be determined: {error.reason}",
                so="you may lose the host; nothing was changed",
                next=f"run `{error.would_tell}` on the host to find it; or give --allow-cutoff: a "
                "host reached by SSH undoes the step itself if you are cut off",
            ) from None
        if cuts:
            raise _cuts_off(
                planned,
                cuts,
                "reach it by another port, or let the host itself undo what cuts "
                "you off: --allow-cutoff",
            )


def with_cutoffs(plan: Plan, hosts: Mapping[str, HostFacts], here: Container[str]) -> Plan:
    """Mark each step that may take the way to its host down, for its timer.

    A step is marked too if its effect cannot be determined. A host that is `here` cannot be
    reached by a new connection: raises `plan.cuts_off` if a user is logged in there by SSH.
    """
    steps = []
    for planned in plan.steps:
        try:
            cuts = _cuts(planned, hosts)
        except CannotTellError as error:
            cuts = f"the carrier of your session could not be determined: {error.reason}"
        name = _host_of(planned, hosts)
        if cuts and name in here:
            if isinstance(hosts[name][Session].peer, Known):
                raise _cuts_off(
                    planned, cuts, "start wirespeed on another machine, or on the host's console"
                )
            cuts = ""
        steps.append(planned.model_copy(update={"cuts": cuts}))
    return plan.model_copy(update={"steps": tuple(steps)})


def _cuts(planned: PlannedStep, hosts: Mapping[str, HostFacts]) -> str:
    """Say what it may take down; nothing where it cannot."""
    # Of a guest that is a machine there are no facts: it is not what the session goes to.
    if planned.danger in HARMLESS:
        return ""
    name = _host_of(planned, hosts)
    if planned.no_op or name not in hosts:
        return ""
    host = hosts[name]
    shells = {command.shell for command in planned.commands}
    own = next((one.carried for one in platforms() if one.carried and one.shell in shells), None)
    if own is not None:
        found = list(own(host, (*planned.commands, *planned.undo)))
    else:
        netdevs = _netdevs(planned, host)
        found = [(netdev, what) for netdev, what in carriers(host).items() if netdev in netdevs]
    return ", ".join(f"{netdev} carries {what}" for netdev, what in found)


def _host_of(planned: PlannedStep, hosts: Container[str]) -> str:
    """Give the host that a place is one side of: `desk` of `desk.windows`."""
    return planned.host if planned.host in hosts else planned.host.rpartition(".")[0]


def _cuts_off(planned: PlannedStep, cuts: str, next: str) -> InputError:
    return InputError(
        "plan.cuts_off",
        where=f"{planned.subject} on {planned.host}",
        found=f"{cuts}, and this step {planned.danger}",
        so="you may lose the host; nothing was changed",
        next=next,
    )


def _netdevs(planned: PlannedStep, host: HostFacts) -> set[str]:
    """Give the netdevs that a step names, by name or by PCI address, whatever field they are in.

    What a namespace has is not the host's, whatever its name.
    """
    if "inner" in planned.step:
        return set()
    named = set(_words(list(planned.step.values())))
    return named | {
        port.netdev for port in host[Ports].ports if port.netdev and port.pci_address in named
    }


def _words(values: Iterable[object]) -> Iterator[str]:
    for value in values:
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            yield from _words(value.values())
        elif isinstance(value, list | tuple):
            yield from _words(value)
