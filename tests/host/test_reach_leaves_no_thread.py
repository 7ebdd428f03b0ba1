"""What reads hosts ends before an error reaches the user: nothing outlives the interpreter."""

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
import sys
from wirespeed.host.capture_request import CaptureRequest
from wirespeed.runs.reach import reach
from wirespeed.host.reach_destination import Here, Remote
places = [Here(), Remote("x", "127.0.0.1", port=int(sys.argv[1]))]
kept = reach(places, CaptureRequest(script="echo begin", begins="begin"))
next(kept)
import threading
import atexit
crowd = [thread for thread in threading.enumerate() if thread.name == "ssh"]
assert crowd[0].is_alive()
"""
CHECKED = ABANDONED.replace(
    "import atexit", "import atexit\natexit.register(lambda: print(crowd[0].is_alive()))"
)


def test_what_nobody_closed_is_ended_before_the_interpreter_is():
    # What is registered first is called last.
    before = "import atexit\natexit.register(lambda: print('at the end', crowd[0].is_alive()))\n"
    with listening(say_nothing) as silent:
        done = subprocess.run(
            [sys.executable, "-c", before + CHECKED, str(silent)],
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
    assert done.stdout == "True\nat the end False\n", done.stderr
    assert done.returncode == 0
