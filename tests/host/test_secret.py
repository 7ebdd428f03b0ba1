"""Secrets of the environment: no child has them, and no server that proves nothing gets them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from winrm_server import self_signed, stranger

from wirespeed.host import secret, vsphere, winrm
from wirespeed.host.reach_destination import SwitchHost, VsphereHost, WindowsHost
from wirespeed.host.switch import SwitchSession
from wirespeed.host.winrm import WinRmSession, connection_options
from wirespeed.model.error import HostError, InputError
from wirespeed.model.switch_kind import SwitchKind

WORD = "planted-secret-0c2f"
SETPRIV = """\
#!/bin/sh
env >>"$SEEN"
exec {setpriv} "$@"
"""


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secret, "_taken", {})
    winrm._password.cache_clear()
    vsphere._password.cache_clear()
    names = (*secret.PASSWORDS, winrm.CA, winrm.NTLM, winrm.CERTIFICATE, winrm.KEY)
    for name in (*names, vsphere.CA, vsphere.THUMBPRINT):
        monkeypatch.delenv(name, raising=False)


def windows(port: int | None = None, user: str | None = "ann") -> WindowsHost:
    return WindowsHost("winrm://ann@desk", "winrm", "127.0.0.1", user, port)


def test_no_child_of_the_command_line_inherits_a_secret(tmp_path: Path):
    """By the program itself: what it starts here, and what ssh_config makes it start."""
    seen = tmp_path / "seen"
    programs = tmp_path / "bin"
    programs.mkdir()
    stand_in = programs / "setpriv"
    stand_in.write_text(SETPRIV.format(setpriv="/usr/bin/setpriv"))
    stand_in.chmod(0o755)
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".ssh/config").write_text(f'Host afar\n  ProxyCommand sh -c "env >>{seen}"\n')
    program = [sys.executable, "-c", "from wirespeed.cli import main; main()"]
    done = subprocess.run(
        [*program, "capture", "here", "afar", "--out", str(tmp_path / "captures")],
        env={
            **os.environ,
            **dict.fromkeys(secret.PASSWORDS, WORD),
            "HOME": str(tmp_path),
            "SEEN": str(seen),
            "PATH": f"{programs}:{os.environ['PATH']}",
            "PYTHONPATH": os.pathsep.join(sys.path),
        },
        capture_output=True,
        text=True,
        timeout=120,
    )
    told = seen.read_text()
    # Both children were there, and told what they had.
    assert told.count(f"SEEN={seen}") >= 2, done.stderr
    assert WORD not in told


def test_a_secret_is_taken_out_once_and_serves_every_host(monkeypatch: pytest.MonkeyPatch):
    for name in secret.PASSWORDS:
        monkeypatch.setenv(name, WORD)
    one, other = windows(), WindowsHost("winrm://ann@other", "winrm", "other", "ann")
    assert connection_options(one)["password"] == WORD
    child = subprocess.run(["/usr/bin/env"], capture_output=True, text=True, check=True, timeout=30)
    assert WORD not in child.stdout
    assert connection_options(other)["password"] == WORD
    assert vsphere._password(VsphereHost("vsphere://x", "x")) == WORD
    assert SwitchSession(SwitchHost("s", SwitchKind.EOS, "s"))._password == WORD


def test_an_empty_secret_is_refused(monkeypatch: pytest.MonkeyPatch):
    for name in secret.PASSWORDS:
        monkeypatch.setenv(name, "")
    for ask in (
        lambda: connection_options(windows()),
        lambda: vsphere._password(VsphereHost("vsphere://x", "x")),
        lambda: SwitchSession(SwitchHost("s", SwitchKind.EOS, "s")),
    ):
        with pytest.raises(InputError) as caught:
            ask()
        assert caught.value.what == "variable.empty"
        assert caught.value.where in secret.PASSWORDS


def test_an_empty_ca_lets_no_secret_out_to_a_server_that_is_not_known(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setenv(winrm.PASSWORD, WORD)
    monkeypatch.setenv(winrm.CA, "")
    with stranger(certificate=self_signed(tmp_path / "s.pem")) as server:
        with pytest.raises(InputError) as caught:
            WinRmSession(windows(server.port)).run(["x"])
        assert (caught.value.what, caught.value.where) == ("variable.empty", winrm.CA)
        monkeypatch.delenv(winrm.CA)
        with pytest.raises(HostError) as refused:
            WinRmSession(windows(server.port)).run(["x"])
        assert refused.value.what == "winrm.certificate"
        assert server.proofs == []
        # The same server, once its certificate is named: now it is told who we are.
        monkeypatch.setenv(winrm.CA, str(tmp_path / "s.pem"))
        with pytest.raises(HostError) as denied:
            WinRmSession(windows(server.port)).run(["x"])
        assert denied.value.what == "winrm.denied"
        assert any(b"NTLMSSP" in proof for proof in server.proofs)


@pytest.mark.parametrize("name", [winrm.CA, vsphere.CA])
def test_a_ca_that_is_no_file_is_named(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv(winrm.PASSWORD, WORD)
    monkeypatch.setenv(name, str(tmp_path / "nothing.pem"))
    with pytest.raises(InputError) as caught:
        if name == winrm.CA:
            connection_options(windows())
        else:
            vsphere.trusted(VsphereHost("vsphere://x", "127.0.0.1", None, 1))
    assert (caught.value.what, caught.value.where) == ("variable.no_file", name)


@pytest.mark.parametrize("name", [vsphere.CA, vsphere.THUMBPRINT])
def test_an_empty_setting_of_vsphere_is_refused(name: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(name, "")
    with pytest.raises(InputError) as caught:
        vsphere.trusted(VsphereHost("vsphere://x", "127.0.0.1", None, 1))
    assert (caught.value.what, caught.value.where) == ("variable.empty", name)


@pytest.mark.parametrize("offers", ["Negotiate", "NTLM", "Negotiate, Kerberos"])
def test_ntlm_without_tls_gives_no_proof_of_a_secret_unless_asked(
    offers: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv(winrm.PASSWORD, WORD)
    with stranger(offers) as server:
        monkeypatch.setattr(winrm, "HTTP_PORT", server.port)
        with pytest.raises(HostError) as caught:
            WinRmSession(windows(server.port)).run(["x"])
        assert caught.value.what in ("winrm.no_kerberos", "winrm.denied")
        assert "NTLM without TLS proves no server" in caught.value.next
        assert f"{winrm.NTLM}={winrm.WITHOUT_TLS}" in caught.value.next
        assert not any(b"NTLMSSP" in proof for proof in server.proofs)

        monkeypatch.setenv(winrm.NTLM, winrm.WITHOUT_TLS)
        with pytest.raises(HostError) as caught:
            WinRmSession(windows(server.port)).run(["x"])
        assert caught.value.what == "winrm.denied"
        assert any(b"NTLMSSP" in proof for proof in server.proofs)


@pytest.mark.parametrize("value", ["", "yes", "0"])
def test_ntlm_is_asked_for_by_one_word_alone(value: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(winrm.PASSWORD, WORD)
    monkeypatch.setenv(winrm.NTLM, value)
    with pytest.raises(InputError) as caught:
        connection_options(windows(5985))
    assert caught.value.where == winrm.NTLM
