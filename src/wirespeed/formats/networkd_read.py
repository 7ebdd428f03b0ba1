"""systemd's .link and .network files read, by the syntax of systemd.syntax(7).

A file is of one port: it is matched by its PCI address, its name, or both, and nothing else. What
another match is of, only systemd knows, and such a file is listed whole.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple, TypeAlias

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


_Sections: TypeAlias = list[tuple[str, list[_Line]]]


class _Unit(NamedTuple):
    source: Source
    ending: str
    sections: _Sections


def read_networkd(found: Found, sources: Sequence[Source]) -> None:
    """Read all units of a host."""
    units = [_unit(source) for source in sources]
    tagged = _tagged(found, units)
    for source, ending, sections in units:
        name = _tag_name(ending, sections)
        if name in tagged:
            _vlan(found, source, sections, tagged[name])
            continue
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
            _section(found, source, f"{ending} {name}", lines, port, tagged)


def _unit(source: Source) -> _Unit:
    ending = next((one for one in FILES if source.where.endswith(one)), None)
    if ending is None:
        source.refuse("the name of the file", source.where, " or ".join(FILES))
    return _Unit(source, ending, list(_sections(source, ending)))


def _values(sections: _Sections, name: str, key: str) -> list[str]:
    return [line.value for of, lines in sections if of == name for line in lines if line.key == key]


def _tag_name(ending: str, sections: _Sections) -> str:
    """Give the netdev that a file makes or matches, by its name alone; empty: none."""
    section = "NetDev" if ending == ".netdev" else "Match"
    names = _values(sections, section, "Name")
    matched = [line.key for name, lines in sections if name == "Match" for line in lines]
    is_alone = matched == {".netdev": [], ".network": ["Name"]}.get(ending)
    return names[0] if len(names) == 1 and is_alone else ""


def _tagged(found: Found, units: Sequence[_Unit]) -> dict[str, WantedPort]:
    """Give the VLANs that ports of the host have, by the names of their netdevs: one of a port."""
    made = {
        _tag_name(unit.ending, unit.sections)
        for unit in units
        if _values(unit.sections, "NetDev", "Kind") == ["vlan"]
    }
    ports: dict[str, WantedPort] = {}
    for source, ending, sections in units:
        names = _values(sections, "Network", "VLAN")
        if ending == ".network" and len(names) == 1 and names[0] in made:
            port, _ = _port(found, source, sections)
            if port is not None and port not in ports.values():
                ports[names[0]] = port
    return ports


def _vlan(found: Found, source: Source, sections: _Sections, port: WantedPort) -> None:
    """Read a file of the VLAN on a port."""
    keys = {
        ("NetDev", "Name"): Key.TAG_NETDEV,
        ("NetDev", "MTUBytes"): Key.TAG_MTU,
        ("VLAN", "Id"): Key.TAG,
        ("Network", "Address"): Key.TAG_ADDRESS,
        ("Address", "Address"): Key.TAG_ADDRESS,
    }
    for name, lines in sections:
        for line in lines:
            path = f"line {line.number}: [{name}] {line.key}"
            key = keys.get((name, line.key))
            is_second = key is Key.TAG_ADDRESS and (port, key, None) in found.settings
            if key is not None and not is_second:
                found.set(source, path, port, key, line.value, None)
            elif (name, line.key, line.value) != ("NetDev", "Kind", "vlan") and name != "Match":
                found.unsaid(source, path, line.value)


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
    keys = [line.key for line in lines]
    if keys not in (["Path"], ["Name"], ["OriginalName"], ["Path", "Name"], ["Name", "Path"]):
        return None, False
    ports = []
    for number, key, value in lines:
        if set(value) & set("*?[! ") or (key == "Path" and not value.startswith("pci-")):
            return None, False
        place = f"line {number}: [Match] Path"
        is_path = key == "Path"
        ports.append(
            found.at(source, place, value.removeprefix("pci-")) if is_path else found.named(value)
        )
    # What is of both is of none where they are two ports.
    return (ports[0], True) if ports[0] == ports[-1] else (None, False)


def _section(
    found: Found, source: Source, of: str, lines: list[_Line], port: WantedPort,
    tags: Collection[str],
) -> None:  # fmt: skip
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
        if (name, line.key, line.value) in {("Network", "VLAN", tag) for tag in tags}:
            continue
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
