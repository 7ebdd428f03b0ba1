"""MTU and promiscuous mode of netdevs, put back when a program that changes them has ended.

DPDK changes both of a port that stays with its kernel's driver (mlx5), and leaves the MTU. Here is
what puts them back, in a process of its own, which goes on when we are killed:

    KeptLinks(["ens1f0"]) --> the tester runs, and ends --> close
"""

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from wirespeed.host.closing import Closing
from wirespeed.host.detached import our_python, our_python_path
from wirespeed.model.error import MeasurementError

SYSFS = Path("/sys/class/net")
PROMISC = 0x100
"""IFF_PROMISC, of `flags`."""
BACK, KEPT = "back", "kept"
ENDING_S = 10.0
"""For which a tester that lost its parent may still write."""
EACH_S = 0.5
END_S = 30.0
IP_S = 10.0


class Link(NamedTuple):
    """The settings of a netdev that are restored."""

    mtu: int
    promisc: bool


class KeptLinks(Closing):
    """Present settings of netdevs, restored at `close` or when wirespeed has ended."""

    def __init__(self, netdevs: Sequence[str], net: Path = SYSFS) -> None:
        """Raise MeasurementError `port.not_kept` where it cannot be read."""
        argv = [*our_python("wirespeed.host.kept_links"), str(net), *netdevs]
        self._process = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # Neither ^C nor the end of a terminal is for it.
            start_new_session=True,
            env={**os.environ, **our_python_path()},
            text=True,
        )
        if self._process.stdout is None or self._process.stdout.readline().strip() != KEPT:
            self._end()
            raise MeasurementError(
                "port.not_kept",
                where=", ".join(netdevs),
                found="its MTU and flags cannot be read",
                so="wirespeed could not restore them afterwards; nothing was started",
                next=f"see {net}",
            )

    def close(self) -> None:
        """Put them back, and wait for it; a second call does nothing."""
        stdin = self._process.stdin
        if stdin is not None and not stdin.closed:
            with contextlib.suppress(OSError):
                stdin.write(f"{BACK}\n")
                stdin.flush()
        self._end()

    def _end(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        try:
            self._process.wait(END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def read_link(net: Path, netdev: str) -> Link:
    """Read one. Raises OSError, ValueError."""
    flags = int((net / netdev / "flags").read_text(), 16)
    return Link(int((net / netdev / "mtu").read_text()), bool(flags & PROMISC))


def put_back(net: Path, before: Mapping[str, Link]) -> None:
    """Write what differs; a netdev that is gone is left."""
    for netdev, was in before.items():
        with contextlib.suppress(OSError, ValueError, subprocess.SubprocessError):
            now = read_link(net, netdev)
            words = ["mtu", str(was.mtu)] if now.mtu != was.mtu else []
            if now.promisc != was.promisc:
                words += ["promisc", "on" if was.promisc else "off"]
            if words:
                argv = ["ip", "link", "set", "dev", netdev, *words]
                subprocess.run(argv, check=False, timeout=IP_S, stdin=subprocess.DEVNULL)


def main(net: Path, netdevs: Sequence[str]) -> None:
    """Be that process."""
    before = {netdev: read_link(net, netdev) for netdev in netdevs}
    sys.stdout.write(f"{KEPT}\n")
    sys.stdout.flush()
    was_told = sys.stdin.readline().strip() == BACK
    deadline = time.monotonic() + ENDING_S
    put_back(net, before)
    while not was_told and time.monotonic() < deadline:
        time.sleep(EACH_S)
        put_back(net, before)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
