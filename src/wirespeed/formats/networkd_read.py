"""systemd's .link and .network files read, by the syntax of systemd.syntax(7).

A file is of one port: it is matched by its PCI address or its name alone. What another match is of,
only systemd knows, and such a file is listed whole.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from wirespeed.formats.found import Found, Source
from wirespeed.formats.networkd import LINK, POLICIES, VF
from wirespeed.formats.networkd_keys import FILES, WHOLE
from wirespeed.formats.wanted import Key, WantedPort

OURS = frozenset(POLICIES.splitlines())
"""What `export-spec` takes over from systemd's own 99-default.link."""
LARGEST = "max"
LINK_OF_NETWORK = {Key.MTU: "MTUBytes"}
COMMENTS = ("#", ";")


class _Line(NamedTuple):
    number: int
    key: str
    value: str


def read_networkd(found: Found, sources: Sequence[Source]) -> None:
    """Read all units of a host."""
    for source in sources:
        ending = next((one for one in FILES if source.where.endswith(one)), None)
        if ending is None:
            source.refuse("the name of the file", source.where, " or ".join(FILES))
        sections = list(_sections(source, ending))
        port, is_told = _port(found, source, sections)
        if not is_told or port is None:
            for name, lines in sections:
                for line in lines:
                    where = f"line {line.number}: [{name}] {line.key} (its port is not told)"
                    found.unsaid(source, where, line.value)
            continue
        if ending == ".network" and not any(
            line.key in ("ActivationPolicy", "Unmanaged") for _, lines in sections for line in lines
        ):
            found.set(source, "[Link] ActivationPolicy", port, Key.UP, True, None)
        for name, lines in sections:
            _section(found, source, f"{ending} {name}", lines, port)


def _sections(source: Source, ending: str) -> Iterator[tuple[str, list[_Line]]]:
    """Give sections in their order; one may come again."""
    allowed = FILES[ending]
    name = ""
    lines: list[_Line] = []
    for number, text in _whole_lines(str(source.data)):
        place = f"line {number}"
        if text.startswith("["):
            if name:
                yield name, lines
            name, lines = text[1:-1], []
            names = {*allowed, *(WHOLE if ending == ".network" else ())}
            if not text.endswith("]") or name not in names:
                source.refuse(place, text, f"one of {', '.join(f'[{n}]' for n in sorted(names))}")
            continue
        key, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not name:
            source.refuse(place, text, "[SECTION], and KEY=VALUE below it")
        if name in allowed and key not in allowed[name]:
            source.refuse(f"{place}: [{name}]", key, f"one of {', '.join(sorted(allowed[name]))}")
        lines.append(_Line(number, key, value))
    if name:
        yield name, lines


def _whole_lines(text: str) -> Iterator[tuple[int, str]]:
    """Give lines with their numbers, without comments; a backslash at the end goes on."""
    begun, first = "", 0
    for number, line in enumerate(text.split("\n"), 1):
        stripped = line.strip()
        if stripped.startswith(COMMENTS) or not (stripped or begun):
            continue
        if not begun:
            first = number
        if stripped.endswith("\\"):
            begun += stripped[:-1] + " "
            continue
        yield first, (begun + stripped).strip()
        begun = ""
    if begun:
        yield first, begun.strip()


def _port(
    found: Found, source: Source, sections: list[tuple[str, list[_Line]]]
) -> tuple[WantedPort | None, bool]:
    """Give the port, and whether the file says which."""
    lines = [line for name, of in sections if name == "Match" for line in of]
    by = [line for line in lines if line.key in ("Path", "Name", "OriginalName")]
    if len(lines) != 1 or len(by) != 1 or set(by[0].value) & set("*?[! "):
        return None, False
    key, value = by[0].key, by[0].value
    if key != "Path":
        return found.named(value), True
    if not value.startswith("pci-"):
        return None, False
    place = f"line {by[0].number}: [Match] Path"
    return found.at(source, place, value.removeprefix("pci-")), True


def _section(found: Found, source: Source, of: str, lines: list[_Line], port: WantedPort) -> None:
    ending, _, name = of.partition(" ")
    if name == "Match":
        return
    if name == "SR-IOV":
        _vf(found, source, lines, port)
        return
    keys = {".link Link": LINK, ".network Link": LINK_OF_NETWORK}.get(of, {})
    names = {value: key for key, value in keys.items()}
    for line in lines:
        path = f"line {line.number}: [{name}] {line.key}"
        is_new = (port, Key.ADDRESS, None) not in found.settings
        if line.key in names and line.value not in (LARGEST, ""):
            found.set(source, path, port, names[line.key], line.value, None)
        elif (name, line.key) == ("Link", "ActivationPolicy") and line.value == "up":
            found.set(source, path, port, Key.UP, True, None)
        elif (name, line.key) in (("Network", "Address"), ("Address", "Address")) and is_new:
            found.set(source, path, port, Key.ADDRESS, line.value, None)
        elif ending != ".link" or f"{line.key}={line.value}" not in OURS:
            found.unsaid(source, path, line.value)


def _vf(found: Found, source: Source, lines: list[_Line], port: WantedPort) -> None:
    numbers = [line for line in lines if line.key == "VirtualFunction"]
    if len(numbers) != 1:
        source.refuse("[SR-IOV]", f"{len(numbers)} VirtualFunction=", "one")
    place = f"line {numbers[0].number}: [SR-IOV] VirtualFunction"
    vf = int(source.value(place, Key.VFS, numbers[0].value))
    names = {value: key for key, value in VF.items()}
    for line in lines:
        path = f"line {line.number}: [SR-IOV] {line.key}"
        if line.key in names:
            found.set(source, path, port, names[line.key], line.value, vf)
        elif line.key != "VirtualFunction":
            found.unsaid(source, path, line.value)
