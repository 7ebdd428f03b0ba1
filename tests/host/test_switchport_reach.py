"""Switches by name, and a real session by SSH: netmiko types at a described OS6 over a socket."""

import asyncio
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import asyncssh
import pytest

sys.path.append(str(Path(__file__).parents[1] / "steps"))
from described_switch import DescribedSwitch, switch

from wirespeed.facts.switchport import COMMANDS, Switches
from wirespeed.host.reach import Errand, Told, Unreachable, reach
from wirespeed.host.reach_destination import SwitchHost, parse_destination
from wirespeed.host.switch import PASSWORD, SwitchSession
from wirespeed.model.capture import MAGIC, parse_capture
from wirespeed.model.error import HostError, InputError
from wirespeed.model.switch_kind import SwitchKind

SAMPLES = Path(__file__).parents[1] / "facts" / "samples" / "switchport"
SECRET = "of-the-test"  # noqa: S105


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


class Server:
    """An SSH server whose shell is a described switch, with prompts as OS6 has them."""

    def __init__(self, described: DescribedSwitch, answers: dict[str, str]) -> None:
        self.switch, self.answers, self.port, self.key = described, answers, 0, ""
        self.typed: list[str] = []
        self._ready = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> "Server":
        self._thread.start()
        assert self._ready.wait(20)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(20)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._listen())
        self._loop.run_forever()
        tasks = asyncio.all_tasks(self._loop)
        for task in tasks:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))

    async def _listen(self) -> None:
        key = asyncssh.generate_private_key("ssh-ed25519")
        self.key = key.export_public_key().decode().strip()

        class Login(asyncssh.SSHServer):
            def password_auth_supported(self) -> bool:
                return True

            def validate_password(self, username: str, password: str) -> bool:
                return (username, password) == ("admin", SECRET)

        server = await asyncssh.create_server(
            Login, "127.0.0.1", 0, server_host_keys=[key], process_factory=self._shell,
            line_editor=False,
        )  # fmt: skip
        self.port = server.get_port()
        self._ready.set()

    def _prompt(self) -> str:
        mode = {"exec": "", "config": "(config)"}.get(self.switch.mode)
        return f"sw1{'(config-if-' + self.switch.mode + ')' if mode is None else mode}#"

    async def _shell(self, process: asyncssh.SSHServerProcess[str]) -> None:
        process.stdout.write("\r\n" + self._prompt())
        line = ""
        while text := await process.stdin.read(1):
            if text not in "\r\n":
                line += text
                continue
            said = self._answer(line.strip())
            process.stdout.write(f"{line}\r\n" + said.replace("\n", "\r\n") + self._prompt())
            line = ""
        process.exit(0)

    def _answer(self, line: str) -> str:
        if line in ("", "terminal length 0", "enable", "terminal width 511"):
            return ""
        self.typed.append(line)
        return self.answers[line] if line in self.answers else self.switch.type(line)


@contextmanager
def server(monkeypatch: pytest.MonkeyPatch, home: Path) -> Iterator[Server]:
    answers = {
        "show interfaces status": (SAMPLES / "os6_status.txt").read_text(),
        "show lldp remote-device all": (SAMPLES / "os6_lldp.txt").read_text(),
    }
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    monkeypatch.setenv(PASSWORD, SECRET)
    with Server(switch(SwitchKind.DELL_OS6), answers) as found:
        (home / ".ssh").mkdir(mode=0o700)
        line = f"[127.0.0.1]:{found.port} {found.key}\n"
        (home / ".ssh" / "known_hosts").write_text(line)
        yield found


def place_of(found: Server) -> SwitchHost:
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


def test_the_switchports_of_a_switch_are_one_capture(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    with server(monkeypatch, tmp_path) as found:
        errand = Errand(script="", begins=MAGIC, switch=COMMANDS)
        (told,) = reach([place_of(found)], errand)
        assert isinstance(told, Told), told
    read = Switches.parse(parse_capture(told.text, "x")).by_name["127.0.0.1"]
    assert read.port("Te1/0/2").name == "Te1/0/2"
    assert found.typed == list(COMMANDS[SwitchKind.DELL_OS6].values())


def test_a_switch_with_a_strange_key_or_another_password_is_refused_before_its_switchports_are_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    with server(monkeypatch, tmp_path) as found:
        errand = Errand(script="", begins=MAGIC, switch=COMMANDS)
        monkeypatch.setenv(PASSWORD, "wrong")
        (told,) = reach([place_of(found)], errand)
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
