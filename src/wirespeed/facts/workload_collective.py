"""Which interfaces the collective libraries (NCCL, RCCL, Gloo, MPI) of busy processes use."""

import re
from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.model.capture import Capture
from wirespeed.model.fact import Fact
from wirespeed.model.observed import Known, Observed, Unreadable

VARIABLES = (
    "NCCL_SOCKET_IFNAME", "NCCL_IB_HCA", "NCCL_IB_DISABLE", "NCCL_NET", "GLOO_SOCKET_IFNAME",
)  # fmt: skip
"""Read by name: the rest of an environment, where passwords stand, never leaves the host. NCCL:
docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html; RCCL takes the same."""
LIBRARIES = r"/lib(nccl|rccl|mpi|ucp)\.so"
MOST_PROCESSES = 64
MOST_LINES = 256
SETTING = re.compile(r"/proc/(\d{1,9})/environ:([A-Z_]{3,40})=([A-Za-z0-9_.:,=^/+-]{0,120})")
MAPPED = re.compile(r"/proc/(\d{1,9})/maps")
DENIED = re.compile(r"/proc/(\d{1,9})/environ unreadable")
USED = re.compile(r"\s*(\d{1,9}) (\S{1,64}) (\d{1,9})")
SOURCE = "grep -azoE '^(NCCL|GLOO)_[A-Z_]*=.*' /proc/PID/environ"
QPS = "rdma resource show qp"
SOCKETS = "ss -tnp state established"


@dataclass(frozen=True, slots=True)
class Collective:
    """One process that uses such a library, or is told how to."""

    pid: int
    settings: dict[str, str]
    """Of VARIABLES, as they stood when the program started; one that it sets itself is not here."""
    rdma_devices: dict[str, int]
    """Device to the number of its queue pairs: `mlx5_0`."""
    addresses: dict[str, int]
    """Own address of TCP connections to their number."""


@dataclass(frozen=True, slots=True)
class CollectiveLibraries(Fact):
    """Busy processes alone, 64 of them at most; connections are counted, without the peers."""

    processes: Observed[dict[int, Collective]]
    """Unreadable where no process was found and the environment of some could not be read."""
    queue_pairs: Observed[str]
    sockets: Observed[str]

    # `threads` is what facts/workload.py found busy.
    script: ClassVar[str] = """\
collective_processes() {
	for path in $threads; do
		printf '%s\\n' "${path%/task/*}"
	done | sort -u | head -n MOST_PROCESSES
}
collective_lines() {
	[ -n "$threads" ] || return 0
	processes=$(collective_processes)
	for path in $processes; do
		# A process that has ended meanwhile hides nothing.
		[ -r "$path/environ" ] || [ ! -d "$path" ] || printf '%s/environ unreadable\\n' "$path"
	done
	for path in $processes; do printf '%s/environ\\0' "$path"; done |
		$limit xargs -0 grep -aszoHE '^(VARIABLES)=[A-Za-z0-9_.:,=^/+-]{0,120}$' | tr '\\0' '\\n'
	for path in $processes; do printf '%s/maps\\0' "$path"; done |
		$limit xargs -0 grep -lsE 'LIBRARIES'
	:
}
collective=$(collective_lines 2>/dev/null)
show collective - printf '%s\\n' "$collective"
collective=$(printf '%s\\n' "$collective" |
	sed -n 's,^/proc/\\([0-9]*\\)/environ:.*,pid[ =]\\1[^0-9],p
		s,^/proc/\\([0-9]*\\)/maps$,pid[ =]\\1[^0-9],p' | sort -u)
# Each device or own address with its process, counted: neither peers nor ports.
collective_qps() {
	command -v rdma >/dev/null 2>&1 || { echo 'rdma: not found' >&2; return 127; }
	$limit rdma resource show qp | grep -E "$collective" |
		sed -n 's/^link \\([^ ]*\\) .* pid \\([0-9]*\\) .*/\\1 \\2/p' |
		sort | uniq -c | head -n MOST_LINES
}
collective_sockets() {
	command -v ss >/dev/null 2>&1 || { echo 'ss: not found' >&2; return 127; }
	$limit ss -tnpH state established | grep -E "$collective" |
		sed -n 's/^ *[0-9]* *[0-9]* *\\([^ ]*\\):[0-9]* .*pid=\\([0-9]*\\),.*/\\1 \\2/p' |
		sort | uniq -c | head -n MOST_LINES
}
[ -z "$collective" ] || show collective-qps - collective_qps
[ -z "$collective" ] || show collective-sockets - collective_sockets
"""
    script = script.replace("VARIABLES", "|".join(VARIABLES)).replace("LIBRARIES", LIBRARIES)
    script = script.replace("MOST_PROCESSES", str(MOST_PROCESSES))
    script = script.replace("MOST_LINES", str(MOST_LINES))

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read the three sections; what is not in the form of our script is left out."""
        text = capture.text("collective", SOURCE)
        qps = capture.text("collective-qps", QPS)
        sockets = capture.text("collective-sockets", SOCKETS)
        if not isinstance(text, Known):
            return cls(text, qps, sockets)
        lines = text.value.splitlines()
        settings: dict[int, dict[str, str]] = {}
        for line in lines:
            if (match := SETTING.fullmatch(line)) and match[2] in VARIABLES:
                settings.setdefault(int(match[1]), {})[match[2]] = match[3]
            elif match := MAPPED.fullmatch(line):
                settings.setdefault(int(match[1]), {})
        found = {
            pid: Collective(pid, own, _used(qps, pid), _used(sockets, pid))
            for pid, own in settings.items()
        }
        if not found and any(map(DENIED.fullmatch, lines)):
            reason = "the environment of other users' processes is read as root alone"
            return cls(Unreadable(reason, SOURCE), qps, sockets)
        return cls(Known(found, text.source), qps, sockets)


def _used(text: Observed[str], pid: int) -> dict[str, int]:
    """Give what one process has, by device or address: `[::1]` without brackets, no port."""
    found: dict[str, int] = {}
    for match in map(USED.fullmatch, text.value.splitlines() if isinstance(text, Known) else ()):
        if match and int(match[3]) == pid:
            name = match[2].strip("[]").partition("%")[0].removeprefix("::ffff:").partition("/")[0]
            found[name] = found.get(name, 0) + int(match[1])
    return found
