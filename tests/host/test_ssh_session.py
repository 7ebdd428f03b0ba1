"""One connection for many commands, to a real sshd: kept, made anew when lost, bounded."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sshd import Home, Sshd, make_key

from wirespeed.host import ssh
from wirespeed.host.clock import monotonic_s
from wirespeed.host.reach_destination import Remote
from wirespeed.host.ssh_session import SshSession
from wirespeed.model.error import HostError, MeasurementError

pytestmark = pytest.mark.sshd
CLIENT = ("sh", "-c", "echo $SSH_CONNECTION")


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SshSession]:
    key = make_key(tmp_path / "id_ed25519")
    server = Sshd(tmp_path / "server", key)
    home = Home(tmp_path / "home")
    monkeypatch.setenv("HOME", str(home.folder))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    for name in ("id_ed25519", "id_ed25519.pub"):
        (home.ssh / name).write_text(key.with_name(name).read_text())
    home.add_host("lab", server.port)
    home.known_hosts.write_text(server.known_as())
    try:
        with SshSession(Remote("lab", "lab")) as made:
            yield made
    finally:
        server.close()


def test_commands_share_a_connection(session: SshSession):
    first, second = session.run(CLIENT), session.run(CLIENT)
    assert first.output == second.output != ""


def test_input_output_errors_and_return_code_come_through(session: SshSession):
    done = session.run(["sh", "-c", "cat; echo no >&2; exit 3"], stdin="it's\n")
    assert (done.output, done.errors, done.returncode) == ("it's\n", "no\n", 3)


def test_a_connection_that_was_lost_is_made_anew(session: SshSession):
    first = session.run(CLIENT)
    # Its own end of the session, with the server's process of it.
    with pytest.raises(HostError):
        session.run(["sh", "-c", "kill -9 $PPID; sleep 1"])
    second = session.run(CLIENT)
    assert second.returncode == 0
    assert second.output not in ("", first.output)


def test_a_host_that_falls_silent_is_given_up_before_its_command_would_be(
    session: SshSession, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(ssh, "ALIVE_S", 0.3)
    started = monotonic_s()
    # The server's process of the session stands still, as all of it does on a host that is gone.
    script = "(sleep 8; kill -CONT $PPID) & kill -STOP $PPID; sleep 8"
    with pytest.raises(HostError) as caught:
        session.run(["sh", "-c", script], timeout_s=60)
    assert caught.value.what == "ssh.lost"
    assert monotonic_s() - started < 8
    assert session.run(CLIENT).returncode == 0


def test_a_command_that_does_not_end_is_ended(session: SshSession):
    started = monotonic_s()
    with pytest.raises(MeasurementError) as caught:
        session.run(["sleep", "5"], timeout_s=0.5)
    assert caught.value.what == "command.timeout"
    assert monotonic_s() - started < 20
    assert session.run(["true"]).returncode == 0
