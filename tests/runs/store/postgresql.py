"""Debian's own PostgreSQL server in a temporary folder, on a socket there and on no port."""

import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path

from wirespeed.host.clock import sleep_s
from wirespeed.host.spawn import end, spawn

USER = "postgres"
READY_S = 30


def programs() -> Path:
    """The folder of the newest server that is installed."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda p: int(p.parts[4]))
    if not found:
        raise AssertionError("no PostgreSQL: scripts/install-system.sh test installs it")
    return found[-1].parent


class Postgresql:
    """A server with an empty database; it refuses root, who starts it as its own user."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="wirespeed-pg-"))
        self._as: list[str] = []
        if os.geteuid() == 0:
            os.chown(self.folder, pwd.getpwnam(USER).pw_uid, -1)
            self._as = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", "--"]
        data = self.folder / "data"
        self._run("initdb", "-D", str(data), "-A", "trust", "-U", USER, "-N")
        self._process = spawn(
            [*self._as, str(programs() / "postgres"), "-D", str(data), "-k", str(self.folder),
             "-c", "listen_addresses=", "-c", "fsync=off"],
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
        self._run("pg_isready", "-h", str(self.folder), "-t", str(READY_S), tries=100)
        self.url = f"postgresql://{USER}@/postgres?host={self.folder}"

    def _run(self, program: str, *words: str, tries: int = 1) -> None:
        for _ in range(tries):
            done = subprocess.run(
                [*self._as, str(programs() / program), *words],
                capture_output=True,
                text=True,
                timeout=120,
                cwd=self.folder,
            )
            if done.returncode == 0:
                return
            sleep_s(0.1)
        raise AssertionError(f"{program}: {done.stdout}{done.stderr}")

    def close(self) -> None:
        end(self._process, term_s=5.0)
        for pipe in (self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()
        shutil.rmtree(self.folder, ignore_errors=True)
