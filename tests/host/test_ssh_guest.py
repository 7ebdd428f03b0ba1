"""A virtual machine by ssh through its host: its key is the one that its console told."""

import getpass
import os
import pwd
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from other_user import UID, needs_root
from sshd import Home, Sshd, make_key, public

from wirespeed.host import ssh_guest
from wirespeed.host.clock import monotonic_s
from wirespeed.host.local import LocalRunner
from wirespeed.host.reach_destination import Remote
from wirespeed.host.ssh_guest import GuestPlace, GuestSession, own_key
from wirespeed.model.error import HostError, InputError
from wirespeed.model.spec.members import read_spec_data
from wirespeed.runs.guest_machines import with_guest_keys

pytestmark = pytest.mark.sshd
MARKER = "wirespeed-host-key:"
STORY = {
    "hosts": {"alpha": {"reach": "here", "ports": ["0000:01:00.0"]}},
    "approach": "legacy-vlan",
    "failover": "none",
    "underlay": {"subnet": "192.168.9.0/24", "mtu": 9080},
    "networks": {"storage": {"segment": 42, "subnet": "192.168.10.0/24", "mtu": 9000}},
    "guests": {
        "gpu-1": {"host": "alpha", "networks": ["storage"], "kind": "qemu", "image": "/x.qcow2"}
    },
}
WHO = ("sh", "-c", "echo $SSH_CONNECTION")


class Guest:
    """A server that plays the guest, and the console that its host keeps of it."""

    def __init__(self, folder: Path) -> None:
        self.key = make_key(folder / "id_ed25519")
        self.server = Sshd(folder / "server", self.key)
        self.console = folder / "console"

    def tells(self, key: Path, before: str = "") -> None:
        told = " ".join(public(key).split()[:2])
        self.console.write_text(f"Linux version\r\n{before}{MARKER} {told}\r\nlogin: ")

    def session(self, through: Remote | None = None) -> GuestSession:
        place = GuestPlace(
            name="gpu-1", ssh_port=self.server.port, console=str(self.console), marker=MARKER
        )
        return GuestSession(place, LocalRunner(), through, self.key)


@pytest.fixture
def guest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Guest]:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    monkeypatch.setattr(ssh_guest, "USER", getpass.getuser())
    made = Guest(tmp_path)
    try:
        yield made
    finally:
        made.server.close()


def test_it_is_reached_by_the_key_that_its_console_told(guest: Guest):
    guest.tells(guest.server.host_key)
    with guest.session() as session:
        first, second = session.run(WHO), session.run(WHO)
    assert first.output == second.output != "", "one connection for both"


def test_the_key_that_it_told_last_counts(guest: Guest, tmp_path: Path):
    former = " ".join(public(make_key(tmp_path / "former")).split()[:2])
    guest.tells(guest.server.host_key, before=f"{MARKER} {former}\r\n")
    with guest.session() as session:
        assert session.run(WHO).returncode == 0


@pytest.mark.parametrize("last", ["k", "+", "/"])
def test_a_key_may_end_in_any_letter_of_base64(guest: Guest, last: str):
    key = "ssh-ed25519 AAAA" + "C3" * 31 + "a" + last
    guest.console.write_text(f"{MARKER} {key}\r\nlogin: ")
    with guest.session() as session:
        assert session._await_key() == key


def test_whoever_shows_another_key_is_not_talked_to(guest: Guest, tmp_path: Path):
    guest.tells(make_key(tmp_path / "other"))
    with guest.session() as session, pytest.raises(HostError):
        session.run(WHO)
    assert "Accepted" not in guest.server.log.read_text()


def test_a_guest_without_a_console_is_not_waited_for(guest: Guest):
    with guest.session() as session, pytest.raises(HostError) as caught:
        session.run(WHO)
    assert caught.value.what == "guest.not_running"


def test_a_guest_that_does_not_tell_its_key_is_not_waited_for_for_ever(
    guest: Guest, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(ssh_guest, "BOOT_S", 0.4)
    monkeypatch.setattr(ssh_guest, "PAUSE_S", 0.05)
    guest.console.write_text(f"{MARKER} ssh-ed25519 AAAAC3Nza")
    with guest.session() as session:
        with pytest.raises(HostError) as caught:
            session.run(WHO)
        started = monotonic_s()
        with pytest.raises(HostError):
            session.run(WHO)
        assert monotonic_s() - started < 0.3, "it is not waited for twice"
    assert caught.value.what == "guest.silent"


def test_the_way_to_it_goes_through_its_host(guest: Guest, tmp_path: Path):
    """The host is a second server; what the guest sees as its peer is that one's connection."""
    host = Sshd(tmp_path / "host", guest.key)
    home = Home(tmp_path / "home")
    try:
        for name in ("id_ed25519", "id_ed25519.pub"):
            (home.ssh / name).write_text(guest.key.with_name(name).read_text())
            (home.ssh / name).chmod(0o600)
        home.add_host("alpha", host.port)
        home.known_hosts.write_text(host.known_as())
        guest.tells(guest.server.host_key)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("HOME", str(home.folder))
            with guest.session(Remote("alpha", "alpha")) as session:
                assert session.run(WHO).returncode == 0
        assert "direct-tcpip" in host.log.read_text()
    finally:
        host.close()


def test_our_own_key_is_made_once_and_only_we_can_read_it(tmp_path: Path):
    path, told = own_key(tmp_path / "state")
    assert own_key(tmp_path / "state") == (path, told)
    assert path.stat().st_mode & 0o077 == 0
    assert told.startswith("ssh-ed25519 AAAA") and told.endswith(" wirespeed")


@needs_root
def test_a_key_for_guests_that_another_user_planted_is_refused(tmp_path: Path):
    """Who made it can log in to every guest that lets it in."""
    folder, theirs = tmp_path / "state", tmp_path / "theirs"
    path, _ = own_key(folder)
    path.rename(theirs)
    path.symlink_to(theirs)
    for plant in ("link", "owner", "mode"):
        if plant == "owner":
            path.unlink()
            theirs.rename(path)
            os.chown(path, UID, UID)
        if plant == "mode":
            os.chown(path, 0, 0)
            path.chmod(0o666)
        with pytest.raises(InputError, match=r"file\.untrusted"):
            own_key(folder)


@needs_root
def test_under_sudo_the_key_for_guests_is_not_planted_by_the_calling_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    home = tmp_path / "home"
    theirs = own_key(home / ".local/state/wirespeed")[1]
    for path in (home, *home.rglob("*")):
        os.chown(path, UID, UID)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_STATE_HOME", str(home / ".local/state"))
    monkeypatch.setattr(
        pwd, "getpwuid", lambda _: SimpleNamespace(pw_dir=str(tmp_path / "home-of-root"))
    )
    (tmp_path / "home-of-root").mkdir()
    made = with_guest_keys(read_spec_data(STORY))
    assert made.guests["gpu-1"].authorized_keys not in ((), (theirs,))
    assert (tmp_path / "home-of-root/.local/state/wirespeed/guest_key").is_file()
