"""RDMA over Ethernet on Windows, and no flow control for it all the way."""

from collections.abc import Iterator

from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Known, known, value_or_none
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule, of_each
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

NEED_NONE = ("iwarp", "infiniband")
"""TCP sends again what was dropped; InfiniBand has flow control of its own."""
OF_MICROSOFT = 3
"""The priority of its guides."""


KEEP = Remedy(
    text="if this host is to keep its own settings, whatever the switch has: Set-NetQosDcbxSetting "
    "-Willing $false",
    by_hand=ByHand.FAR_END,
)


def _check(exam: HostExam) -> Iterator[Finding]:
    host = exam.host
    require_windows(host)
    dcb = host[WindowsDcb]
    known(dcb.rdma_rows, "RDMA of the adapters")
    wanting = [card for card in host[WindowsAdapters].cards() if _wants_dcb(dcb, card)]
    if not wanting:
        raise DoesNotApplyError("no card that is up has RDMA on, other than iWARP and InfiniBand")
    yield from of_each(wanting, lambda card: _card(exam, card))


def _wants_dcb(dcb: WindowsDcb, card: WindowsAdapter) -> bool:
    if (
        not card.is_up
        or card.guid not in dcb.rdma
        or value_or_none(dcb.rdma[card.guid]) is not True
    ):
        return False
    technology = dcb.technologies[card.guid]
    return not (isinstance(technology, Known) and technology.value.lower() in NEED_NONE)


def _card(exam: HostExam, card: WindowsAdapter) -> Iterator[Finding]:
    dcb = exam.host[WindowsDcb]
    priority = known(dcb.smb_direct_priority, "the policies for SMB Direct")
    wanted = known(dcb.pfc, "priority flow control")
    willing = (
        (
            Evidence(
                found="DCBX is willing: the switch's settings replace these", source=DCBX_SOURCE
            ),
        )
        if known(dcb.is_dcbx_willing, "whether DCBX is willing")
        else ()
    )
    lacks = (*_set_up(priority, wanted), *_in_operation(dcb, card, priority, wanted))
    if not lacks and not willing:
        return
    yield exam.finding(
        Severity.RISK if lacks else Severity.NOTE,
        (Evidence(found="RDMA is on", source=RDMA_SOURCE), *lacks, *willing),
        so="flow control by priority does not protect RDMA: unless the link pauses all traffic, a "
        "full queue drops frames, and each drop cuts the rate of RDMA over Ethernet to a fraction"
        if lacks
        else "flow control works now, and ends if the switch's settings change",
        where=shown(card.name, 60),
        remedies=(_remedy(priority, wanted) if lacks else KEEP,),
        unpriced="it costs nothing until a queue is full: under load, look at the discards of the "
        "switch's ports",
    )


def _set_up(priority: int | None, wanted: frozenset[int]) -> Iterator[Evidence]:
    if priority is None:
        yield Evidence(
            found="no policy gives SMB Direct (port 445) a priority", source=POLICY_SOURCE
        )
    if not wanted:
        found = "flow control is off for every priority"
        yield Evidence(found=found, source=FLOW_CONTROL_SOURCE)
    elif priority is not None and priority not in wanted:
        found = f"flow control is on for {_listed(wanted)}, and SMB Direct uses priority {priority}"
        yield Evidence(found=found, source=FLOW_CONTROL_SOURCE)


def _in_operation(
    dcb: WindowsDcb, card: WindowsAdapter, priority: int | None, wanted: frozenset[int]
) -> Iterator[Evidence]:
    known(dcb.qos_rows, "DCB of the adapters")
    qos = dcb.qos.get(card.guid)
    if qos is None:
        yield Evidence(found="Windows does not list it as an adapter with DCB", source=QOS_SOURCE)
    elif not known(qos.is_enabled, f"whether DCB of {card.name} is on"):
        yield Evidence(found="DCB is off", source=QOS_SOURCE)
    else:
        operational = known(qos.operational_pfc, f"operational flow control of {card.name}")
        needed = wanted if priority is None else {priority}
        if not needed <= operational:
            found = f"flow control in operation: {_listed(operational) or 'none'}"
            yield Evidence(found=found, source=QOS_SOURCE)


def _listed(priorities: frozenset[int]) -> str:
    return ", ".join(f"priority {number}" for number in sorted(priorities))


def _remedy(priority: int | None, wanted: frozenset[int]) -> Remedy:
    """Keep the one priority that has flow control; else that of the policy."""
    if len(wanted) == 1:
        (best,) = wanted
    else:
        best = OF_MICROSOFT if priority is None else priority
    return Remedy(
        text=f"use priority {best} for SMB Direct everywhere: on a server, Install-WindowsFeature "
        "Data-Center-Bridging if it is missing; then New-NetQosPolicy SMB "
        f"-NetDirectPortMatchCondition 445 -PriorityValue8021Action {best}, "
        f"Enable-NetQosFlowControl -Priority {best}, "
        "Disable-NetQosFlowControl for the others, Set-NetQosDcbxSetting -Willing $false, "
        "Enable-NetAdapterQos on each port; and set the same on every switch port between, in a "
        "VLAN that carries priorities",
        by_hand=ByHand.FAR_END,
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
