"""`wirespeed watch` on a real pair of netdevs in a namespace of its own, with traffic."""

import os
import pty
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"
BESIDE = """\
set -e
ip link add wa type veth peer name wb
ip link set wa up mtu 1500; ip link set wb up
ip addr add 192.0.2.1/24 dev wa
ip neigh add 192.0.2.2 lladdr 02:00:00:00:00:02 dev wa
# To a neighbour that does not answer: 500 frames, again and again.
(
	i=0
	while [ $i -lt 60 ]; do
		"$1" -c '
import socket
end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range(500):
    end.sendto(bytes(1400), ("192.0.2.2", 9))
'
		i=$((i + 1)); sleep 0.1
	done
) &
while :; do
	sleep 1.5; ip link set wa mtu 1480
	sleep 1.5; ip link set wa mtu 1500
done &
shift
"$@" || code=$?
exit ${code:-0}
"""
LINE = re.compile(r"^(\d\d:\d\d:\d\d) wa +(\S+) +\? +(\S+) +\?  ceiling not known", re.M)
WORDS = ["--port", "wa", "--every", "1", "--count", "5"]


def argv(*words: str) -> list[str]:
    if os.geteuid() != 0 or shutil.which("ip") is None:
        pytest.skip("needs root, for a network namespace, and iproute2")
    watch = [sys.executable, "-c", "from wirespeed.cli import main; main()", "watch", *words]
    # With its first process all others of the namespace end.
    inside = 'mount -t sysfs none /sys && exec sh -c "$0" sh "$@"'
    own = ["--net", "--mount", "--pid", "--fork", "--mount-proc"]
    return ["/usr/bin/unshare", *own, "/bin/sh", "-c", inside, BESIDE, sys.executable, *watch]


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(SOURCE)}


def test_traffic_and_a_change_are_shown_a_line_a_reading():
    done = subprocess.run(
        argv(*WORDS), capture_output=True, text=True, timeout=120, env=environment()
    )
    assert done.returncode == 0, done.stderr
    rows = LINE.findall(done.stdout)
    assert len(rows) == 5, done.stdout
    # Nothing answers, but for IPv6's own few frames.
    for _, received, transmitted in rows:
        assert float(transmitted) > 3 * float(received.lstrip("<"))
    assert " s: MTU 1" in done.stdout
    assert all(len(line) <= 80 for line in done.stdout.splitlines())


def test_it_ends_after_its_seconds_and_keeps_a_line_on_a_terminal():
    master, slave = pty.openpty()
    try:
        done = subprocess.run(
            argv("--port", "wa", "--every", "0.5", "--seconds", "2"),
            stdout=slave, stderr=subprocess.PIPE, timeout=120, env=environment(),
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        os.set_blocking(master, False)
        text = os.read(master, 1 << 16).decode()
    finally:
        os.close(master)
        os.close(slave)
    # Two lines, put over each other: up by two each time after the first.
    assert text.count("\x1b[2A") == text.count("wa  ") - 1 > 0
    assert "limited by" in text.split("\x1b[2A")[-1]


def test_it_is_stopped_by_what_stops_a_service_and_that_is_no_failure():
    words = argv("--port", "wa", "--every", "0.5")
    child = subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment()
    )
    try:
        assert child.stdout and child.stderr
        assert " wa " in child.stdout.readline() + child.stdout.readline()
        (watch,) = _python_below(child.pid)
        os.kill(watch, signal.SIGTERM)
        # The shell around it ends as wirespeed did.
        assert child.wait(30) == 0
        assert child.stderr.read() == ""
    finally:
        child.kill()
        child.wait(30)
        for stream in (child.stdout, child.stderr):
            assert stream
            stream.close()


def _python_below(pid: int) -> list[int]:
    """Give the processes below one whose words name wirespeed, and are no shell's."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    found = [one for child in children for one in _python_below(int(child))]
    words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    return [*found, pid] if b"python" in words[0] and b"watch" in words else found


def test_a_netdev_that_is_not_there_is_refused():
    done = subprocess.run(
        argv("--port", "nope"), capture_output=True, text=True, timeout=60, env=environment()
    )
    assert done.returncode == 2 and "watch.no_port" in done.stderr
