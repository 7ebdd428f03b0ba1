"""How a port comes to the speed of its link: negotiated, or set by hand."""

import re
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from wirespeed.model.capture import Section
from wirespeed.model.command import Command
from wirespeed.model.finding import Danger
from wirespeed.model.observed import Known, Observed, Unreadable, read_as
from wirespeed.model.step import Phase, State
from wirespeed.steps.ethtool_setting import EthtoolSetting, Value, ethtool_word

Mode = Annotated[str, Field(pattern=r"^[0-9]{2,7}base[A-Za-z0-9_-]{1,12}(/Full|/Half)?$")]
MODES = re.compile(r"(?:[0-9]{2,7}base[A-Za-z0-9_-]{1,12}(?:/Full|/Half)? ?)*")
LINE = re.compile(r"^\s*([A-Za-z][A-Za-z -]*):(.*)$")
LINK_BPS = re.compile(r"([0-9]{1,7})Mb/s")
DUPLEX = {"Full": "full", "Half": "half"}
UNREPORTED = "Not reported"


class LinkMode(EthtoolSetting):
    """The port negotiates (`autoneg`), and offers these modes; or it has this speed and duplex.

    Both ends must be set alike: where one is forced and the other negotiates, the link stays down
    or slow. After the change it is down for seconds; what a forced port runs at cannot be read
    until it is up, so one whose link is down is not known, before the change or after it.

    Without `advertise` every mode that the port supports is offered, which is what `autoneg on`
    alone does. Some of them are offered by `advertise MODE on|off`, which ethtool has since 5.7.
    """

    danger: ClassVar[Danger] = Danger.DROPS_LINK
    settle_s: ClassVar[float] = 20
    needs_link: ClassVar[bool] = True
    shown_by: ClassVar[str] = ""
    set_by: ClassVar[str] = "-s"
    phase: ClassVar[Phase | None] = Phase.LINK
    step: Literal["link_mode"] = "link_mode"
    autoneg: bool
    advertise: Annotated[tuple[Mode, ...], Field(max_length=128)] = ()
    """As ethtool names them: `25000baseCR/Full`."""
    link_mbit_per_s: Annotated[int, Field(ge=10, le=1_600_000)] | None = None
    duplex: Literal["full", "half"] | None = None
    lanes: Annotated[int, Field(ge=1, le=16)] | None = None

    @model_validator(mode="after")
    def _is_negotiated_or_forced(self) -> Self:
        forced = (self.link_mbit_per_s, self.duplex, self.lanes)
        if self.autoneg and any(forced):
            raise ValueError("what is negotiated is not set by hand: name modes in `advertise`")
        if not self.autoneg and (self.advertise or None in forced[:2]):
            raise ValueError("without negotiation, speed and duplex are set, and nothing offered")
        return self

    @property
    def why(self) -> str:
        if self.autoneg:
            return "Two ports that negotiate find the best that both can do, FEC and pause too."
        return "Where negotiation ends below what both can do, both ends are set to it by hand."

    def asked(self) -> State:
        """What is given, by the words of the state."""
        forced: dict[str, Value] = {
            "speed": self.link_mbit_per_s,
            "duplex": self.duplex,
            "lanes": self.lanes,
        }
        return {"autoneg": self.autoneg} | ({} if self.autoneg else forced)

    def read(self) -> Command:
        """Print the settings; `ethtool` alone has no option for them."""
        return Command(argv=("ethtool", self.netdev))

    @property
    def mark(self) -> None:
        """Give none: what is set is told only with a link, or in what was negotiated."""

    def parse(self, section: Section) -> Observed[State]:
        """Read what is set; what was negotiated is no setting, and stays out."""
        source = self.read().line()
        text = section.text(source)
        if not isinstance(text, Known):
            return Unreadable(text.reason, source)
        return read_as(text, self._state)

    def _state(self, text: str) -> State:
        lines = _lines(text)
        supported = _modes(lines.get("Supported link modes"))
        for mode in self.advertise:
            if mode not in supported.split():
                raise ValueError(f"the port has no mode {mode}; it has {supported or 'none'}")
        match lines.get("Auto-negotiation"):
            case "on":
                advertised = _modes(lines.get("Advertised link modes"))
                forced: State = {"speed": None, "duplex": None, "lanes": None}
                return {"autoneg": True, "supported": supported, "advertised": advertised, **forced}
            case "off":
                at_speed = LINK_BPS.fullmatch(lines.get("Speed", ""))
                duplex = DUPLEX.get(lines.get("Duplex", ""))
                if at_speed is None or duplex is None:
                    raise ValueError("it is set by hand, and the speed is shown only with a link")
                lanes = lines.get("Lanes", "")
                return {
                    "autoneg": False,
                    "supported": supported,
                    "advertised": None,
                    "speed": int(at_speed[1]),
                    "duplex": duplex,
                    # Shown where the driver knows them; set only where that is asked for.
                    "lanes": int(lanes)
                    if self.lanes and re.fullmatch("[0-9]{1,2}", lanes)
                    else None,
                }
            case other:
                raise ValueError(f"Auto-negotiation: {str(other)[:40]}")

    def wanted(self, before: State) -> State:
        """Give what is asked for; the port goes on supporting what it does."""
        everything = str(before["supported"])
        named = [mode for mode in everything.split() if mode in self.advertise]
        offered = " ".join(named) if self.advertise else everything
        forced: State = {"speed": None, "duplex": None, "lanes": None}
        advertised = offered if self.autoneg else None
        return {"supported": everything, "advertised": advertised, **forced, **self.asked()}

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        """Set it in one command, so that the link is negotiated or trained once."""
        if not to["autoneg"]:
            given = {key: to[key] for key in ("speed", "duplex", "lanes") if to[key] is not None}
            return (self.set_to({**given, "autoneg": False}),)
        words = [ethtool_word(True)]
        if to["advertised"] != to["supported"]:
            offered = str(to["advertised"]).split()
            words.append("advertise")
            for mode in str(to["supported"]).split():
                words += [mode, ethtool_word(mode in offered)]
        return (Command(argv=("ethtool", self.set_by, self.netdev, "autoneg", *words)),)


def _lines(text: str) -> dict[str, str]:
    """Give `Name: value`, with what hangs below a value taken to it."""
    found: dict[str, str] = {}
    name = ""
    for line in text.splitlines():
        match = LINE.match(line)
        if match:
            name = match[1].strip()
            found[name] = match[2].strip()
        elif name:
            found[name] = f"{found[name]} {line.strip()}".strip()
    return found


def _modes(text: str | None) -> str:
    """Give the modes in one line. Raises ValueError where they are none that can be set again."""
    if text is None:
        raise ValueError("it does not say which modes there are")
    if text == UNREPORTED:
        return ""
    modes = " ".join(text.split())
    if not MODES.fullmatch(modes):
        raise ValueError(f"{modes[:40]!r}: not link modes")
    return modes
