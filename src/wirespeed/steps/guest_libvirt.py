"""A virtual machine that libvirt runs."""

import re
from typing import Literal

from wirespeed.model.capture import Section
from wirespeed.model.command import Command
from wirespeed.model.observed import Known, Observed, Unreadable
from wirespeed.model.step import State
from wirespeed.steps.guest_domain_xml import domain_xml
from wirespeed.steps.guest_machine import GuestMachine

VIRSH = ("virsh", "--connect", "qemu:///system")
ROW = re.compile(r"^ ?(?P<uuid>[0-9a-f-]{36}) (?P<name>\S+)$")
START = (
    # QEMU runs as a user of its own. libvirt's own disk of a folder has no label.
    'cd "$0" && chmod 711 . && xorriso -as mkisofs -quiet -output seed.iso -volid CIDATA -joliet '
    "-rock seed </dev/null && virsh --connect qemu:///system create /proc/self/fd/0 || "
    '{ code=$?; rm -f seed.iso console; exit "$code"; }'
)
STOP = (
    'state() { virsh --connect qemu:///system domstate "$1" 2>/dev/null; }; '
    'virsh --connect qemu:///system shutdown "$1"; '
    'for try in $(seq 15); do [ "$(state "$1")" = running ] || break; sleep 1; done; '
    '[ "$(state "$1")" != running ] || virsh --connect qemu:///system destroy "$1" && '
    'cd "$0" && rm -f seed.iso console'
)
"""Press the power button and wait 15 s; then end it. A transient domain is gone when it ends."""


class GuestLibvirt(GuestMachine):
    """The virtual machine runs under libvirt, as it is defined here: until it ends, and no longer.

    It is made by `virsh create`, so that nothing of it is left in libvirt's own files: one of that
    name which is defined there already is not touched. Undo shuts it down.
    """

    step: Literal["guest_libvirt"] = "guest_libvirt"

    def read(self) -> Command:
        """List all domains, running or not."""
        return Command(argv=(*VIRSH, "list", "--all", "--uuid", "--name"))

    def parse(self, section: Section) -> Observed[State]:
        """Give whether it runs; by its UUID it is told from another of the same name."""
        source = self.read().line()
        text = section.text(source)
        if not isinstance(text, Known):
            return Unreadable(text.reason, source)
        rows = [line for line in text.value.splitlines() if line.strip()]
        matches = [ROW.match(re.sub(r"\s+", " ", line).rstrip()) for line in rows]
        if not all(matches):
            return Unreadable("virsh printed other than UUIDs and names", source)
        named = {match["name"]: match["uuid"] for match in matches if match}
        if self.guest not in named:
            return Known({"runs": False}, source)
        if named[self.guest] != self.definition_uuid:
            return Unreadable(f"libvirt has another domain {self.guest}", source)
        return Known({"runs": True}, source)

    def made(self) -> State:
        """Give that it does not run."""
        return {"runs": False}

    def wanted(self, before: State) -> State:
        return {"runs": True}

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        """Create it; or shut it down. Either is one command: nothing is left half way."""
        if not to["runs"]:
            return (Command(argv=("sh", "-c", STOP, self.folder, self.guest)),)
        xml = domain_xml(self).removesuffix("\n")
        return (Command(argv=("sh", "-c", START, self.folder), stdin=xml),)
