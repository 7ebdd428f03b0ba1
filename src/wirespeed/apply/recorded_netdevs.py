"""What a capture tells of netdevs and network namespaces, in the words of `ip`. Pure.

ip -j [-d] link show [dev X]       of the host; `ip -n NAME …` and `ip netns exec NAME ip …`
ip -j addr show [dev X]            of a namespace of it
ip … -batch -                      both in one
cat /sys/class/net/X/mtu           from the same list: it is the same field of the kernel
"""

import json
import re
from collections.abc import Sequence

from wirespeed.facts.json_text import JsonObject, objects_of
from wirespeed.model.capture import NOT_THERE, Capture, Section
from wirespeed.model.command import Command
from wirespeed.model.observed import Known

BATCH = ("ip", "-j", "-d", "-force", "-batch", "-")
OF_HOST = {"link": "ip-link", "addr": "ip-addr"}
OF_NAMESPACE = {"link": "namespace-link", "addr": "namespace-addr"}
MTU = re.compile(r"/sys/class/net/([^/]+)/mtu")


class RecordedNetdevs:
    """Those of one capture; each list of them is decoded once."""

    def __init__(self, capture: Capture) -> None:
        self._capture = capture
        self._decoded: dict[tuple[str, str], list[JsonObject] | None] = {}

    def answer(self, command: Command) -> Section | None:
        """Give what the command would have printed; None: it is about something else."""
        if command.argv == BATCH:
            return self._batch((command.stdin or "").split("\n"))
        return self._one(command.argv)

    def _one(self, argv: Sequence[str]) -> Section | None:
        namespace, words = _place(argv)
        if namespace and self._is_missing(namespace):
            said = f'Cannot open network namespace "{namespace}": {NOT_THERE}'
            return Section("namespaces", namespace, "", said, 255)
        if len(words) == 2 and words[0] == "cat" and (match := MTU.fullmatch(words[1])):
            return self._mtu(namespace, match[1], words[1])
        plain = [word for word in words if word != "-d"]
        if len(plain) not in (4, 6) or plain[:2] != ["ip", "-j"] or plain[3] != "show":
            return None
        section = self._section(namespace, plain[2])
        if section is None or section.returncode != 0 or len(plain) == 4:
            return section
        return self._of(section, plain[5]) if plain[4] == "dev" else None

    def _section(self, namespace: str, what: str) -> Section | None:
        name = (OF_NAMESPACE if namespace else OF_HOST).get(what)
        return self._capture.section(name, namespace) if name else None

    def _is_missing(self, namespace: str) -> bool:
        listed = self._capture.section("namespaces")
        if listed is None or listed.returncode != 0:
            return False
        return namespace not in listed.output.split("\n")

    def _of(self, section: Section, netdev: str) -> Section:
        """Give the list of one netdev; the whole section where it makes no sense."""
        links = self._links(section)
        if links is None:
            return section
        mine = [link for link in links if link.get("ifname") == netdev]
        if not mine:
            return Section(section.name, netdev, "", f'Device "{netdev}" does not exist.', 1)
        return Section(section.name, netdev, json.dumps(mine), "", 0)

    def _mtu(self, namespace: str, netdev: str, path: str) -> Section | None:
        section = self._section(namespace, "link")
        links = self._links(section) if section else None
        if section is None or links is None:
            return section
        found = [link["mtu"] for link in links if link.get("ifname") == netdev and "mtu" in link]
        if len(found) != 1:
            return Section(section.name, netdev, "", f"cat: {path}: {NOT_THERE}", 1)
        return Section(section.name, netdev, str(found[0]), "", 0)

    def _links(self, section: Section) -> list[JsonObject] | None:
        key = section.name, section.subject
        if key not in self._decoded:
            links = objects_of(section.text(section.name))
            self._decoded[key] = links.value if isinstance(links, Known) else None
        return self._decoded[key]

    def _batch(self, lines: Sequence[str]) -> Section | None:
        """Every line by itself, as `-force` goes on after one that failed."""
        output, errors = [], []
        for number, line in enumerate(lines, 1):
            words = line.split()
            inner = words[:2] == ["netns", "exec"]
            section = self._one(["ip", *words] if inner else ["ip", "-j", "-d", *words])
            if section is None or section.returncode is None:
                return section
            output.append(section.output)
            if section.returncode:
                errors += [section.errors, f"Command failed -:{number}"]
        return Section("recorded", "", "\n".join(output), "\n".join(errors), 1 if errors else 0)


def _place(argv: Sequence[str]) -> tuple[str, Sequence[str]]:
    """Name of the namespace, empty for the host's own, and the command within it."""
    if tuple(argv[:3]) == ("ip", "netns", "exec") and len(argv) > 4:
        return argv[3], argv[4:]
    if tuple(argv[:2]) == ("ip", "-n") and len(argv) > 3:
        return argv[2], ("ip", *argv[3:])
    return "", argv
