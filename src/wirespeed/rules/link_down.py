"""A port that is set up and has no link, with the reason that the kernel gives."""

from collections.abc import Iterator

from wirespeed.ceilings.bounds import without_link_bounds
from wirespeed.facts.link import link_of
from wirespeed.facts.netstack import NetStack
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Known, known
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule

NOT_CONNECTED = ("No cable", "Autoneg, No partner detected", "Module, Module is in low power mode")
"""Reasons of a port that nobody uses: nothing is plugged in, or the far end is off."""
REMEDIES = {
    "Autoneg": "set both ends alike: autonegotiation on or off, the same speed, the same FEC",
    "Link training failure": "use a shorter or better cable, or another module at either end",
    "Logical mismatch": "give both ends the same FEC: `ethtool --show-fec`, and the switch's port",
    "Bad signal integrity": "replace the cable or the module, clean the fibre",
    "No cable": "plug in the cable, or at the far end; a module of another vendor may read so too",
    "Cable issue": "replace the cable",
    "EEPROM issue": "replace the cable or the module: its memory cannot be read",
    "Calibration failure": "replace the module",
    "Power budget exceeded": "use a module of less power, or a slot that gives more",
    "Overheat": "cool the card or the module",
    "Module": "look at the module: `ethtool -m`",
}
"""By the first word of the reason: https://docs.kernel.org/networking/ethtool-netlink.html"""


def _check(exam: PortExam) -> Iterator[Finding]:
    link = link_of(exam.host, exam.port)
    up = known(link.is_up, f"whether {link.netdev} has a carrier")
    if up:
        return
    if not known(link.is_enabled, f"whether {link.netdev} is set up"):
        raise DoesNotApplyError("the port is set down")
    reason = link.down_reason.value if isinstance(link.down_reason, Known) else ""
    asked = {exam.port.netdev, exam.port.pci_address} & set(exam.question.ports)
    evidence = []
    if isinstance(link.is_up, Known):
        text = f"no link: {reason}" if reason else "no link, and the driver gives no reason"
        evidence.append(Evidence.of(link.is_up, text))
    uses = tuple(_uses(exam.host[NetStack], link.netdev))
    if asked or (reason and reason not in NOT_CONNECTED):
        severity = Severity.FAULT
    else:
        severity = Severity.RISK if uses else Severity.NOTE
    yield exam.finding(
        severity,
        (*evidence, *uses),
        so="nothing goes through this port",
        remedies=(Remedy(text=_remedy(reason), by_hand=ByHand.HARDWARE),),
        bounds=without_link_bounds(exam.ledger),
        unpriced="the best speed that it supports is not known",
    )


def _uses(stack: NetStack, netdev: str) -> Iterator[Evidence]:
    """What shows that somebody means to use the port."""
    own = stack.links.value.get(netdev) if isinstance(stack.links, Known) else None
    if own is None:
        return
    if isinstance(own.master, Known):
        yield Evidence.of(own.master, f"a member of {own.master.value}")
    if isinstance(own.addresses, Known) and any(not a.is_link_local for a in own.addresses.value):
        yield Evidence.of(own.addresses, "it has an IP address")


def _remedy(reason: str) -> str:
    state = reason.partition(", ")[0]
    return REMEDIES.get(state, "look at the cable, the module and the port at the far end")


RULE = PortRule(
    slug="link.down",
    title="Link down",
    why="A port without a carrier carries nothing. Drivers tell why since Linux 5.9: no cable, a "
    "partner that does not negotiate, FEC that does not fit, a signal that is too weak, a module "
    "that is refused or too hot. A port that is not in use is not a fault; one with an address or "
    "in a bond is meant to be used.",
    source="https://docs.kernel.org/networking/ethtool-netlink.html (LINKSTATE_GET, link extended "
    "states)",
    price="at most: the lowest ceiling of the path at the best speed that the port supports; 0 now",
    check=_check,
)
