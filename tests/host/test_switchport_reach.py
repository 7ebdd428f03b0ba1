"""Switches by name, and a real session by SSH: netmiko types at a described OS6 over a socket."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from described_switch import switch
from switch_server import SECRET, SwitchServer, served

from wirespeed.host.capture_request import CaptureRequest, Unreachable
from wirespeed.host.reach_destination import SwitchHost, parse_destination
from wirespeed.host.switch import PASSWORD, SwitchSession
from wirespeed.model.capture import MAGIC
from wirespeed.model.error import HostError, InputError
from wirespeed.model.switch_kind import SwitchKind
from wirespeed.platforms.switch.facts.switchport import COMMANDS
from wirespeed.runs.reach import reach


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("switch+dell_os6://sw1", SwitchHost("", SwitchKind.DELL_OS6, "sw1")),
        (
            "switch+nxos://admin@10.0.0.1:2222/Ethernet1/1",
            SwitchHost("", SwitchKind.NXOS, "10.0.0.1", "admin", 2222, "Ethernet1/1"),
        ),
        (
            "switch+dell_os10://[fd00::1]/ethernet1/1/1:2",
            SwitchHost("", SwitchKind.DELL_OS10, "fd00::1", switchport="ethernet1/1/1:2"),
        ),
        (
            "switch+cumulus://sw1/swp1s0",
            SwitchHost("", SwitchKind.CUMULUS, "sw1", switchport="swp1s0"),
        ),
    ],
)
def test_a_switch_and_its_switchport_are_named(text: str, found: SwitchHost):
    place = parse_destination(text)
    assert isinstance(place, SwitchHost)
    assert (place.kind, place.host, place.user, place.port, place.switchport) == (
        found.kind, found.host, found.user, found.port, found.switchport,
    )  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "switch+abacus://sw1",
        "switch+nxos://sw1/Eth1;reload",
        "switch+nxos://-oProxyCommand=x",
        "switch+nxos://a:b@sw1",
        "switch+nxos://sw1:99999",
        "switch+nxos://",
    ],
)
def test_no_switchport_is_named_so(text: str):
    with pytest.raises(InputError, match=r"destination\.invalid"):
        parse_destination(text)


@contextmanager
def server(monkeypatch: pytest.MonkeyPatch, home: Path) -> Iterator[SwitchServer]:
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    monkeypatch.setenv(PASSWORD, SECRET)
    found = SwitchServer(switch(SwitchKind.DELL_OS6))
    with served(home, found):
        yield found


def place_of(found: SwitchServer) -> SwitchHost:
    place = parse_destination(f"switch+dell_os6://admin@127.0.0.1:{found.port}")
    assert isinstance(place, SwitchHost)
    return place


def test_a_switchport_is_configured_by_a_real_session(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    with server(monkeypatch, tmp_path) as found, closing(SwitchSession(place_of(found))) as session:
        lines = ["configure", "interface Te1/0/1", "speed 10000", "end"]
        assert [answer.strip() for answer in session.type(lines)] == [""] * 4
        (shown,) = session.type(["show running-config interface Te1/0/1"])
        assert shown.strip() == "speed 10000"
        refused = session.type(["configure", "interface Te1/0/1", "speed 7", "end"])
        assert len(refused) == 3 and "Invalid input" in refused[-1]
        assert found.typed[-1] == "speed 7"


def test_a_switch_with_a_strange_key_or_another_password_is_refused_before_its_switchports_are_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    with server(monkeypatch, tmp_path) as found:
        request = CaptureRequest(script="", begins=MAGIC, switch=COMMANDS)
        monkeypatch.setenv(PASSWORD, "wrong")
        (told,) = reach([place_of(found)], request)
        assert isinstance(told, Unreachable) and told.error.what == "switch.refused"
        monkeypatch.setenv(PASSWORD, SECRET)
        (tmp_path / ".ssh" / "known_hosts").write_text("")
        with (
            pytest.raises(HostError, match=r"switch\.refused") as caught,
            closing(SwitchSession(place_of(found))) as session,
        ):
            session.type(["show interfaces status"])
        assert "known_hosts" in caught.value.found
        assert found.typed == []


def test_a_switch_that_is_not_there_was_told_nothing_of_its_switchport(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv(PASSWORD, SECRET)
    place = parse_destination("switch+nxos://admin@127.0.0.1:1")
    assert isinstance(place, SwitchHost)
    with pytest.raises(HostError, match=r"switch\.unreachable"):
        SwitchSession(place).type(["show version"])
