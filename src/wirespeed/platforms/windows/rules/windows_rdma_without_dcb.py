"""RDMA over Ethernet on Windows, and no flow control for it all the way."""

from collections.abc import Iterator

from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Known, known, value_or_none
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule
from wirespeed.model.shown import shown
from wirespeed.platforms.windows.facts.windows_adapters import WindowsAdapter, WindowsAdapters
from wirespeed.platforms.windows.facts.windows_dcb import (
    DCBX_SOURCE,
    FLOW_CONTROL_SOURCE,
    POLICY_SOURCE,
    QOS_SOURCE,
    RDMA_SOURCE,
    WindowsDcb,
)
from wirespeed.platforms.windows.facts.windows_host import require_windows

LOSSLESS_BY_TCP = "iwarp"


def _check(exam: HostExam) -> Iterator[Finding]:
    host = exam.host
    require_windows(host)
    dcb = host[WindowsDcb]
    known(dcb.rdma_rows, "RDMA of the adapters")
    wanting = [card for card in host[WindowsAdapters].cards() if _wants_dcb(dcb, card)]
    if not wanting:
        raise DoesNotApplyError("no card that is up has RDMA over plain Ethernet switched on")
    for card in wanting:
        lacks = tuple(_lacks(dcb, card))
        if lacks:
            yield _finding(exam, card, lacks)


def _wants_dcb(dcb: WindowsDcb, card: WindowsAdapter) -> bool:
    if (
        not card.is_up
        or card.guid not in dcb.rdma
        or value_or_none(dcb.rdma[card.guid]) is not True
    ):
        return False
    technology = dcb.technologies[card.guid]
    return not (isinstance(technology, Known) and technology.value.lower() == LOSSLESS_BY_TCP)


def _lacks(dcb: WindowsDcb, card: WindowsAdapter) -> Iterator[Evidence]:
    priority = known(dcb.smb_direct_priority, "the policies for SMB Direct")
    if priority is None:
        yield Evidence(
            found="no policy gives SMB Direct (port 445) a priority", source=POLICY_SOURCE
        )
    wanted = known(dcb.pfc, "priority flow control")
    if not wanted or (priority is not None and priority not in wanted):
        yield Evidence(
            found="flow control is off for every priority"
            if not wanted
            else f"flow control is on for {_listed(wanted)}, and SMB Direct uses priority "
            f"{priority}",
            source=FLOW_CONTROL_SOURCE,
        )
    if known(dcb.is_dcbx_willing, "whether DCBX is willing"):
        yield Evidence(
            found="DCBX is willing: the switch's settings replace these", source=DCBX_SOURCE
        )
    qos = dcb.qos_of(card.guid)
    if value_or_none(qos.is_enabled) is not True:
        yield Evidence(found=f"DCB of {shown(card.name, 60)} is off", source=QOS_SOURCE)
        return
    operational = known(qos.operational_pfc, f"operational flow control of {card.name}")
    needed = {priority} if priority is not None else wanted
    if not set(needed) <= operational:
        yield Evidence(
            found=f"flow control in operation on {shown(card.name, 60)}: "
            f"{_listed(operational) or 'none'}",
            source=QOS_SOURCE,
        )


def _listed(priorities: frozenset[int]) -> str:
    return ", ".join(f"priority {number}" for number in sorted(priorities))


def _finding(exam: HostExam, card: WindowsAdapter, lacks: tuple[Evidence, ...]) -> Finding:
    return exam.finding(
        Severity.RISK,
        (Evidence(found="RDMA is on", source=RDMA_SOURCE), *lacks),
        so="nothing pauses the sender when a queue on the path is full: frames are dropped, and "
        "each drop cuts the rate of RDMA over Ethernet to a fraction",
        where=shown(card.name, 60),
        remedies=(
            Remedy(
                text="use one priority for SMB Direct everywhere: New-NetQosPolicy "
                "-NetDirectPortMatchCondition 445 -PriorityValue8021Action 3, "
                "Enable-NetQosFlowControl -Priority 3, Disable-NetQosFlowControl for the "
                "others, Set-NetQosDcbxSetting -Willing $false, Enable-NetAdapterQos on "
                "each port; and set the same on every switch port between, in a VLAN that "
                "carries priorities. iWARP needs none of this",
                by_hand=ByHand.FAR_END,
            ),
        ),
        unpriced="it costs nothing until a queue is full",
    )


RULE = HostRule(
    slug="windows.rdma_without_dcb",
    title="RDMA without end-to-end flow control (Windows)",
    why="RoCE expects a lossless network. Priority flow control provides that if host, card and "
    "every switch port use the same priority. A missing setting shows only under load. The "
    "host cannot see the switches' settings: the card's operational state after DCBX is the "
    "nearest indication.",
    source="`High performance live migration done right means using SMB Direct` (switches with "
    "DCB); https://learn.microsoft.com/windows-server/networking/technologies/conv-nic/"
    "cnic-datacenter",
    check=_check,
)
