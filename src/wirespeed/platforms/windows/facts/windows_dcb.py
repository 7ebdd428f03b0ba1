"""RDMA on Windows, and the data center bridging (DCB) that keeps its frames from being dropped."""

import re
from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.model.capture import Capture
from wirespeed.model.fact import WindowsFact
from wirespeed.model.observed import Known, Observed, Unreadable, read_as
from wirespeed.platforms.windows.facts.windows_rows import Row, by_guid, rows_of

RDMA_SOURCE = "Get-NetAdapterRdma"
QOS_SOURCE = "Get-NetAdapterQos"
FLOW_CONTROL_SOURCE = "Get-NetQosFlowControl"
POLICY_SOURCE = "Get-NetQosPolicy"
DCBX_SOURCE = "Get-NetQosDcbxSetting"
TECHNOLOGIES = {"1": "iWARP", "2": "InfiniBand", "3": "RoCE", "4": "RoCEv2"}
"""NDK_RDMA_TECHNOLOGY of ndkinfo.h, where PowerShell gives the number."""
SMB_DIRECT_PORT = 445


@dataclass(frozen=True, slots=True)
class AdapterQos:
    """DCB of one adapter."""

    is_enabled: Observed[bool]
    operational_pfc: Observed[frozenset[int]]
    """Priorities that it pauses by, after what the switch said; empty: none."""


@dataclass(frozen=True, slots=True)
class WindowsDcb(WindowsFact):
    """Of adapters by GUID; of the host as a whole."""

    rdma_rows: Observed[tuple[Row, ...]]
    rdma: dict[str, Observed[bool]]
    """Whether RDMA is switched on."""
    technologies: dict[str, Observed[str]]
    """`RoCEv2`, `iWARP`: the latter runs over TCP and needs no DCB."""
    qos_rows: Observed[tuple[Row, ...]]
    qos: dict[str, AdapterQos]
    pfc: Observed[frozenset[int]]
    """Priorities for which the host wants flow control."""
    smb_direct_priority: Observed[int | None]
    """Priority that SMB Direct's frames are given; None: no policy says one."""
    is_dcbx_willing: Observed[bool]
    """True: the switch's settings replace the host's."""

    powershell: ClassVar[str] = """\
Section windows-rdma {
	Get-NetAdapterRdma | ForEach-Object {
		$technology = $null
		if ($_.RdmaAdapterInfo) { $technology = "$($_.RdmaAdapterInfo.RdmaTechnology)" }
		New-Object PSObject -Property @{
			Guid = Guid $_
			Enabled = $_.Enabled
			Technology = $technology
		}
	}
}
Section windows-qos {
	Get-NetAdapterQos | ForEach-Object {
		New-Object PSObject -Property @{
			Guid = Guid $_
			Enabled = $_.Enabled
			FlowControl = "$($_.OperationalFlowControl)"
		}
	}
}
Section windows-qos-flow-control {
	Get-NetQosFlowControl | ForEach-Object {
		New-Object PSObject -Property @{ Priority = $_.Priority; Enabled = $_.Enabled }
	}
}
Section windows-qos-policies {
	Get-NetQosPolicy | ForEach-Object {
		New-Object PSObject -Property @{
			NetDirectPort = $_.NetDirectPortMatchCondition
			Priority = $_.PriorityValue8021Action
		}
	}
}
Section windows-dcbx {
	Get-NetQosDcbxSetting | ForEach-Object {
		New-Object PSObject -Property @{ Willing = $_.Willing }
	}
}
"""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read what each cmdlet gave."""
        rdma = rows_of(capture, "windows-rdma", RDMA_SOURCE)
        qos = rows_of(capture, "windows-qos", QOS_SOURCE)
        return cls(
            rdma_rows=rdma,
            rdma={guid: row.truth("Enabled") for guid, row in by_guid(rdma).items()},
            technologies={
                guid: read_as(row.text("Technology"), lambda said: TECHNOLOGIES.get(said, said))
                for guid, row in by_guid(rdma).items()
            },
            qos_rows=qos,
            qos={guid: _qos(row) for guid, row in by_guid(qos).items()},
            pfc=_pfc(rows_of(capture, "windows-qos-flow-control", FLOW_CONTROL_SOURCE)),
            smb_direct_priority=_smb(rows_of(capture, "windows-qos-policies", POLICY_SOURCE)),
            is_dcbx_willing=_willing(rows_of(capture, "windows-dcbx", DCBX_SOURCE)),
        )


def _qos(row: Row) -> AdapterQos:
    said = row.text("FlowControl")
    text = said.value if isinstance(said, Known) else ""
    # `Priority 3 Enabled`, `Priorities 3,4 Enabled`, `All Priorities Disabled` or `Enabled`.
    text = text.replace("All Priorities Enabled", "Priorities 0-7 Enabled")
    match = re.search(r"Priorit(?:y|ies) ([0-7](?:[,\s-]+[0-7])*) Enabled", text)
    if match is None and text and "Disabled" not in text:
        return AdapterQos(row.truth("Enabled"), Unreadable(f"{text[:40]!r}", QOS_SOURCE))
    return AdapterQos(
        row.truth("Enabled"), Known(_priorities(match[1] if match else ""), QOS_SOURCE)
    )


def _priorities(text: str) -> frozenset[int]:
    found: set[int] = set()
    for part in re.split(r"[,\s]+", text):
        first, _, last = part.partition("-")
        if first.isdecimal():
            found |= set(range(int(first), int(last or first) + 1))
    return frozenset(found)


def _pfc(rows: Observed[tuple[Row, ...]]) -> Observed[frozenset[int]]:
    if not isinstance(rows, Known):
        return rows
    found = (row.number("Priority") for row in rows.value if row.values.get("Enabled") is True)
    return Known(frozenset(p.value for p in found if isinstance(p, Known)), rows.source)


def _smb(rows: Observed[tuple[Row, ...]]) -> Observed[int | None]:
    if not isinstance(rows, Known):
        return rows
    for row in rows.value:
        priority = row.number("Priority")
        if row.values.get("NetDirectPort") == SMB_DIRECT_PORT and isinstance(priority, Known):
            return Known(priority.value, rows.source)
    return Known(None, rows.source)


def _willing(rows: Observed[tuple[Row, ...]]) -> Observed[bool]:
    if not isinstance(rows, Known):
        return rows
    return Known(any(row.values.get("Willing") is True for row in rows.value), rows.source)
