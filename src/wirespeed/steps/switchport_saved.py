"""What a port of a switch has in the configuration that the switch starts with. Pure.

Read as the running one is, by the same words, so that the two can be compared.
"""

import json
from collections.abc import Iterator

import yaml

from wirespeed.model.switch_kind import SwitchKind, same_port
from wirespeed.steps.switchport_dialect import INTERFACE, Topic, has, settings

K = SwitchKind
SHOW_SAVED: dict[SwitchKind, str] = {
    K.DELL_OS6: "show startup-config",
    K.DELL_OS9: "show startup-config",
    K.DELL_OS10: "show startup-configuration",
    K.EOS: "show startup-config",
    K.NXOS: "show startup-config",
    K.SONIC: "cat /etc/sonic/config_db.json",
    K.CUMULUS: "sudo cat /etc/nvue.d/startup.yaml",
}
MAX_CHARACTERS = 4 << 20


def differing(kind: SwitchKind, port: str, running: str, saved: str) -> tuple[str, ...]:
    """Name the settings of a port that are saved otherwise than they run.

    Raises ValueError where one of the two makes no sense.
    """
    block = _saved_block(kind, port, saved[:MAX_CHARACTERS])
    found = []
    for topic in (topic for topic in Topic if has(kind, topic)):
        now = settings(kind, port, topic, running)
        then = settings(kind, port, topic, block) if block else dict.fromkeys(now, None)
        found += [name for name in now if now[name] != then[name]]
    return tuple(found)


def _saved_block(kind: SwitchKind, port: str, text: str) -> str:
    """Give what is saved of a port in the form in which it is shown; empty: it has its defaults."""
    if kind is K.SONIC:
        ports = json.loads(text)
        return str(ports["PORT"][port]) if isinstance(ports, dict) and "PORT" in ports else _none()
    if kind is K.CUMULUS:
        return "\n".join(("nv set system x", *_nvue_lines(text)))
    heads = list(INTERFACE.finditer(text))
    if not heads:
        return _none()
    ends = [head.start() for head in heads[1:]] + [len(text)]
    for head, end in zip(heads, ends, strict=True):
        if same_port(head[1], port):
            return text[head.start() : end]
    return ""


def _nvue_lines(text: str) -> Iterator[str]:
    """Give the settings of links in startup.yaml as `nv config show -o commands` prints them."""
    try:
        parts = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError):
        _none()
    sets = [part["set"] for part in parts if "set" in part] if isinstance(parts, list) else []
    if not sets:
        _none()
    for part in sets:
        for names, about in part.get("interface", {}).items():
            link = about.get("link") if isinstance(about, dict) else None
            for what, value in (link or {}).items():
                # YAML takes `on` for true.
                word = {True: "on", False: "off"}.get(value, value)
                yield f"nv set interface {names} link {what} {word}"


def _none() -> str:
    raise ValueError("it is no saved configuration")
