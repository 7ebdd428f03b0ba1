"""Which netdevs a host is reached by: what takes them down may cut the user off. Pure."""

from wirespeed.facts.netstack import NetStack
from wirespeed.facts.ports import Ports
from wirespeed.facts.routes import Routes
from wirespeed.facts.session import Session
from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.finding import Danger
from wirespeed.model.observed import known, value_or_none
from wirespeed.model.plan import Plan, PlannedStep

ANYWHERE = "192.0.2.1"
"""An address that nobody has (RFC 5737): the default route is what leads there."""


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
        for netdev in host[Routes].way_to(address).value.netdevs:
            below = host[NetStack].ports_below(netdev) or {netdev}
            found |= dict.fromkeys(below, what)
    return found


def refuse_cutoff(plan: Plan, hosts: dict[str, HostFacts]) -> None:
    """Raise InputError `plan.cuts_off` for a step that may take the way to the host down."""
    for planned in plan.steps:
        carried = carriers(hosts[planned.host]) if _may_cut(planned) else {}
        for netdev, what in carried.items():
            if netdev in _netdevs(planned, hosts[planned.host]):
                raise InputError(
                    "plan.cuts_off",
                    where=f"{planned.subject} on {planned.host}",
                    found=f"{netdev} carries {what}, and this step {planned.danger}",
                    so="you may lose the host; nothing was changed",
                    next="reach it by another port, or from its console with --allow-cutoff",
                )


def _may_cut(planned: PlannedStep) -> bool:
    return planned.danger is not Danger.NONE and not planned.no_op


def _netdevs(planned: PlannedStep, host: HostFacts) -> set[str]:
    """Give the netdevs of what a step is about, by name or by PCI address."""
    named = {str(planned.step.get("netdev")), str(planned.step.get("pci_address"))}
    return {
        port.netdev
        for port in host[Ports].ports
        if port.netdev and named & {port.netdev, port.pci_address}
    }
