"""Parameters of the driver of ConnectX-4 and later on ESXi."""

import re
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from wirespeed.model.capture import Section
from wirespeed.model.command import Command
from wirespeed.model.finding import Danger
from wirespeed.model.json_value import read_json
from wirespeed.model.observed import Known, Observed, Unreadable
from wirespeed.model.step import Scope, State, Step

NAME = r"^[A-Za-z][A-Za-z0-9_]{0,54}$"
VALUE = r"^[A-Za-z0-9_.,:-]{1,200}$"
MODULE = "nmlx5_core"
PARAMETERS = ("esxcli", "--formatter=json", "system", "module", "parameters", "list", "-m", MODULE)
SET = ("esxcli", "system", "module", "parameters", "set", "-m", MODULE, "-p")


class EsxiModuleParameters(Step):
    """The driver is started with these at the next boot: `max_vfs=1,1`.

    ESXi keeps one text with all parameters of a module, and writes it whole. So those that stand
    there and are not named here are written again, and undo writes what stood there before.
    """

    scope: ClassVar[Scope] = Scope.OS
    danger: ClassVar[Danger] = Danger.REBOOT
    step: Literal["esxi_module_parameters"] = "esxi_module_parameters"
    parameters: dict[Annotated[str, Field(pattern=NAME)], Annotated[str, Field(pattern=VALUE)]] = (
        Field(min_length=1)
    )
    reason: str

    @property
    def subject(self) -> str:
        """Name of the module, and what is set."""
        return f"{MODULE}: {' '.join(sorted(self.parameters))}"

    @property
    def why(self) -> str:
        """As the maker of the step gives it."""
        return self.reason

    def read(self) -> Command:
        """List all parameters that the driver has, with what is set."""
        return Command(argv=PARAMETERS)

    def parse(self, section: Section) -> Observed[State]:
        """Give those that are set; a driver that lacks one that is wanted cannot be told."""
        source = self.read().line()
        text = section.text(source)
        if not isinstance(text, Known):
            return text if isinstance(text, Unreadable) else Unreadable(text.reason, source)
        try:
            return Known(self._state(text.value), source)
        except (ValueError, RecursionError) as error:
            return Unreadable(f"it makes no sense: {str(error)[:80]}", source)

    def wanted(self, before: State) -> State:
        return {**before, **self.parameters}

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        """Write all of them; an empty text sets none."""
        text = " ".join(f"{name}={value}" for name, value in sorted(to.items()))
        return (Command(argv=(*SET, text)),)

    def _state(self, text: str) -> State:
        rows = read_json(text)
        if not isinstance(rows, list):
            raise ValueError("no list")
        names, found = set(), {}
        for row in rows:
            name, value = (row.get("Name"), row.get("Value")) if isinstance(row, dict) else (0, 0)
            if not isinstance(name, str) or not isinstance(value, str):
                raise ValueError("no parameter with a name and a value")
            names.add(name)
            if value := value.strip():
                if not re.match(NAME, name) or not re.match(VALUE, value):
                    raise ValueError("a parameter that could not be written again")
                found[name] = value
        if missing := sorted(self.parameters.keys() - names):
            raise ValueError(f"the driver has no parameter {', '.join(missing)}")
        return dict(sorted(found.items()))
