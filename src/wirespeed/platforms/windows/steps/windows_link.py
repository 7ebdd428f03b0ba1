"""How a Mellanox card of Windows comes to the speed of its link, by mlx5cmd: one end of two."""

from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field

from wirespeed.model.capture import Section
from wirespeed.model.command import Command
from wirespeed.model.finding import Danger
from wirespeed.model.json_value import read_json
from wirespeed.model.observed import Known, Observed, Unreadable, read_as
from wirespeed.model.powershell import exactly, powershell_line
from wirespeed.model.step import Scope, State, Step
from wirespeed.platforms.windows.facts.windows_rows import Row
from wirespeed.platforms.windows.steps.windows_reading import (
    MAX_NAME,
    powershell,
    properties,
    text_in,
)

GBIT = 10**9
MLX5CMD = ("mlx5cmd.exe", "-LinkSpeed", "-Name")
NEGOTIATED = "negotiated"
MAX_SAID = 4000
Gbit = Annotated[int, Field(ge=1, le=800)]


def _connection(text: str) -> str:
    if not 1 <= len(text) <= MAX_NAME or not text.isprintable() or text.startswith("-"):
        raise ValueError(f"{text[:40]!r} is not a name of a connection")
    powershell_line((*MLX5CMD, text, "-Query"))
    return text


ConnectionName = Annotated[str, AfterValidator(_connection)]
"""As `Get-NetAdapter` lists it under Name: mlx5cmd takes no other."""


class WindowsLink(Step):
    """The card has this speed, in Gb/s, and does not negotiate; None: it negotiates.

    Nothing tells in which words `-Query` says what a card is set to. So it is not read, but
    compared: as long as it says what it `said`, the card is set to what a person read there
    (`found_gbit_per_s`). When it says something else, the link itself has to tell, by a speed that
    is a number; without a link it is not known.
    """

    scope: ClassVar[Scope] = Scope.CARD
    danger: ClassVar[Danger] = Danger.DROPS_LINK
    settle_s: ClassVar[float] = 30
    needs_link: ClassVar[bool] = True
    step: Literal["windows_link"] = "windows_link"
    name: ConnectionName
    link_gbit_per_s: Gbit | None
    found_gbit_per_s: Gbit | None
    """What the card was set to, as a person read it; None: it negotiated."""
    said: Annotated[str, Field(min_length=1, max_length=MAX_SAID)]
    """What `-Query` printed then: words with one blank between them."""

    @property
    def subject(self) -> str:
        return self.name

    @property
    def why(self) -> str:
        if self.link_gbit_per_s is None:
            return "Two ports that negotiate find the best that both can do."
        return "Where negotiation ends below what both can do, both ends are set to it by hand."

    def read(self) -> Command:
        """Print the state of the link, as numbers, and what the card is set to, in words."""
        return link_query(self.name)

    def parse(self, section: Section) -> Observed[State]:
        source = self.read().line()
        text = section.text(source)
        if not isinstance(text, Known):
            return Unreadable(text.reason, source)
        return read_as(text, self._state)

    def wanted(self, before: State) -> State:
        return {"set": _set(self.link_gbit_per_s)}

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        """Set it; 0 has the card negotiate."""
        value = "0" if to["set"] == NEGOTIATED else str(to["set"]).removesuffix(" Gb/s")
        return (powershell(*MLX5CMD, self.name, "-Set", value),)

    def _state(self, text: str) -> State:
        link_bps, said = link_answer(self.name, text)
        if said == self.said:
            return {"set": _set(self.found_gbit_per_s)}
        if link_bps is None:
            raise ValueError(f"there is no link, and mlx5cmd says {said[:200]!r}, which is new")
        if self.link_gbit_per_s is None or link_bps == self.link_gbit_per_s * GBIT:
            return {"set": _set(self.link_gbit_per_s)}
        raise ValueError(
            f"the link has {link_bps / GBIT:g} Gb/s, and mlx5cmd says {said[:200]!r}, which is new"
        )


def link_query(name: str) -> Command:
    """Give the command that prints a row of the adapter, and what mlx5cmd says of it."""
    adapter = ("Get-NetAdapter", "-Name", exactly(name))
    shown = properties("Name", "Status", "TransmitLinkSpeed", "ReceiveLinkSpeed")
    return powershell(*adapter, *shown, ";", *MLX5CMD, name, "-Query")


def link_answer(name: str, text: str) -> tuple[int | None, str]:
    """Give the speed of the link in bit/s, None without one; and what mlx5cmd said. ValueError."""
    try:
        items = read_json(text)
    except RecursionError:
        raise ValueError("it is not JSON") from None
    items = items if isinstance(items, list) else [items]
    rows = [Row(item, "Get-NetAdapter") for item in items if isinstance(item, dict)]
    said = " ".join(" ".join(item for item in items if isinstance(item, str)).split())
    if len(rows) != 1 or text_in(rows[0], "Name") != name:
        raise ValueError(f"{len(rows)} adapters of that name")
    if not said or len(said) > MAX_SAID:
        raise ValueError("mlx5cmd says nothing, or no end of it")
    if text_in(rows[0], "Status") != "Up":
        return None, said
    both = [rows[0].number(key) for key in ("TransmitLinkSpeed", "ReceiveLinkSpeed")]
    found = [one.value for one in both if isinstance(one, Known) and one.value]
    if len(found) != len(both):
        raise ValueError("it is up, and its speed is not reported")
    return min(found), said


def _set(gbit_per_s: int | None) -> str:
    return NEGOTIATED if gbit_per_s is None else f"{gbit_per_s} Gb/s"
