"""How a user names what is to be read: this machine, a host, or a capture in a file.

here                          this machine
ssh://[USER@]HOST[:PORT]      a host; [HOST] for an IPv6 address
winrm://[USER@]HOST[:PORT]    a Windows host, by WinRM
winssh://[USER@]HOST[:PORT]   a Windows host, by PowerShell over SSH
esxi://[USER@]HOST[:PORT]     an ESXi host, by its shell over SSH
vsphere://[USER@]HOST[:PORT]  an ESXi host, by its vSphere API
switch+KIND://[USER@]HOST[:PORT][/SWITCHPORT]
                              a switch, by SSH; KIND is dell_os6, dell_os9, dell_os10, sonic,
                              cumulus, eos or nxos; SWITCHPORT one of its ports: Te1/0/1
with a `/`, or . or ~ first   a file, whether it is there or not
a name that is a file's       that file; ssh://NAME is the host of that name
[USER@]HOST                   a host, or a `Host` of ~/.ssh/config
"""

import ipaddress
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from wirespeed.host.files import is_file
from wirespeed.model.error import InputError
from wirespeed.model.shown import shown
from wirespeed.model.switch_kind import PORT as SWITCHPORT
from wirespeed.model.switch_kind import SwitchKind

HERE = "here"
SCHEME = "ssh://"
SWITCH = "switch+"
# ssh_config hands both to commands of the user (ProxyCommand %h, Match exec), through a shell.
HOST = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,252}[A-Za-z0-9_.])?")
USER = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_.@+\\-]{0,126}[A-Za-z0-9_.$])?")


@dataclass(frozen=True, slots=True)
class Here:
    """This machine."""

    text: str = HERE


@dataclass(frozen=True, slots=True)
class Remote:
    """A host that SSH goes to. None: as ~/.ssh/config says, else as `ssh` itself does."""

    text: str
    """As the user wrote it."""
    host: str
    user: str | None = None
    port: int | None = None


@dataclass(frozen=True, slots=True)
class Recorded:
    """A capture in a file."""

    text: str
    path: Path


@dataclass(frozen=True, slots=True)
class WindowsHost:
    """A Windows host that PowerShell is run on from elsewhere."""

    text: str
    """As the user wrote it."""
    by: Literal["winrm", "winssh"]
    host: str
    user: str | None = None
    port: int | None = None

    @property
    def remote(self) -> Remote:
        """The same, for SSH."""
        return Remote(self.text, self.host, self.user, self.port)


@dataclass(frozen=True, slots=True)
class EsxiHost:
    """An ESXi host that SSH goes to: what is run there is for its own shell."""

    text: str
    """As the user wrote it."""
    host: str
    user: str | None = None
    port: int | None = None

    @property
    def remote(self) -> Remote:
        """The same, for SSH."""
        return Remote(self.text, self.host, self.user, self.port)


@dataclass(frozen=True, slots=True)
class VsphereHost:
    """An ESXi host that is asked by its vSphere API, over HTTPS."""

    text: str
    """As the user wrote it."""
    host: str
    user: str | None = None
    port: int | None = None


@dataclass(frozen=True, slots=True)
class SwitchHost:
    """A switch, and maybe one of its ports."""

    text: str
    """As the user wrote it."""
    kind: SwitchKind
    host: str
    user: str | None = None
    port: int | None = None
    switchport: str = ""
    netdev: str = ""
    """Of the host whose cable the port has, where the user said so."""

    @property
    def cable(self) -> str:
        """Which netdev is in which switch port, by the capture; empty: not given."""
        return f"{self.netdev} {self.switchport}" if self.netdev and self.switchport else ""


Destination = Here | Remote | Recorded | WindowsHost | EsxiHost | VsphereHost | SwitchHost


def parse_destination(text: str) -> Destination:
    """Tell what `text` names, by the rules above. Raises InputError `destination.invalid`."""
    if text == HERE:
        return Here()
    if text.startswith(SCHEME):
        return _from_url(text)
    scheme, _, rest = text.partition("://")
    if scheme in ("winrm", "winssh"):
        found = _from_url(SCHEME + rest, text, scheme)
        by: Literal["winrm", "winssh"] = "winrm" if scheme == "winrm" else "winssh"
        return WindowsHost(text, by, found.host, found.user, found.port)
    if scheme == "esxi":
        found = _from_url(SCHEME + rest, text, scheme)
        return EsxiHost(text, found.host, found.user, found.port)
    if scheme == "vsphere":
        found = _from_url(SCHEME + rest, text, scheme)
        return VsphereHost(text, found.host, found.user, found.port)
    if scheme.startswith(SWITCH):
        return _switch(text, scheme, rest)
    if "/" in text or text.startswith((".", "~")):
        return Recorded(text, _expanded(text))
    if text and is_file(Path(text)):
        return Recorded(text, Path(text))
    user, _, host = text.rpartition("@")
    return _remote(text, user if "@" in text else None, host, None)


def _switch(text: str, scheme: str, rest: str) -> SwitchHost:
    kind = scheme.removeprefix(SWITCH)
    if kind not in set(SwitchKind):
        raise _invalid(text, f"a switch is one of {', '.join(SwitchKind)}")
    place, _, port = rest.partition("/")
    if port and not SWITCHPORT.fullmatch(port):
        raise _invalid(text, f"{port[:40]!r} is not a port of a switch")
    found = _from_url(SCHEME + place, text, scheme)
    return SwitchHost(text, SwitchKind(kind), found.host, found.user, found.port, port)


def _expanded(text: str) -> Path:
    try:
        return Path(text).expanduser()
    except RuntimeError:
        raise _invalid(text, "no such user") from None


def parse_jump(text: str) -> Remote:
    """One host of a ProxyJump, which also has the form `[USER@]HOST[:PORT]` (ssh_config(5))."""
    found = _from_url(text if text.startswith(SCHEME) else SCHEME + text)
    return Remote(text, found.host, found.user, found.port)


def _from_url(url: str, text: str = "", scheme: str = "ssh") -> Remote:
    """Read `ssh://…`; `text` is what the user wrote, where that is another `scheme`."""
    rest, text = url.removeprefix(SCHEME).removesuffix("/"), text or url
    user, at, place = rest.rpartition("@")
    match = re.fullmatch(r"(\[[^\[\]]*\]|[^:\[\]]*)(?::(\d{1,5}))?", place)
    if match is None or ":" in user:
        raise _invalid(text, f"not of the form {scheme}://[USER@]HOST[:PORT]")
    port = int(match[2]) if match[2] else None
    if port is not None and not 1 <= port <= 65535:
        raise _invalid(text, f"{port} is not a port")
    return _remote(text, user if at else None, match[1].strip("[]"), port)


def _remote(text: str, user: str | None, host: str, port: int | None) -> Remote:
    if ":" in host:
        address, percent, zone = host.partition("%")
        try:
            ipaddress.IPv6Address(address)
            if percent and not HOST.fullmatch(zone):
                raise ValueError(zone)
        except ValueError:
            raise _invalid(text, "a port is written as in ssh://HOST:PORT") from None
    elif not HOST.fullmatch(host):
        raise _invalid(text, "no name that a host can have")
    if user is not None and not USER.fullmatch(user):
        raise _invalid(text, "no name that a user can have")
    return Remote(text, host, user, port)


def _invalid(text: str, why: str) -> InputError:
    return InputError(
        "destination.invalid",
        where=shown(text, 80) or "''",
        found=why,
        next=f"{HERE}, HOST, USER@HOST, ssh://USER@HOST:PORT, or a file: ./NAME",
    )
