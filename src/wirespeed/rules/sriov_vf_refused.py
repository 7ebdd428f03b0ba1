"""A VF asked for what the PF's driver does not allow it."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from wirespeed.facts.driver_log import DriverLog
from wirespeed.facts.netstack import NetStack, VfSettings, named_plainly
from wirespeed.model.command import Command
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity, StepCall
from wirespeed.model.observed import value_or_none
from wirespeed.model.port import PortKind
from wirespeed.model.question import Purpose
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule

VF = re.compile(r"\bVF[- ]?(\d{1,4})\b")
PAST = "no VF that it is about is known to be untrusted now: it may be of the past"
ORDER = (Severity.NOTE, Severity.RISK, Severity.FAULT)


@dataclass(frozen=True, slots=True)
class Situation:
    """What bears upon one message beside its words."""

    driver: str
    """Of the PF."""
    vfs: tuple[VfSettings, ...]
    """Those that it names; where it names none, all."""
    is_named: bool
    """Whether the message names its VF."""
    is_about_guests: bool

    @property
    def is_untrusted(self) -> bool:
        """Whether one of them is not trusted now."""
        return bool(self.untrusted)

    @property
    def untrusted(self) -> list[VfSettings]:
        """Those that are known not to be trusted."""
        return [vf for vf in self.vfs if value_or_none(vf.is_trusted) is False]


@dataclass(frozen=True, slots=True)
class Refusal:
    """One kind of request that is refused, and what the refusal costs."""

    said: re.Pattern[str]
    severity: Callable[[Situation], Severity]
    so: Callable[[Situation], str]
    trust: str
    """When trust is the remedy; empty: it is none."""


def _note(_: Situation) -> Severity:
    return Severity.NOTE


def _lost_for_guests(situation: Situation) -> Severity:
    if not situation.is_untrusted:
        return Severity.NOTE
    return Severity.FAULT if situation.is_about_guests else Severity.RISK


def _promiscuous(situation: Situation) -> Severity:
    is_risk = situation.is_untrusted and situation.is_about_guests
    return Severity.RISK if is_risk else Severity.NOTE


def _vlan(situation: Situation) -> Severity:
    return Severity.RISK if _of_traffic_classes(situation) else Severity.NOTE


def _of_traffic_classes(situation: Situation) -> bool:
    """Whether it is ixgbe, which refuses VLANs for its traffic classes, too, and none is set."""
    vlans = [value_or_none(vf.vlan) for vf in situation.vfs]
    return situation.driver == "ixgbe" and bool(vlans) and set(vlans) == {0}


def _of_addresses(situation: Situation) -> str:
    if situation.driver == "igb":
        return (
            "the VF's own address, which the host set, stays in force; only a guest that uses "
            "another address loses frames. igb logs this also without such a guest: igbvf asks "
            "for the VF's own address when it starts, and since Linux 5.16 its request to empty "
            "its list of filters is refused, too"
        )
    further = (
        ", nor do frames for the other addresses of the same request, including multicast, until "
        "the VF is brought down and up"
        if situation.driver in {"i40e", "ice"}
        else ""
    )
    return (
        "the VF's own address, which the host set, stays in force. The guest requested another "
        f"address: frames for that address do not reach it{further}"
    )


def _of_vlans(situation: Situation) -> str:
    if _of_traffic_classes(situation):
        return (
            "while the port has traffic classes, ixgbe refuses the VLANs of its VFs: frames of the "
            "VLANs that the guest added do not reach it"
        )
    return (
        "the VLAN that the host set stays in force. A guest's driver requests VLAN 0 whenever it "
        "starts, which is refused too; only a guest with VLANs of its own loses frames"
    )


def _of_limits(situation: Situation) -> str:
    if not situation.is_untrusted:
        return PAST
    return (
        "frames for the MAC addresses and VLANs that the guest added do not reach it, and the "
        "guest is not told"
    )


def _of_promiscuous(situation: Situation) -> str:
    if not situation.is_untrusted:
        return PAST
    return (
        "the VF receives only frames for its own addresses, and the guest is not told: frames do "
        "not reach devices behind a bridge or switch in the guest"
    )


def _of_space(_: Situation) -> str:
    return (
        "the card had no filter left for an address that the guest added: frames for it do not "
        "reach the guest"
    )


REFUSALS = (
    Refusal(re.compile("no space for it"), lambda _: Severity.RISK, _of_space, ""),
    Refusal(
        re.compile("is not trusted|reached its maximum"), _lost_for_guests, _of_limits,
        "if its guest may use any MAC address, VLAN and promiscuous mode; otherwise limit the "
        "guest to the number of addresses that the driver allows an untrusted VF (a bridge or "
        "containers in the guest need one each)",
    ),
    Refusal(
        re.compile("Unprivileged VF"), _promiscuous, _of_promiscuous,
        "if its guest bridges or switches frames of other devices",
    ),
    Refusal(re.compile("administratively set VLAN"), _vlan, _of_vlans, ""),
    Refusal(
        re.compile("administratively (?!set VLAN)"), _note, _of_addresses,
        "only if its guest is to use further MAC addresses (macvlan, containers, a bond of VFs "
        "whose addresses differ)",
    ),
)  # fmt: skip
"""The dearer first. Where several kinds are of one severity, the first of them is told first."""


def _check(exam: PortExam) -> Iterator[Finding]:
    netdev = exam.port.netdev
    if netdev is None or exam.port.kind is not PortKind.PHYSICAL:
        raise DoesNotApplyError("it is not a physical function with a netdev")
    lines = value_or_none(exam.host[DriverLog].of_vfs(exam.port))
    if lines is None:
        return
    vfs = exam.host[NetStack][netdev].vfs
    kinds = [
        (refusal, _situation(exam, vfs, found))
        for refusal in REFUSALS
        if (found := [line for line in lines if refusal.said.search(line)])
    ]
    severity = max((r.severity(s) for r, s in kinds), key=ORDER.index)
    told = [(r, s) for r, s in kinds if r.severity(s) is severity]
    source = f"ip link show {netdev}"
    untrusted = _untrusted(told)
    now = ", ".join(str(vf.index) for vf in untrusted[:8])
    yield exam.finding(
        severity,
        (
            *(Evidence(found=line, source="dmesg") for line in lines),
            *([Evidence(found=f"not trusted now: VF {now}", source=source)] if untrusted else []),
        ),
        so="; ".join(dict.fromkeys(r.so(s) for r, s in told)),
        remedies=tuple(_remedies(netdev, told)),
        unpriced="what the guest loses shows only there: compare what is sent to it with what it "
        "receives",
    )


def _situation(exam: PortExam, vfs: tuple[VfSettings, ...], lines: list[str]) -> Situation:
    named = {int(match[1]) for line in lines if (match := VF.search(line))}
    return Situation(
        exam.port.driver or "",
        tuple(vf for vf in vfs if not named or vf.index in named),
        bool(named),
        exam.question.purpose is Purpose.GUESTS,
    )


def _untrusted(told: list[tuple[Refusal, Situation]]) -> list[VfSettings]:
    by_index = {
        vf.index: vf for refusal, situation in told if refusal.trust for vf in situation.untrusted
    }
    return [by_index[index] for index in sorted(by_index)]


def _remedies(netdev: str, told: list[tuple[Refusal, Situation]]) -> Iterator[Remedy]:
    untrusted = _untrusted(told)
    when = next((refusal.trust for refusal, _ in told if refusal.trust), "")
    is_named = all(situation.is_named for refusal, situation in told if refusal.trust)
    if len(untrusted) > 1 and not is_named:
        yield Remedy(
            text="find the guest that asked, as the message does not name its VF; trust that VF "
            f"alone, {when}: `ip link set dev {netdev} vf N trust on`",
            by_hand=ByHand.FIND_FIRST,
        )
    elif untrusted:
        is_plain = named_plainly(netdev)
        yield Remedy(
            text=f"trust the VF, {when}",
            commands=tuple(
                Command(argv=("ip", "link", "set", "dev", netdev, "vf", str(vf.index), "trust",
                              "on"))
                for vf in untrusted
            )
            if is_plain
            else (),
            steps=tuple(
                StepCall.of("vf_settings", netdev=netdev, vf=vf.index, trust=True)
                for vf in untrusted
            )
            if is_plain
            else (),
            by_hand=None if is_plain else ByHand.NO_NAME,
        )  # fmt: skip
    if any("administratively" in refusal.said.pattern for refusal, _ in told):
        yield Remedy(
            text=f"{'or ' if untrusted else ''}configure the guest with the MAC address and VLAN "
            "that the host gave the VF: then no frames are lost",
            commands=(Command(argv=("ip", "link", "show", netdev)),),
            by_hand=ByHand.WORKLOAD,
        )


RULE = PortRule(
    slug="sriov.vf_refused",
    title="VF request of a guest refused",
    why="The PF's driver decides what a VF may set. Without trust a VF has a few MAC addresses "
    "and VLANs and no promiscuous mode; ice and i40e do not tell the guest that they "
    "refused, so its frames are lost without an error. A guest cannot override an address or "
    "VLAN that the host set; a guest that uses them loses nothing, although its driver may "
    "request others and be refused at each start. Only the host's log shows this.",
    source="drivers/net/ethernet/intel/i40e/i40e_virtchnl_pf.c (i40e_check_vf_permission); "
    "ice_virtchnl.c (ice_vc_add_mac_addr); ixgbe_sriov.c (ixgbe_set_vf_macvlan_msg, "
    "ixgbe_set_vf_vlan_msg); igb_main.c (igb_set_vf_mac_filter, since "
    "https://git.kernel.org/torvalds/c/584af82154f5 for lists that are emptied, too); igbvf/vf.c "
    "(e1000_rar_set_vf: a refused address is the host's again); "
    "https://github.com/nvandamme/systemd-networkd-i40e/issues/1 (IPv6 of a guest with containers "
    "is lost); https://github.com/cisco-system-traffic-generator/trex-core/issues/635",
    check=_check,
)
