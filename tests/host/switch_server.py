"""Described switches behind a real SSH server, with the prompts and the pager of each kind.

Netmiko logs in, types and reads as it would at a switch. A line that the kind does not know is
refused in its words; one that no test foresaw is kept in `strange`, which must be empty.
"""

import asyncio
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import asyncssh
from described_switch import REFUSED, DescribedSwitch
from proof import UnknownCommandError

from wirespeed.model.switch_kind import SwitchKind

K = SwitchKind
SECRET = "of-the-test"  # noqa: S105
LINUX = (K.SONIC, K.CUMULUS)
SHORT = {K.DELL_OS9: "te-1/1", K.DELL_OS10: "eth1/1/1", K.EOS: "Et1"}
PROMPTS = {
    K.DELL_OS6: ("sw1{}", "(config)", "(config-if-Te1/0/1)"),
    K.DELL_OS9: ("sw1{}", "(conf)", "(conf-if-te-1/1)"),
    K.DELL_OS10: ("sw1{}", "(config)", "(conf-if-eth1/1/1)"),
    K.EOS: ("sw1{}", "(config)", "(config-if-Et1)"),
    K.NXOS: ("sw1{}", "(config)", "(config-if)"),
    K.SONIC: ("admin@sw1:~{}", "", ""),
    K.CUMULUS: ("cumulus@sw1:mgmt:~{}", "", ""),
}
"""The prompt, and what stands in it in the midst of a configuration, and of a port's."""
GREETS = {
    K.NXOS: "Cisco Nexus Operating System (NX-OS) Software\nTAC support: http://www.cisco.com/tac\n",
    # With a `#` before any prompt, as uname prints it.
    K.SONIC: "Linux sw1 5.10.0-18-2-amd64 #1 SMP Debian 5.10.140-1 x86_64\nYou are on\n"
    "-- Software for Open Networking in the Cloud --\n\nHelp:    http://azure.github.io/SONiC/\n\n",
    K.CUMULUS: "Linux sw1 5.10.0-cl-1-amd64 #1 SMP Debian 5.10.162-1+cl5.4.0u1 x86_64\n\n"
    "Welcome to NVIDIA Cumulus (R) Linux (R)\n\n",
}
UNPRIVILEGED = (K.DELL_OS6, K.DELL_OS9, K.EOS)
"""Kinds that let one in as a user, before `enable`."""
SAYS = {
    (K.EOS, "terminal width 511"): "Width set to 511 columns.\n",
    (K.EOS, "terminal length 0"): "Pagination disabled.\n",
    (K.NXOS, "terminal width 511"): "",
}
SAVES = {
    K.DELL_OS6: "copy running-config startup-config",
    K.DELL_OS9: "write memory",
    K.DELL_OS10: "copy running-configuration startup-configuration",
    K.EOS: "copy running-config startup-config",
    K.NXOS: "copy running-config startup-config",
}
"""What saves a running configuration; OS6 asks back."""
ASKS = "This operation may take a few minutes.\n\nAre you sure you want to save? (y/n) "
PAGE_LINES = 5
MORE = "--More-- or (q)uit"


@dataclass
class Seat:
    """What one session has of its own."""

    privileged: bool
    paged: bool


@dataclass
class SwitchServer:
    """One switch; line number `at` of those that are typed has `fault`, as in DescribedSession."""

    switch: DescribedSwitch
    answers: dict[str, str] = field(default_factory=dict)
    fault: str = ""
    at: int = -1
    port: int = 0
    typed: list[str] = field(default_factory=list)
    strange: list[str] = field(default_factory=list)
    away: int = 0
    """Logins that are turned away: it has not come up yet."""

    async def serve(self, process: asyncssh.SSHServerProcess[str]) -> None:
        """Be the shell of one session."""
        kind = self.switch.kind
        seat = Seat(kind not in UNPRIVILEGED, kind not in LINUX)
        self.switch.mode, self.switch.pending = "exec", None
        process.stdout.write(self._lines(GREETS.get(kind, "")))
        await asyncio.sleep(0.05)
        process.stdout.write(self._prompt(seat))
        line = ""
        while text := await process.stdin.read(1):
            if text not in "\r\n":
                line += text
                continue
            process.stdout.write(f"{line}\r\n")
            if not await self._answered(process, seat, line.strip()):
                break
            process.stdout.write(self._prompt(seat))
            line = ""
        process.exit(0)

    async def _answered(
        self, process: asyncssh.SSHServerProcess[str], seat: Seat, line: str
    ) -> bool:
        """Answer a line; tell whether the session goes on."""
        if line == "":
            return True
        if line in ("exit", "logout"):
            return False
        kind = self.switch.kind
        if line == "enable" and kind not in LINUX:
            if not seat.privileged and kind is K.DELL_OS9:
                process.stdout.write("Password: ")
                seat.privileged = await process.stdin.readline() == f"{SECRET}\n"
                process.stdout.write("\r\n")
            seat.privileged |= kind is not K.DELL_OS9
            return True
        if line == "terminal length 0" and kind not in LINUX:
            seat.paged = False
        if (kind, line) in SAYS or line == "terminal length 0":
            process.stdout.write(self._lines(SAYS.get((kind, line), "")))
            return True
        if line == SAVES.get(kind):
            return await self._saved(process, line)
        said = self._said(line)
        if said is None:
            # Nothing comes any more, or the connection is gone.
            if self.fault == "hangs":
                await asyncio.sleep(3600)
            process.channel.get_connection().abort()
            return False
        await self._shown(process, seat, said)
        return True

    async def _saved(self, process: asyncssh.SSHServerProcess[str], line: str) -> bool:
        self.typed.append(line)
        if self.switch.kind is K.DELL_OS6:
            process.stdout.write(self._lines(ASKS))
            if await process.stdin.read(1) != "y":
                return True
            process.stdout.write("y\r\n")
            assert await process.stdin.read(1) in "\r\n"
        process.stdout.write(self._lines(self.switch.save()))
        return True

    def _said(self, line: str) -> str | None:
        number = len(self.typed)
        self.typed.append(line)
        fault = self.fault if number == self.at else ""
        if fault == "hangs":
            return None
        if fault == "restarts":
            self.switch.restart()
            self.away = 1
            return None
        if fault == "refused":
            return REFUSED.get(self.switch.kind, "Error: refused\n")
        if line in self.answers:
            return self.answers[line]
        try:
            said = self.switch.type(line)
        except (UnknownCommandError, AssertionError, KeyError) as error:
            self.strange.append(f"{line}: {error!r}")
            said = REFUSED.get(self.switch.kind, "Error: no such command\n")
        if line == "configure terminal" and self.switch.kind is K.NXOS:
            said += "Enter configuration commands, one per line. End with CNTL/Z.\n"
        return None if fault == "lost" else said

    async def _shown(self, process: asyncssh.SSHServerProcess[str], seat: Seat, said: str) -> None:
        lines = said.splitlines(keepends=True)
        while seat.paged and len(lines) > PAGE_LINES:
            process.stdout.write(self._lines("".join(lines[:PAGE_LINES])) + MORE)
            lines = lines[PAGE_LINES:]
            if await process.stdin.read(1) in ("q", ""):
                return
        process.stdout.write(self._lines("".join(lines)))

    def _prompt(self, seat: Seat) -> str:
        kind, mode = self.switch.kind, self.switch.mode
        name, in_config, in_port = PROMPTS[kind]
        inside = {"exec": "", "config": in_config}.get(mode, in_port)
        if kind in LINUX:
            return name.format("$ ")
        sign = "#" if seat.privileged else ">"
        return name.format(inside + sign) + (" " if kind in (K.NXOS, K.DELL_OS10) else "")

    def _lines(self, text: str) -> str:
        return re.sub(r"\r?\n", "\r\n", text)


@contextmanager
def served(home: Path, *servers: SwitchServer) -> Iterator[None]:
    """Run the servers, each at a port of its own, with keys that `home` knows."""
    ready, loop = threading.Event(), asyncio.new_event_loop()
    key = asyncssh.generate_private_key("ssh-ed25519")

    def run() -> None:
        asyncio.set_event_loop(loop)
        for one in servers:
            loop.run_until_complete(_listen(one, key))
        ready.set()
        loop.run_forever()
        tasks = asyncio.all_tasks(loop)
        for task in tasks:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    assert ready.wait(20)
    (home / ".ssh").mkdir(mode=0o700)
    public = key.export_public_key().decode().strip()
    known = "".join(f"[127.0.0.1]:{one.port} {public}\n" for one in servers)
    (home / ".ssh" / "known_hosts").write_text(known)
    try:
        yield
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(20)
    assert [one.strange for one in servers] == [[]] * len(servers)


async def _listen(served: SwitchServer, key: asyncssh.SSHKey) -> None:
    class Login(asyncssh.SSHServer):
        def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
            if served.away:
                served.away -= 1
                conn.abort()

        def password_auth_supported(self) -> bool:
            return True

        def validate_password(self, username: str, password: str) -> bool:
            return (username, password) == ("admin", SECRET)

    listener = await asyncssh.create_server(
        Login, "127.0.0.1", 0, server_host_keys=[key], process_factory=served.serve,
        line_editor=False,
    )  # fmt: skip
    served.port = listener.get_port()
