"""A bond that would not notice that a member has lost its link."""

from collections.abc import Iterator

from wirespeed.facts.netstack import NetStack, named_plainly
from wirespeed.model.command import Command
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity, StepCall
from wirespeed.model.observed import Known, known, value_or_none
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule


def _check(exam: HostExam) -> Iterator[Finding]:
    links = known(exam.host[NetStack].links, "the netdevs")
    bonds = {link.netdev: link.bond for link in links.values() if link.bond}
    if not bonds:
        raise DoesNotApplyError("there is no bond")
    for netdev, bond in bonds.items():
        miimon = known(bond.miimon_ms, f"miimon of {netdev}")
        arp = value_or_none(bond.arp_interval_ms) or 0
        if miimon or arp or not isinstance(bond.miimon_ms, Known):
            continue
        yield exam.finding(
            Severity.RISK,
            (Evidence.of(bond.miimon_ms, "miimon 0, arp_interval 0"),),
            so="when a member loses its link, the bond keeps sending on it and those frames are "
            "lost",
            where=netdev,
            remedies=(
                Remedy(
                    text="check the members' links every 100 ms",
                    commands=(
                        Command(
                            argv=(
                                "ip",
                                "link",
                                "set",
                                "dev",
                                netdev,
                                "type",
                                "bond",
                                "miimon",
                                "100",
                            )
                        ),
                    )
                    if named_plainly(netdev)
                    else (),
                    steps=(StepCall.of("bond_monitoring", netdev=netdev, miimon_ms=100),)
                    if named_plainly(netdev)
                    else (),
                    by_hand=None if named_plainly(netdev) else ByHand.NO_NAME,
                ),
            ),
            unpriced="it costs nothing until a link fails",
        )


RULE = HostRule(
    slug="bond.no_link_monitoring",
    title="Bond without link monitoring",
    why="The bonding driver learns that a member is down only from its monitor: miimon (the "
    "link) or ARP probes. With both off it does not notice. Older kernels create bonds with "
    "both off unless one is set.",
    source="https://docs.kernel.org/networking/bonding.html (it is critical that miimon or "
    "arp_interval is specified)",
    check=_check,
)
