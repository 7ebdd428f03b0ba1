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
    coalescing: dict[str, str] = field(default_factory=dict)
    """By ethtool's words: `adaptive-rx`, `rx-usecs`, …"""
    defaults_when_adaptive: dict[str, dict[str, str]] | None = None
    """mlx5: "on", "off" -> numbers that every such turn leads to, in both directions alike."""
    features: dict[str, str] = field(default_factory=dict)
    """Feature of the kernel: what is requested, `on` or `off`."""
    fixed: frozenset[str] = frozenset()
    table: tuple[int, ...] = (0, 1, 2, 3, 4, 5, 6, 7) * 16
    """Receive queue of each entry."""
    flow_fields: dict[str, str] = field(default_factory=lambda: {"udp4": "sd", "tcp4": "sdfn"})
    is_netlink: bool = False
    """ethtool since 5.7: what is so already is no failure of `-C`."""


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
        if option == "-n" and words[:1] == ["rx-flow-hash"] and len(words) == 2:
            return Answer(show_flow_fields(port, words[1]))
        if option in SHOWN and not words:
            return Answer(SHOWN[option](port, netdev))
        if option not in SET or not words or (len(words) % 2 and option in IN_PAIRS):
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


def show_coalescing(port: Port, netdev: str) -> str:
    def word(key: str) -> str:
        return port.coalescing.get(key, "n/a")

    lines = "".join(
        f"{direction}-{number}:\t{word(f'{direction}-{number}')}\n"
        for direction in ("rx", "tx")
        for number in ("usecs", "frames", "usecs-irq", "frames-irq")
    )
    return (
        f"Coalesce parameters for {netdev}:\n"
        f"Adaptive RX: {word('adaptive-rx')}  TX: {word('adaptive-tx')}\n"
        f"stats-block-usecs:\tn/a\n\n{lines}\nCQE mode RX: n/a  TX: n/a\n\n"
    )


def set_coalescing(port: Port, words: list[str]) -> Answer:
    asked = dict(pairs(words))
    if not asked.keys() <= port.coalescing.keys():
        raise RefusedError("cannot modify an unsupported parameter")
    changed = {key: word for key, word in asked.items() if word != port.coalescing[key]}
    if not changed:
        return Answer() if port.is_netlink else unmodified()
    for key, word in changed.items():
        if key.startswith("adaptive"):
            port.coalescing[key] = on_off(word)
        elif str(int(word)) != word:
            raise UnknownCommandError(f"-C {words}")
    for direction in ("rx", "tx"):
        switch = f"adaptive-{direction}"
        numbers = {k: v for k, v in changed.items() if k.startswith(f"{direction}-")}
        if port.defaults_when_adaptive is None:
            port.coalescing |= numbers
        elif switch in changed:
            # mlx5e_ethtool_set_coalesce: reset_rx, reset_tx; the numbers asked for are not kept.
            defaults = port.defaults_when_adaptive[changed[switch]]
            port.coalescing |= {f"{direction}-{k}": v for k, v in defaults.items()}
        elif port.coalescing.get(switch) != "on":
            port.coalescing |= numbers
    return Answer()


GROUPS = {
    "tx-checksumming": ("tx-checksum-ipv4", "tx-checksum-ip-generic", "tx-checksum-ipv6"),
    "scatter-gather": ("tx-scatter-gather", "tx-scatter-gather-fraglist"),
    "tcp-segmentation-offload": (
        "tx-tcp-segmentation",
        "tx-tcp-ecn-segmentation",
        "tx-tcp-mangleid-segmentation",
        "tx-tcp6-segmentation",
    ),
}
NEED_SCATTER_GATHER = (*GROUPS["tcp-segmentation-offload"], "generic-segmentation-offload")


def in_force(port: Port, name: str) -> str:
    # netdev_fix_features (net/core/dev.c): no segmentation without scatter-gather.
    if name in NEED_SCATTER_GATHER and port.features.get("tx-scatter-gather") == "off":
        return "off"
    return port.features[name]


def show_features(port: Port, netdev: str) -> str:
    def line(name: str) -> str:
        state, requested = in_force(port, name), port.features[name]
        remark = f" [requested {requested}]" if state != requested else ""
        return f"{name}: {state}{' [fixed]' if name in port.fixed else remark}\n"

    of_groups = {name for members in GROUPS.values() for name in members}
    text = f"Features for {netdev}:\n"
    for group, members in GROUPS.items():
        mine = [name for name in members if name in port.features]
        if mine:
            any_on = any(in_force(port, name) == "on" for name in mine)
            text += f"{group}: {'on' if any_on else 'off'}\n"
            text += "".join(f"\t{line(name)}" for name in mine)
    return text + "".join(line(name) for name in port.features if name not in of_groups)


def set_features(port: Port, words: list[str]) -> Answer:
    asked = {key: on_off(word) for key, word in pairs(words)}
    if not asked.keys() <= port.features.keys():
        # Groups are sent by no step: their members may differ.
        raise UnknownCommandError(f"-K {words}")
    port.features |= {key: word for key, word in asked.items() if key not in port.fixed}
    # nl_sfeatures (ethtool, netlink/features.c): fails where nothing is as it was asked for.
    if all(in_force(port, key) != word for key, word in asked.items()):
        return Answer(errors="Could not change any device features", returncode=1)
    return Answer()


def show_table(port: Port, netdev: str) -> str:
    rings = port.channels["combined"]
    lines = "".join(
        f"{at:5d}: {' '.join(f'{queue:5d}' for queue in port.table[at : at + 8])}\n"
        for at in range(0, len(port.table), 8)
    )
    return (
        f"RX flow hash indirection table for {netdev} with {rings} RX ring(s):\n{lines}"
        "RSS hash key:\n6d:5a:56:da\nRSS hash function:\n    toeplitz: on\n"
        "    xor: off\n    crc32: off\n"
    )


def set_table(port: Port, words: list[str]) -> Answer:
    """As fill_indir_table (ethtool.c) makes it, and as ethtool_set_rxfh (net/ethtool) takes it."""
    size, first = len(port.table), 0
    if words[0] == "start":
        first, words = int(words[1]), words[2:]
    match words:
        case ["equal", count]:
            table = tuple(first + at % int(count) for at in range(size))
        case ["weight", *weights]:
            total, partial, queue, made = sum(map(int, weights)), 0, -1, []
            if not 0 < total <= size:
                return Answer(errors="Total weight exceeds the size of the table", returncode=2)
            for at in range(size):
                while at >= size * partial // total:
                    queue += 1
                    partial += int(weights[queue])
                made.append(first + queue)
            table = tuple(made)
        case _:
            raise UnknownCommandError(f"-X {words}")
    if max(table) >= port.channels["combined"]:
        raise RefusedError("Invalid argument")
    port.table = table
    return Answer()


FIELDS = {
    "s": "IP SA",
    "d": "IP DA",
    "f": "L4 bytes 0 & 1 [TCP/UDP src port]",
    "n": "L4 bytes 2 & 3 [TCP/UDP dst port]",
}


def show_flow_fields(port: Port, flow: str) -> str:
    shown = {"udp4": "UDP over IPV4", "tcp4": "TCP over IPV4"}[flow]
    fields = "".join(f"{FIELDS[letter]}\n" for letter in port.flow_fields[flow])
    return f"{shown} flows use these fields for computing Hash flow key:\n{fields or 'None'}\n"


def set_flow_fields(port: Port, words: list[str]) -> Answer:
    match words:
        case ["rx-flow-hash", flow, letters] if flow in port.flow_fields:
            if not set(letters) <= FIELDS.keys():
                raise UnknownCommandError(f"-N {words}")
            port.flow_fields[flow] = "".join(key for key in FIELDS if key in letters)
            return Answer()
        case _:
            raise UnknownCommandError(f"-N {words}")


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
    "-c": show_coalescing,
    "-k": show_features,
    "-x": show_table,
    "--show-fec": show_fec,
}
SET: dict[str, Callable[[Port, list[str]], Answer]] = {
    "-G": set_rings,
    "-L": set_channels,
    "-A": set_pause,
    "-C": set_coalescing,
    "-K": set_features,
    "-X": set_table,
    "-N": set_flow_fields,
    "--set-fec": set_fec,
}
IN_PAIRS = SET.keys() - {"--set-fec", "-X", "-N"}
"""Those that take a word and its value, again and again."""
