"""Settings of the virtual machines of an ESXi host, as their .vmx files have them.

A .vmx holds names, addresses and what was handed to the guest at its first boot: only the keys that
are looked at leave the host.
"""

import re
from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.facts.json_text import JsonObject, object_in
from wirespeed.model.capture import Capture, Section
from wirespeed.model.fact import EsxiFact
from wirespeed.model.observed import Known, Observed, Unreadable, read_as
from wirespeed.model.vsphere import (
    AFFINITY,
    CPU_RESERVATION,
    LATENCY,
    LOCKED,
    MEMORY,
    NUMA_NODE,
    RESERVATION,
)
from wirespeed.platforms.esxi.facts.vsphere import API, by_vsphere

LIST = "vim-cmd vmsvc/getallvms"
MACHINE = f"{API} VirtualMachine config"
GREP_FOUND_NOTHING = 1
MAX_DEVICES = 32
_LINE = re.compile(r'^([A-Za-z][\w.:]*) *= *"([^"]*)" *$', re.M)
_DEVICE = re.compile(r"pcipassthru\d+\.present")


@dataclass(frozen=True, slots=True)
class EsxiGuest:
    """One virtual machine, by its number in `vim-cmd vmsvc/getallvms`."""

    number: str
    settings: Observed[dict[str, str]]
    """Keys in lower case."""
    is_on: Observed[bool]

    @property
    def source(self) -> str:
        """Command that shows its settings."""
        return f"vim-cmd vmsvc/get.config {self.number}"


@dataclass(frozen=True, slots=True)
class EsxiGuests(EsxiFact):
    """All virtual machines, by number."""

    listed: Observed[int]
    """Lines of the list, which are more where a path is none that can be read."""
    guests: tuple[EsxiGuest, ...]

    esxi: ClassVar[str] = r"""
# guests: `NUMBER PATH` of each .vmx, whose path is `[DATASTORE] FOLDER/NAME.vmx` in the list.
guests() {
	$limit vim-cmd vmsvc/getallvms |
		sed -n 's|^\([0-9][0-9]*\) .*\[\([^][/]*\)\] \([^][]*\.vmx\) .*|\1 /vmfs/volumes/\2/\3|p'
}
count_guests() {
	$limit vim-cmd vmsvc/getallvms | grep -c '^[0-9]'
}
show esxi-guests - count_guests
guests | while read -r number vmx; do
	case $vmx in */../*) continue ;; esac
	run esxi-vmx "$number" grep -i -E \
		'^(memsize|numvcpus|sched\.(mem|cpu)\.|numa\.|pcipassthru[0-9]+\.present)' \
		"$vmx" </dev/null
	run esxi-power "$number" vim-cmd vmsvc/power.getstate "$number" </dev/null
done
"""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read the keys of each guest."""
        if (said := by_vsphere(capture)) is not None:
            return cls._by_vsphere(said)
        powers = capture.sections("esxi-power")
        guests = [
            EsxiGuest(number, _settings(section), _is_on(number, powers.get(number)))
            for number, section in capture.sections("esxi-vmx").items()
        ]
        return cls(read_as(capture.text("esxi-guests", LIST), int), tuple(guests))

    @classmethod
    def _by_vsphere(cls, said: Observed[JsonObject]) -> Self:
        if not isinstance(said, Known):
            return cls(said, ())
        found = object_in(said.value, "guests")
        guests = [
            EsxiGuest(number, *_of_api(config))
            for number, config in found.items()
            if isinstance(config, dict)
        ]
        return cls(Known(len(found), MACHINE), tuple(guests))


def _of_api(config: JsonObject) -> tuple[Observed[dict[str, str]], Observed[bool]]:
    """Give the settings of a guest by the keys that a .vmx has for them, and whether it is on."""
    if not config:
        unread = Unreadable("it has no configuration that could be read", MACHINE)
        return unread, unread
    said = {
        "memsize": config.get(MEMORY),
        "numvcpus": config.get("hardware.numCPU"),
        "sched.mem.min": config.get(RESERVATION),
        "sched.mem.pin": "TRUE" if config.get(LOCKED) is True else None,
        "sched.cpu.min": config.get(CPU_RESERVATION),
        "sched.cpu.affinity": config.get(AFFINITY),
        "sched.cpu.latencysensitivity": config.get(LATENCY),
        "numa.nodeaffinity": config.get(NUMA_NODE),
    }
    devices = config.get("devices")
    for number in range(min(devices, MAX_DEVICES) if isinstance(devices, int) else 0):
        said[f"pcipassthru{number}.present"] = "TRUE"
    settings = {key: str(value) for key, value in said.items() if value not in (None, "")}
    return Known(settings, MACHINE), Known(config.get("powerState") == "poweredOn", MACHINE)


def has_device(settings: dict[str, str]) -> bool:
    """Whether a PCI device, or a VF, is handed to the guest."""
    return any(
        _DEVICE.fullmatch(key) and value.upper() == "TRUE" for key, value in settings.items()
    )


def _settings(section: Section) -> Observed[dict[str, str]]:
    source = f"vim-cmd vmsvc/get.config {section.subject}"
    if section.returncode == GREP_FOUND_NOTHING and not section.errors.strip():
        return Known({}, source)
    text = section.text(source)
    if not isinstance(text, Known):
        return text
    return Known({m[1].lower(): m[2] for m in _LINE.finditer(text.value)}, source)


def _is_on(number: str, section: Section | None) -> Observed[bool]:
    source = f"vim-cmd vmsvc/power.getstate {number}"
    if section is None:
        return Unreadable("the capture has no such section", source)
    text = section.text(source)
    if not isinstance(text, Known):
        return text
    words = {line.strip() for line in text.value.splitlines()}
    if words & {"Powered on", "Powered off", "Suspended"}:
        return Known("Powered on" in words, source)
    return Unreadable("it says no state", source)
