"""VMware's own simulator of the vSphere API as an ESXi host, on a port of this machine.

It holds what a guest is told, and keeps time with real tasks. It is no hypervisor: what a setting
does, it cannot show. scripts/fetch-vcsim.sh builds it.
"""

import contextlib
import hashlib
import socket
import ssl
import subprocess
from pathlib import Path

import pytest
from sshd import free_port

from wirespeed.host.build_cache import cache_folder
from wirespeed.host.clock import Deadline, sleep_s
from wirespeed.host.spawn import end, has_ended, spawn

PASSWORD = "described"  # noqa: S105 - of a simulator
READY_S = 30.0


def vcsim_program() -> Path:
    """The simulator; a test that has none is skipped."""
    found = sorted(cache_folder().glob("vcsim-v*"))
    if not found:
        pytest.skip("VMware's simulator is not there: scripts/fetch-vcsim.sh")
    return found[-1]


class Vcsim:
    """One simulated ESXi host with two guests, which are on."""

    def __init__(self, *options: str) -> None:
        self.port = free_port()
        argv = [str(vcsim_program()), "-l", f"127.0.0.1:{self.port}", *(options or ("-esx",))]
        argv += ["-username", "root", "-password", PASSWORD]
        self._process = spawn(argv, stdin=subprocess.DEVNULL)
        deadline = Deadline(READY_S)
        while not self._answers():
            if deadline.expired or has_ended(self._process):
                raise AssertionError("vcsim does not answer")
            sleep_s(0.05)
        theirs = ssl.get_server_certificate(("127.0.0.1", self.port), timeout=10)
        self.thumbprint = hashlib.sha256(ssl.PEM_cert_to_DER_cert(theirs)).hexdigest()
        self.certificate = theirs

    @property
    def url(self) -> str:
        return f"vsphere://root@127.0.0.1:{self.port}"

    def _answers(self) -> bool:
        with (
            contextlib.suppress(OSError),
            socket.create_connection(("127.0.0.1", self.port), 1.0),
        ):
            return True
        return False

    def close(self) -> None:
        end(self._process, term_s=2.0)
        for pipe in (self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()
