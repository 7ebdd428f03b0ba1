"""By which way somebody is logged in: what carries that is not to be taken down."""

from dataclasses import dataclass
from ipaddress import ip_address
from typing import ClassVar, Self

from wirespeed.model.capture import Capture
from wirespeed.model.fact import Fact
from wirespeed.model.observed import Absent, Known, Observed, Unreadable

SOURCE = "echo $SSH_CONNECTION"


@dataclass(frozen=True, slots=True)
class Session(Fact):
    """The SSH session that the capture was made in."""

    peer: Observed[str]
    """Address that it came from; Absent: it is no SSH session. Unreadable: sudo took the variable
    away, and the processes above it do not tell."""

    # sudo and doas drop the variable: then one of the processes above still has it.
    script: ClassVar[str] = """\
session_peer() {
	peer=${SSH_CONNECTION:-} process=$PPID
	[ -n "${SUDO_UID:-}${DOAS_USER:-}${PKEXEC_UID:-}" ] || process=1
	while [ -z "$peer" ] && [ "${process:-1}" -gt 1 ] && peer=unknown; do
		variables=$(tr '\\0' '\\n' <"/proc/$process/environ") || break
		peer=$(printf '%s\\n' "$variables" | sed -n 's/^SSH_CONNECTION=//p' | head -n 1)
		process=$(sed -n 's/^PPid:[[:space:]]*//p' "/proc/$process/status")
		[ -n "$process" ] || peer=unknown
	done
	printf '%s\\n' "$peer"
}
show session - session_peer
"""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read `CLIENT PORT SERVER PORT`, as sshd(8) sets it."""
        text = capture.text("session", SOURCE)
        if not isinstance(text, Known):
            return cls(text)
        words = text.value.split()
        if not words:
            return cls(Absent(SOURCE, "no SSH session"))
        if words[0] == "unknown":
            return cls(Unreadable("sudo removed the variable that shows it", SOURCE))
        try:
            # An address of the link has its netdev behind it: fe80::1%eth0.
            return cls(Known(str(ip_address(words[0].partition("%")[0])), SOURCE))
        except ValueError:
            return cls(Unreadable(f"{words[0][:40]!r} is not an address", SOURCE))
