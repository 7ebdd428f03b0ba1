"""A session at a switch, by SSH: lines are typed, and what is printed is given back.

Netmiko types them, which knows the prompts of each kind. Keys of the agent and of ~/.ssh are
tried, then WIRESPEED_SWITCH_PASSWORD, then the user is asked where there is a terminal; a password
is in no argument and no file of ours. A switch whose host key is not in ~/.ssh/known_hosts is
refused.
"""

import getpass
import logging
import re
import sys
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wirespeed.host.clock import sleep_s
from wirespeed.host.closing import Closing
from wirespeed.host.extras import how_to_add
from wirespeed.host.files import is_file
from wirespeed.host.reach_destination import SwitchHost
from wirespeed.host.secret import SWITCH_PASSWORD as PASSWORD
from wirespeed.host.secret import password
from wirespeed.model.capture import MAGIC, VERSION
from wirespeed.model.error import HostError, InputError
from wirespeed.model.shown import shown
from wirespeed.model.switch_kind import SwitchKind

DEVICE_TYPES = {
    SwitchKind.DELL_OS6: "dell_os6",
    SwitchKind.DELL_OS9: "dell_os9",
    SwitchKind.DELL_OS10: "dell_os10",
    SwitchKind.SONIC: "linux",
    SwitchKind.CUMULUS: "linux",
    SwitchKind.EOS: "arista_eos",
    SwitchKind.NXOS: "cisco_nxos",
}
"""Netmiko's own names; SONiC and Cumulus are Linux hosts with a shell."""
REFUSED = re.compile(
    r"^[ \t]*(?:% ?\S|\^[ \t\r]*$|ERROR\b|Error:|Usage: |sudo: |Invalid |An invalid |"
    r"fec \S+ is not in |Setting .* is not supported|\S.*: command not found)",
    re.M,
)
"""What a switch says of a line that it does not take; of FEC as SONiC's scripts/portconfig has it
(sonic-net/sonic-utilities, set_fec)."""
SAVE_LINES = {SwitchKind.SONIC: "sudo -n config save -y", SwitchKind.CUMULUS: "nv config save"}
KEYS = ("id_ed25519", "id_ecdsa", "id_rsa")
CONNECT_S = 20.0
ANSWER_S = 90.0
"""`nv config apply` takes tens of seconds."""
MAX_ANSWER = 8 << 20

# What it logs is in the exceptions too; a library does not write to the user's terminal.
logging.getLogger("paramiko").setLevel(logging.CRITICAL)


def is_refused(answer: str) -> bool:
    """Tell whether what is printed says that a line was not taken."""
    return REFUSED.search(answer) is not None


@dataclass(frozen=True, slots=True)
class _Library:
    """Netmiko, as far as it is used here."""

    connect: Any
    authentication: type[Exception]
    errors: tuple[type[Exception], ...]


def _library() -> _Library:
    """Load netmiko. Raises InputError `switch.library`."""
    try:
        import netmiko
        import paramiko
    except ImportError:
        raise InputError(
            "switch.library",
            where="netmiko",
            found="it is not installed",
            so="switches cannot be reached",
            next=how_to_add("switch"),
        ) from None
    errors = (
        netmiko.NetmikoTimeoutException,
        netmiko.ReadException,
        netmiko.ConfigInvalidException,
    )
    also = (paramiko.SSHException, OSError, EOFError, ValueError)
    return _Library(
        netmiko.ConnectHandler, netmiko.NetmikoAuthenticationException, (*errors, *also)
    )


class SwitchSession(Closing):
    """A connection to one switch, made when it is first needed."""

    def __init__(self, place: SwitchHost) -> None:
        self._place, self._connection = place, None
        self._library: _Library | None = None
        self._password = password(PASSWORD)

    @property
    def kind(self) -> SwitchKind:
        """What runs on the switch."""
        return self._place.kind

    def type(self, lines: Sequence[str]) -> list[str]:
        """Type lines up to the first that is refused; give what each printed.

        Raises HostError `switch.lost` where the session breaks or a line is not answered in time:
        what it did then is not known.
        """
        library = self._loaded()
        connection = self._connected(library)
        answers: list[str] = []
        prompt = re.escape(connection.base_prompt[:16]) + r"[^\n]{0,80}[#>$]\s*$"
        for line in lines:
            try:
                # Netmiko takes the whole last line for the prompt, and an answer may end in it.
                said = connection.send_command(
                    line, expect_string=prompt, read_timeout=ANSWER_S, strip_prompt=False
                )
            except library.errors as error:
                self.renew()
                raise self._lost(f"{line}: {error}") from None
            answers.append(re.sub(prompt, "", str(said)[:MAX_ANSWER]))
            if is_refused(answers[-1]):
                break
        return answers

    def save(self) -> str:
        """Save the whole running configuration, by the words of the kind; give what was printed.

        Raises HostError `switch.lost`.
        """
        line = SAVE_LINES.get(self.kind)
        if line is not None:
            return self.type([line])[0]
        library = self._loaded()
        connection = self._connected(library)
        try:
            # Netmiko knows the words of each kind, and what it asks back.
            return str(connection.save_config())[:MAX_ANSWER]
        except library.errors as error:
            self.renew()
            raise self._lost(f"saving: {error}") from None

    def renew(self) -> None:
        """Let the next line go by a connection that is made then."""
        self.close()

    def close(self) -> None:
        """End the session; a second call does nothing."""
        connection, self._connection = self._connection, None
        if connection is not None and self._library is not None:
            try:
                connection.disconnect()
            except self._library.errors:
                return

    def _loaded(self) -> _Library:
        if self._library is None:
            self._library = _library()
        return self._library

    def _connected(self, library: _Library) -> Any:
        if self._connection is None:
            try:
                self._connection = self._connect(library)
            except library.authentication as error:
                # Netmiko says so of a strange host key too, which no password mends.
                if self._password is not None or not sys.stdin.isatty():
                    raise self._refused(error) from None
                self._password = getpass.getpass(f"password for {self._place.text}: ")
                try:
                    self._connection = self._connect(library)
                except library.authentication as again:
                    raise self._refused(again) from None
        return self._connection

    def _connect(self, library: _Library) -> Any:
        place = self._place
        # Paramiko tries all of them then; netmiko wants to hear of one.
        found = (Path.home() / ".ssh" / name for name in KEYS)
        key = next((str(path) for path in found if is_file(path)), None)
        try:
            connection = library.connect(
                device_type=DEVICE_TYPES[place.kind],
                host=place.host,
                port=place.port or 22,
                username=place.user or getpass.getuser(),
                password=self._password,
                secret=self._password or "",
                use_keys=key is not None,
                key_file=key,
                allow_agent=True,
                ssh_strict=True,
                system_host_keys=True,
                conn_timeout=CONNECT_S,
            )
            if DEVICE_TYPES[place.kind] != "linux" and not connection.check_enable_mode():
                connection.enable()
        except library.authentication:
            raise
        except library.errors as error:
            if "known_hosts" in str(error):
                raise self._refused(error) from None
            raise HostError(
                "switch.unreachable",
                where=place.text,
                found=_first_line(error),
                so="no command was sent to it",
                next="check that the switch is up, and that its management address is reachable",
            ) from None
        return connection

    def _refused(self, error: Exception) -> HostError:
        return HostError(
            "switch.refused",
            where=self._place.text,
            found=_first_line(error),
            so="nothing was read or changed",
            next=f"load a key into the SSH agent, or set {PASSWORD}; or run `ssh "
            f"{self._place.host}` once to accept its host key",
        )

    def _lost(self, found: str) -> HostError:
        return HostError(
            "switch.lost",
            where=self._place.text,
            found=shown(found.strip().partition("\n")[0], 200),
            so="the last command may or may not have been carried out",
            next="check that the switch is up, and that its management address is reachable",
        )


def _first_line(error: Exception) -> str:
    """Give what netmiko says first, or what it wraps: of a key that is not known, after a colon."""
    lines = [line for line in str(error).strip().split("\n") if line.strip()]
    said = f"{lines[0]} {lines[1].strip()}" if lines[0].endswith(":") and lines[1:] else lines[0]
    return shown(next((line for line in lines if "known_hosts" in line), said), 200)


def switch_capture(
    place: SwitchHost,
    commands: Mapping[str, str],
    session: SwitchSession,
    cable: str = "",
    *,
    again: str = "",
    again_s: int = 0,
) -> str:
    """Give a capture of a switch: one session, a section for each command.

    The section `again`, if one is named, is read once more `again_s` seconds later.
    """
    mark = uuid.uuid4().hex[:16]
    sections = [("kind", f"{place.kind}\n", 0)]
    if cable:
        sections.append(("cable", f"{cable}\n", 0))
    for key, line in commands.items():
        (said,) = session.type([line])
        sections.append((key, said, 1 if is_refused(said[:2000]) else 0))
    if again:
        sleep_s(again_s)
        (said,) = session.type([commands[again]])
        sections.append(("seconds", f"{again_s}\n", 0))
        sections.append((f"{again}-again", said, 1 if is_refused(said[:2000]) else 0))
    text = f"{MAGIC}{VERSION} {mark}\n"
    for key, said, code in sections:
        body = said.replace("\r", "").replace("\0", "")
        text += f"{mark} begin switch-{key} {place.host}\n{body}\n{mark} end {code}\n"
    return text + f"{mark} done\n"
