"""Settings of a guest of ESXi that has a card of its own, by the vSphere API."""

from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from wirespeed.model.capture import Section
from wirespeed.model.command import Command, Shell
from wirespeed.model.json_value import read_json
from wirespeed.model.observed import Known, Observed, Unreadable
from wirespeed.model.step import Scope, State, Step
from wirespeed.model.vsphere import (
    AFFINITY,
    CPU_RESERVATION,
    LATENCY,
    LATENCY_LEVELS,
    LOCKED,
    MEMORY,
    NUMA_NODE,
    NUMBER,
    READ,
    RECONFIGURE,
    RESERVATION,
    SETTINGS,
)

CPUS = r"^[0-9]{1,4}(,[0-9]{1,4}){0,1023}$"
MAX_MB = 2**31
MAX_CPU = 4096


class EsxiGuest(Step):
    """The guest is started with these from now on; what is not named stays.

    Reserving all memory keeps the reservation at the guest's size. The host reads all of them when
    the guest starts: one that is on is refused.
    """

    scope: ClassVar[Scope] = Scope.GUEST
    purpose: ClassVar[str] = "Its memory stays where it is, and its cores by the card and its own."
    step: Literal["esxi_guest"] = "esxi_guest"
    number: Annotated[str, Field(pattern=NUMBER)]
    """As `vim-cmd vmsvc/getallvms` has it."""
    reserve_memory: bool = False
    """All of it, locked."""
    reserve_cpu_mhz: Annotated[int, Field(ge=0, le=10**7)] | None = None
    affinity: Annotated[str, Field(pattern=CPUS)] | None = None
    """Logical CPUs, each one named, in order: `25,26,27`."""
    numa_node: Annotated[int, Field(ge=0, le=63)] | None = None
    latency_sensitivity: Literal["low", "normal", "medium", "high"] | None = None

    @model_validator(mode="after")
    def _wants_something(self) -> Self:
        if not self._wanted(0):
            raise ValueError(f"guest {self.number}: nothing is wanted of it")
        if self.affinity is not None and self.affinity != _in_order(self.affinity):
            raise ValueError(f"guest {self.number}: affinity {self.affinity} is not in order")
        return self

    @property
    def subject(self) -> str:
        return f"guest {self.number}"

    def read(self) -> Command:
        names = tuple(f"config.{name}" for name in (MEMORY, *SETTINGS))
        return Command(argv=(READ, self.number, *names), shell=Shell.VSPHERE)

    def parse(self, section: Section) -> Observed[State]:
        """Give each setting as it is written again."""
        source = self.read().line()
        text = section.text(source)
        if not isinstance(text, Known):
            return text if isinstance(text, Unreadable) else Unreadable(text.reason, source)
        try:
            return Known(_state(read_json(text.value)), source)
        except (ValueError, RecursionError) as error:
            return Unreadable(f"it makes no sense: {str(error)[:80]}", source)

    def wanted(self, before: State) -> State:
        memory = before[MEMORY]
        return {**before, **self._wanted(memory if isinstance(memory, int) else 0)}

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        differ = [name for name in SETTINGS if now.get(name) != to.get(name)]
        if not differ:
            return ()
        words = tuple(f"{name}={_word(to[name])}" for name in differ)
        return (Command(argv=(RECONFIGURE, self.number, *words), shell=Shell.VSPHERE),)

    def _wanted(self, memory_mb: int) -> State:
        found: State = {}
        if self.reserve_memory:
            found |= {RESERVATION: memory_mb, LOCKED: True}
        if self.reserve_cpu_mhz is not None:
            found[CPU_RESERVATION] = self.reserve_cpu_mhz
        if self.affinity is not None:
            found[AFFINITY] = self.affinity
        if self.latency_sensitivity is not None:
            found[LATENCY] = self.latency_sensitivity
        if self.numa_node is not None:
            found[NUMA_NODE] = str(self.numa_node)
        return found


def _state(said: Any) -> State:
    """Give the settings. Raises ValueError for one that could not be written again."""
    if not isinstance(said, dict):
        raise ValueError("no object")
    return {
        MEMORY: _number(said, MEMORY, 1),
        RESERVATION: _number(said, RESERVATION, 0),
        LOCKED: _truth(said, LOCKED),
        CPU_RESERVATION: _number(said, CPU_RESERVATION, 0),
        AFFINITY: _in_order(_text(said, AFFINITY)) or None,
        LATENCY: _level(said),
        NUMA_NODE: _nodes(said) or None,
    }


def _number(said: dict[str, Any], name: str, least: int) -> int:
    value = said.get(name)
    if type(value) is not int or not least <= value <= MAX_MB:
        raise ValueError(f"{name} is {str(value)[:40]!r}")
    return value


def _truth(said: dict[str, Any], name: str) -> bool:
    value = said.get(name)
    if type(value) is not bool:
        raise ValueError(f"{name} is {str(value)[:40]!r}")
    return value


def _text(said: dict[str, Any], name: str) -> str:
    value = said.get(name)
    if not isinstance(value, str) or len(value) > MAX_CPU * 5:
        raise ValueError(f"{name} is not text")
    return value


def _level(said: dict[str, Any]) -> str:
    level = _text(said, LATENCY)
    if level not in LATENCY_LEVELS:
        raise ValueError(f"{LATENCY} is {level[:40]!r}, which is not written again")
    return level


def _nodes(said: dict[str, Any]) -> str:
    nodes = _text(said, NUMA_NODE).replace(" ", "")
    return _in_order(nodes)


def _in_order(text: str) -> str:
    if not text:
        return ""
    words = text.split(",")
    if not all(word.isascii() and word.isdigit() and int(word) < MAX_CPU for word in words):
        raise ValueError(f"{text[:40]!r} is not a list of CPUs")
    return ",".join(map(str, sorted({int(word) for word in words})))


def _word(value: str | int | bool | None) -> str:
    if value is None:
        # So the API clears an affinity, and takes a key away.
        return ""
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else str(value)
