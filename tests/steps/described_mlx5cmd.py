"""A described Mellanox card of Windows on a cable: what `mlx5cmd -LinkSpeed` sets, and the link.

`-Set` is as the link-speed document has it: a speed in Gb/s, 0 to negotiate. In which words
`-Query` tells what is set nobody has shown, so that here it may be any of WORDS: nothing may depend
on them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from json import dumps

from described_windows import statements as cmdlets
from described_windows import word, words
from proof import Answer, UnknownCommandError

from wirespeed.model.command import Command, Shell
from wirespeed.model.powershell import END

NAME = "이더넷 10"
SPEEDS = (1, 10, 25)
Words = Callable[[int | None, int | None], str]
"""What `-Query` prints, of the speed that is set (None: negotiated) and of the link's."""
WORDS: dict[str, Words] = {
    "a list": lambda is_set, _: f"Speeds: {[is_set] if is_set else [*SPEEDS]}\r\n",
    "a sentence": lambda is_set, _: f"Link speed is {f'{is_set} Gbps' if is_set else 'auto'}.",
    "with the link": lambda is_set, link: f"set:  {is_set or 0}\n\n link:\t{link or 'down'}\n",
    "a mask": lambda is_set, _: f"0x{(1 << (is_set or 31)):08x}",
}


@dataclass
class MlxCard:
    """The card at its end; `far` is what the other end is set to, None where it negotiates."""

    is_set: int | None = None
    far: int | None = 10
    says: str = "a list"
    name: str = NAME

    @property
    def link(self) -> int | None:
        """In Gb/s, as the document saw it; None: no link."""
        if self.is_set is None and self.far is None:
            return 1
        return self.is_set if self.is_set == self.far else None

    def run(self, command: Command) -> Answer:
        assert command.shell is Shell.POWERSHELL
        match command.argv:
            case ("mlx5cmd.exe", "-LinkSpeed", "-Name", self.name, "-Set", value):
                if int(value) not in (0, *SPEEDS):
                    return Answer("The speed is not supported.", "", 1)
                self.is_set = int(value) or None
                return Answer()
            case (*first, ";", "mlx5cmd.exe", "-LinkSpeed", "-Name", self.name, "-Query"):
                return Answer(dumps([self._row(first), *self._said()], ensure_ascii=False))
            case _:
                raise UnknownCommandError(command.line())

    def _row(self, argv: list[str]) -> dict[str, object]:
        assert END not in argv
        ((cmdlet, given), (select, chosen)) = next(cmdlets(argv))
        assert (cmdlet, select) == ("Get-NetAdapter", "Select-Object")
        assert set(given) == {"-Name"} and word(given, "-Name") == self.name
        bps = (self.link or 0) * 10**9
        row = {
            "Name": self.name, "Status": "Up" if self.link else "Disconnected",
            "TransmitLinkSpeed": bps, "ReceiveLinkSpeed": bps,
        }  # fmt: skip
        return {name: row[name] for name in words(chosen, "-Property")}

    def _said(self) -> list[str]:
        """Give its lines, as PowerShell takes them from a program."""
        return WORDS[self.says](self.is_set, self.link).splitlines()


def said_by(card: MlxCard) -> str:
    """Give what it says, with one blank between words."""
    return " ".join(" ".join(WORDS[card.says](card.is_set, card.link).splitlines()).split())
