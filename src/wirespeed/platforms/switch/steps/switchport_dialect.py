"""What is typed at each kind of switch to read a port's settings, and to change them. Pure.

A setting's state is the line of the running configuration that holds it, as the switch has it, so
that undo types that very line again; None where there is no line and the switch's default rules.

Only the running configuration is changed: a switch that starts anew before it was saved has what
it had. Cumulus keeps what is applied where its auto-save is on.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from wirespeed.model.step import State
from wirespeed.model.switch_kind import SwitchKind, same_port

K = SwitchKind
INTERFACE = re.compile(r"^interface +(\S.*)$", re.M | re.I)
EOS_FORCED = re.compile(r"speed (?:forced )?([0-9]{1,3})g(?:full)?")
NV_SET = re.compile(r"^nv set interface (\S+) link (\S+) (\S+)[ \t\r]*$", re.M)
NV_RANGE = re.compile(r"(swp[0-9]+s|[a-z]+)([0-9]{1,4})-([0-9]{1,4})")
"""`swp1-4`, and `swp1s0-3` of a port that is broken out (Cumulus Linux, Switch Port Attributes)."""


class Topic(StrEnum):
    """What a step is about."""

    LINK = "link"
    FEC = "fec"
    MTU = "mtu"


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting of a port: its lines in the running configuration, and how its default is had."""

    line: re.Pattern[str]
    reset: str
    resets_first: bool = False
    """Another line does not take the place of the one that is there."""


def _setting(pattern: str, reset: str, *, resets_first: bool = False) -> Setting:
    return Setting(re.compile(pattern), reset, resets_first)


MTU = {"mtu": _setting(r"mtu [0-9]{3,5}", "no mtu")}
LINES: dict[SwitchKind, dict[Topic, dict[str, Setting]]] = {
    K.DELL_OS6: {
        Topic.LINK: {"speed": _setting(r"speed [0-9]{2,6}|speed auto [0-9 ]+", "speed auto")}
    },
    K.DELL_OS9: {
        Topic.LINK: {"speed": _setting(r"speed [0-9]{2,6}", "speed auto")},
        Topic.MTU: MTU,
    },
    K.DELL_OS10: {
        Topic.LINK: {
            "speed": _setting(r"speed [0-9]{2,6}", "speed auto"),
            "negotiation": _setting(r"negotiation (?:on|off)", "negotiation auto"),
        },
        Topic.FEC: {"fec": _setting(r"fec [A-Za-z0-9-]{1,16}", "no fec")},
        Topic.MTU: MTU,
    },
    K.EOS: {
        Topic.LINK: {"speed": _setting(r"speed(?: [A-Za-z0-9-]{1,16}){1,4}", "no speed")},
        Topic.FEC: {
            "fec": _setting(
                r"(?:no )?error-correction encoding(?: reed-solomon| fire-code)?",
                "default error-correction encoding",
                resets_first=True,
            )
        },
    },
    K.NXOS: {
        Topic.LINK: {
            "speed": _setting(r"speed [0-9]{2,6}", "speed auto"),
            "negotiation": _setting(r"no negotiate auto", "negotiate auto"),
        },
        Topic.FEC: {"fec": _setting(r"fec [A-Za-z0-9-]{1,16}", "fec auto")},
        Topic.MTU: MTU,
    },
}
"""Of the kinds that have a running configuration of lines; what a kind lacks has no step there."""
LINUX: dict[Topic, tuple[str, ...]] = {
    Topic.LINK: ("autoneg", "speed"),
    Topic.FEC: ("fec",),
    Topic.MTU: ("mtu",),
}
"""Of SONiC and Cumulus: the first is set first."""
NVUE_VALUE = re.compile(r"[A-Za-z0-9.-]{1,16}")
"""SONiC and Cumulus have a shell: undo types no value there that a shell could take for more."""
NVUE_NAMES = {"autoneg": "auto-negotiate", "speed": "speed", "fec": "fec", "mtu": "mtu"}
AUTO = NVUE_NAMES["autoneg"]
NVUE_WORDS = {"enabled": "on", "disabled": "off"}
"""Cumulus Linux 5.15 calls `on` and `off` deprecated; they are not among its removed commands. What
is typed may be shown in the new words, so the state has one word for both."""
FEC_LINES: dict[SwitchKind, dict[str, str | None]] = {
    K.DELL_OS10: {"auto": None, "off": "fec off", "rs": "fec CL108-RS", "baser": "fec CL74-FC"},
    K.EOS: {
        "auto": None,
        "off": "no error-correction encoding",
        "rs": "error-correction encoding reed-solomon",
        "baser": "error-correction encoding fire-code",
    },
    K.NXOS: {"auto": None, "off": "fec off", "rs": "fec rs-fec", "baser": "fec fc-fec"},
    K.SONIC: {"auto": "auto", "off": "none", "rs": "rs", "baser": "fc"},
    K.CUMULUS: {"auto": "auto", "off": "off", "rs": "rs", "baser": "baser"},
}
SHOW: dict[SwitchKind, str] = {
    K.DELL_OS6: "show running-config interface {}",
    K.DELL_OS9: "show running-config interface {}",
    K.DELL_OS10: "show running-configuration interface {}",
    K.EOS: "show running-config interfaces {}",
    K.NXOS: "show running-config interface {}",
    K.SONIC: 'sonic-db-cli CONFIG_DB hgetall "PORT|{}"',
    K.CUMULUS: "nv config show -o commands",
}
CONFIGURE = {K.DELL_OS6: "configure", K.DELL_OS9: "configure"}
"""The others say `configure terminal`."""


def has(kind: SwitchKind, topic: Topic) -> bool:
    """Tell whether a kind has such a setting of a port."""
    return kind not in LINES or topic in LINES[kind]


def show(kind: SwitchKind, port: str) -> str:
    """Give the line that prints the settings of a port."""
    return SHOW[kind].format(port)


def settings(kind: SwitchKind, port: str, topic: Topic, text: str) -> State:
    """Read the state of a topic. Raises ValueError for what makes no sense."""
    if kind is K.SONIC:
        return _sonic(topic, text)
    if kind is K.CUMULUS:
        return _cumulus(port, topic, text)
    lines = list(_of_port(kind, port, text))
    found: State = {}
    for name, setting in LINES[kind][topic].items():
        mine = [_plain(kind, line) for line in lines if setting.line.fullmatch(line)]
        found[name] = "; ".join(mine) or None
    return found


def changes(kind: SwitchKind, port: str, topic: Topic, now: State, to: State) -> tuple[str, ...]:
    """Give the lines that lead from one state to another; none where they are equal."""
    if now == to:
        return ()
    if kind is K.SONIC:
        return tuple(_sonic_lines(port, topic, now, to))
    if kind is K.CUMULUS:
        return (*_cumulus_lines(port, topic, now, to), "nv config apply -y")
    enter = CONFIGURE.get(kind, "configure terminal")
    return (enter, f"interface {port}", *_typed(LINES[kind][topic], now, to), "end")


def forced(kind: SwitchKind, mbit_per_s: int | None, before: State) -> State:
    """Give the state of a port that is set to a speed; None: it negotiates."""
    mbit = str(mbit_per_s)
    if kind is K.SONIC:
        # What is negotiated, the speed that is set does not bound: it stays.
        is_set = mbit_per_s is not None
        return {"autoneg": "off" if is_set else "on", "speed": mbit if is_set else before["speed"]}
    if mbit_per_s is None:
        return dict.fromkeys(before, None)
    if kind is K.CUMULUS:
        return {"autoneg": "off", "speed": _gigabits(mbit_per_s) + "G"}
    if kind is K.EOS:
        return {"speed": f"speed forced {_gigabits(mbit_per_s)}gfull"}
    known = {"speed": f"speed {mbit}"}
    if kind is K.DELL_OS10:
        return {**known, "negotiation": "negotiation off"}
    return {**known, "negotiation": "no negotiate auto"} if kind is K.NXOS else {**known}


def _gigabits(mbit_per_s: int) -> str:
    return f"{mbit_per_s / 1000:g}"


def _of_port(kind: SwitchKind, port: str, text: str) -> Iterator[str]:
    """Give the lines of the port's block. Raises ValueError where there is none."""
    found = INTERFACE.search(text)
    if found is None and kind is not K.DELL_OS6:
        raise ValueError(f"there is no `interface {port}`")
    if found is not None and not same_port(found[1].rstrip(), port):
        raise ValueError(f"it shows {found[1][:40]!r}")
    # OS6 leaves the head out, and prints nothing for a port with no setting.
    for line in text[found.end() if found else 0 :].splitlines():
        word = line.strip()
        if word in ("exit", "!", "end") or word.lower().startswith("interface "):
            return
        yield word


def _plain(kind: SwitchKind, line: str) -> str:
    """Give a line as it is typed here, where a kind has two forms of one setting."""
    match = EOS_FORCED.fullmatch(line) if kind is K.EOS else None
    return f"speed forced {match[1]}gfull" if match else line


def _typed(known: Mapping[str, Setting], now: State, to: State) -> Iterator[str]:
    """Defaults first, the last setting's before the first's; then what is set."""
    changed = [name for name in known if now[name] != to[name]]
    for name in reversed(changed):
        if to[name] is None or (known[name].resets_first and now[name] is not None):
            yield known[name].reset
    for name in changed:
        if to[name] is not None:
            yield from str(to[name]).split("; ")


def _sonic(topic: Topic, text: str) -> State:
    values = _hash(text)
    if "speed" not in values:
        raise ValueError("CONFIG_DB has no such port")
    found: State = {name: values.get(name) for name in LINUX[topic]}
    if topic is Topic.LINK and found["autoneg"] is None:
        found["autoneg"] = "off"
    if topic is Topic.FEC and found["fec"] is None:
        found["fec"] = "none"
    if not all(re.fullmatch(r"[a-z0-9]{1,16}", str(value)) for value in found.values()):
        raise ValueError("a value of CONFIG_DB makes no sense")
    return found


def _hash(text: str) -> dict[str, str]:
    """Read what sonic-db-cli prints of a hash: a dict of Python, or keys and values by lines."""
    if text.lstrip().startswith("{"):
        try:
            values = ast.literal_eval(text.strip()[:20_000])
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            raise ValueError("it is not a hash") from None
        if not isinstance(values, dict):
            raise ValueError("it is not a hash")
        return {str(key): str(value) for key, value in values.items()}
    lines = text.split("\n")
    return dict(zip(lines[::2], lines[1::2], strict=False))


def _sonic_lines(port: str, topic: Topic, now: State, to: State) -> Iterator[str]:
    words = {"on": "enabled", "off": "disabled"}
    for name in LINUX[topic]:
        if now[name] != to[name]:
            value = str(to[name])
            said = words[value] if name == "autoneg" else value
            yield f"sudo -n config interface {name} {port} {said}"


def _cumulus(port: str, topic: Topic, text: str) -> State:
    if "nv set " not in text:
        raise ValueError("it shows no configuration")
    wanted = {NVUE_NAMES[name]: name for name in LINUX[topic]}
    found: State = dict.fromkeys(LINUX[topic], None)
    for names, what, value in NV_SET.findall(text):
        if what in wanted and any(port in _range(name) for name in names.split(",")):
            if not NVUE_VALUE.fullmatch(value):
                raise ValueError("a value of the configuration makes no sense")
            found[wanted[what]] = NVUE_WORDS.get(value, value) if what == AUTO else value
    return found


def _range(name: str) -> list[str]:
    """Give the ports of `swp1-4`, or of `swp1s0-3`."""
    match = NV_RANGE.fullmatch(name)
    if match is None:
        return [name]
    return [f"{match[1]}{number}" for number in range(int(match[2]), int(match[3]) + 1)]


def _cumulus_lines(port: str, topic: Topic, now: State, to: State) -> Iterator[str]:
    for name in LINUX[topic]:
        if now[name] == to[name]:
            continue
        what = f"interface {port} link {NVUE_NAMES[name]}"
        yield f"nv unset {what}" if to[name] is None else f"nv set {what} {to[name]}"
