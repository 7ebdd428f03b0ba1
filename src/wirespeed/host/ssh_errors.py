"""What went wrong on the way to a host, and what its administrator can do about it."""

import socket

import asyncssh

from wirespeed.host.ssh_trust import Trust
from wirespeed.model.error import HostError, InputError
from wirespeed.model.shown import shown


def no_time(where: str, seconds: float) -> HostError:
    """No connection in time: a host that is off, a firewall, or one that accepts and is silent."""
    return HostError(
        "ssh.no_answer",
        where=where,
        found=f"no connection within {seconds:g} s",
        next=f"check that it is on and that no firewall drops port 22; try `{_ssh(where)}`",
    )


def explain(
    error: Exception, where: str, trust: Trust | None = None, host: str = ""
) -> HostError | InputError:
    """Make of an exception of the library the error that a person can act on."""
    said = shown(str(error) or type(error).__name__, 300)
    if isinstance(error, InputError):
        return error
    if isinstance(error, asyncssh.HostKeyNotVerifiable | asyncssh.KeyExchangeFailed) and trust:
        return _key_error(error, where, said, trust)
    if isinstance(error, asyncssh.PermissionDenied):
        return HostError(
            "ssh.denied",
            where=where,
            found=f"it accepts none of your keys: {said}",
            next="add a key with `ssh-copy-id`, or unlock yours with `ssh-add`; then try "
            f"`{_ssh(where)}`: wirespeed never asks for passwords",
        )
    if isinstance(error, socket.gaierror):
        return HostError(
            "ssh.unknown_host",
            where=where,
            found=f"{shown(host, 80) or where}: {shown(error.strerror or said)}",
            so="there is no file of that name either",
            next="check the name in ~/.ssh/config or in DNS",
        )
    if isinstance(error, ConnectionRefusedError):
        return HostError(
            "ssh.refused",
            where=where,
            found=said.partition("] ")[2] or said,
            so="the machine answers, but no SSH server listens on that port",
            next="start sshd there, or give its port: ssh://HOST:PORT",
        )
    if isinstance(error, OSError):
        return HostError("ssh.unreachable", where=where, found=said, next=f"try `{_ssh(where)}`")
    if isinstance(error, ValueError):
        return HostError(
            "ssh.config",
            where=where,
            found=said,
            next="correct ~/.ssh/config or the key that it names; `ssh -G HOST` shows what ssh "
            "uses",
        )
    return HostError("ssh.lost", where=where, found=said, next=f"try `{_ssh(where)}`")


def _key_error(error: Exception, where: str, said: str, trust: Trust) -> HostError:
    files = " ".join(trust.files) or "no file: UserKnownHostsFile is none"
    if "revoked" in said:
        return HostError(
            "ssh.host_key_revoked",
            where=where,
            found=f"{trust.name} presents a host key that is marked as revoked ({files})",
            so="nothing was sent to it",
            next="ask its administrator for its new host key, and compare it with the output of "
            f"`ssh-keyscan {trust.name}`; do not remove the `@revoked` line before that",
        )
    if trust.has_keys:
        return HostError(
            "ssh.host_key_changed",
            where=where,
            found=f"{trust.name} presents another host key than the known one ({files}): {said}",
            so="another machine may be answering in its place; nothing was sent to it",
            next=f"ask its administrator. If it was reinstalled: ssh-keygen -R '{trust.name}', "
            f"then `{_ssh(where)}` once, and compare the fingerprint",
        )
    if isinstance(error, asyncssh.KeyExchangeFailed):
        return HostError("ssh.lost", where=where, found=said, next=f"try `{_ssh(where)}`")
    return HostError(
        "ssh.host_key_unknown",
        where=where,
        found=f"no host key is known for {trust.name} ({files})",
        so="the host cannot be verified; nothing was sent to it",
        next=f"run `{_ssh(where)}` once and compare the fingerprint that it shows, or run "
        "`ssh-keyscan` over a network that you trust",
    )


def _ssh(where: str) -> str:
    """Give the line that reaches the same host; `where` was checked to have no odd characters."""
    return f"ssh {where}"
