"""Every kind of switch by a real SSH session: its prompts, its pager, its refusals, its deaths."""

import socket
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from copy import deepcopy
from pathlib import Path
from typing import TypeVar

import pytest
from described_switch import PORTS, switch
from sshd import listening
from switch_server import SECRET, SwitchServer, served
from test_switchport import EXPECTED, FILES, row, text_of

from wirespeed.apply.executor import Executor
from wirespeed.apply.planner import make_plan
from wirespeed.host import switch as host_switch
from wirespeed.host.capture_request import Captured, CaptureRequest
from wirespeed.host.reach_destination import SwitchHost, parse_destination
from wirespeed.host.switch import PASSWORD, SwitchSession
from wirespeed.model.capture import MAGIC, parse_capture
from wirespeed.model.error import ApplyError, HostError
from wirespeed.model.journal import Entry
from wirespeed.model.observed import Absent, Known
from wirespeed.model.switch_kind import SwitchKind
from wirespeed.platforms.switch.control import SwitchControl
from wirespeed.platforms.switch.facts.switchport import COMMANDS, COUNTED, Switches
from wirespeed.platforms.switch.save import save, unsaved
from wirespeed.platforms.switch.steps.switchport_link import SwitchportLink
from wirespeed.runs.reach import reach

FAULTS = ("refused", "hangs", "lost", "restarts")
NAME = "the switch"
ONCE = Absent("", "read once")
T = TypeVar("T")
LINUX = (SwitchKind.SONIC, SwitchKind.CUMULUS)
SET: dict[SwitchKind, dict[str, str]] = {
    SwitchKind.DELL_OS6: {"speed": "10000"},
    SwitchKind.DELL_OS9: {"speed": "10000"},
    SwitchKind.DELL_OS10: {"speed": "10000", "negotiation": "off"},
    SwitchKind.SONIC: {"autoneg": "off", "speed": "10000"},
    SwitchKind.CUMULUS: {"auto-negotiate": "off", "speed": "10G"},
    SwitchKind.EOS: {"speed": "forced 10gfull"},
    SwitchKind.NXOS: {"speed": "10000", "no negotiate auto": ""},
}
"""What a port has that is set to 10 Gb/s, beside what it had."""


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    monkeypatch.setenv(PASSWORD, SECRET)
    return tmp_path


def place_of(server: SwitchServer) -> SwitchHost:
    place = parse_destination(f"switch+{server.switch.kind}://admin@127.0.0.1:{server.port}")
    assert isinstance(place, SwitchHost)
    return place


def at_once(act: Callable[[SwitchServer], T], servers: Iterable[SwitchServer]) -> list[T]:
    """Do it at all of them at once: most of the time is netmiko's waiting."""
    every = list(servers)
    with ThreadPoolExecutor(len(every)) as pool:
        return list(pool.map(act, every))


def forced(server: SwitchServer) -> SwitchportLink:
    kind = server.switch.kind
    return SwitchportLink(kind=kind, port=PORTS[kind], link_mbit_per_s=10000)


def test_the_switchports_of_every_kind_are_read_by_a_session_whole_and_not_by_pages(home: Path):
    servers = [
        SwitchServer(
            switch(kind),
            {line: text_of(FILES[kind][key]) for key, line in COMMANDS[kind].items()},
        )
        for kind in SwitchKind
    ]

    def told(server: SwitchServer) -> str:
        request = CaptureRequest(
            script="", begins=MAGIC, switch=COMMANDS, switch_again=COUNTED, again_s=1
        )
        (found,) = reach([place_of(server)], request)
        assert isinstance(found, Captured), found
        return found.text

    with served(home, *servers):
        texts = at_once(told, servers)
    for kind, text in zip(SwitchKind, texts, strict=True):
        capture = parse_capture(text, kind)
        assert capture.complete
        read = Switches.parse(capture).by_name["127.0.0.1"]
        assert isinstance(read.ports, Known), (kind, read.ports)
        assert {port.name: row(port) for port in read.ports.value} == EXPECTED[kind]
        # What has counters was read twice, and the same again.
        is_counted = kind in COUNTED
        assert read.seconds == (1 if is_counted else 0)
        assert read.later == (read.ports if is_counted else ONCE), kind


def test_a_switchport_of_every_kind_is_set_saved_and_put_back_by_a_session(home: Path):
    servers = [SwitchServer(switch(kind)) for kind in SwitchKind]
    starts = deepcopy([server.switch.ports for server in servers])

    def set_and_put_back(server: SwitchServer) -> dict[str, dict[str, str]]:
        port = PORTS[server.switch.kind]
        with closing(SwitchSession(place_of(server))) as session:
            control, step = SwitchControl(session), forced(server)
            plan = make_plan([(NAME, step, control.read([step])[0])])
            journal: list[Entry] = []
            Executor(plan, {NAME: control}, journal.append, lambda: "now").apply()
            assert save(session, port, NAME)
            assert unsaved(session, port, NAME) == ()
            set_to = deepcopy(server.switch.ports)
            Executor(plan, {NAME: control}, journal.append, lambda: "now", tuple(journal)).undo()
        return set_to

    with served(home, *servers):
        after = at_once(set_and_put_back, servers)
    for server, start, set_to in zip(servers, starts, after, strict=True):
        assert set_to != start, server.switch.kind
        assert server.switch.ports == start, server.switch.kind
        assert server.switch.saved == set_to, server.switch.kind


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_in_a_session_leaves_a_switchport_of_every_kind_set_or_as_it_was(
    home: Path, monkeypatch: pytest.MonkeyPatch, fault: str
):
    monkeypatch.setattr(host_switch, "ANSWER_S", 4.0)
    # Three lines read: for the plan, before the first step, before this one. Of what is typed then,
    # another one fails with each kind.
    servers = [
        SwitchServer(switch(kind), fault=fault, at=3 + number % (2 if kind in LINUX else 4))
        for number, kind in enumerate(SwitchKind)
    ]
    starts = deepcopy([server.switch.ports for server in servers])

    def tried(server: SwitchServer) -> str:
        with closing(SwitchSession(place_of(server))) as session:
            control, step = SwitchControl(session, reconnect_s=30, pause_s=0.1), forced(server)
            plan = make_plan([(NAME, step, control.read([step])[0])])
            try:
                Executor(plan, {NAME: control}, lambda _: None, lambda: "now").apply()
            except (ApplyError, HostError) as error:
                return error.what
        return ""

    with served(home, *servers):
        whys = at_once(tried, servers)
    for server, start, why in zip(servers, starts, whys, strict=True):
        goal = deepcopy(start)
        goal[PORTS[server.switch.kind]].update(SET[server.switch.kind])
        assert server.switch.ports == (start if why else goal), (server.switch.kind, why)
        assert server.at < len(server.typed)
    # What is refused, and what is gone with a restart, is no success.
    assert all(whys) or fault in ("hangs", "lost")


@pytest.mark.usefixtures("home")
def test_what_breaks_a_switchport_session_is_said_by_us_and_by_no_library(
    caplog: pytest.LogCaptureFixture,
):
    """Where nobody asks for a library's log, Python prints it to the terminal, as it came."""

    def say_rubbish(connection: socket.socket) -> None:
        connection.sendall(b"SSH-2.0-evil\r\n" + b"AAAA\x1b]0;owned\x07" * 10)
        connection.recv(1 << 16)

    with listening(say_rubbish) as port, pytest.raises(HostError) as caught:
        SwitchSession(SwitchHost("sw", SwitchKind.EOS, "127.0.0.1", "admin", port)).type(["x"])
    assert caught.value.what == "switch.unreachable"
    assert "Invalid packet" in caught.value.found
    assert caplog.text == ""
