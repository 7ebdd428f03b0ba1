"""A VF that the host holds below the speed of its port."""

from collections.abc import Iterator

from wirespeed.facts.link import Links
from wirespeed.facts.netstack import NetStack, named_plainly
from wirespeed.facts.sriov import physical_function
from wirespeed.model.command import Command
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity, StepCall
from wirespeed.model.observed import CannotTellError, Known
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.symptom import Symptom


def _check(exam: PortExam) -> Iterator[Finding]:
    physical_function(exam.host, exam.port)
    netdev = exam.port.netdev
    if netdev is None:
        raise DoesNotApplyError("it has no netdev of the host")
    vfs = exam.host[NetStack][netdev].vfs
    if not vfs:
        raise DoesNotApplyError("it has no VFs")
    limited = [
        (vf.index, vf.max_tx_mbit_per_s)
        for vf in vfs
        if isinstance(vf.max_tx_mbit_per_s, Known) and vf.max_tx_mbit_per_s.value
    ]
    if not limited:
        return
    link = exam.host[Links].by_netdev.get(netdev)
    if link is None or not isinstance(link.link_bps, Known):
        raise CannotTellError("the speed of the port is not known", f"ethtool {netdev}")
    link_bps = link.link_bps.value
    below = [(index, limit) for index, limit in limited if limit.value * 10**6 < link_bps]
    if not below:
        return
    yield exam.finding(
        Severity.CEILING,
        (
            *(Evidence.of(o, f"VF {i} may send at most {o.value} Mb/s") for i, o in below[:8]),
            Evidence.of(link.link_bps, f"the port has {link_bps // 10**6} Mb/s"),
        ),
        so=f"{len(below)} of {len(vfs)} VFs cannot fill the port, whatever their guests send",
        remedies=(
            Remedy(
                text="remove the limit if it is not intended",
                commands=tuple(
                    Command(
                        argv=(
                            "ip",
                            "link",
                            "set",
                            "dev",
                            netdev,
                            "vf",
                            str(index),
                            "max_tx_rate",
                            "0",
                        )
                    )
                    for index, _ in below
                )
                if named_plainly(netdev)
                else (),
                steps=tuple(
                    StepCall.of("vf_settings", netdev=netdev, vf=index, max_tx_mbit_per_s=0)
                    for index, _ in below
                )
                if named_plainly(netdev)
                else (),
                by_hand=None if named_plainly(netdev) else ByHand.NO_NAME,
            ),
        ),
        unpriced="it limits those VFs, not the port",
    )


RULE = PortRule(
    slug="sriov.vf_tx_limited",
    title="VF transmit rate limited below the port's speed",
    why="The host can limit what a VF sends, and the guest cannot see that limit.",
    source="https://man7.org/linux/man-pages/man8/ip-link.8.html (max_tx_rate)",
    explains=(Symptom.LOW_FIGURE,),
    check=_check,
)
