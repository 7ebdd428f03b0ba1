"""VFs that may not take another MAC address: a bond inside the guest then fails over to silence."""

from collections.abc import Iterator

from wirespeed.facts.eswitch import Eswitch
from wirespeed.facts.netstack import NetStack, VfSettings, named_plainly
from wirespeed.facts.sriov import physical_function
from wirespeed.model.command import Command
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity, StepCall
from wirespeed.model.observed import CannotTellError, Known
from wirespeed.model.question import Purpose
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule

WORDS = {"trust": ("trust", "on"), "spoof_check": ("spoofchk", "off")}


def _check(exam: PortExam) -> Iterator[Finding]:
    pf = physical_function(exam.host, exam.port)
    netdev = exam.port.netdev
    if netdev is None:
        raise DoesNotApplyError("it has no netdev of the host")
    eswitch = exam.host[Eswitch].pfs.get(pf.pci_address)
    if eswitch and isinstance(eswitch.mode, Known) and eswitch.mode.value == "switchdev":
        raise DoesNotApplyError("in switchdev mode the eswitch's flows decide, not these settings")
    link = exam.host[NetStack][netdev]
    if link.link_type == Known("infiniband", link.link_type.source):
        raise DoesNotApplyError("InfiniBand has no MAC address to change")
    vfs = link.vfs
    if not vfs:
        raise DoesNotApplyError("it has no VFs")
    source = f"ip link show {netdev}"
    if not any(isinstance(o, Known) for vf in vfs for o in (vf.is_trusted, vf.is_spoof_checked)):
        raise CannotTellError("the driver does not report whether VFs are trusted", source)
    untrusted = [vf for vf in vfs if isinstance(vf.is_trusted, Known) and not vf.is_trusted.value]
    checked = [v for v in vfs if isinstance(v.is_spoof_checked, Known) and v.is_spoof_checked.value]
    found = [
        Evidence(found=f"{what}: {_some(some)}", source=source)
        for what, some in (("not trusted", untrusted), ("spoof check on", checked))
        if some
    ]
    if not found:
        return
    is_plain = named_plainly(netdev)
    mended: dict[int, dict[str, bool]] = {}
    for name, value, some in (("trust", True, untrusted), ("spoof_check", False, checked)):
        for vf in some:
            mended.setdefault(vf.index, {})[name] = value
    yield exam.finding(
        Severity.NOTE,
        tuple(found),
        so="the card drops a guest's frames with a MAC address other than the VF's: a bond "
        "inside the guest does not survive a failover, unless it sets fail_over_mac",
        remedies=(
            Remedy(
                text="only for guests that you trust with any MAC address",
                commands=tuple(
                    Command(argv=("ip", "link", "set", "dev", netdev, "vf", str(vf), *words))
                    for vf, switches in sorted(mended.items())
                    for name, words in WORDS.items()
                    if name in switches
                )
                if is_plain
                else (),
                steps=tuple(
                    StepCall.of("vf_settings", netdev=netdev, vf=vf, **switches)
                    for vf, switches in sorted(mended.items())
                )
                if is_plain
                else (),
                by_hand=None if is_plain else ByHand.NO_NAME,
            ),
        ),
        unpriced="it costs nothing until a bond in the guest fails over",
    )


def _some(vfs: list[VfSettings]) -> str:
    shown = ", ".join(str(vf.index) for vf in vfs[:4])
    return f"VF {shown}" + (f" and {len(vfs) - 4} more" if len(vfs) > 4 else "")


RULE = PortRule(
    slug="sriov.vf_restricted",
    title="VF limited to one MAC address",
    why="With the spoof check on, the card drops frames that a VF sends from a MAC address other "
    "than its own; without trust, the VF cannot set another. A bond of two VFs inside a "
    "guest gives both the same address.",
    source="https://git.kernel.org/torvalds/c/e7bcbd7b81a1 (spoof check: such packets are dropped);"
    " https://docs.kernel.org/networking/bonding.html (fail_over_mac)",
    purposes=frozenset({Purpose.GUESTS}),
    check=_check,
)
