"""A virtual switch of Hyper-V that is bound to a card: an external one."""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from wirespeed.model.capture import Section
from wirespeed.model.command import Command
from wirespeed.model.finding import Danger
from wirespeed.model.observed import Observed
from wirespeed.model.powershell import exactly
from wirespeed.model.step import Scope, State, Step
from wirespeed.steps.windows_filter import BINDINGS, ComponentId, bound
from wirespeed.steps.windows_reading import (
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
NONE: State = {"adapter": None, "management": None, "iov": None, "filtered": None}


class WindowsSwitch(Step):
    """There is an external switch of this name on this adapter, which the host itself shares.

    It is not known, and so not made, while one of `filters` is bound to any adapter but its `own`:
    Windows then may crash in its midst. IOV is chosen when a switch is made, and stays. While it is
    made or taken away the adapter has no link, and its addresses move to `vEthernet (NAME)`. Filters
    bind themselves to that one: they are taken off, and off before it goes.
    """

    scope: ClassVar[Scope] = Scope.OS
    danger: ClassVar[Danger] = Danger.DROPS_LINK
    settle_s: ClassVar[float] = 30
    step: Literal["windows_switch"] = "windows_switch"
    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9 _.-]{0,63}$")]
    adapter: AdapterName
    iov: bool = True
    """Virtual machines can get VFs of the card by it, where the card and the BIOS let them."""
    filters: Annotated[tuple[ComponentId, ...], Field(max_length=16)] = ()
    own: Annotated[tuple[AdapterName, ...], Field(max_length=32)] = ()
    """Adapters of the filters' own vendor: there they may stay."""

    @property
    def subject(self) -> str:
        """Its name."""
        return self.name

    @property
    def why(self) -> str:
        """What it is good for."""
        return (
            "A switch with no card below it forwards in software; with the card below it, WSL's "
            "frames go to the card."
        )

    def read(self) -> Command:
        """List what is bound to all adapters, and the switches."""
        return powershell(*BINDINGS, ";", *SWITCHES)

    def parse(self, section: Section) -> Observed[State]:
        """Give what it is bound to; None where there is no such switch."""
        return state_of_rows(section, self.read(), self._state)

    def made(self) -> State:
        """Give that there is none, which is how an earlier step leaves it."""
        return dict(NONE)

    def wanted(self, before: State) -> State:
        """Give that it is there; one that is there keeps its IOV."""
        iov = self.iov if before["adapter"] is None else before["iov"]
        return {"adapter": self.adapter, "management": True, "iov": iov, "filtered": ""}

    def change(self, now: State, to: State) -> tuple[Command, ...]:
        """Make it, take it away, or share it with the host."""
        if now == to:
            return ()
        if to["adapter"] is None:
            remove = powershell("Remove-VMSwitch", "-Name", exactly(self.name), "-Force:$true")
            return (*self._filters(now["filtered"], ""), remove)
        if now["adapter"] is None:
            make = powershell(
                *("New-VMSwitch", "-Name", self.name),
                *("-NetAdapterInterfaceDescription", self.adapter),
                *(f"-AllowManagementOS:{_truth(to['management'])}",),
                *(f"-EnableIov:{_truth(to['iov'])}",),
            )
            return (make, *self._filters(",".join(self.filters), to["filtered"]))
        share: tuple[Command, ...] = ()
        if now["management"] != to["management"]:
            is_shared = f"-AllowManagementOS:{_truth(to['management'])}"
            share = (powershell("Set-VMSwitch", "-Name", exactly(self.name), is_shared),)
        return (*share, *self._filters(now["filtered"], to["filtered"]))

    def _filters(self, now: object, to: object) -> Iterator[Command]:
        """Take filters off the host's own adapter on the switch, or put them on; which may not be.

        Hyper-V itself gives that adapter its name.
        """
        are, shall = (str(filters or "").split(",") for filters in (now, to))
        for component in self.filters:
            if (component in are) != (component in shall):
                yield powershell(
                    f"{'Enable' if component in shall else 'Disable'}-NetAdapterBinding",
                    *("-Name", exactly(self._own_adapter), "-ComponentID", component),
                    *("-IncludeHidden:$true", "-Confirm:$false"),
                    *("-ErrorAction", "SilentlyContinue"),
                )

    @property
    def _own_adapter(self) -> str:
        return f"vEthernet ({self.name})"

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
                    "filtered": ",".join(self._on_own_adapter(rows)),
                }
        if len(switches) == len(rows):
            raise ValueError("it does not say what is bound to the adapters")
        for row in switches:
            if text_in(row, "NetAdapterInterfaceDescription") == self.adapter:
                raise ValueError(f"the switch {text_in(row, 'Name')[:60]!r} has that adapter")
        self._refuse_filters(rows)
        return dict(NONE)

    def _on_own_adapter(self, rows: Rows) -> list[str]:
        mine = tuple(row for row in rows if text_in(row, "Name") == self._own_adapter)
        return [component for component in self.filters if any(bound(mine, component).values())]

    def _refuse_filters(self, rows: Rows) -> None:
        """Raise ValueError while a filter is bound to an adapter that is not its vendor's."""
        for component in self.filters:
            where = [a for a, on in bound(rows, component).items() if on and a not in self.own]
            if where:
                raise ValueError(f"{component} is bound to {', '.join(where)[:90]}: a crash risk")


def _truth(value: object) -> str:
    return "$true" if value else "$false"
