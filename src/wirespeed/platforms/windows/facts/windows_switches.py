"""Virtual switches of Hyper-V, what each is bound to, and who hangs on it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.model.capture import Capture
from wirespeed.model.fact import WindowsFact
from wirespeed.model.observed import Known, Observed, known
from wirespeed.platforms.windows.facts.windows_rows import Row, plain_guid, rows_of

SOURCE = "Get-VMSwitch"
ADAPTERS_SOURCE = "Get-VMNetworkAdapter -All"
EXTERNAL = "External"
DEFAULT_SWITCH = "Default Switch"
"""Windows' own, for NAT: it is internal, cannot be otherwise, and is no fault."""


@dataclass(frozen=True, slots=True)
class VirtualSwitch:
    """One switch."""

    name: str
    id: str
    kind: str
    """`External`, `Internal`, `Private`."""
    card_guids: tuple[str, ...]
    """Adapters that it is bound to."""
    card_descriptions: tuple[str, ...]
    is_iov_enabled: Observed[bool]
    is_embedded_team: Observed[bool]
    joins_segments: Observed[bool]
    """By RSC within the switch, from Windows Server 2019 on; Absent: an older Windows."""

    @property
    def reaches_a_card(self) -> bool:
        """Whether frames can leave the machine by it."""
        return self.kind == EXTERNAL and bool(self.card_guids or self.card_descriptions)


@dataclass(frozen=True, slots=True)
class GuestAdapter:
    """An adapter of a virtual machine, or of the host itself on a switch."""

    guest: str
    """Empty for the host's own."""
    switch_id: str
    switch_name: str
    mac: str
    """Twelve digits in lower case."""
    iov_weight: Observed[int]
    """0: it asks for no VF."""
    vmq_weight: Observed[int]
    status: tuple[str, ...]
    is_of_host: bool


@dataclass(frozen=True, slots=True)
class WindowsSwitches(WindowsFact):
    """Switches, and the adapters on them."""

    all: Observed[tuple[VirtualSwitch, ...]]
    adapters: Observed[tuple[GuestAdapter, ...]]

    powershell: ClassVar[str] = """\
Section windows-switches {
	Get-VMSwitch | ForEach-Object {
		New-Object PSObject -Property @{
			Name = $_.Name
			Id = "$($_.Id)"
			Kind = "$($_.SwitchType)"
			CardGuids = @($_.NetAdapterInterfaceGuid | ForEach-Object { "$_" })
			Cards = @($_.NetAdapterInterfaceDescriptions | ForEach-Object { "$_" })
			Card = $_.NetAdapterInterfaceDescription
			IovEnabled = $_.IovEnabled
			EmbeddedTeam = $_.EmbeddedTeamingEnabled
			SoftwareRsc = $_.SoftwareRscEnabled
		}
	}
}
Section windows-vm-adapters {
	Get-VMNetworkAdapter -All | ForEach-Object {
		New-Object PSObject -Property @{
			VMName = $_.VMName
			SwitchId = "$($_.SwitchId)"
			SwitchName = $_.SwitchName
			Mac = $_.MacAddress
			IovWeight = $_.IovWeight
			VmqWeight = $_.VmqWeight
			Status = @($_.Status | ForEach-Object { "$_" })
			IsManagementOs = $_.IsManagementOs
		}
	}
}
"""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read a row for each switch, and for each adapter on one."""
        rows = rows_of(capture, "windows-switches", SOURCE)
        adapters = rows_of(capture, "windows-vm-adapters", ADAPTERS_SOURCE)
        return cls(
            Known(tuple(_switches(rows.value)), SOURCE) if isinstance(rows, Known) else rows,
            Known(tuple(map(_guest_adapter, adapters.value)), ADAPTERS_SOURCE)
            if isinstance(adapters, Known)
            else adapters,
        )

    def known(self) -> tuple[VirtualSwitch, ...]:
        """Give the switches. Raises CannotTellError where they could not be read."""
        return known(self.all, "the switches of Hyper-V")


def _switches(rows: tuple[Row, ...]) -> Iterator[VirtualSwitch]:
    for row in rows:
        name, kind = row.text("Name"), row.text("Kind")
        if not isinstance(name, Known) or not isinstance(kind, Known):
            continue
        guids = (plain_guid(text) for text in row.texts("CardGuids"))
        yield VirtualSwitch(
            name.value,
            plain_guid(row.values.get("Id")),
            kind.value,
            tuple(guid for guid in guids if guid),
            row.texts("Cards") or row.texts("Card"),
            row.truth("IovEnabled"),
            row.truth("EmbeddedTeam"),
            row.truth("SoftwareRsc"),
        )


def _guest_adapter(row: Row) -> GuestAdapter:
    texts = (row.text("VMName"), row.text("SwitchName"), row.text("Mac"))
    guest, switch, mac = (text.value if isinstance(text, Known) else "" for text in texts)
    is_of_host = row.values.get("IsManagementOs") is True
    return GuestAdapter(
        guest="" if is_of_host else guest,
        switch_id=plain_guid(row.values.get("SwitchId")),
        switch_name=switch,
        mac=mac.replace("-", "").replace(":", "").lower(),
        iov_weight=row.number("IovWeight"),
        vmq_weight=row.number("VmqWeight"),
        status=row.texts("Status"),
        is_of_host=is_of_host,
    )
