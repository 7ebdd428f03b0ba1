"""Many hosts on one machine: each a network and mount namespace with a real sshd of its own.

A host has `mgmt0`, by which it is reached, and `data0`, which looks like a card's port: its device
is a folder that is called as a PCI function is. /run and /var/lib are its own, as on another
machine; processes, programs and /tmp are shared. The controller has a namespace too: nothing of all
this is seen in this machine's own.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from sshd import SSHD, make_key, public

from wirespeed.host.clock import Deadline, sleep_s
from wirespeed.host.spawn import end, spawn

PORT = 2222
PCI = "0000:03:00.0"
SET_UP = """\
set -e
mount -t tmpfs none /run
mount -t tmpfs none /var/lib
mkdir -p /run/sshd /run/drivers/veth "/run/pci0000:00/$2" /run/net
ln -s /run/drivers/veth "/run/pci0000:00/$2/driver"
for netdev in lo mgmt0 data0; do
	mkdir "/run/net/$netdev"
	for attribute in "/sys/devices/virtual/net/$netdev/"*; do
		ln -s "$attribute" "/run/net/$netdev/"
	done
done
ln -s "/run/pci0000:00/$2" /run/net/data0/device
mount --bind /run/net /sys/class/net
exec "$1" -D -f "$3" -E "$4"
"""
BROKEN = """\
#!/bin/sh
case "$*" in *"mtu 9000"*)
	echo 'RTNETLINK answers: Invalid argument' >&2
	exit 2
	;;
esac
exec /run/real-ip "$@"
"""
Standing = tuple[int, bool, tuple[str, ...]]
"""MTU, whether it is set up, and IPv4 addresses of `data0`."""


class NamespaceHosts:
    """`count` hosts, `h01` and so on."""

    def __init__(self, count: int, folder: Path) -> None:
        self.names = [f"h{number:02}" for number in range(1, count + 1)]
        self.home = folder / "home"
        self.inventory = folder / "hosts"
        self._folder, self._prefix = folder, f"wsf{os.getpid()}"
        self._servers: dict[str, subprocess.Popen[bytes]] = {}
        self._ip = str(Path(shutil.which("ip") or "/usr/sbin/ip").resolve())
        (self.home / ".ssh").mkdir(parents=True)
        key = make_key(self.home / ".ssh/id_ed25519")
        host_key = make_key(folder / "host_key")
        (folder / "authorized_keys").write_text(public(key) + "\n")
        self._config = folder / "sshd_config"
        self._config.write_text(
            f"Port {PORT}\nHostKey {host_key}\nAuthorizedKeysFile {folder / 'authorized_keys'}\n"
            "PidFile none\nStrictModes no\nUsePAM no\nPasswordAuthentication no\nUseDNS no\n"
            "MaxStartups 100\nPermitRootLogin prohibit-password\nPrintMotd no\n"
        )
        lines = [
            f"{name} ansible_host={self._address(name)} rack=r{number // 5} data_pci={PCI}"
            for number, name in enumerate(self.names)
        ]
        lines += ["[all:vars]", f"ansible_port={PORT}", "ansible_user=root"]
        self.inventory.write_text("\n".join(lines) + "\n")
        known = [f"[{self._address(name)}]:{PORT} {public(host_key)}" for name in self.names]
        (self.home / ".ssh/known_hosts").write_text("\n".join(known) + "\n")
        try:
            self._start()
        except BaseException:
            self.close()
            raise

    def _start(self) -> None:
        controller = f"{self._prefix}c"
        batch = []
        for name in (controller, *map(self._namespace, self.names)):
            run("ip", "netns", "add", name)
            run("ip", "-n", name, "link", "set", "lo", "up")
        for number, name in enumerate(self.names, 1):
            there = self._namespace(name)
            for own, far in ((f"m{number}", "mgmt0"), (f"d{number}", "data0")):
                batch.append(
                    f"link add {own} netns {controller} type veth peer name {far} netns {there}"
                )
        run("ip", "-batch", "-", stdin="\n".join(batch) + "\n")
        own = "\n".join(
            f"addr add {self._address(name, 1)}/24 dev m{n}\nlink set m{n} up\nlink set d{n} up"
            for n, name in enumerate(self.names, 1)
        )
        run("ip", "-n", controller, "-batch", "-", stdin=own + "\n")
        for name in self.names:
            set_up = f"addr add {self._address(name)}/24 dev mgmt0\nlink set mgmt0 up\n"
            run("ip", "-n", self._namespace(name), "-batch", "-", stdin=set_up)
            log = str(self._folder / f"{name}.log")
            words = ("sh", SSHD or "sshd", PCI, str(self._config), log)
            self._servers[name] = spawn(
                ["ip", "netns", "exec", self._namespace(name), "unshare", "--mount", "sh", "-c",
                 SET_UP, *words],
                stdin=subprocess.DEVNULL,
            )  # fmt: skip
        deadline = Deadline(120)
        for name in self.names:
            while not Path(self._folder / f"{name}.log").exists() or (
                "listening" not in (self._folder / f"{name}.log").read_text()
            ):
                assert not deadline.expired, f"the sshd of {name} does not start"
                sleep_s(0.05)

    def _address(self, name: str, last: int = 2) -> str:
        return f"10.77.{int(name[1:])}.{last}"

    def _namespace(self, name: str) -> str:
        return f"{self._prefix}{name}"

    @property
    def controller_namespace(self) -> str:
        """Where the far end of each host's `data0` is: `d1` of the first."""
        return f"{self._prefix}c"

    def controller(self, *words: str) -> subprocess.Popen[bytes]:
        """Start wirespeed in the controller's namespace."""
        argv = [sys.executable, "-c", "from wirespeed.cli import main; main()", *words]
        return self.program(argv, {"PYTHONPATH": ":".join(filter(None, sys.path))})

    def program(
        self, argv: Sequence[str], environment: Mapping[str, str]
    ) -> subprocess.Popen[bytes]:
        """Start any program there, with the controller's keys."""
        return spawn(
            ["ip", "netns", "exec", f"{self._prefix}c", *argv],
            stdin=subprocess.DEVNULL,
            environment={**environment, "HOME": str(self.home), "SSH_AUTH_SOCK": ""},
        )

    def reach(self, name: str) -> str:
        """How the controller reaches a host."""
        return f"ssh://root@{self._address(name)}:{PORT}"

    def set_mtu(self, name: str, mtu: int) -> None:
        """Change it as somebody else does."""
        run("ip", "-n", self._namespace(name), "link", "set", "data0", "mtu", str(mtu))

    def ran(self, *words: str) -> tuple[int, str]:
        """Run wirespeed to its end; give exit code and output."""
        process = self.controller(*words)
        output, errors = process.communicate(timeout=400)
        return process.returncode, (output + errors).decode()

    def standing(self) -> dict[str, Standing]:
        """How `data0` of each host stands now, as the kernel says."""
        return {name: self._standing(name) for name in self.names}

    def has_changed(self, names: Iterable[str], start: Standing) -> bool:
        """Tell whether one of these hosts is not as at its start."""
        return any(self._standing(name) != start for name in names)

    def _standing(self, name: str) -> Standing:
        text = run("ip", "-n", self._namespace(name), "-j", "addr", "show", "dev", "data0")
        (link,) = json.loads(text)
        addresses = [
            f"{a['local']}/{a['prefixlen']}" for a in link["addr_info"] if a["family"] == "inet"
        ]
        return link["mtu"], "UP" in link["flags"], tuple(addresses)

    def let_pass(self, seconds: int, within_s: float) -> None:
        """Let `seconds` pass on every host: end what sleeps for so long, until only sshd is left.

        What waits for that time then does what it does, as after the time itself.
        """
        deadline = Deadline(within_s)
        for name in self.names:
            while len(pids := run("ip", "netns", "pids", self._namespace(name)).split()) > 1:
                for pid in pids:
                    with contextlib.suppress(OSError):
                        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
                        if words[:2] == [b"sleep", str(seconds).encode()]:
                            os.kill(int(pid), signal.SIGTERM)
                assert not deadline.expired, f"a timer of {name} still runs"
                sleep_s(0.1)

    def break_host(self, name: str) -> None:
        """Let no MTU of 9000 be set there, by a program that stands in front of `ip`."""
        script = self._folder / "broken-ip"
        script.write_text(BROKEN)
        script.chmod(0o755)
        self.inside(name, "cp", self._ip, "/run/real-ip")
        self.inside(name, "mount", "--bind", str(script), self._ip)

    def write_in_etc(self, name: str, path: str, text: str) -> None:
        """Write a file below /etc of that host, which gets one of its own."""
        own = "cp -a /etc /run/etc && mount --bind /run/etc /etc"
        script = f'{own} && mkdir -p "${{1%/*}}" && printf %s "$2" >"$1"'
        self.inside(name, "sh", "-c", script, "sh", path, text)

    def without_etc(self, name: str) -> None:
        """Take that away."""
        self.inside(name, "umount", "/etc")

    def mend_host(self, name: str) -> None:
        """Take that away."""
        self.inside(name, "umount", self._ip)

    def inside(self, name: str, *words: str) -> None:
        """Run a program there, with what is mounted there."""
        pid = run("ip", "netns", "pids", self._namespace(name)).split()[0]
        run("nsenter", "--mount", "--target", pid, *words)

    def close(self) -> None:
        """End all that runs there, and remove the namespaces."""
        for server in self._servers.values():
            end(server, term_s=2.0)
            for pipe in (server.stdout, server.stderr):
                if pipe is not None:
                    pipe.close()
        for line in run("ip", "netns", "list").splitlines():
            if line.startswith(self._prefix):
                name = line.split()[0]
                for pid in run("ip", "netns", "pids", name).split():
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(int(pid), signal.SIGKILL)
                run("ip", "netns", "del", name)


def run(*argv: str, stdin: str = "") -> str:
    done = subprocess.run(argv, input=stdin, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, f"{argv}: {done.stderr}"
    return done.stdout
