"""A fast port for storage that sends packets of 1500 bytes."""

from collections.abc import Iterator

from wirespeed.facts.link import Links
from wirespeed.facts.netstack import NetStack, named_plainly
from wirespeed.model.bound import Bound, Limit
from wirespeed.model.command import Command
from wirespeed.model.finding import ByHand, Danger, Evidence, Finding, Remedy, Severity, StepCall
from wirespeed.model.observed import Known, known
from wirespeed.model.question import Purpose
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.symptom import Symptom

FAST_BPS = 25 * 10**9
USUAL, JUMBO = 1500, 9000
ETHERNET = 14 + 4 + 20
"""Header, FCS, preamble and gap, in bytes."""
TCP_IP = 40
IP_ICMP = 28
FORMULA = "1 - share of payload now / with 9000 bytes"


def _check(exam: PortExam) -> Iterator[Finding]:
    netdev = exam.port.netdev
    link = exam.host[Links].by_netdev.get(netdev or "")
    if netdev is None or link is None:
        raise DoesNotApplyError("it has no netdev of the host")
    own = exam.host[NetStack][netdev]
    mtu = known(own.mtu, "the MTU")
    if mtu > USUAL:
        return
    link_bps = known(link.link_bps, "the speed of the link")
    if link_bps < FAST_BPS:
        raise DoesNotApplyError("the link is slower than 25 Gb/s")
    most = own.max_mtu.value if isinstance(own.max_mtu, Known) else None
    if most and most < JUMBO:
        raise DoesNotApplyError(f"the port takes an MTU of {most} bytes at most")
    share = {size: (size - TCP_IP) / (size + ETHERNET) for size in (mtu, JUMBO)}
    whole = exam.host[NetStack].sets_mtu(netdev)
    is_plain = named_plainly(whole)
    yield exam.finding(
        Severity.NOTE,
        (
            Evidence(found=f"MTU {mtu}", source=own.mtu.source),
            Evidence(found=f"link of {link_bps / 1e9:g} Gb/s", source=link.link_bps.source),
        ),
        so=f"a full link takes {link_bps / 8 / (mtu + ETHERNET) / 1e6:.3g} M packets/s for "
        f"{share[mtu]:.1%} of payload; with {JUMBO} bytes it is "
        f"{link_bps / 8 / (JUMBO + ETHERNET) / 1e6:.3g} M for {share[JUMBO]:.1%}",
        remedies=(
            Remedy(
                text=f"set an MTU of {JUMBO} bytes on {whole}, only if every host and switch of "
                f"this network has it too: `ping -M do -s {JUMBO - IP_ICMP} PEER` then gets "
                "answers",
                commands=(Command(argv=("ip", "link", "set", "dev", whole, "mtu", str(JUMBO))),)
                if is_plain
                else (),
                danger=Danger.DROPS_LINK,
                steps=(StepCall.of("mtu", netdev=whole, mtu=JUMBO),) if is_plain else (),
                by_hand=None if is_plain else ByHand.NO_NAME,
            ),
        ),
        bounds=(
            Bound.of_share(
                Limit.AT_MOST,
                1 - share[mtu] / share[JUMBO],
                "of the payload of a full link; the CPU's work for each packet comes on top",
                FORMULA,
            ),
        ),
    )


RULE = PortRule(
    slug="mtu.jumbo_unused",
    title="Storage traffic at MTU 1500",
    why="Each packet costs headers on the wire and CPU work at both ends. Storage moves large "
    "blocks: with packets six times as long it needs a sixth of the packets.",
    source="IEEE 802.3 (38 bytes around each packet); RFC 9293 and RFC 791 (40 bytes of TCP and "
    "IPv4 headers)",
    price=f"at most, on the wire: {FORMULA}",
    purposes=frozenset({Purpose.STORAGE}),
    explains=(Symptom.LOW_FIGURE,),
    check=_check,
)
