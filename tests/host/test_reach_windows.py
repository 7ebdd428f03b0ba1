"""Ways to Windows: what is sent by each, and what is said where there is none."""

import base64
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import pypsrp.shell
import pypsrp.wsman
import pytest
import requests

from wirespeed.host import secret
from wirespeed.host.capture_request import Captured, CaptureRequest, Unreachable
from wirespeed.host.local import LocalRunner
from wirespeed.host.powershell import POWERSHELL, READ_AND_RUN, powershell_input, run_powershell
from wirespeed.host.reach_destination import WindowsHost, parse_destination
from wirespeed.host.runner import Completed
from wirespeed.host.winrm import CERTIFICATE, PASSWORD, WinRmSession, connection_options
from wirespeed.host.wsl import WSL, WslRunner
from wirespeed.model.error import HostError, InputError, MeasurementError
from wirespeed.runs.reach import reach

SCRIPT = "Get-NetAdapter -Name '이더넷 10'\r\n"
POWERSHELL_STAND_IN = """\
#!/bin/sh
# What Windows PowerShell gets: its words, and the script that is in its input.
printf '%s\\n' "$@"
tr -d '\\n' | base64 -d
"""


@pytest.fixture
def interop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "powershell.exe").write_text(POWERSHELL_STAND_IN)
    (tmp_path / "powershell.exe").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")


@pytest.mark.usefixtures("interop")
def test_a_script_comes_to_powershell_as_it_is_letter_for_letter():
    done = run_powershell(LocalRunner(), SCRIPT)
    *words, encoded = POWERSHELL[1:]
    assert done.output == "\n".join([*words, encoded]) + "\n" + SCRIPT
    assert base64.b64decode(encoded).decode("utf-16-le") == READ_AND_RUN


def test_no_shell_on_the_way_finds_anything_to_expand():
    assert all(re.fullmatch(r"[A-Za-z0-9.=+/-]+", word) for word in POWERSHELL)
    assert powershell_input(SCRIPT * 1000).isascii()
    assert max(map(len, powershell_input(SCRIPT * 1000).splitlines())) <= 1000


def test_a_linux_that_is_no_wsl_says_so(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(InputError) as caught:
        run_powershell(LocalRunner(), SCRIPT)
    assert caught.value.what == "wsl.no_interop"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("winrm://desk", WindowsHost("winrm://desk", "winrm", "desk")),
        (
            "winrm://CORP\\ann@desk:5985",
            WindowsHost("winrm://CORP\\ann@desk:5985", "winrm", "desk", "CORP\\ann", 5985),
        ),
        ("winssh://ann@[fe80::1]:22",
         WindowsHost("winssh://ann@[fe80::1]:22", "winssh", "fe80::1", "ann", 22)),
    ],
)  # fmt: skip
def test_a_windows_host_is_named_by_its_scheme(text: str, expected: WindowsHost):
    assert parse_destination(text) == expected


@pytest.mark.parametrize("text", ["winrm://", "winrm://a:b@c", "winssh://a b", "winrm://x:99999"])
def test_what_names_no_windows_host_is_shown_as_it_was_written(text: str):
    with pytest.raises(InputError) as caught:
        parse_destination(text)
    assert caught.value.where == text


PLACE = WindowsHost("winrm://ann@desk", "winrm", "desk", "ann")


class DescribedShell:
    """A remote shell of WinRM: strict, and stateful per process."""

    def __init__(self, wsman: object, codepage: int, no_profile: bool) -> None:
        assert (codepage, no_profile) == (65001, True)

    def __enter__(self) -> "DescribedShell":
        return self

    def __exit__(self, *_: object) -> None:
        pass


class DescribedProcess:
    """A process that answers with its input, once the input has ended."""

    hangs: ClassVar[bool] = False
    signals: ClassVar[list[str]] = []

    def __init__(self, shell: DescribedShell, executable: str, arguments: list[str]) -> None:
        self.state, self.rc = pypsrp.shell.CommandState.PENDING, None
        self.stdout, self.stderr = b"", b""
        self._input, self._ended = b"", False

    def begin_invoke(self) -> None:
        self.state = pypsrp.shell.CommandState.RUNNING

    def send(self, data: bytes, end: bool) -> None:
        assert not self._ended and len(data) <= 48 << 10
        self._input, self._ended = self._input + data, end

    def poll_invoke(self, timeout: int) -> None:
        assert self._ended, "the host waits for more input"
        if not self.hangs:
            self.state, self.rc, self.stdout = pypsrp.shell.CommandState.DONE, 0, self._input

    def signal(self, code: str) -> None:
        self.signals.append(code)


@pytest.fixture
def described(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PASSWORD, "s3cret")
    monkeypatch.setattr(pypsrp.shell, "WinRS", DescribedShell)
    monkeypatch.setattr(pypsrp.shell, "Process", DescribedProcess)
    monkeypatch.setattr(DescribedProcess, "hangs", False)
    monkeypatch.setattr(DescribedProcess, "signals", [])


@pytest.mark.usefixtures("described")
def test_a_long_script_goes_in_pieces_and_comes_whole():
    script = SCRIPT * 10_000
    done = run_powershell(WinRmSession(PLACE), script)
    assert base64.b64decode(done.output).decode() == script


@pytest.mark.usefixtures("described")
def test_a_process_that_hangs_is_ended(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(DescribedProcess, "hangs", True)
    with pytest.raises(MeasurementError) as caught:
        WinRmSession(PLACE).run(POWERSHELL, stdin="", timeout_s=0.01)
    assert caught.value.what == "command.timeout"
    assert DescribedProcess.signals == [pypsrp.shell.SignalCode.TERMINATE]


@pytest.mark.usefixtures("described")
def test_what_went_wrong_on_the_way_is_said(monkeypatch: pytest.MonkeyPatch):
    for raised, slug in (
        (requests.exceptions.SSLError("self-signed"), "winrm.certificate"),
        (requests.exceptions.ConnectionError("refused"), "winrm.unreachable"),
        (pypsrp.exceptions.AuthenticationError("401"), "winrm.denied"),
        (pypsrp.exceptions.WSManFaultError(1, None, "busy", None, None, None), "winrm.failed"),
    ):

        def begin(_: DescribedProcess, raised: Exception = raised) -> None:
            raise raised

        monkeypatch.setattr(DescribedProcess, "begin_invoke", begin)
        with pytest.raises(HostError) as caught:
            WinRmSession(PLACE).run(POWERSHELL)
        assert caught.value.what == slug
        assert "s3cret" not in str(caught.value)


def test_https_with_its_certificate_checked_unless_the_messages_are_encrypted(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setenv(PASSWORD, "a")
    secure = connection_options(PLACE)
    assert (secure["port"], secure["ssl"], secure["cert_validation"]) == (5986, True, True)
    plain = connection_options(WindowsHost("x", "winrm", "desk", "ann", 5985))
    assert (plain["ssl"], plain["encryption"], plain["auth"]) == (False, "always", "kerberos")
    assert connection_options(WindowsHost("x", "winrm", "desk"))["auth"] == "kerberos"
    monkeypatch.setenv(CERTIFICATE, "/etc/me.pem")
    assert connection_options(PLACE)["auth"] == "certificate"


def test_a_password_is_asked_for_at_a_terminal_alone(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv(PASSWORD, raising=False)
    monkeypatch.setattr(secret, "_taken", {})
    with pytest.raises(InputError) as caught:
        connection_options(WindowsHost("winrm://bob@desk", "winrm", "desk", "bob"))
    assert caught.value.what == "winrm.no_password"


def test_without_the_library_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(__import__("sys").modules, "pypsrp", None)
    (result,) = reach([PLACE], CaptureRequest("", "", powershell="x"))
    assert isinstance(result, Unreachable)
    assert result.error.what == "windows.library"
    assert "pypsrp" in result.error.next


@pytest.mark.usefixtures("described")
def test_a_windows_host_is_told_of_and_another_kind_of_script_is_not_run_there():
    encoded = base64.b64encode(b"begin").decode()
    (result,) = reach([PLACE], CaptureRequest("", encoded, powershell="begin"))
    assert isinstance(result, Captured)
    (result,) = reach([PLACE], CaptureRequest("echo begin", "begin"))
    assert isinstance(result, Unreachable)
    assert result.error.what == "host.windows"
    (result,) = reach([PLACE], CaptureRequest("", "another", powershell="begin"))
    assert isinstance(result, Unreachable)
    assert result.error.what == "host.no_answer"


def test_linux_below_windows_gets_plain_words_alone():
    class Runner:
        def run(self, argv: Sequence[str], **_: object) -> Completed:
            return Completed(argv=tuple(argv), output="", errors="", returncode=0, duration_s=0)

    assert WslRunner(Runner()).run(("sh", "-s")).argv == (*WSL, "sh", "-s")
    with pytest.raises(AssertionError, match="script"):
        WslRunner(Runner()).run(("sh", "-c", "echo & calc"))
