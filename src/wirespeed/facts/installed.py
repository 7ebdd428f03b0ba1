"""What this host calls what plans need: units of systemd and programs, which distributions name."""

from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.model.capture import Capture
from wirespeed.model.fact import Fact
from wirespeed.model.observed import Known, Observed

UNITS = (
    "openvswitch-switch.service", "openvswitch.service", "NetworkManager.service",
    "systemd-networkd.service",
)  # fmt: skip
MANAGERS = {"NetworkManager": "/run/NetworkManager/devices", "networkd": "/run/systemd/netif/state"}
"""What sets up a netdev that appears, and what it writes when it is started. The folders above are
there on any host with systemd (tmpfiles.d)."""
PROGRAMS = ("qemu-system-x86_64", "qemu-kvm", "virsh", "xorriso", "update-alternatives")
SOURCE = "systemctl list-unit-files; command -v PROGRAM"


@dataclass(frozen=True, slots=True)
class Installed(Fact):
    """Units and programs out of a fixed list; others are not looked for."""

    units: Observed[frozenset[str]]
    programs: Observed[frozenset[str]]
    managers: Observed[frozenset[str]]
    """NetworkManager, networkd: those that run and may set up a netdev that appears."""

    # Red Hat has its QEMU where no shell looks. All of it is built into the shell.
    script: ClassVar[str] = f"""\
installed() (
	for unit in {" ".join(UNITS)}; do
		for folder in /etc/systemd/system /run/systemd/system /lib/systemd/system; do
			[ ! -e "$folder/$unit" ] || printf 'unit %s\\n' "$unit"
		done
	done
	[ ! -e {MANAGERS["NetworkManager"]} ] || echo 'manager NetworkManager'
	[ ! -e {MANAGERS["networkd"]} ] || echo 'manager networkd'
	PATH=$PATH:/usr/libexec
	for program in {" ".join(PROGRAMS)}; do
		! command -v "$program" >/dev/null 2>&1 || printf 'program %s\\n' "$program"
	done
)
show installed - installed
"""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read a kind and a name a line."""
        text = capture.text("installed", SOURCE)
        return cls(
            _named(text, "unit", UNITS),
            _named(text, "program", PROGRAMS),
            _named(text, "manager", tuple(MANAGERS)),
        )


def _named(text: Observed[str], kind: str, known: tuple[str, ...]) -> Observed[frozenset[str]]:
    if not isinstance(text, Known):
        return text
    lines = [line.split(" ") for line in text.value.splitlines()]
    names = {line[1] for line in lines if len(line) == 2 and line[0] == kind}
    return Known(frozenset(names & set(known)), text.source)
