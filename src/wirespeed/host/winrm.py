"""Runs commands on a Windows host by WinRM, with pypsrp: each is a process of a remote shell.

    port 5986 (or none given)  HTTPS; the host's certificate is checked
    port 5985                  HTTP, and the messages themselves encrypted by Kerberos

Who we are: a client certificate, where WIRESPEED_WINRM_CERTIFICATE and …_KEY name its files; a
password, from WIRESPEED_WINRM_PASSWORD or asked for at the terminal, with a user in the address;
else the ticket that Kerberos has. Basic authentication is never used, and no check is switched off.

NTLM proves to us no server: any machine of the domain, and a relay, can hold the other end of it
(MS-NLMP, section 5.1). HTTPS proves the server, so NTLM is used there; over HTTP it is used only
where WIRESPEED_WINRM_NTLM=without-tls asks for it.
"""

import getpass
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

from wirespeed.host.clock import Deadline, monotonic_s
from wirespeed.host.closing import Closing
from wirespeed.host.extras import how_to_add, how_to_add_packages
from wirespeed.host.reach_destination import WindowsHost
from wirespeed.host.runner import MAX_OUTPUT_BYTES, Completed
from wirespeed.host.secret import WINRM_PASSWORD as PASSWORD
from wirespeed.host.secret import file_setting, password, setting
from wirespeed.model.error import HostError, InputError, MeasurementError
from wirespeed.model.shown import shown

if TYPE_CHECKING:
    from pypsrp.shell import Process

HTTPS_PORT, HTTP_PORT = 5986, 5985
CONNECT_S = 10
POLL_S = 5
"""One question for more output: the host answers sooner when there is some."""
CERTIFICATE, KEY = "WIRESPEED_WINRM_CERTIFICATE", "WIRESPEED_WINRM_CERTIFICATE_KEY"
CA = "WIRESPEED_WINRM_CA"
NTLM, WITHOUT_TLS = "WIRESPEED_WINRM_NTLM", "without-tls"
CHUNK_BYTES = 48 << 10
UTF_8 = 65001


class WinRmSession(Closing):
    """The `Runner` of a Windows host. Raises InputError `windows.library`, HostError `winrm.*`."""

    def __init__(self, place: WindowsHost) -> None:
        self._place = place
        _require_library()
        self._wsman: Any = None

    def run(
        self,
        argv: Sequence[str],
        *,
        timeout_s: float = 60.0,
        stdin: str | None = None,
        max_bytes: int = MAX_OUTPUT_BYTES,
    ) -> Completed:
        """See `Runner.run`."""
        from pypsrp.shell import Process, WinRS

        started, deadline = monotonic_s(), Deadline(timeout_s)
        with self._explained(), WinRS(self._connected(), codepage=UTF_8, no_profile=True) as shell:
            process = Process(shell, argv[0], list(argv[1:]))
            process.begin_invoke()
            _send(process, (stdin or "").encode())
            cut = _wait(process, deadline, max_bytes)
            if process.rc is None and not cut:
                raise MeasurementError(
                    "command.timeout",
                    where=f"{self._place.text}: {argv[0]}",
                    found=f"still running after {timeout_s:g} s",
                    so="it was ended",
                )
        return Completed(
            argv=tuple(argv),
            output=process.stdout[:max_bytes].decode("utf-8", "replace"),
            errors=process.stderr[:max_bytes].decode("utf-8", "replace"),
            returncode=process.rc or 0,
            duration_s=monotonic_s() - started,
            cut=cut,
        )

    def renew(self) -> None:
        """See `ByNetwork.renew`."""
        self.close()

    def close(self) -> None:
        """Close the connection; a second call does nothing."""
        wsman, self._wsman = self._wsman, None
        if wsman is not None:
            wsman.close()

    def _connected(self) -> Any:
        if self._wsman is None:
            from pypsrp.wsman import WSMan

            self._wsman = WSMan(self._place.host, **connection_options(self._place))
        return self._wsman

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Make of the libraries' exceptions errors that a person can act on."""
        import requests
        from pypsrp.exceptions import AuthenticationError, WinRMError, WinRMTransportError
        from spnego.exceptions import SpnegoError

        where = self._place.text
        try:
            yield
        except (AuthenticationError, SpnegoError) as error:
            self.close()
            raise HostError(
                "winrm.denied",
                where=where,
                found=shown(str(error), 200),
                next=_way_in(self._place),
            ) from None
        except ImportError as error:
            self.close()
            raise HostError(
                "winrm.no_kerberos",
                where=where,
                found=shown(str(error), 200),
                so="neither a password nor a hash of it was sent",
                next=_way_in(self._place),
            ) from None
        except requests.exceptions.SSLError as error:
            self.close()
            raise HostError(
                "winrm.certificate",
                where=where,
                found=shown(str(error), 200),
                so="it may be another machine: nothing was sent to it",
                next=f"set {CA} to the file of the CA's certificate; or use "
                f"winrm://HOST:{HTTP_PORT} with a Kerberos ticket",
            ) from None
        except (requests.exceptions.RequestException, WinRMTransportError, OSError) as error:
            self.close()
            raise HostError(
                "winrm.unreachable",
                where=where,
                found=shown(str(error), 200),
                next="on the host, run `winrm quickconfig -transport:https` and open port "
                f"{HTTPS_PORT}",
            ) from None
        except WinRMError as error:
            self.close()
            raise HostError(
                "winrm.failed",
                where=where,
                found=shown(str(error), 300),
                next="on the host, run `winrm get winrm/config`: a limit that it lists, such as "
                "MaxShellsPerUser, is the usual cause",
            ) from None
        except ValueError as error:
            # A server that offers another way than the one that is allowed here.
            self.close()
            raise HostError(
                "winrm.denied", where=where, found=shown(str(error), 200), next=_way_in(self._place)
            ) from None


def connection_options(place: WindowsHost) -> dict[str, Any]:
    """Give what WSMan is told of a host. Raises InputError `winrm.no_password`, `variable.*`."""
    port = place.port or HTTPS_PORT
    is_plain = port == HTTP_PORT
    options: dict[str, Any] = {
        "port": port,
        "ssl": not is_plain,
        "encryption": "always" if is_plain else "auto",
        "cert_validation": file_setting(CA) or True,
        "connection_timeout": CONNECT_S,
        "operation_timeout": 20,
        "read_timeout": 30,
    }
    certificate = setting(CERTIFICATE)
    if certificate is not None and not is_plain:
        return options | {
            "auth": "certificate",
            "certificate_pem": certificate,
            "certificate_key_pem": setting(KEY) or certificate,
        }
    if place.user is None:
        return options | {"auth": "kerberos"}
    auth = "negotiate" if not is_plain or _is_ntlm_asked() else "kerberos"
    return options | {"auth": auth, "username": place.user, "password": _password(place)}


def _is_ntlm_asked() -> bool:
    given = setting(NTLM)
    if given not in (None, WITHOUT_TLS):
        raise InputError(
            "variable.unknown",
            where=NTLM,
            found=shown(given or "", 80),
            so="no connection was made",
            next=f"set {NTLM}={WITHOUT_TLS}, or unset it",
        )
    return given is not None


def _way_in(place: WindowsHost) -> str:
    """Say what lets us in; over HTTP, why NTLM does not."""
    ticket = f"a ticket by `kinit` (and {how_to_add_packages('pypsrp[kerberos]')})"
    if place.port != HTTP_PORT:
        return f"use winrm://USER@HOST with {PASSWORD} set, or {ticket}"
    return (
        f"use HTTPS: winrm://USER@HOST:{HTTPS_PORT}; or {ticket}. NTLM without TLS proves no "
        f"server, and is used only with {NTLM}={WITHOUT_TLS}"
    )


@cache
def _password(place: WindowsHost) -> str:
    """Give the user's password: it is asked for once, and is kept nowhere but here."""
    given = password(PASSWORD)
    if given is not None:
        return given
    if not sys.stdin.isatty():
        raise InputError(
            "winrm.no_password",
            where=place.text,
            found=f"{PASSWORD} is not set, and there is no terminal to ask for it",
            next=f"set {PASSWORD}; or leave the user out, and get a ticket with `kinit`",
        )
    return getpass.getpass(f"Password of {place.user} on {place.host}: ")


def _require_library() -> None:
    try:
        import pypsrp  # noqa: F401
    except ImportError:
        raise InputError(
            "windows.library",
            where="pypsrp",
            found="it is not installed",
            so="no host can be reached by WinRM",
            next=f"{how_to_add('windows')}; or reach the host by SSH: winssh://USER@HOST",
        ) from None


def _send(process: "Process", data: bytes) -> None:
    chunks = [data[at : at + CHUNK_BYTES] for at in range(0, len(data), CHUNK_BYTES)] or [b""]
    for number, chunk in enumerate(chunks):
        process.send(chunk, end=number == len(chunks) - 1)


def _wait(process: "Process", deadline: Deadline, max_bytes: int) -> bool:
    """Wait for its end; say whether there was more than the limit. It is ended in any case."""
    from pypsrp.shell import CommandState, SignalCode

    while process.state != CommandState.DONE:
        cut = max(len(process.stdout), len(process.stderr)) > max_bytes
        if cut or deadline.expired:
            process.signal(SignalCode.TERMINATE)
            return cut
        process.poll_invoke(timeout=POLL_S)
    return False
