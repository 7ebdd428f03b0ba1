"""The speed of a ConnectX port, or that it negotiates, by mlxlink of MFT or mstlink of mstflint."""

import re
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from wirespeed.model.capture import Section
from wirespeed.model.command import Command
from wirespeed.model.finding import Danger
from wirespeed.model.names import PciAddress
from wirespeed.model.observed import Observed
from wirespeed.model.step import Scope, State, Step
from wirespeed.steps.firmware_query import ASKED_S
from wirespeed.steps.readings import state_of

NAME = r"[0-9]{1,4}(?:\.5)?[GM](?:_[0-9]{1,2}X)?"
"""`100G_4X`, `2.5G`, `100M`: EthExtSupportedSpeeds2Str of mstflint's mlxlink_utils.cpp."""
LinkModeName = Annotated[str, Field(pattern=rf"^{NAME}$")]
COLOR = re.compile(r"\x1b\[[0-9;]{0,16}m")
LINE = re.compile(r"^([A-Za-z][A-Za-z ().]{0,40}?) *: (.*)$", re.M)
SPEEDS = re.compile(rf"0x[0-9a-fA-F]{{1,16}} \(((?:{NAME},?)+)\)")
FORCED = "FORCE - "
STOPPED, NO_LINK = "Disable", "N/A"
IN_OLDER_WORDS = {
    "KX": "1G",
    "CX": "1G",
    "BaseT1000M": "1G",
    "CX4": "10G",
    "KX4": "10G",
    "BaseT10G": "10G",
}
"""Cards before ConnectX-6 name the speed of a link otherwise than those to choose from, else
`25GbE` for `25G`: _ETHSpeed2Str of mstflint's mlxlink_maps.cpp, EthSupportedSpeeds2Str; a real
ConnectX-5 at 100GbE: https://github.com/MrBr-github/lshca/issues/11"""


class MlxlinkSpeed(Step):
    """The port has this speed and does not negotiate; None: it offers what its cable can do.

    Mlxlink tells what a port is set to while it has no link, and sets numbers of lanes, neither of
    which ethtool does. The port is stopped meanwhile, so that it starts with what was set. Whether
    the link comes up then is not in its state.
    """

    scope: ClassVar[Scope] = Scope.BOOT
    writes_card: ClassVar[bool] = True
    danger: ClassVar[Danger] = Danger.DROPS_LINK
    read_s: ClassVar[int] = ASKED_S
    step: Literal["mlxlink_speed"] = "mlxlink_speed"
    pci_address: PciAddress
    link_mode: LinkModeName | None
    """As the tool names it: `10G`, `100G_4X`."""
    tool: Literal["mlxlink", "mstlink"] = "mlxlink"

    @property
    def subject(self) -> str:
        return self.pci_address

    @property
    def why(self) -> str:
        if self.link_mode is None:
            return "Two ports that negotiate find the best that both can do, FEC and pause too."
        return "Where negotiation ends below what both can do, both ends are set to it by hand."

    def read(self) -> Command:
        """Print how the port stands, and what it is set to."""
        return Command(argv=(self.tool, "-d", self.pci_address))

    @property
    def mark(self) -> None:
        """Give none: what is set is told only with a link, or in what was negotiated."""

    def parse(self, section: Section) -> Observed[State]:
        """Read what is set; the state of the link stays out."""
        return state_of(section, self.read(), self._state)

    def _state(self, text: str) -> State:
        found = LINE.findall(COLOR.sub("", text))
        lines = {key: value.strip(" ") for key, value in found}
        mode = lines.get("Auto Negotiation", "")
        if mode != "ON" and not mode.startswith(FORCED):
            raise ValueError(f"Auto Negotiation: {mode[:40]!r}")
        cable = _speeds(lines, "Supported Cable Speed")
        if self.link_mode is not None and self.link_mode not in cable.split(","):
            raise ValueError(f"the cable has no speed {self.link_mode}; it has {cable}")
        if not lines.get("State"):
            raise ValueError("it does not say whether the port is stopped")
        speeds = _speeds(lines, "Enabled Link Speed")
        runs_at = _plain(lines.get("Speed", NO_LINK))
        return {
            "negotiates": mode == "ON",
            "speeds": speeds,
            # A link that was not stopped runs on as it did.
            "is_taken": runs_at in {NO_LINK, *(one.partition("_")[0] for one in speeds.split(","))},
            "cable": cable,
            "is_started": lines["State"] != STOPPED,
        }

    def wanted(self, before: State) -> State:
        """Give what is asked for; what the cable can do stays."""
        speeds = self.link_mode or before["cable"]
        return {**before, "negotiates": self.link_mode is None, "speeds": speeds, "is_taken": True}

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        """Stop the port, set it, and start it, which is when it takes what was set."""
        start = (self.tool, "-d", self.pci_address)
        commands = []
        if now["is_started"]:
            commands.append(Command(argv=(*start, "--port_state", "DN", "--yes")))
        if (now["speeds"], now["negotiates"]) != (to["speeds"], to["negotiates"]):
            by_hand = () if to["negotiates"] else ("--link_mode_force",)
            speeds = ("--speeds", str(to["speeds"]), *by_hand, "--yes")
            commands.append(Command(argv=(*start, *speeds)))
        if to["is_started"]:
            commands.append(Command(argv=(*start, "--port_state", "UP", "--yes")))
        return tuple(commands)


def _plain(text: str) -> str:
    """Give the speed of a link as one to choose from, without its lanes."""
    return IN_OLDER_WORDS.get(text, text.removesuffix("bE").partition("_")[0])


def _speeds(lines: dict[str, str], name: str) -> str:
    """Give the names of a list of speeds. Raises ValueError where there are none."""
    text = lines.get(f"{name} (Ext.)", lines.get(name, ""))
    match = SPEEDS.fullmatch(text)
    if match is None:
        raise ValueError(f"{name}: {text[:40]!r}")
    return match[1]
