"""A virtual machine that libvirt runs."""

import re
from typing import Literal

from wirespeed.model.capture import Section
from wirespeed.model.command import Command
from wirespeed.model.observed import Known, Observed, Unreadable
from wirespeed.model.step import State
from wirespeed.steps.guest_domain_xml import domain_xml
from wirespeed.steps.guest_machine import GuestMachine
from wirespeed.steps.marks import lines

VIRSH = ("virsh", "--connect", "qemu:///system")
ROW = re.compile(r"^ ?(?P<uuid>[0-9a-f-]{36}) +(?P<name>\S.*)$")
START = (
    # QEMU runs as a user of its own. libvirt's own disk of a folder has no label.
    'cd "$0" && chmod 711 . && '
    '{ virsh --connect qemu:///system domstate "$1" >/dev/null 2>&1 || '
    'rm -f "$2.TRANSIENT-$1"; } && '
    "xorriso -as mkisofs -quiet -output seed.iso -volid CIDATA -joliet -rock seed </dev/null && "
    "virsh --connect qemu:///system create /proc/self/fd/0 || "
    '{ code=$?; rm -f seed.iso console; exit "$code"; }'
)
"""What the guest wrote before its host lost power is still beside the image, and libvirt does not
start one over it (qemuSnapshotGetTransientDiskDef)."""
STOP = (
    'is_there() { virsh --connect qemu:///system domstate "$1" >/dev/null 2>&1; }; '
    'virsh --connect qemu:///system shutdown "$1" && '
    'for try in $(seq 15); do is_there "$1" || break; sleep 1; done; '
    '! is_there "$1" || virsh --connect qemu:///system destroy "$1" && '
    'cd "$0" && rm -f seed.iso console'
)
"""Press the power button and wait 15 s; then end it. A transient domain is gone when it ends; one
that is paused, as after an error of its VF, has no power button."""


class GuestLibvirt(GuestMachine):
    """The virtual machine runs under libvirt, as it is defined here: until it ends, and no longer.

    It is made by `virsh create`, so that nothing of it is left in libvirt's own files: one of that
    name which is defined there already is not touched. Undo shuts it down.
    """

    step: Literal["guest_libvirt"] = "guest_libvirt"

    def read(self) -> Command:
        """List all domains, running or not."""
        return Command(argv=(*VIRSH, "list", "--all", "--uuid", "--name"))

    @property
    def mark(self) -> str:
        return lines(self.definition_uuid)

    def parse(self, section: Section) -> Observed[State]:
        """Give whether it runs; by its UUID it is told from another of the same name."""
        source = self.read().line()
        text = section.text(source)
        if not isinstance(text, Known):
            return Unreadable(text.reason, source)
        rows = [line for line in text.value.splitlines() if line.strip()]
        matches = [ROW.match(line.rstrip()) for line in rows]
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
        start = ("sh", "-c", START, self.folder, self.guest, self.image)
        return (Command(argv=start, stdin=xml),)
