"""Twenty hosts by SSH: a capture of all of them, beside Ansible's facts of the same.

The hosts are namespaces of this machine with an sshd each (tests/runs/namespace_hosts.py), which
takes root. Both read all at once, with a new connection to each host. OpenSSH takes keys and known
hosts from the home that the password database has, not from HOME: Ansible is told where they are.
It works by pipelining, its quickest way: these hosts have no sftp.
"""

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from subprocess import TimeoutExpired

from namespace_hosts import NamespaceHosts

from bench_figures import MIN_PAIRS, Result, Unmeasured
from bench_pairs import DisturbedError, Pairs
from wirespeed.host.clock import monotonic_s
from wirespeed.host.folder import PrivateFolder
from wirespeed.host.spawn import end

COUNT = 20
PYTHON = "/usr/bin/python3"
NAME = "capture_20_hosts"
PROGRAMS = Path(sys.executable).parent
MOST_S = 60.0
ENVIRONMENT = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "ANSIBLE_PIPELINING": "1"}


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
            theirs += ["--private-key", str(hosts.home / ".ssh/id_ed25519")]
            known = f"-o UserKnownHostsFile={hosts.home / '.ssh/known_hosts'} -o ControlMaster=no"
            theirs += [f"--ssh-common-args={known}", "-e", f"ansible_python_interpreter={PYTHON}"]
            theirs += ["--module-name", "setup"]
            runs = Pairs(lambda: _wall_s(hosts, ours), lambda: _wall_s(hosts, theirs), MIN_PAIRS)
            yield runs.result(NAME, float, float)
        finally:
            hosts.close()


def _wall_s(hosts: NamespaceHosts, argv: Sequence[str]) -> float:
    started = monotonic_s()
    process = hosts.program(argv, ENVIRONMENT)
    try:
        output, errors = process.communicate(timeout=MOST_S)
    except TimeoutExpired:
        end(process, term_s=2.0)
        raise DisturbedError(f"{argv[0]} did not end within {MOST_S:.0f} s") from None
    if process.returncode:
        raise DisturbedError(f"{argv[0]} ended with {process.returncode}: {errors[-200:]!r}")
    if len(output) < COUNT:
        raise DisturbedError(f"{argv[0]} said nothing")
    return monotonic_s() - started
