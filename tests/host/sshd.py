"""A real sshd on a high port of this machine, with keys made for it, and a user's ~/.ssh.

It dies with us (host/spawn.py), and every wait for it is bounded.
"""

import contextlib
import getpass
import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from wirespeed.host.clock import Deadline, sleep_s
from wirespeed.host.spawn import end, has_ended, spawn

READY_S = 15.0
SSHD = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")


def make_key(path: Path, kind: str = "ed25519", passphrase: str = "") -> Path:
    """Make a key pair with ssh-keygen; the public half is beside it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    argv = ["ssh-keygen", "-q", "-t", kind, "-N", passphrase, "-C", "", "-f", str(path)]
    if passphrase:
        argv += ["-a", "1"]
    subprocess.run(argv, check=True, timeout=60)
    return path


def public(key: Path) -> str:
    return key.with_name(f"{key.name}.pub").read_text().strip()


class Sshd:
    """One server; `folder` has its keys and its log."""

    def __init__(self, folder: Path, user_key: Path, host_key_kind: str = "ed25519") -> None:
        if SSHD is None:
            raise AssertionError("no sshd: scripts/install-system.sh test installs it")
        folder.mkdir()
        self.port = free_port()
        self.log = folder / "log"
        self.host_key = make_key(folder / "host_key", host_key_kind)
        self.authorized = folder / "authorized_keys"
        self.authorized.write_text(public(user_key) + "\n")
        config = folder / "sshd_config"
        config.write_text(
            f"ListenAddress 127.0.0.1\nPort {self.port}\nHostKey {self.host_key}\n"
            f"AuthorizedKeysFile {self.authorized}\nPidFile none\nStrictModes no\nUsePAM no\n"
            "PasswordAuthentication no\nPermitRootLogin prohibit-password\nUseDNS no\n"
            "MaxStartups 100\nLogLevel DEBUG1\nPrintMotd no\n"
        )
        if os.getuid() == 0:
            # Where sshd confines what talks to a stranger; a service's unit makes it.
            Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
        argv = [SSHD, "-D", "-f", str(config), "-E", str(self.log)]
        self._process = spawn(argv, stdin=subprocess.DEVNULL)
        deadline = Deadline(READY_S)
        while not self._answers():
            if deadline.expired or has_ended(self._process):
                raise AssertionError(f"sshd does not answer:\n{self.log.read_text()}")
            sleep_s(0.02)

    def _answers(self) -> bool:
        with (
            contextlib.suppress(OSError),
            socket.create_connection(("127.0.0.1", self.port), 1.0) as connection,
        ):
            return connection.recv(4) == b"SSH-"
        return False

    def known_as(self, name: str = "127.0.0.1") -> str:
        """The line of known_hosts that is true of it."""
        return f"[{name}]:{self.port} {public(self.host_key)}\n"

    def close(self) -> None:
        end(self._process, term_s=2.0)
        for pipe in (self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()


class Home:
    """A user's home with a key; HOME points there while a test runs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ssh = folder / ".ssh"
        self.ssh.mkdir(parents=True)
        self.key = make_key(self.ssh / "id_ed25519")
        self.known_hosts = self.ssh / "known_hosts"
        self.config = self.ssh / "config"
        self.user = getpass.getuser()

    def add_host(self, alias: str, port: int, *more: str) -> None:
        """Add a `Host` to ~/.ssh/config that leads to a port of this machine."""
        lines = [f"Host {alias}", "HostName 127.0.0.1", f"Port {port}", f"User {self.user}", *more]
        with self.config.open("a") as file:
            file.write("\n  ".join(lines) + "\n")


def free_port() -> int:
    """A port that nobody listens on just now."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@contextlib.contextmanager
def listening(serve: Callable[[socket.socket], None]) -> Iterator[int]:
    """Listen on a port, and hand each connection to `serve` in a thread; gives the port."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.1)
        stop = threading.Event()

        def accept() -> None:
            while not stop.is_set():
                with contextlib.suppress(OSError):
                    connection, _ = listener.accept()
                    connection.settimeout(5.0)
                    threading.Thread(target=handle, args=(connection,), daemon=True).start()

        def handle(connection: socket.socket) -> None:
            with connection, contextlib.suppress(OSError):
                serve(connection)

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            stop.set()
            thread.join(5.0)


def say_nothing(connection: socket.socket) -> None:
    """Accept, and wait for the other end to go (5 s at most)."""
    while connection.recv(1 << 16):
        pass


def say_lines_without_end(connection: socket.socket) -> None:
    """Never come to the line that starts with SSH-."""
    while True:
        connection.sendall(b"welcome\r\n" * 1000)
