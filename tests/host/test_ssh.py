import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from shutil import which
from typing import Any

import pytest
from sshd import (
    Home,
    Sshd,
    free_port,
    listening,
    make_key,
    public,
    say_lines_without_end,
    say_nothing,
)

from wirespeed.host.clock import Deadline, monotonic_s, sleep_s
from wirespeed.host.reach_destination import Remote
from wirespeed.host.runner import Completed
from wirespeed.host.spawn import end, spawn
from wirespeed.host.ssh_session import SshSession
from wirespeed.model.error import HostError, MeasurementError

pytestmark = [pytest.mark.sshd, pytest.mark.usefixtures("home")]
LAB = Remote("lab", "lab")


@pytest.fixture(scope="module")
def _user_key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_key(tmp_path_factory.mktemp("user") / "id_ed25519")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, _user_key: Path) -> Iterator[Sshd]:
    made = Sshd(tmp_path_factory.mktemp("sshd") / "server", _user_key)
    yield made
    made.close()


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory, _user_key: Path) -> Iterator[Sshd]:
    made = Sshd(tmp_path_factory.mktemp("sshd") / "gate", _user_key)
    yield made
    made.close()


@pytest.fixture
def home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: Sshd, _user_key: Path
) -> Iterator[Home]:
    """A home whose ~/.ssh/config has `lab`, whose key is known."""
    made = Home(tmp_path / "home")
    monkeypatch.setenv("HOME", str(made.folder))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    for name in ("id_ed25519", "id_ed25519.pub"):
        (made.ssh / name).write_text(_user_key.with_name(name).read_text())
    made.add_host("lab", server.port)
    made.known_hosts.write_text(server.known_as())
    return made


def ran(
    argv: list[str], place: Remote = LAB, *, connect_s: float = 10.0, **options: Any
) -> Completed:
    """Run one command over a connection of its own."""
    with SshSession(place, connect_s=connect_s) as session:
        return session.run(argv, **options)


def failure(place: Remote = LAB, connect_s: float = 10.0) -> HostError:
    """The error of an attempt, which must come in time."""
    started = monotonic_s()
    with pytest.raises(HostError) as error:
        ran(["true"], place, connect_s=connect_s, timeout_s=30)
    assert monotonic_s() - started < connect_s + 5
    return error.value


def is_gone(pid: int, timeout_s: float = 10.0) -> bool:
    deadline = Deadline(timeout_s)
    while Path(f"/proc/{pid}").exists():
        if deadline.expired:
            return False
        sleep_s(0.02)
    return True


def test_arguments_arrive_as_they_are():
    odd = ["a b", "$HOME", "it's", '"', "*", "\\", "line\nend", "", ";reboot", "이더넷"]
    done = ran(["printf", "<%s>", *odd])
    assert done.output == "".join(f"<{text}>" for text in odd)
    assert (done.returncode, done.cut) == (0, False)


def test_input_output_errors_and_the_return_code_go_there_and_back():
    script = "echo out; echo err >&2; exit 3\n" + "# filler\n" * 100_000
    done = ran(["sh", "-s"], stdin=script)
    assert (done.output, done.errors, done.returncode) == ("out\n", "err\n", 3)


def test_a_command_that_a_signal_ended_says_which():
    assert ran(["sh", "-c", "kill -TERM $$"]).returncode == -signal.SIGTERM


def test_user_and_port_of_an_address_are_used(home: Home, server: Sshd):
    home.config.unlink()
    place = Remote("x", "127.0.0.1", home.user, server.port)
    assert ran(["echo", "hi"], place).output == "hi\n"


def test_a_key_that_only_the_agent_has_is_enough(
    home: Home, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    # Not in pytest's folder: the path of a Unix socket holds 107 bytes.
    agent_socket = Path(tempfile.gettempdir()) / f"ws-agent-{os.getpid()}"
    agent_socket.unlink(missing_ok=True)
    agent = spawn(["ssh-agent", "-D", "-a", str(agent_socket)], stdin=subprocess.DEVNULL)
    try:
        deadline = Deadline(10)
        while not agent_socket.exists() and not deadline.expired:
            sleep_s(0.02)
        monkeypatch.setenv("SSH_AUTH_SOCK", str(agent_socket))
        key = tmp_path / "elsewhere"
        home.key.rename(key)
        assert failure().what == "ssh.denied"
        subprocess.run([str(which("ssh-add")), "-q", str(key)], check=True, timeout=30)
        assert ran(["echo", "hi"]).output == "hi\n"
    finally:
        end(agent, term_s=2.0)
        for pipe in (agent.stdout, agent.stderr):
            assert pipe is not None
            pipe.close()
        agent_socket.unlink(missing_ok=True)


def test_the_way_leads_through_a_jump_host(home: Home, server: Sshd, gate: Sshd):
    home.add_host("gate", gate.port)
    home.add_host("inner", server.port, "ProxyJump gate")
    home.known_hosts.write_text(server.known_as() + gate.known_as())
    before = gate.log.read_text().count("direct-tcpip")
    assert ran(["echo", "hi"], Remote("inner", "inner")).output == "hi\n"
    assert gate.log.read_text().count("direct-tcpip") > before


def test_two_jump_hosts_one_after_the_other(home: Home, server: Sshd, gate: Sshd):
    home.add_host("gate", gate.port)
    home.add_host("second", gate.port)
    home.add_host("inner", server.port, f"ProxyJump gate,ssh://{home.user}@second:{gate.port}")
    home.known_hosts.write_text(server.known_as() + gate.known_as())
    assert ran(["echo", "hi"], Remote("inner", "inner")).output == "hi\n"


def test_a_jump_host_that_jumps_through_itself_comes_to_an_end(home: Home, gate: Sshd):
    home.add_host("a", gate.port, "ProxyJump b")
    home.add_host("b", gate.port, "ProxyJump a")
    home.known_hosts.write_text(gate.known_as())
    assert failure(Remote("a", "a")).what == "ssh.config"


def test_the_key_of_a_jump_host_is_checked_too(home: Home, server: Sshd, gate: Sshd):
    home.add_host("gate", gate.port, "UserKnownHostsFile none", "StrictHostKeyChecking no")
    home.add_host("inner", server.port, "ProxyJump gate")
    error = failure(Remote("inner", "inner"))
    assert (error.what, error.where) == ("ssh.host_key_unknown", "gate")


def test_a_host_whose_key_is_unknown_is_refused_with_what_to_do(home: Home):
    home.known_hosts.unlink()
    error = failure()
    assert error.what == "ssh.host_key_unknown"
    assert "`ssh lab` once" in error.next
    assert "ssh-keyscan" in error.next


@pytest.mark.parametrize("named", ["none", "/dev/null"])
def test_no_setting_switches_the_check_off(home: Home, server: Sshd, named: str):
    home.config.write_text("")
    home.add_host("lab", server.port, f"UserKnownHostsFile {named}", "StrictHostKeyChecking no")
    assert failure().what == "ssh.host_key_unknown"


@pytest.mark.parametrize("kind", ["ed25519", "rsa"])
def test_a_changed_key_is_refused_loudly(home: Home, server: Sshd, tmp_path: Path, kind: str):
    other = make_key(tmp_path / "other", kind)
    home.known_hosts.write_text(f"[127.0.0.1]:{server.port} {public(other)}\n")
    error = failure()
    assert error.what == "ssh.host_key_changed"
    assert f"ssh-keygen -R '[127.0.0.1]:{server.port}'" in error.next


def test_a_revoked_key_is_refused(home: Home, server: Sshd):
    home.known_hosts.write_text(f"@revoked * {public(server.host_key)}\n{server.known_as()}")
    assert failure().what == "ssh.host_key_revoked"


def test_hashed_names_and_lines_without_sense_in_known_hosts(home: Home):
    subprocess.run(
        [str(which("ssh-keygen")), "-q", "-H", "-f", str(home.known_hosts)],
        check=True,
        timeout=30,
        capture_output=True,
    )
    assert "127.0.0.1" not in home.known_hosts.read_text()
    with home.known_hosts.open("a") as file:
        file.write("rubbish\n@what * ssh-rsa AAAA\n|1|bad|hash ssh-ed25519 AAAA\n")
    assert ran(["echo", "hi"]).output == "hi\n"


def test_a_key_that_the_host_does_not_accept_is_told_and_nobody_is_asked(home: Home):
    home.key.unlink()
    make_key(home.key)
    error = failure()
    assert error.what == "ssh.denied"
    assert "ssh-add" in error.next


def test_a_key_behind_a_passphrase_is_told_and_nobody_is_asked(home: Home, server: Sshd):
    home.key.unlink()
    key = make_key(home.ssh / "locked", "ed25519", "no one knows")
    home.config.write_text("")
    home.add_host("lab", server.port, f"IdentityFile {key}")
    assert failure().what == "ssh.denied"


def test_a_port_that_nobody_listens_on_is_told():
    assert failure(Remote("x", "127.0.0.1", None, free_port())).what == "ssh.refused"


def test_a_name_that_nobody_has_is_told():
    error = failure(Remote("no-such-host.invalid", "no-such-host.invalid"), connect_s=30.0)
    assert error.what in ("ssh.unknown_host", "ssh.no_answer")


def test_a_host_that_accepts_and_says_nothing_is_given_up():
    with listening(say_nothing) as port:
        assert failure(Remote("x", "127.0.0.1", None, port), connect_s=0.5).what == "ssh.no_answer"


def test_a_host_that_greets_without_end_is_given_up():
    with listening(say_lines_without_end) as port:
        error = failure(Remote("x", "127.0.0.1", None, port), connect_s=2.0)
    assert error.what in ("ssh.no_answer", "ssh.lost")


def test_a_host_that_speaks_no_ssh_is_told_without_what_steers_the_terminal():
    with listening(lambda c: c.sendall(b"SSH-9.9-\x1b[2Jx\r\n" + b"\x00" * 5000)) as port:
        error = failure(Remote("x", "127.0.0.1", None, port))
    assert error.what in ("ssh.lost", "ssh.config", "ssh.unreachable")
    assert error.found.isprintable()


def test_output_without_end_is_cut():
    done = ran(["yes"], max_bytes=3_000_000, timeout_s=30)
    assert done.cut
    assert len(done.output) == 3_000_000


def test_a_command_that_does_not_end_is_gone_with_its_next_word(tmp_path: Path):
    pid_file = tmp_path / "pid"
    script = f"echo $$ >{pid_file}; while :; do echo still here; sleep 0.1; done"
    # On a busy machine it may not have begun within the first of these.
    for timeout_s in (1.5, 10.0, 60.0):
        with pytest.raises(MeasurementError) as error:
            ran(["sh", "-c", script], timeout_s=timeout_s)
        if pid_file.exists():
            break
    assert error.value.what == "command.timeout"
    assert is_gone(int(pid_file.read_text()))


def test_a_config_that_makes_no_sense_is_told(home: Home):
    home.config.write_text("Host *\n  Port many\n")
    assert failure().what == "ssh.config"


def test_a_forced_terminal_or_command_of_the_config_is_not_taken(home: Home, server: Sshd):
    home.config.write_text("")
    home.add_host("lab", server.port, "RequestTTY force", "RemoteCommand echo theirs")
    done = ran(["sh", "-c", "tty; echo ours"])
    assert done.output == "not a tty\nours\n"


def test_nothing_stays_open(home: Home):
    def open_fds() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    ran(["true"])
    before = open_fds()
    for _ in range(3):
        ran(["true"])
        home.known_hosts.touch()
    assert open_fds() == before
