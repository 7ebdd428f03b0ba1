"""A virtual switch of Hyper-V that is bound to a card: an external one."""

import re
from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from wirespeed.model.capture import Section
from wirespeed.model.command import Command
from wirespeed.model.finding import Danger
from wirespeed.model.observed import Observed
from wirespeed.model.powershell import exactly
from wirespeed.model.step import Phase, Scope, State, Step
from wirespeed.platforms.windows.steps.windows_filter import BINDINGS, ComponentId, bound
from wirespeed.platforms.windows.steps.windows_reading import (
    AdapterName,
    Rows,
    powershell,
    properties,
    state_of_rows,
    text_in,
    truth_in,
)

EXTERNAL = (2, "2", "External")
"""Of Microsoft.HyperV.PowerShell.VMSwitchType; JSON has its number."""
SWITCHES = (
    "Get-VMSwitch",
    *properties(
        *("Name", "SwitchType", "NetAdapterInterfaceDescription"),
        *("AllowManagementOS", "IovEnabled"),
    ),
)
JUMBO = (
    *("Get-NetAdapterAdvancedProperty", "-Name", "*", "-RegistryKeyword", "*JumboPacket"),
    *("-AllProperties:$true", "-IncludeHidden:$true"),
    *properties("Name", "RegistryKeyword", "RegistryValue"),
)
NONE: State = {"adapter": None, "management": None, "iov": None, "filtered": ""}


class WindowsSwitch(Step):
    """There is an external switch of this name on this adapter, which the host itself shares.

    None is made, or taken away, while one of `filters` is bound to any adapter but its `own`:
    Windows then may crash in its midst. The state says which are bound where; they come off first,
    and undo brings them back. IOV is chosen when a switch is made, and stays. While it is made or
    taken away the adapter has no link, and its addresses move to `vEthernet (NAME)`, where filters
    bind themselves and are taken off too.
    """

    scope: ClassVar[Scope] = Scope.OS
    danger: ClassVar[Danger] = Danger.DROPS_LINK
    settle_s: ClassVar[float] = 30
    makes: ClassVar[bool] = True
    purpose: ClassVar[str] = (
        "A switch with no card below it forwards in software; with the card below it, WSL's "
        "frames go to the card."
    )
    phase: ClassVar[Phase | None] = Phase.PORT
    step: Literal["windows_switch"] = "windows_switch"
    name: AdapterName
    """Any that Hyper-V takes: one that is there already has the name that somebody gave it."""
    adapter: AdapterName
    iov: bool = True
    """Virtual machines can get VFs of the card by it, where the card and the BIOS let them."""
    filters: Annotated[tuple[ComponentId, ...], Field(max_length=16)] = ()
    own: Annotated[tuple[AdapterName, ...], Field(max_length=32)] = ()
    """Adapters of the filters' own vendor: there they may stay."""
    host_jumbo: Annotated[int, Field(ge=1514, le=9614)] | None = None
    """`*JumboPacket` of the host's own adapter on the switch; None: it stays. WSL in mirrored mode
    has that adapter's MTU, and takes it again at each change of the link."""

    @property
    def subject(self) -> str:
        return self.name

    def read(self) -> Command:
        """List what is bound to all adapters, and the switches."""
        jumbo = () if self.host_jumbo is None else (";", *JUMBO)
        return powershell(*BINDINGS, ";", *SWITCHES, *jumbo)

    def parse(self, section: Section) -> Observed[State]:
        """Give what it is bound to, None where there is no such switch; and the filters."""
        return state_of_rows(section, self.read(), self._state)

    def made(self) -> State:
        """Give that there is none, which is how an earlier step leaves it."""
        return {**NONE, **self._jumbo(())}

    def wanted(self, before: State) -> State:
        """Give that it is there; one that is there keeps its IOV."""
        iov = self.iov if before["adapter"] is None else before["iov"]
        goal: State = {"adapter": self.adapter, "management": True, "iov": iov, "filtered": ""}
        if self.host_jumbo is not None:
            # One that is there, and whose driver has no such keyword, stays.
            is_fixed = before["management"] is True and before["jumbo"] is None
            goal["jumbo"] = None if is_fixed else str(self.host_jumbo)
        return goal

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        """Make it, take it away, or share it with the host."""
        bound_now, bound_then = self._pairs(now), self._pairs(to)
        if (now["adapter"] is None) == (to["adapter"] is None):
            return (
                *self._share(now, to),
                *self._enlarge(now, to),
                *(self._bind("Disable", *one) for one in bound_now if one not in bound_then),
                *(self._bind("Enable", *one) for one in bound_then if one not in bound_now),
            )
        off = [self._bind("Disable", *one) for one in bound_now]
        on = [self._bind("Enable", *one) for one in bound_then]
        if to["adapter"] is None:
            remove = powershell("Remove-VMSwitch", "-Name", exactly(self.name), "-Force:$true")
            return (*off, remove, *on)
        make = powershell(
            *("New-VMSwitch", "-Name", self.name),
            *("-NetAdapterInterfaceDescription", self.adapter),
            *(f"-AllowManagementOS:{_truth(to['management'])}",),
            *(f"-EnableIov:{_truth(to['iov'])}",),
        )
        unbind = (self._bind_own("Disable", one) for one in self.filters)
        return (*off, make, *unbind, *self._enlarge(now, to), *on)

    def _pairs(self, state: State) -> list[list[str]]:
        """Give filter and adapter of each that is bound."""
        said = str(state["filtered"] or "")
        known = "|".join(map(re.escape, self.filters))
        parts = re.split(rf"; (?=(?:{known}) on )", said) if said else []
        return [part.split(" on ", 1) for part in parts]

    def _share(self, now: State, to: State) -> tuple[Command, ...]:
        if now["management"] == to["management"]:
            return ()
        is_shared = f"-AllowManagementOS:{_truth(to['management'])}"
        return (powershell("Set-VMSwitch", "-Name", exactly(self.name), is_shared),)

    def _enlarge(self, now: State, to: State) -> tuple[Command, ...]:
        value = to.get("jumbo")
        if value is None or now.get("jumbo") == value:
            return ()
        return (
            powershell(
                *("Set-NetAdapterAdvancedProperty", "-Name", exactly(self._own_name)),
                *("-RegistryKeyword", "*JumboPacket", "-RegistryValue", str(value)),
                *("-AllProperties:$true", "-IncludeHidden:$true"),
            ),
        )

    @property
    def _own_name(self) -> str:
        """Name of the host's own adapter on the switch: Hyper-V itself gives it."""
        return f"vEthernet ({self.name})"

    def _jumbo(self, rows: Rows) -> State:
        """Give the property of the host's own adapter, where it is asked for."""
        if self.host_jumbo is None:
            return {}
        values = [
            row.texts("RegistryValue")
            for row in rows
            if text_in(row, "Name") == self._own_name
            and text_in(row, "RegistryKeyword").lower() == "*jumbopacket"
        ]
        return {"jumbo": values[0][0] if len(values) == 1 and len(values[0]) == 1 else None}

    def _bind(self, verb: str, component: str, adapter: str) -> Command:
        """Take a filter off an adapter, or put it on; the adapter may go with the switch."""
        return _binding(verb, component, "-InterfaceDescription", adapter)

    def _bind_own(self, verb: str, component: str) -> Command:
        """Do so on the host's own adapter on the switch."""
        return _binding(verb, component, "-Name", self._own_name)

    def _state(self, rows: Rows) -> State:
        switches = [row for row in rows if "SwitchType" in row.values]
        for row in switches:
            is_external = row.values.get("SwitchType") in EXTERNAL
            name, adapter = text_in(row, "Name"), text_in(row, "NetAdapterInterfaceDescription")
            if name.lower() == self.name.lower():
                if not is_external or adapter != self.adapter:
                    raise ValueError(f"a switch of that name is there, and not on {self.adapter}")
                return {
                    "adapter": adapter,
                    "management": truth_in(row, "AllowManagementOS"),
                    "iov": truth_in(row, "IovEnabled"),
                    "filtered": "; ".join(self._foreign(rows)),
                    **self._jumbo(rows),
                }
        if not any("ComponentID" in row.values for row in rows):
            raise ValueError("it does not say what is bound to the adapters")
        for row in switches:
            if text_in(row, "NetAdapterInterfaceDescription") == self.adapter:
                raise ValueError(f"the switch {text_in(row, 'Name')[:60]!r} has that adapter")
        return {**NONE, "filtered": "; ".join(self._foreign(rows)), **self._jumbo(())}

    def _foreign(self, rows: Rows) -> Iterator[str]:
        """Give `FILTER on ADAPTER` for each that is bound to one that is not its vendor's."""
        for component in self.filters:
            for adapter, is_on in bound(rows, component).items():
                if is_on and adapter not in self.own:
                    yield f"{component} on {adapter}"


def _binding(verb: str, component: str, by: str, adapter: str) -> Command:
    return powershell(
        *(f"{verb}-NetAdapterBinding", by, exactly(adapter), "-ComponentID", component),
        *("-IncludeHidden:$true", "-Confirm:$false", "-ErrorAction", "SilentlyContinue"),
    )


def _truth(value: object) -> str:
    return "$true" if value else "$false"
