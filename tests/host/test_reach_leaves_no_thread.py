"""What reads hosts ends before an error reaches the user: nothing outlives the interpreter."""

import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from click.testing import CliRunner
from sshd import free_port, listening, say_nothing

from wirespeed.apply.spec_file import parse_spec
from wirespeed.commands import capture, doctor
from wirespeed.host.capture_request import Unreachable
from wirespeed.host.reach_destination import Here
from wirespeed.model.error import HostError
from wirespeed.runs import examine, hosts_of_spec, prove_run

SPEC = """
hosts:
  alpha: {{reach: "ssh://127.0.0.1:{closed}", ports: ["0000:03:00.0"]}}
  beta: {{reach: "ssh://127.0.0.1:{silent}", ports: ["0000:03:00.0"]}}
approach: legacy-vlan
failover: none
underlay: {{subnet: 192.168.9.0/24, mtu: 9000}}
networks: {{}}
guests: {{}}
"""


def threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "ssh"]


@pytest.mark.parametrize("read", [hosts_of_spec.facts_of, prove_run.captured])
def test_the_first_host_that_fails_ends_the_reading_of_the_others(read: Any):
    with listening(say_nothing) as silent:
        spec = parse_spec(SPEC.format(closed=free_port(), silent=silent), "spec.yaml")
        with pytest.raises(HostError) as caught:
            read(spec)
        # The error is still alive, as it is until the interpreter ends.
        assert caught.value.what == "ssh.refused"
        assert not threads()


@pytest.mark.parametrize(
    ("command", "module"), [(capture.capture, capture), (doctor.doctor, examine)]
)
def test_the_error_of_one_host_ends_its_reading(
    command: Any, module: Any, monkeypatch: pytest.MonkeyPatch
):
    ended = []

    def collect(*_: object, **__: object) -> Iterator[Unreachable]:
        try:
            yield Unreachable(Here(), HostError("ssh.refused", where="x"))
            yield Unreachable(Here(), HostError("ssh.refused", where="x"))
        finally:
            ended.append(True)

    monkeypatch.setattr(module, "collect", collect)
    done = CliRunner().invoke(command, ["here"], standalone_mode=False)
    assert ended, done.exception


ABANDONED = """
import atexit
import sys
import threading
from wirespeed.host.capture_request import CaptureRequest
from wirespeed.host.reach_destination import Here, Remote
# What is registered first is called last.
atexit.register(lambda: print("at the end", crowd[0].is_alive()))
from wirespeed.runs.reach import reach
places = [Here(), Remote("x", "127.0.0.1", port=int(sys.argv[1]))]
kept = reach(places, CaptureRequest(script="echo begin", begins="begin"))
next(kept)
crowd = [thread for thread in threading.enumerate() if thread.name == "ssh"]
atexit.register(lambda: print(crowd[0].is_alive()))
sys.stdin.readline()
"""


def test_what_nobody_closed_is_ended_before_the_interpreter_is():
    connected = threading.Event()

    def say_nothing_more(connection: socket.socket) -> None:
        connected.set()
        say_nothing(connection)

    with listening(say_nothing_more) as silent:
        child = subprocess.Popen(
            [sys.executable, "-c", ABANDONED, str(silent)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        try:
            # Before it is connected the thread may end by itself: at exit Python refuses the
            # helper thread in which asyncio resolves a name.
            assert connected.wait(60)
            out, err = child.communicate("go\n", timeout=60)
        finally:
            child.kill()
    assert out == "True\nat the end False\n", err
    assert child.returncode == 0
