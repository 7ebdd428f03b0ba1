"""A port that is set up and has no link, with the reason that the kernel gives."""

import re
from collections.abc import Iterator

from wirespeed.ceilings.bounds import without_link_bounds
from wirespeed.ceilings.media import medium_of
from wirespeed.facts.ethtool import ethtool_command
from wirespeed.facts.link import Link, link_of
from wirespeed.facts.module import UNPLUGGED, Modules
from wirespeed.facts.netstack import NetStack
from wirespeed.facts.rdma import Rdma
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity, StepCall
from wirespeed.model.observed import Known, Unreadable, known
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.symptom import Symptom

AUTONEG, NO_CABLE = "Autoneg", "No cable"
MADE_FOR = re.compile(r"\b(\d{1,3})G ?B(?:ase|ASE)")
"""`10G Ethernet: 10G Base-SR`, as `ethtool -m` words what SFF-8472 and SFF-8636 encode."""
NOT_CONNECTED = (NO_CABLE, "Autoneg, No partner detected", "Module, Module is in low power mode")
"""Reasons of a port that nobody uses: nothing is plugged in, or the far end is off."""
REMEDIES = {
    AUTONEG: (
        "set both ends alike: autonegotiation on or off, the same speed, the same FEC",
        ByHand.FAR_END,
    ),
    "Link training failure": (
        "use a shorter or better cable, or another module at either end",
        ByHand.HARDWARE,
    ),
    "Logical mismatch": (
        "give both ends the same FEC: `ethtool --show-fec`, and the switch's port",
        ByHand.FAR_END,
    ),
    "Bad signal integrity": (
        "replace the cable or the module, clean the fibre",
        ByHand.HARDWARE,
    ),
    NO_CABLE: (
        "plug in the cable, at the far end too; a module of another vendor may also be "
        "reported like this",
        ByHand.HARDWARE,
    ),
    "Cable issue": ("replace the cable", ByHand.HARDWARE),
    "EEPROM issue": (
        "replace the cable or the module: its memory cannot be read",
        ByHand.HARDWARE,
    ),
    "Calibration failure": ("replace the module", ByHand.HARDWARE),
    "Power budget exceeded": (
        "use a module that needs less power, or a slot that supplies more",
        ByHand.HARDWARE,
    ),
    "Overheat": ("cool the card or the module", ByHand.HARDWARE),
    "Module": ("read the module's data: `ethtool -m`", ByHand.FIND_FIRST),
}
"""By the first word of the reason: https://docs.kernel.org/networking/ethtool-netlink.html"""
UNLIKE_BPS = 25_000_000_000
UNLIKE = (
    "; from 25 Gb/s on, a link also stays down where its ends are set unlike: auto-negotiation at "
    "one end alone, another speed, or RS-FEC at one end alone"
)
"""IEEE 802.3 clauses 73 (auto-negotiation), 91 and 108 (RS-FEC)."""


def _check(exam: PortExam) -> Iterator[Finding]:
    link = link_of(exam.host, exam.port)
    up = known(link.is_up, f"whether {link.netdev} has a carrier")
    if up:
        return
    if not known(link.is_enabled, f"whether {link.netdev} is set up"):
        raise DoesNotApplyError("the port is set down")
    if _is_linked(exam):
        raise DoesNotApplyError("its InfiniBand link is up, and waits for a subnet manager")
    reason = link.down_reason.value if isinstance(link.down_reason, Known) else ""
    names = {exam.port.netdev, exam.port.pci_address}
    asked = names & set(exam.question.ports)
    evidence = []
    if isinstance(link.is_up, Known):
        evidence.append(Evidence.of(link.is_up, _no_link(link)))
    if not reason and names & exam.host[Modules].unplugged:
        # Kernels before 5.9 tell it nowhere else.
        evidence.append(Evidence(found=f"the kernel says: {UNPLUGGED}", source="dmesg"))
        reason = NO_CABLE
    uses = tuple(_uses(exam.host[NetStack], link.netdev))
    made_for = _module_bps(exam, link)
    slower = made_for is not None and made_for.value < _speeds(link)[-1]
    if slower and made_for is not None:
        port = _gbps(_speeds(link)[-1])
        text = f"the module is made for {_gbps(made_for.value)}, the port for {port}"
        evidence.append(Evidence.of(made_for, text))
    is_unlike = slower and reason.startswith(AUTONEG) and bool(uses)
    wrong_fec = _wrong_fec(exam, link)
    if wrong_fec is not None:
        evidence.append(wrong_fec)
    if wrong_fec is not None or asked or is_unlike or (reason and reason not in NOT_CONNECTED):
        severity = Severity.FAULT
    else:
        severity = Severity.RISK if uses else Severity.NOTE
    yield exam.finding(
        severity,
        (*evidence, *uses),
        so="nothing goes through this port",
        remedies=(
            *([] if wrong_fec is None else [_rs_fec(link)]),
            *_other_mode(link, reason, made_for),
            _remedy(reason, _speeds(link)),
        ),
        bounds=without_link_bounds(exam.ledger),
        unpriced=f"the best speed that it supports is not known: `ethtool {link.netdev}` tells it",
    )


def _is_linked(exam: PortExam) -> bool:
    found = exam.host[Rdma].by_address
    ports = found.value.get(exam.port.pci_address or "", ()) if isinstance(found, Known) else ()
    return any(one.waits_for_subnet_manager for one in ports)


def _no_link(link: Link) -> str:
    if isinstance(link.down_reason, Known):
        return f"no link: {link.down_reason.value}"
    if isinstance(link.down_reason, Unreadable):
        return "no link; the reason was not read"
    return "no link, and the driver gives no reason"


def _wrong_fec(exam: PortExam, link: Link) -> Evidence | None:
    """Say that the medium demands RS-FEC, and that it is off here; None: it is not so, or unknown.

    A port whose configuration is automatic takes what the medium demands.
    """
    module = exam.host[Modules].by_netdev.get(link.netdev)
    configured = link.fec_configured
    if module is None or not isinstance(module.compliance, Known):
        return None
    if not isinstance(configured, Known) or not configured.value:
        return None
    medium = medium_of(module.compliance.value)
    if medium is None or medium.fec != "RS" or medium.bps not in _speeds(link):
        return None
    if not {word.lower() for word in configured.value} <= {"off", "none"}:
        return None
    text = f"{medium.name} demands RS-FEC (IEEE 802.3 clause {medium.clause}), and FEC is off here"
    return Evidence.of(configured, text)


def _rs_fec(link: Link) -> Remedy:
    return Remedy(
        text="turn RS-FEC on, at the far end too",
        commands=(ethtool_command("--set-fec", link.netdev, "encoding", "rs"),),
        steps=(StepCall.of("fec", netdev=link.netdev, encoding="rs"),),
    )


def _speeds(link: Link) -> tuple[int, ...]:
    """Bits per second of the modes that the port supports, slowest first; empty: not known."""
    return link.supported_bps.value if isinstance(link.supported_bps, Known) else ()


def _module_bps(exam: PortExam, link: Link) -> Known[int] | None:
    """Best mode of the port that its module is made for; None: the module does not say."""
    module = exam.host[Modules].by_netdev.get(link.netdev)
    if module is None:
        return None
    lines = module.compliance.value if isinstance(module.compliance, Known) else ()
    made_for = [int(gbit) * 10**9 for gbit in MADE_FOR.findall(" ".join(lines))]
    if made_for:
        most, source = max(made_for), module.compliance.source
    elif isinstance(module.lane_baud, Known):
        most, source = module.lanes * module.lane_baud.value, module.lane_baud.source
    else:
        return None
    found = [bps for bps in _speeds(link) if bps <= most]
    return Known(found[-1], source) if found else None


def _other_mode(link: Link, reason: str, made_for: Known[int] | None) -> Iterator[Remedy]:
    """Where negotiation found no partner: the mode that this end is not in."""
    if not reason.startswith(AUTONEG) or not isinstance(link.autonegotiation, Known):
        return
    if not link.autonegotiation.value:
        yield Remedy(
            text="let this end negotiate if the far end does; otherwise set the far end to this "
            "speed",
            commands=(ethtool_command("-s", link.netdev, "autoneg", "on"),),
            by_hand=ByHand.FAR_END,
        )
    elif made_for is not None:
        mode = ("speed", str(made_for.value // 10**6), "duplex", "full", "autoneg", "off")
        yield Remedy(
            text=f"if the far end is set to {_gbps(made_for.value)} and does not negotiate, set "
            "this end to the same",
            commands=(ethtool_command("-s", link.netdev, *mode),),
            by_hand=ByHand.FAR_END,
        )


def _gbps(bps: int) -> str:
    return f"{bps / 1e9:g} Gb/s"


def _uses(stack: NetStack, netdev: str) -> Iterator[Evidence]:
    """What shows that somebody means to use the port."""
    own = stack.links.value.get(netdev) if isinstance(stack.links, Known) else None
    if own is None:
        return
    if isinstance(own.master, Known):
        yield Evidence.of(own.master, f"a member of {own.master.value}")
    if isinstance(own.addresses, Known) and any(not a.is_link_local for a in own.addresses.value):
        yield Evidence.of(own.addresses, "it has an IP address")


def _remedy(reason: str, speeds: tuple[int, ...]) -> Remedy:
    known_reason = REMEDIES.get(reason.partition(", ")[0])
    if known_reason is not None:
        text, by_hand = known_reason
        return Remedy(text=text, by_hand=by_hand)
    text = "check the cable, the module and the port at the far end"
    if speeds and speeds[-1] >= UNLIKE_BPS:
        text += UNLIKE
    return Remedy(text=text, by_hand=ByHand.HARDWARE)


RULE = PortRule(
    slug="link.down",
    title="Link down",
    why="A port without a carrier carries no traffic. Since Linux 5.9 drivers report the reason: "
    "no cable, a partner that does not negotiate, different FEC, a weak signal, a module "
    "that is refused or too hot. An unused port is not a fault; a port with an address or in "
    "a bond is meant to be used.",
    source="https://docs.kernel.org/networking/ethtool-netlink.html (LINKSTATE_GET, link extended "
    "states)",
    price="at most: the lowest ceiling of the path at the best speed that the port supports; 0 now",
    shows=(Symptom.NO_LINK,),
    explains=(Symptom.BOND_DEGRADED,),
    check=_check,
)
