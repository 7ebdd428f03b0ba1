"""Twenty hosts by SSH: a capture of all of them, beside Ansible's facts of the same.

The hosts are namespaces of this machine with an sshd each (tests/runs/namespace_hosts.py), which
takes root. Both read 20 at a time.
"""

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from namespace_hosts import NamespaceHosts

from bench_figures import Result, Unmeasured
from bench_pairs import DisturbedError, pairs
from wirespeed.host.clock import monotonic_s
from wirespeed.host.folder import PrivateFolder

COUNT = 20
NAME = "capture_20_hosts"
PROGRAMS = Path(sys.executable).parent
MOST_S = 300.0


def twenty_hosts() -> Iterator[Result]:
    """Seconds from start to end of both, in turn."""
    ansible = PROGRAMS / "ansible"
    if os.geteuid() != 0 or not ansible.exists():
        why = "it takes root, for namespaces, and ansible-core (make test installs it)"
        yield Unmeasured(name=NAME, why=why, excused=True)
        return
    with PrivateFolder.create() as folder:
        hosts = NamespaceHosts(COUNT, folder.path)
        try:
            ours = [str(PROGRAMS / "wirespeed"), "capture", "--seconds", "0"]
            ours += ["--out", str(folder.path / "captures"), *map(hosts.reach, hosts.names)]
            theirs = [str(ansible), "all", "-i", str(hosts.inventory), "-f", str(COUNT)]
            theirs += ["--module-name", "setup"]
            yield pairs(NAME, lambda: _wall_s(hosts, ours), lambda: _wall_s(hosts, theirs))
        finally:
            hosts.close()


def _wall_s(hosts: NamespaceHosts, argv: Sequence[str]) -> float:
    started = monotonic_s()
    process = hosts.program(argv, {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"})
    output, errors = process.communicate(timeout=MOST_S)
    if process.returncode:
        raise DisturbedError(f"{argv[0]} ended with {process.returncode}: {errors[-200:]!r}")
    if len(output) < COUNT:
        raise DisturbedError(f"{argv[0]} said nothing")
    return monotonic_s() - started
