"""A bond whose members have links of different speed."""

from collections.abc import Iterator

from wirespeed.facts.bonds import Bonds
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import CannotTellError, Known, known
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule
from wirespeed.model.symptom import Symptom


def _check(exam: HostExam) -> Iterator[Finding]:
    bonds = exam.host[Bonds].bonds
    if not bonds:
        raise DoesNotApplyError("there is no bond")
    for netdev, observed in bonds.items():
        bond = known(observed, f"bond {netdev}")
        up = [m for m in bond.members if isinstance(m.is_up, Known) and m.is_up.value]
        links = {m.netdev: m.link_bps for m in up if isinstance(m.link_bps, Known)}
        speeds = {o.value for o in links.values()}
        if len(speeds) < 2:
            if len(links) < len(up):
                raise CannotTellError(
                    f"the speed of a member of {netdev}", f"cat /proc/net/bonding/{netdev}"
                )
            continue
        is_lacp = "802.3ad" in known(bond.mode, f"mode of {netdev}")
        yield exam.finding(
            Severity.FAULT if is_lacp else Severity.RISK,
            tuple(
                Evidence.of(o, f"{name}: {o.value // 10**6} Mb/s")
                for name, o in sorted(links.items())
            ),
            so="the bond uses only members of the same speed together: the others carry nothing"
            if is_lacp
            else (
                "the throughput of a flow depends on the member that the bond assigns it to, or "
                "fails over to"
            ),
            where=netdev,
            remedies=(
                Remedy(
                    text="give all members the same link speed, or remove the slow one from the "
                    "bond",
                    by_hand=ByHand.HARDWARE,
                ),
            ),
            unpriced="the bond decides which member carries a flow: measure on each",
        )


RULE = HostRule(
    slug="bond.members_differ",
    title="Bond members run at different speeds",
    why="With LACP, links of different speeds cannot form one aggregate, so some of them are "
    "idle. Other modes distribute flows as if all links were equal, or may fail over to the "
    "slow one.",
    source="https://docs.kernel.org/networking/bonding.html (802.3ad: aggregation groups that "
    "share the same speed and duplex settings)",
    explains=(Symptom.LOW_FIGURE,),
    check=_check,
)
