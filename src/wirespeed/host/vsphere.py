"""An ESXi host by its vSphere API, with pyvmomi: what it is asked, and the one change of a guest.

The host's certificate is checked, always: by the authorities of this machine or those of
WIRESPEED_VSPHERE_CA, or it is the very one whose SHA-256 is in WIRESPEED_VSPHERE_THUMBPRINT. The
library would check none at all for 127.0.0.1, and so it is given a context of ours. The password is
in WIRESPEED_VSPHERE_PASSWORD, or is asked for at the terminal.
"""

import getpass
import hashlib
import socket
import ssl
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any, cast

from wirespeed.host.clock import Deadline, sleep_s
from wirespeed.host.closing import Closing
from wirespeed.host.extras import how_to_add
from wirespeed.host.reach_destination import VsphereHost
from wirespeed.host.secret import VSPHERE_PASSWORD as PASSWORD
from wirespeed.host.secret import file_setting, password, setting
from wirespeed.host.vsphere_values import guest_values, host_values, reconfiguration
from wirespeed.model.error import HostError, InputError
from wirespeed.model.shown import shown

CA = "WIRESPEED_VSPHERE_CA"
THUMBPRINT = "WIRESPEED_VSPHERE_THUMBPRINT"
HTTPS_PORT = 443
CONNECT_S = 10.0
ANSWER_S = 60.0
TASK_S = 120.0
POLL_S = 0.2
VERSION = "vim.version.version11"
"""vSphere API 6.5, that of the DPDK report's host; later ones answer it too."""
NO_ANSWER = (AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What the library raises for an answer of XML that is none."""
RUNNING = ("queued", "running")


class VsphereSession(Closing):
    """A session at one ESXi host, made when it is first needed.

    Raises InputError `vsphere.library`, `vsphere.no_password`, HostError `vsphere.*`.
    """

    def __init__(self, place: VsphereHost) -> None:
        self.place = place
        _require_library()
        self._service: Any = None
        self._versions: dict[str, str] = {}
        """Of each guest's settings when they were last read: a change of other ones is refused."""

    def host(self) -> dict[str, Any]:
        """Give what the host says of itself, and the settings of all guests, as plain data."""
        with self._explained():
            root = self._connected().content
            (found,) = self._all("HostSystem")[:1] or (None,)
            if found is None or len(self._all("HostSystem")) > 1:
                raise HostError(
                    "vsphere.no_host",
                    where=self.place.text,
                    found="it is a vCenter, not a single ESXi host",
                    next="give the address of an ESXi host: vsphere://root@VMHOST",
                )
            guests = {str(m._moId): guest_values(m) for m in self._all("VirtualMachine")}
            return {**host_values(root.about, found), "guests": guests}

    def guest(self, number: str) -> dict[str, Any] | None:
        """Give the settings of one guest, by its number; None: there is none of that number."""
        with self._explained():
            machine = self._machine(number)
            if machine is None:
                return None
            self._await_tasks(machine)
            self._versions[number] = str(machine.config.changeVersion)
            return guest_values(machine)

    def reconfigure(self, number: str, values: Mapping[str, str]) -> str:
        """Set values of a guest that is off, and wait; give what the host says against it.

        Raises HostError `vsphere.late`: what became of it is not known.
        """
        from pyVmomi import vim, vmodl

        with self._explained():
            machine = self._machine(number)
            if machine is None:
                return "there is no such guest"
            if str(machine.runtime.powerState) != "poweredOff":
                return "the guest is on: shut it down first, as these are read when it starts"
            spec = reconfiguration(vim, values)
            # The host refuses where somebody else came between our reading and this.
            spec.changeVersion = self._versions.get(number)
            try:
                task = machine.ReconfigVM_Task(spec)
                latest = Deadline(TASK_S)
                while str(task.info.state) in RUNNING:
                    if latest.expired:
                        raise self._lost("vsphere.late", f"no end within {TASK_S:g} s")
                    sleep_s(POLL_S)
            except vmodl.MethodFault as fault:
                return _said(fault)
            return _said(task.info.error) if str(task.info.state) != "success" else ""

    def renew(self) -> None:
        """Let what comes next go by a session that is made then."""
        self.close()

    def close(self) -> None:
        """End the session; a second call does nothing."""
        from pyVmomi import vmodl

        service, self._service = self._service, None
        if service is not None:
            with suppress(OSError, vmodl.MethodFault, ValueError):
                service.content.sessionManager.Logout()

    def _all(self, kind: str) -> list[Any]:
        from pyVmomi import vim

        content = self._connected().content
        view = content.viewManager.CreateContainerView(
            content.rootFolder, [getattr(vim, kind)], True
        )
        try:
            return list(view.view)
        finally:
            view.Destroy()

    def _machine(self, number: str) -> Any:
        found = [m for m in self._all("VirtualMachine") if str(m._moId) == number]
        return found[0] if found else None

    def _await_tasks(self, machine: Any) -> None:
        """Wait for what the guest is still told: of one whose answer was lost, say, or by others.

        Raises HostError `vsphere.late`.
        """
        latest = Deadline(TASK_S)
        while any(map(_is_running, machine.recentTask)):
            if latest.expired:
                raise self._lost("vsphere.late", f"a task of the guest has no end in {TASK_S:g} s")
            sleep_s(POLL_S)

    def _connected(self) -> Any:
        if self._service is None:
            from pyVmomi import vim

            from wirespeed.host.vsphere_stub import BoundedStub

            place, library = self.place, cast(Any, vim)
            stub = BoundedStub(
                host=place.host,
                port=place.port or HTTPS_PORT,
                path="/sdk",
                version=VERSION,
                sslContext=trusted(place),
                httpConnectionTimeout=ANSWER_S,
                poolSize=1,
            )
            service = library.ServiceInstance("ServiceInstance", stub)
            service.content.sessionManager.Login(place.user or "root", _password(place), None)
            self._service = service
        return self._service

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Make of the library's exceptions errors that a person can act on."""
        from http.client import HTTPException
        from xml.parsers.expat import ExpatError

        from pyVmomi import vim, vmodl

        try:
            yield
        except (vim.fault.InvalidLogin, vim.fault.NoPermission) as fault:
            self.close()
            raise HostError(
                "vsphere.denied",
                where=self.place.text,
                found=_said(fault),
                next=f"give vsphere://USER@HOST, with the password in {PASSWORD}; check that the "
                "host is not in lockdown mode",
            ) from None
        except vmodl.MethodFault as fault:
            raise self._lost("vsphere.failed", _said(fault)) from None
        except (OSError, HTTPException) as error:
            raise self._lost("vsphere.lost", shown(str(error), 200)) from None
        except (ExpatError, *NO_ANSWER) as error:
            found = f"its answer is none of the vSphere API: {shown(str(error), 120)}"
            raise self._lost("vsphere.lost", found) from None

    def _lost(self, what: str, found: str) -> HostError:
        self.close()
        return HostError(
            what,
            where=self.place.text,
            found=found,
            so="the last request may or may not have been carried out",
            next="check that the host is up and its port 443 open",
        )


def trusted(place: VsphereHost) -> ssl.SSLContext:
    """Give the context that trusts this host and no other.

    Raises HostError `vsphere.*`, InputError `variable.*`.
    """
    pinned = {text.replace(":", "").lower() for text in (setting(THUMBPRINT) or "").split(",")}
    pem = file_setting(CA)
    try:
        # Trusted or not, nothing but our half of a handshake is sent.
        theirs = ssl.get_server_certificate(
            (place.host, place.port or HTTPS_PORT), timeout=CONNECT_S
        )
    except OSError as error:
        raise _unreachable(place, error) from None
    mark = hashlib.sha256(ssl.PEM_cert_to_DER_cert(theirs)).hexdigest()
    if mark in pinned:
        only = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        only.check_hostname = False
        only.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
        only.load_verify_locations(cadata=theirs)
        return only
    try:
        context = ssl.create_default_context(cafile=pem)
        _shake_hands(place, context)
    except ssl.SSLError as error:
        raise HostError(
            "vsphere.certificate",
            where=place.text,
            found=f"{shown(str(error), 160)}; its SHA-256 is {':'.join(_pairs(mark.upper()))}",
            so="it may be another machine: nothing was sent to it",
            next="compare it with the output at the host's console of `openssl x509 -noout "
            "-fingerprint -sha256 -in /etc/vmware/ssl/rui.crt`; if they match, set "
            f"{THUMBPRINT} to it; or set {CA} to the file of the CA's certificate",
        ) from None
    except OSError as error:
        raise _unreachable(place, error) from None
    return context


def _unreachable(place: VsphereHost, error: OSError) -> HostError:
    return HostError(
        "vsphere.unreachable",
        where=place.text,
        found=shown(str(error), 200),
        next="check that it is an ESXi host, that it is up, and that its port "
        f"{place.port or HTTPS_PORT} is open",
    )


def _is_running(task: Any) -> bool:
    from pyVmomi import vmodl

    try:
        return str(task.info.state) in RUNNING
    except vmodl.fault.ManagedObjectNotFound:
        return False  # It was done so long ago that the host has forgotten it.


def _shake_hands(place: VsphereHost, context: ssl.SSLContext) -> None:
    address = (place.host, place.port or HTTPS_PORT)
    with (
        socket.create_connection(address, CONNECT_S) as plain,
        context.wrap_socket(plain, server_hostname=place.host),
    ):
        pass


def _pairs(text: str) -> Iterator[str]:
    return (text[at : at + 2] for at in range(0, len(text), 2))


def _said(fault: Any) -> str:
    kind = type(fault).__name__.rpartition(".")[2]
    return shown(f"{kind}: {getattr(fault, 'msg', '') or 'no words'}", 300)


@cache
def _password(place: VsphereHost) -> str:
    """Give the user's password: it is asked for once, and is kept nowhere but here."""
    given = password(PASSWORD)
    if given is not None:
        return given
    if not sys.stdin.isatty():
        raise InputError(
            "vsphere.no_password",
            where=place.text,
            found=f"{PASSWORD} is not set, and there is no terminal to ask for it",
            next=f"set {PASSWORD}",
        )
    return getpass.getpass(f"Password of {place.user or 'root'} on {place.host}: ")


def _require_library() -> None:
    try:
        import pyVmomi  # noqa: F401
    except ImportError:
        raise InputError(
            "vsphere.library",
            where="pyvmomi",
            found="it is not installed",
            so="no host can be reached by the vSphere API",
            next=f"{how_to_add('esxi')}; or reach the host by SSH: esxi://USER@HOST",
        ) from None
