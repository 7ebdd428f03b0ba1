"""What is read of busy processes: five variables, whether a library is mapped, connections."""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import which

import pytest

from wirespeed.doctor.collector import collector_script
from wirespeed.facts.workload_collective import VARIABLES, CollectiveLibraries
from wirespeed.model.capture import parse_capture
from wirespeed.model.observed import Known, Unreadable

BUSY = """
import mmap, socket, sys, time
listener = socket.create_server(("127.0.0.1", 0))
kept = [socket.create_connection(listener.getsockname()) for _ in range(3)]
if len(sys.argv) > 1:
    with open(sys.argv[1], "r+b") as file:
        kept.append(mmap.mmap(file.fileno(), 0))
print("ready", flush=True)
ends = time.monotonic() + 60
while time.monotonic() < ends:
    pass
"""
PRIVATE = "hunter2-of-the-test"


@contextmanager
def busy(*argv: str, **env: str) -> Iterator[int]:
    """A process that computes, with an environment of its own and three connections."""
    process = subprocess.Popen(
        [sys.executable, "-c", BUSY, *argv], env=env, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        yield process.pid
    finally:
        process.kill()
        process.communicate()


def read() -> tuple[str, CollectiveLibraries]:
    done = subprocess.run(
        [which("sh") or "sh", "-s"], input=collector_script(), capture_output=True, text=True,
        errors="replace", timeout=120, check=True,
    )  # fmt: skip
    return done.stdout, CollectiveLibraries.parse(parse_capture(done.stdout, "here"))


def test_only_the_variables_that_are_named_leave_the_host():
    names = {"NCCL_SOCKET_IFNAME": "=p0,p1", "NCCL_IB_HCA": "^mlx5_3:1", "GLOO_SOCKET_IFNAME": "p0"}
    others = {
        "NCCL_DEBUG": PRIVATE,
        "TOKEN": PRIVATE,
        "XNCCL_NET": PRIVATE,
        "NCCL_NET": f"a {PRIVATE}",
    }
    with busy(**names, **others) as pid:
        text, found = read()
    assert isinstance(found.processes, Known)
    assert found.processes.value[pid].settings == names
    assert PRIVATE not in text
    assert found.processes.value[pid].addresses == {"127.0.0.1": 3}
    assert set(re.findall(r"/environ:(\w+)=", text)) <= set(VARIABLES)


def test_a_library_that_is_mapped_is_enough_and_another_is_not(tmp_path: Path):
    for name, is_found in (("libnccl.so.2", True), ("libncclx.so.2", False)):
        library = tmp_path / name
        library.write_bytes(b"x" * 4096)
        with busy(str(library)) as pid:
            _, found = read()
        assert isinstance(found.processes, Known)
        assert (pid in found.processes.value) == is_found


def capture(*sections: tuple[str, str]) -> CollectiveLibraries:
    body = "".join(f"mmmm begin {name} -\n{text}\n\nmmmm end 0\n" for name, text in sections)
    return CollectiveLibraries.parse(
        parse_capture(f"wirespeed-capture 1 mmmm\n{body}mmmm done\n", "x")
    )


def test_queue_pairs_and_addresses_are_counted_for_their_own_process():
    found = capture(
        ("collective", "/proc/7/maps\n/proc/8/environ:NCCL_NET=IB"),
        ("collective-qps", "     16 mlx5_0/1 7\n      2 mlx5_1/1 7\n      1 mlx5_0/1 8"),
        ("collective-sockets", "      4 [::ffff:192.0.2.1] 7\n      1 [fe80::1%p0] 7\n 9 x"),
    )
    assert isinstance(found.processes, Known)
    seven, eight = found.processes.value[7], found.processes.value[8]
    assert seven.rdma_devices == {"mlx5_0": 16, "mlx5_1": 2}
    assert seven.addresses == {"192.0.2.1": 4, "fe80::1": 1}
    assert (eight.settings, eight.rdma_devices) == ({"NCCL_NET": "IB"}, {"mlx5_0": 1})


@pytest.mark.parametrize(
    "text", ["", "/proc/x/maps", "/proc/7/environ:PATH=/bin", "/proc/7/environ:NCCL_NET=a b"]
)
def test_what_is_not_of_our_form_is_left_out(text: str):
    assert capture(("collective", text)).processes == Known({}, capture().processes.source)


def test_where_environments_may_not_be_read_nothing_is_said():
    assert isinstance(capture(("collective", "/proc/7/environ unreadable")).processes, Unreadable)
