"""What a port of a switch has in the configuration that the switch starts with. Pure.

Read as the running one is, by the same words, so that the two can be compared.
"""

from wirespeed.model.json_value import read_json
from wirespeed.model.switch_kind import SwitchKind, same_port
from wirespeed.platforms.switch.steps.switchport_dialect import (
    INTERFACE,
    NVUE_NAMES,
    Topic,
    has,
    settings,
    show,
)

K = SwitchKind
SHOW_SAVED: dict[SwitchKind, str] = {
    K.DELL_OS6: "show startup-config",
    K.DELL_OS9: "show startup-config",
    K.DELL_OS10: "show startup-configuration",
    K.EOS: "show startup-config",
    K.NXOS: "show startup-config",
    K.SONIC: "cat /etc/sonic/config_db.json",
    K.CUMULUS: "nv show interface --rev=startup -o json",
}
APPLIED = "nv show interface --rev=applied -o json"
"""Of NVUE; shown with defaults, as what is saved is, and unlike its lines of configuration."""
MAX_CHARACTERS = 4 << 20


def show_running(kind: SwitchKind, port: str) -> str:
    """Give the line that prints what a port runs with, to compare it with what is saved."""
    return APPLIED if kind is K.CUMULUS else show(kind, port)


def differing(kind: SwitchKind, port: str, running: str, saved: str) -> tuple[str, ...]:
    """Name the settings of a port that are saved otherwise than they run.

    Raises ValueError, LookupError or TypeError where one of the two makes no sense.
    """
    if kind is K.CUMULUS:
        now, then = (read_json(text)[port].get("link", {}) for text in (running, saved))
        return tuple(ours for ours, name in NVUE_NAMES.items() if now.get(name) != then.get(name))
    block = _saved_block(kind, port, saved[:MAX_CHARACTERS])
    found: list[str] = []
    for topic in (topic for topic in Topic if has(kind, topic)):
        state = settings(kind, port, topic, running)
        kept = settings(kind, port, topic, block) if block else dict.fromkeys(state, None)
        found += [name for name in state if state[name] != kept[name]]
    return tuple(found)


def _saved_block(kind: SwitchKind, port: str, text: str) -> str:
    """Give what is saved of a port in the form in which it is shown; empty: it has its defaults."""
    if kind is K.SONIC:
        return str(read_json(text)["PORT"][port])
    heads = list(INTERFACE.finditer(text))
    if not heads:
        raise ValueError("it is not a saved configuration")
    ends = [head.start() for head in heads[1:]] + [len(text)]
    for head, end in zip(heads, ends, strict=True):
        if same_port(head[1].rstrip(), port):
            return text[head.start() : end]
    return ""
