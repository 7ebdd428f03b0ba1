"""A host that is described by its ports, and ethtool on it: 5.4 in how it refuses, 6.1 in its text.

Rules of the kernel: net/ethtool/{rings,channels,coalesce,pause,features,rss,fec}.c (Linux 6.12).
Of ethtool before netlink (ethtool.c, 5.4): a setting as it is already is ignored, and a command
without any other fails with 80; that is the stricter of the two.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from proof import Answer, UnknownCommandError

from wirespeed.model.command import Command

NO_CHANGE = 80


class RefusedError(Exception):
    """What the kernel says."""


@dataclass
class Port:
    """One port. What is None, or has no maximum, its driver does not know."""

    rings: dict[str, int] = field(default_factory=lambda: {"rx": 512, "tx": 512})
    rings_max: dict[str, int] = field(default_factory=lambda: {"rx": 8192, "tx": 8192})
    channels: dict[str, int] = field(default_factory=lambda: {"combined": 8})
    channels_max: dict[str, int] = field(default_factory=lambda: {"combined": 63})
    highest_queue_of_table: int = 0
    """0: no indirection table was set by hand."""
    pause: dict[str, str] = field(
        default_factory=lambda: {"autoneg": "off", "rx": "on", "tx": "on"}
    )
    fec: tuple[str, ...] = ("Auto",)


@dataclass
class DescribedPorts:
    """Understands the options of `OPTIONS`, for the ports that it has."""

    ports: dict[str, Port]

    def run(self, command: Command) -> Answer:
        match command.argv:
            case ("ethtool", option, netdev, *words) if command.stdin is None:
                if netdev not in self.ports:
                    return Answer(errors="netlink error: No such device", returncode=1)
                return self._ethtool(option, self.ports[netdev], netdev, words)
            case _:
                raise UnknownCommandError(command.line())

    def _ethtool(self, option: str, port: Port, netdev: str, words: list[str]) -> Answer:
        if option in SHOWN and not words:
            return Answer(SHOWN[option](port, netdev))
        if option not in SET or not words or (len(words) % 2 and option != "--set-fec"):
            raise UnknownCommandError(f"ethtool {option} {netdev} {words}")
        try:
            return SET[option](port, words)
        except RefusedError as refusal:
            return Answer(errors=f"netlink error: {refusal}", returncode=1)


def show_rings(port: Port, netdev: str) -> str:
    def part(values: dict[str, int]) -> str:
        return (
            f"RX:\t\t{values.get('rx', 'n/a')}\nRX Mini:\tn/a\nRX Jumbo:\tn/a\n"
            f"TX:\t\t{values.get('tx', 'n/a')}\n"
        )

    return (
        f"Ring parameters for {netdev}:\nPre-set maximums:\n{part(port.rings_max)}"
        f"Current hardware settings:\n{part(port.rings)}RX Buf Len:\t\tn/a\nTX Push:\toff\n"
    )


def set_rings(port: Port, words: list[str]) -> Answer:
    return set_numbers(port.rings, port.rings_max, words, lambda _: None)


def show_channels(port: Port, netdev: str) -> str:
    def part(values: dict[str, int]) -> str:
        return (
            f"RX:\t\t{values.get('rx', 'n/a')}\nTX:\t\t{values.get('tx', 'n/a')}\n"
            f"Other:\t\tn/a\nCombined:\t{values.get('combined', 'n/a')}\n"
        )

    return (
        f"Channel parameters for {netdev}:\nPre-set maximums:\n{part(port.channels_max)}"
        f"Current hardware settings:\n{part(port.channels)}"
    )


def set_channels(port: Port, words: list[str]) -> Answer:
    def check(new: dict[str, int]) -> None:
        # ethnl_set_channels, in its order.
        rx = new.get("combined", 0) + new.get("rx", 0)
        if not rx or not new.get("combined", 0) + new.get("tx", 0):
            raise RefusedError("requested channel counts would result in no RX or TX channel")
        if rx <= port.highest_queue_of_table:
            raise RefusedError(
                "requested channel counts are too low for existing indirection table"
            )

    return set_numbers(port.channels, port.channels_max, words, check)


def set_numbers(
    values: dict[str, int],
    maximums: dict[str, int],
    words: list[str],
    check: Callable[[dict[str, int]], None],
) -> Answer:
    """Take all of them or none."""
    new = dict(values)
    for key, word in pairs(words):
        if int(word) > maximums.get(key, 0):
            raise RefusedError("requested size exceeds maximum")
        new[key] = int(word)
    if new == values:
        return unmodified()
    check(new)
    values.update(new)
    return Answer()


def unmodified() -> Answer:
    return Answer(errors="no parameters changed, aborting", returncode=NO_CHANGE)


def show_pause(port: Port, netdev: str) -> str:
    p = port.pause
    # What the peers agreed on is printed too, and is not what is set.
    return (
        f"Pause parameters for {netdev}:\nAutonegotiate:\t{p['autoneg']}\nRX:\t\t{p['rx']}\n"
        f"TX:\t\t{p['tx']}\nRX negotiated: off\nTX negotiated: off\n\n"
    )


def set_pause(port: Port, words: list[str]) -> Answer:
    new = port.pause | {key: on_off(word) for key, word in pairs(words)}
    if new.keys() != port.pause.keys():
        raise UnknownCommandError(f"-A {words}")
    if new == port.pause:
        return unmodified()
    port.pause = new
    return Answer()


def show_fec(port: Port, netdev: str) -> str:
    return (
        f"FEC parameters for {netdev}:\n"
        f"Supported/Configured FEC encodings: {' '.join(port.fec)}\nActive FEC encoding: RS\n"
    )


def set_fec(port: Port, words: list[str]) -> Answer:
    names = {"auto": "Auto", "off": "Off", "rs": "RS", "baser": "BaseR", "llrs": "LLRS"}
    if words[0] != "encoding" or not set(words[1:]) <= names.keys():
        raise UnknownCommandError(f"--set-fec {words}")
    # In the order of their bits (ETHTOOL_FEC_*).
    port.fec = tuple(names[key] for key in names if key in words[1:])
    return Answer()


def pairs(words: list[str]) -> list[tuple[str, str]]:
    found = list(zip(words[::2], words[1::2], strict=True))
    if len({key for key, _ in found}) != len(found):
        raise UnknownCommandError(f"the same twice: {words}")
    return found


def on_off(word: str) -> str:
    if word not in ("on", "off"):
        raise UnknownCommandError(word)
    return word


SHOWN: dict[str, Callable[[Port, str], str]] = {
    "-g": show_rings,
    "-l": show_channels,
    "-a": show_pause,
    "--show-fec": show_fec,
}
SET: dict[str, Callable[[Port, list[str]], Answer]] = {
    "-G": set_rings,
    "-L": set_channels,
    "-A": set_pause,
    "--set-fec": set_fec,
}
