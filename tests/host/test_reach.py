import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from sshd import Home, Sshd, free_port, listening, say_nothing

from wirespeed.facts.ports import Ports
from wirespeed.host import ssh_batch
from wirespeed.host.capture_request import Captured, CaptureRequest, Unreachable
from wirespeed.host.clock import Deadline, monotonic_s, sleep_s
from wirespeed.host.reach_destination import Destination, Here, Recorded, Remote
from wirespeed.runs.captures import Gathered, gather
from wirespeed.runs.reach import reach

ECHO = CaptureRequest(script="echo begin; echo at home in $HOME; echo end\n", begins="begin")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    return Home(tmp_path_factory.mktemp("user") / "home")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, home: Home) -> Iterator[Sshd]:
    made = Sshd(tmp_path_factory.mktemp("sshd") / "server", home.key)
    home.add_host("lab*", made.port)
    home.known_hosts.write_text(made.known_as())
    yield made
    made.close()


@pytest.fixture
def lab(server: Sshd, home: Home, monkeypatch: pytest.MonkeyPatch) -> Sshd:
    """The server, under as many names as one likes: lab1, lab2, …"""
    monkeypatch.setenv("HOME", str(home.folder))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    return server


def hosts(count: int) -> list[Remote]:
    return [Remote(f"lab{number}", f"lab{number}") for number in range(count)]


def by_name(results: Sequence[Captured | Unreachable]) -> dict[str, Captured | Unreachable]:
    return {result.destination.text: result for result in results}


def test_this_machine_and_files_need_nothing_of_ssh(tmp_path: Path):
    capture, missing = tmp_path / "a.txt", tmp_path / "missing"
    capture.write_text("what was captured")
    places: list[Destination] = [Here(), Recorded("a", capture), Recorded("b", missing), Here()]
    found = by_name(list(reach(places, ECHO)))
    assert found.keys() == {"here", "a", "b"}
    here, file, none = found["here"], found["a"], found["b"]
    assert isinstance(here, Captured)
    assert here.text.endswith("end\n")
    assert isinstance(file, Captured)
    assert file.text == "what was captured"
    assert isinstance(none, Unreachable)
    assert none.error.what == "file.unreadable"


LOCAL = """
import sys
from wirespeed.host.capture_request import CaptureRequest
from wirespeed.runs.reach import reach
from pathlib import Path
from wirespeed.host.reach_destination import Here, Recorded
place = Recorded("a", Path(sys.argv[1])) if sys.argv[1:] else Here()
list(reach([place], CaptureRequest(script="echo begin", begins="begin")))
sys.exit("asyncssh" in sys.modules or "asyncio" in sys.modules)
"""


@pytest.mark.parametrize("arguments", [(), ("host.txt",)], ids=["this host", "a capture"])
def test_the_library_of_ssh_is_loaded_only_when_it_is_needed(
    arguments: tuple[str, ...], tmp_path: Path
):
    (tmp_path / "host.txt").write_text("what was captured")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    line = [sys.executable, "-c", LOCAL, *arguments]
    subprocess.run(line, check=True, timeout=60, env=environment, cwd=tmp_path)


def test_a_machine_that_prints_without_end_is_cut_and_says_so():
    request = CaptureRequest(script="echo begin; yes\n", begins="begin", max_bytes=5 << 20)
    (told,) = reach([Here()], request)
    assert isinstance(told, Captured)
    assert len(told.text) == 5 << 20
    assert told.warnings == ("it printed more than 5 MiB: cut there",)


def test_what_another_program_says_is_not_taken_for_a_capture():
    request = CaptureRequest(script="echo '\033[2Jno such thing' >&2; exit 7\n", begins="begin")
    (result,) = reach([Here()], request)
    assert isinstance(result, Unreachable)
    assert result.error.what == "host.no_answer"
    assert r"\x1b[2Jno such thing" in result.error.found


@pytest.mark.parametrize(
    ("sudo", "slug"),
    [
        ('#!/bin/sh\n[ "$1" = -n ] && shift && exec "$@"\n', None),
        ("#!/bin/sh\necho 'sudo: a password is required' >&2\nexit 1\n", "sudo.refused"),
    ],
)
def test_sudo_is_asked_never_to_ask(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sudo: str, slug: str | None
):
    (tmp_path / "sudo").write_text(sudo)
    (tmp_path / "sudo").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    request = CaptureRequest(script=ECHO.script, begins="begin", sudo=True)
    (result,) = reach([Here()], request)
    if slug is None:
        assert isinstance(result, Captured)
    else:
        assert isinstance(result, Unreachable)
        assert result.error.what == slug
        assert "password" in result.error.found


@pytest.mark.sshd
@pytest.mark.usefixtures("lab")
def test_dead_and_silent_hosts_do_not_hold_up_the_rest():
    with listening(say_nothing) as port:
        silent = Remote("silent", "127.0.0.1", None, port)
        refusing = Remote("refusing", "127.0.0.1", None, free_port())
        states: list[tuple[str, str]] = []
        results = list(
            reach(
                [silent, refusing, *hosts(12)],
                CaptureRequest(script=ECHO.script, begins="begin", timeout_s=4.0),
                limit=4,
                progress=lambda place, doing: states.append((place.text, doing)),
            )
        )
    # A busy machine may take longer over the rest than the silent one is waited for.
    assert results[0].destination != silent
    found = by_name(results)
    for name, slug in (("silent", "ssh.no_answer"), ("refusing", "ssh.refused")):
        result = found.pop(name)
        assert isinstance(result, Unreachable)
        assert result.error.what == slug
    assert len(found) == 12
    assert all(isinstance(r, Captured) and r.text.endswith("end\n") for r in found.values())
    assert ("lab3", "connecting") in states
    assert ("lab3", "reading") in states
    assert ("silent", "reading") not in states


@pytest.mark.sshd
@pytest.mark.usefixtures("lab")
def test_a_host_that_lets_us_in_and_then_says_nothing_is_told():
    request = CaptureRequest(script="sleep 30\n", begins="begin", timeout_s=2.0)
    (result,) = reach(hosts(1), request)
    assert isinstance(result, Unreachable)
    assert result.error.what == "host.no_answer"
    assert "time was up" in result.error.found


@pytest.mark.sshd
@pytest.mark.usefixtures("lab")
def test_the_collector_reads_a_host_over_ssh_as_it_does_this_one():
    here, there = sorted(gather([Here(), *hosts(1)]), key=lambda g: g.destination.text)
    assert isinstance(here, Gathered)
    assert isinstance(there, Gathered)
    assert there.facts.capture.complete
    assert there.facts[Ports] == here.facts[Ports]


@pytest.mark.sshd
def test_a_command_of_the_config_that_leads_to_the_host_is_used_and_ends(
    lab: Sshd, home: Home, tmp_path: Path
):
    script = tmp_path / "proxy"
    script.write_text(
        f"echo $$ >{tmp_path}/pid\nexec 3<>/dev/tcp/127.0.0.1/{lab.port}\n"
        "cat <&3 &\ncat >&3\nkill $!\n"
    )
    home.add_host("proxied", 1, f"ProxyCommand bash {script}")
    home.known_hosts.write_text(lab.known_as() + lab.known_as().replace(f":{lab.port}", ":1"))
    (told,) = reach([Remote("proxied", "proxied")], ECHO)
    assert isinstance(told, Captured)
    assert told.text.endswith("end\n")
    pid, deadline = int((tmp_path / "pid").read_text()), Deadline(10)
    while Path(f"/proc/{pid}").exists() and not deadline.expired:
        sleep_s(0.05)
    assert not Path(f"/proc/{pid}").exists()


@pytest.mark.sshd
@pytest.mark.usefixtures("lab")
def test_no_more_hosts_at_once_than_the_limit(tmp_path: Path):
    work = f"mkdir {tmp_path}/$$; ls {tmp_path} | wc -l; sleep 0.3; rmdir {tmp_path}/$$"
    script = f"echo begin; {work}\n"
    results = list(reach(hosts(6), CaptureRequest(script=script, begins="begin"), limit=2))
    counts = [int(r.text.split()[1]) for r in results if isinstance(r, Captured)]
    assert len(counts) == 6
    assert max(counts) == 2


@pytest.mark.sshd
@pytest.mark.usefixtures("lab")
def test_a_host_that_is_slow_gives_what_it_said_until_then():
    request = CaptureRequest(script="echo begin; sleep 30\n", begins="begin", timeout_s=5.0)
    (told,) = reach(hosts(1), request)
    assert isinstance(told, Captured)
    assert told.text == "begin\n"
    assert told.warnings == ("it was not done after 5 s: the rest is missing",)


@pytest.mark.sshd
@pytest.mark.usefixtures("lab")
def test_a_host_that_prints_without_end_is_cut():
    request = CaptureRequest(script="echo begin; yes\n", begins="begin", max_bytes=5 << 20)
    (told,) = reach(hosts(1), request)
    assert isinstance(told, Captured)
    assert len(told.text) == 5 << 20
    assert told.warnings == ("it printed more than 5 MiB: cut there",)


@pytest.mark.sshd
@pytest.mark.usefixtures("lab")
def test_a_connection_that_breaks_off_gives_what_was_said_until_then():
    # The parent of the session's shell is the sshd that serves this one connection.
    script = "echo begin; sleep 0.3; kill -KILL $PPID; sleep 5\n"
    (told,) = reach(hosts(1), CaptureRequest(script=script, begins="begin", timeout_s=20.0))
    assert isinstance(told, Captured)
    assert told.text == "begin\n"
    assert "the rest is missing" in told.warnings[0]


@pytest.mark.sshd
@pytest.mark.usefixtures("lab")
def test_who_stops_early_leaves_no_thread():
    request = CaptureRequest(
        script='echo begin; [ -z "$SSH_CLIENT" ] || sleep 20\n', begins="begin"
    )
    results = reach([Here(), *hosts(3)], request)
    next(results)
    results.close()  # type: ignore[attr-defined]
    assert not [thread for thread in threading.enumerate() if thread.name == "ssh"]


INTERRUPTED = """
import sys
from wirespeed.host.capture_request import CaptureRequest
from wirespeed.runs.reach import reach
from wirespeed.host.reach_destination import Remote
script = "echo begin; echo $$ >" + sys.argv[1] + "/$$; while sleep 0.1; do echo here; done"
places = [Remote(f"lab{n}", f"lab{n}") for n in range(3)]
try:
    for result in reach(places, CaptureRequest(script=script, begins="begin")):
        print(result)
except KeyboardInterrupt:
    sys.exit(130)
"""


@pytest.mark.sshd
@pytest.mark.usefixtures("lab")
def test_ctrl_c_ends_it_at_once_and_nothing_stays_there(tmp_path: Path):
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        deadline = Deadline(30)
        while len(list(tmp_path.iterdir())) < 3 and not deadline.expired:
            sleep_s(0.05)
        started = monotonic_s()
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=20)
    finally:
        process.kill()
        process.wait(10)
    assert (process.returncode, output, errors) == (130, b"", b"")
    assert monotonic_s() - started < 6
    pids = [int(path.name) for path in tmp_path.iterdir()]
    assert len(pids) == 3
    deadline = Deadline(10)
    while any(Path(f"/proc/{pid}").exists() for pid in pids):
        assert not deadline.expired
        sleep_s(0.05)


def test_an_error_of_our_own_is_raised_and_not_taken_for_a_dead_host(
    monkeypatch: pytest.MonkeyPatch,
):
    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(ssh_batch, "Conversation", broken)
    with pytest.raises(ZeroDivisionError):
        list(reach(hosts(1), ECHO))
