from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wirespeed.host.reach_destination import (
    Destination,
    Here,
    Recorded,
    Remote,
    parse_destination,
    parse_jump,
)
from wirespeed.model.error import InputError


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "alpha").write_text("a capture that is called like a host")
    (tmp_path / "folder").mkdir()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("here", Here()),
        ("beta", Remote("beta", "beta")),
        ("root@beta.example", Remote("root@beta.example", "beta.example", "root")),
        ("192.0.2.1", Remote("192.0.2.1", "192.0.2.1")),
        ("2001:db8::1", Remote("2001:db8::1", "2001:db8::1")),
        ("fe80::1%enp3s0", Remote("fe80::1%enp3s0", "fe80::1%enp3s0")),
        ("root@2001:db8::1", Remote("root@2001:db8::1", "2001:db8::1", "root")),
        ("ssh://beta", Remote("ssh://beta", "beta")),
        ("ssh://beta/", Remote("ssh://beta/", "beta")),
        ("ssh://root@beta:2222", Remote("ssh://root@beta:2222", "beta", "root", 2222)),
        ("ssh://[2001:db8::1]:22", Remote("ssh://[2001:db8::1]:22", "2001:db8::1", None, 22)),
        ("DOMAIN\\admin@beta", Remote("DOMAIN\\admin@beta", "beta", "DOMAIN\\admin")),
        ("me@corp.example@beta", Remote("me@corp.example@beta", "beta", "me@corp.example")),
        ("captures/beta.txt", Recorded("captures/beta.txt", Path("captures/beta.txt"))),
        ("./here", Recorded("./here", Path("here"))),
        (".hidden", Recorded(".hidden", Path(".hidden"))),
        # A file that exists wins; the host of that name is still there to be asked for.
        ("alpha", Recorded("alpha", Path("alpha"))),
        ("ssh://alpha", Remote("ssh://alpha", "alpha")),
        ("folder", Remote("folder", "folder")),
    ],
)
def test_what_a_destination_names(text: str, expected: Destination):
    assert parse_destination(text) == expected


def test_a_tilde_is_the_home_folder(tmp_path: Path):
    assert parse_destination("~/x.txt") == Recorded("~/x.txt", tmp_path / "x.txt")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "-oProxyCommand=id",
        "beta;id",
        "$(id)",
        "`id`@beta",
        "-l@beta",
        "be ta",
        "beta\x1b[2J",
        "beta:22",
        "@beta",
        "root@",
        "ssh://",
        "ssh://beta:0",
        "ssh://beta:65536",
        "ssh://beta:port",
        "ssh://root:secret@beta",
        "ssh://beta/etc/passwd",
        "ssh://[beta",
        "fe80::1%$(id)",
        "~no-such-user-here/x",
    ],
)
def test_what_no_host_can_be_called_is_refused(text: str):
    with pytest.raises(InputError) as error:
        parse_destination(text)
    assert error.value.what == "destination.invalid"
    assert "\x1b" not in error.value.where


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("gate", ("gate", None, None)),
        ("me@gate:2222", ("gate", "me", 2222)),
        ("ssh://me@gate:2222", ("gate", "me", 2222)),
        ("[2001:db8::1]:22", ("2001:db8::1", None, 22)),
    ],
)
def test_a_jump_host_may_have_its_port_behind_a_colon(
    text: str, expected: tuple[str, str | None, int | None]
):
    jump = parse_jump(text)
    assert (jump.host, jump.user, jump.port) == expected


@given(st.text())
def test_any_text_is_a_destination_or_bad_input(text: str):
    try:
        parse_destination(text)
    except InputError as error:
        assert error.what == "destination.invalid"
