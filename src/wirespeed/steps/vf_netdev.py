"""Where the netdev of a VF is: on the host, or in a namespace of it; found by its PCI address."""

from dataclasses import dataclass
from typing import Any

from wirespeed.facts.json_text import JsonObject
from wirespeed.model.capture import TIMED_OUT_RETURNCODE, Section
from wirespeed.model.command import Command
from wirespeed.model.json_value import read_json
from wirespeed.model.names import NETDEV
from wirespeed.model.observed import Known, Observed, Unreadable
from wirespeed.steps.namespace import is_missing

MAX_LISTS = 2


@dataclass(frozen=True, slots=True)
class VfNetdev:
    """A VF's netdev, as `ip -d link show` lists it in the place where it is."""

    is_in_namespace: bool
    name: str
    mac: str
    is_up: bool
    has_master: bool


@dataclass(frozen=True, slots=True)
class Places:
    """Both places."""

    mine: VfNetdev | None
    """None: no driver has made a netdev for the VF, or it is in yet another namespace."""
    others_there: frozenset[str]
    """Names that other netdevs of the namespace have."""


def read_places(namespace: str) -> Command:
    """Print the netdevs of the host, and those of the namespace if it is there, in one command."""
    return Command(
        argv=("ip", "-j", "-d", "-force", "-batch", "-"),
        stdin=f"link show\nnetns exec {namespace} ip -j -d link show",
    )


def places_of(section: Section, pci_address: str, namespace: str, source: str) -> Observed[Places]:
    """Find the VF's netdev in what `read_places` printed; a namespace may be missing."""
    lists = _lists(section)
    is_whole = section.returncode == 0 or is_missing(section, namespace)
    if section.returncode in (None, TIMED_OUT_RETURNCODE) or not is_whole or not lists:
        why = (
            section.failure(source).reason if section.returncode else "it is not a list of netdevs"
        )
        return Unreadable(why, source)
    if len(lists) != (MAX_LISTS if section.returncode == 0 else 1):
        return Unreadable("it is not a list of netdevs for each place", source)
    found: list[VfNetdev] = []
    others: set[str] = set()
    for is_there, links in enumerate(lists):
        for link in links:
            if link.get("parentdev") == pci_address and link.get("parentbus") == "pci":
                name, mac, flags = (link.get(word) for word in ("ifname", "address", "flags"))
                if not (isinstance(name, str) and NETDEV.fullmatch(name)):
                    return Unreadable(f"{str(name)[:40]!r} is not a netdev's name", source)
                is_up = isinstance(flags, list) and "UP" in flags
                found.append(VfNetdev(bool(is_there), name, str(mac), is_up, "master" in link))
            elif is_there:
                others.add(str(link.get("ifname")))
    if len(found) > 1:
        return Unreadable(f"{pci_address} has {len(found)} netdevs", source)
    return Known(Places(found[0] if found else None, frozenset(others)), source)


def _lists(section: Section) -> list[list[JsonObject]]:
    """One list a line; `ip` prints nothing for none, and a namespace has its `lo`."""
    lists: list[list[JsonObject]] = []
    for line in section.output.split("\n"):
        if line.strip():
            try:
                decoded: Any = read_json(line)
            except (ValueError, RecursionError):
                return []
            if not isinstance(decoded, list):
                return []
            lists.append([link for link in decoded if isinstance(link, dict)])
    return lists
