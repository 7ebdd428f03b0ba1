"""`vsphere://`: an ESXi host by its API, against VMware's own simulator."""

import ssl
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pyVmomi import vim, vmodl
from sshd import free_port, listening, say_nothing
from vcsim import PASSWORD, Vcsim

from wirespeed.doctor.diagnose import diagnose
from wirespeed.host import secret, vsphere
from wirespeed.host.capture_request import CaptureRequest, Unreachable
from wirespeed.host.clock import monotonic_s
from wirespeed.host.reach_destination import VsphereHost, parse_destination
from wirespeed.host.vsphere import VsphereSession, trusted
from wirespeed.model.error import HostError, InputError
from wirespeed.model.observed import Known, Unreadable
from wirespeed.model.question import Purpose, Question
from wirespeed.model.vsphere import AFFINITY, LATENCY, LOCKED, NUMA_NODE, RESERVATION
from wirespeed.platforms.esxi.facts.esxi_guests import EsxiGuests
from wirespeed.platforms.esxi.facts.esxi_module import EsxiModule
from wirespeed.platforms.esxi.facts.esxi_ports import EsxiPorts
from wirespeed.runs.captures import Gathered, gather
from wirespeed.runs.reach import reach


@pytest.fixture(scope="module", name="host")
def _host() -> Iterator[Vcsim]:
    made = Vcsim()
    yield made
    made.close()


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    vsphere._password.cache_clear()
    monkeypatch.setattr(secret, "_taken", {})
    for name in (vsphere.CA, vsphere.THUMBPRINT):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(vsphere.PASSWORD, PASSWORD)


@pytest.fixture(name="known")
def _known(host: Vcsim, monkeypatch: pytest.MonkeyPatch) -> VsphereHost:
    monkeypatch.setenv(vsphere.THUMBPRINT, f"00:11,{host.thumbprint.upper()}")
    return place_of(host)


def place_of(host: Vcsim) -> VsphereHost:
    place = parse_destination(host.url)
    assert isinstance(place, VsphereHost)
    return place


def test_a_vsphere_host_is_named():
    text = "vsphere://administrator@vsphere.local@[fe80::1]:8443"
    place = VsphereHost(text, "fe80::1", "administrator@vsphere.local", 8443)
    assert parse_destination(text) == place


@pytest.mark.parametrize("text", ["vsphere://", "vsphere://a:b@c", "vsphere://x:99999"])
def test_what_is_no_vsphere_host_is_refused(text: str):
    with pytest.raises(InputError):
        parse_destination(text)


def test_an_esxi_host_whose_certificate_nobody_knows_is_told_nothing(host: Vcsim):
    with pytest.raises(HostError) as caught:
        VsphereSession(place_of(host)).host()
    assert caught.value.what == "vsphere.certificate"
    # What is to be compared is there, in the form that openssl prints.
    mark = host.thumbprint.upper()
    assert ":".join(mark[at : at + 2] for at in range(0, 64, 2)) in caught.value.found


def test_another_esxi_hosts_thumbprint_is_not_taken(host: Vcsim, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(vsphere.THUMBPRINT, "00" * 32)
    with pytest.raises(HostError) as caught:
        VsphereSession(place_of(host)).host()
    assert caught.value.what == "vsphere.certificate"


def test_a_pinned_context_takes_that_one_esxi_certificate_alone(known: VsphereHost):
    context = trusted(known)
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert len(context.get_ca_certs()) <= 1


def test_an_esxi_host_signed_by_a_given_authority_is_taken(
    host: Vcsim, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    # The simulator's certificate is an authority's own, for 127.0.0.1.
    (tmp_path / "ca.pem").write_text(host.certificate)
    monkeypatch.setenv(vsphere.CA, str(tmp_path / "ca.pem"))
    assert VsphereSession(place_of(host)).host()["version"] == "6.5.0"


def test_a_wrong_password_of_an_esxi_host_is_said_and_not_asked_again(
    known: VsphereHost, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv(vsphere.PASSWORD, "another")
    with pytest.raises(HostError) as caught:
        VsphereSession(known).host()
    assert caught.value.what == "vsphere.denied"
    assert "another" not in str(vars(caught.value))


def test_without_a_password_and_a_terminal_an_esxi_host_is_not_asked(
    known: VsphereHost, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv(vsphere.PASSWORD)
    with pytest.raises(InputError) as caught:
        VsphereSession(known).host()
    assert caught.value.what == "vsphere.no_password"


def test_without_its_library_an_esxi_host_is_not_reached(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "pyVmomi", None)
    with pytest.raises(InputError) as caught:
        VsphereSession(VsphereHost("vsphere://x", "x"))
    assert caught.value.what == "vsphere.library"
    assert "pyvmomi" in caught.value.next


def test_an_esxi_host_that_is_gone_or_says_nothing_is_unreachable(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(vsphere, "CONNECT_S", 0.3)
    with pytest.raises(HostError) as caught:
        trusted(VsphereHost("vsphere://gone", "127.0.0.1", None, free_port()))
    assert caught.value.what == "vsphere.unreachable"
    with listening(say_nothing) as port, pytest.raises(HostError) as caught:
        trusted(VsphereHost("vsphere://mute", "127.0.0.1", None, port))
    assert caught.value.what == "vsphere.unreachable"


def test_many_hosts_of_a_vcenter_are_not_one_esxi_host(monkeypatch: pytest.MonkeyPatch):
    center = Vcsim("-api-version", "6.5")
    try:
        monkeypatch.setenv(vsphere.THUMBPRINT, center.thumbprint)
        with pytest.raises(HostError) as caught:
            VsphereSession(place_of(center)).host()
    finally:
        center.close()
    assert caught.value.what == "vsphere.no_host"


def test_the_doctor_reads_a_simulated_esxi_host(known: VsphereHost):
    (gathered,) = gather([known])
    assert isinstance(gathered, Gathered)
    facts = gathered.facts
    ports = facts[EsxiPorts].ports
    assert isinstance(ports, Known)
    # As the simulator's own template of an ESXi host has them.
    port = ports.value["vmnic0"]
    assert (port.pci_address, port.driver, port.link_mb) == (
        Known("0000:0b:00.0", port.link_mb.source),
        Known("nvmxnet3", port.link_mb.source),
        Known(10000, port.link_mb.source),
    )
    guests = facts[EsxiGuests]
    assert isinstance(guests.listed, Known) and guests.listed.value == len(guests.guests) == 2
    assert all(isinstance(g.is_on, Known) and g.is_on.value for g in guests.guests)
    assert isinstance(facts[EsxiModule].numbers("max_vfs"), Unreadable)
    answer = diagnose(facts, Question(purpose=Purpose.GUESTS))
    assert not answer.faults and [ledger.port for ledger in answer.ledgers] == ["vmnic0", "vmnic1"]
    # 10 Gb/s x 1518 / 1538: what full frames leave of the wire.
    assert answer.ledgers[0].ceilings[0].load_pps.low == pytest.approx(10e9 / 8 / 1538)


def test_no_name_of_an_esxi_guest_is_in_a_capture(known: VsphereHost):
    (gathered,) = gather([known])
    assert isinstance(gathered, Gathered)
    said = "".join(s.output for s in gathered.facts.capture.all_sections())
    for word in ("ha-host_VM0", PASSWORD, "127.0.0.1", "localhost"):
        assert word not in said


def test_what_has_no_script_for_esxi_asks_no_api():
    (result,) = reach([VsphereHost("vsphere://x", "x")], CaptureRequest(script="x", begins="x"))
    assert isinstance(result, Unreachable) and result.error.what == "host.esxi"


@pytest.fixture(name="off")
def _off(known: VsphereHost) -> Iterator[tuple[VsphereSession, str]]:
    with VsphereSession(known) as session:
        machine = session._all("VirtualMachine")[0]
        if str(machine.runtime.powerState) == "poweredOn":
            machine.PowerOffVM_Task()
        yield session, str(machine._moId)


def test_an_esxi_guest_that_is_off_takes_its_settings_and_gives_them_back(
    off: tuple[VsphereSession, str],
):
    session, number = off
    before = session.guest(number)
    assert before is not None
    wanted = {RESERVATION: "32", LOCKED: "true", AFFINITY: "1,2", LATENCY: "high", NUMA_NODE: "1"}
    assert session.reconfigure(number, wanted) == ""
    now = session.guest(number)
    assert now is not None
    assert (
        now
        | {RESERVATION: 32, LOCKED: True}
        | {name: wanted[name] for name in (AFFINITY, LATENCY, NUMA_NODE)}
        == now
    )
    back = {RESERVATION: "0", LOCKED: "false", AFFINITY: "", LATENCY: "normal", NUMA_NODE: ""}
    assert session.reconfigure(number, back) == ""
    assert session.guest(number) == before


def test_an_esxi_guest_that_is_on_is_left_as_it_is(known: VsphereHost):
    with VsphereSession(known) as session:
        on = next(n for n, g in session.host()["guests"].items() if g["powerState"] == "poweredOn")
        before = session.guest(on)
        assert "shut it down" in session.reconfigure(on, {NUMA_NODE: "1"})
        assert session.guest(on) == before
        assert session.guest("no-such") is None
        assert "no such guest" in session.reconfigure("no-such", {NUMA_NODE: "1"})


def test_what_an_esxi_host_refuses_is_said(off: tuple[VsphereSession, str]):
    session, number = off
    # Below nothing cannot be reserved; the simulator refuses it as the host does.
    said = session.reconfigure(number, {RESERVATION: "-5"})
    assert "InvalidArgument" in said


def test_an_esxi_guest_that_somebody_else_changed_meanwhile_is_left(
    off: tuple[VsphereSession, str], monkeypatch: pytest.MonkeyPatch
):
    """The simulator keeps the version of settings, and does not compare it: that is done here."""
    session, number = off
    machine = session._machine(number)

    def compared(spec: vim.vm.ConfigSpec) -> Any:
        if spec.changeVersion != machine.config.changeVersion:
            raise vim.fault.ConcurrentAccess(msg="it was changed since")
        return machine.ReconfigVM_Task(spec)

    strict = SimpleNamespace(
        config=machine.config, runtime=machine.runtime, ReconfigVM_Task=compared
    )
    monkeypatch.setattr(session, "_machine", lambda _: machine)
    assert session.guest(number) is not None
    monkeypatch.setattr(session, "_machine", lambda _: strict)
    assert session.reconfigure(number, {NUMA_NODE: "0"}) == ""
    # It is another version now, and nobody has read it.
    assert "ConcurrentAccess" in session.reconfigure(number, {NUMA_NODE: "1"})
    monkeypatch.setattr(session, "_machine", lambda _: machine)
    now = session.guest(number)
    assert now is not None and now[NUMA_NODE] == "0"
    assert session.reconfigure(number, {NUMA_NODE: ""}) == ""


@pytest.mark.parametrize(
    "method", ["Login", "CreateContainerView", "ReconfigVM_Task", "ReconfigVm"]
)
def test_an_esxi_host_that_does_not_answer_is_not_waited_for(
    method: str, monkeypatch: pytest.MonkeyPatch
):
    slow = Vcsim("-esx", "-method-delay", f"{method}:20000")
    monkeypatch.setenv(vsphere.THUMBPRINT, slow.thumbprint)
    monkeypatch.setattr(vsphere, "ANSWER_S", 1.0)
    monkeypatch.setattr(vsphere, "TASK_S", 0.5)
    started = monotonic_s()
    try:
        with pytest.raises(HostError) as caught, VsphereSession(place_of(slow)) as session:
            number = next(iter(session.host()["guests"]))
            session._machine(number).PowerOffVM_Task()
            session.reconfigure(number, {NUMA_NODE: "1"})
    finally:
        slow.close()
    assert caught.value.what == ("vsphere.late" if method == "ReconfigVm" else "vsphere.lost")
    assert monotonic_s() - started < 15


def test_an_esxi_guest_is_not_read_in_the_midst_of_a_task(
    off: tuple[VsphereSession, str], monkeypatch: pytest.MonkeyPatch
):
    """Of a change whose answer was lost: what is read before it is done would soon be untrue."""
    session, number = off
    machine, states = session._machine(number), ["queued", "running", "running", "success"]

    class Task:
        @property
        def info(self) -> Any:
            return SimpleNamespace(state=states[0] if len(states) == 1 else states.pop(0))

    class Forgotten:
        @property
        def info(self) -> Any:
            raise vmodl.fault.ManagedObjectNotFound(msg="it is gone")

    tasks = [Forgotten(), Task()]
    busy = SimpleNamespace(config=machine.config, runtime=machine.runtime, recentTask=tasks)
    monkeypatch.setattr(session, "_machine", lambda _: busy)
    monkeypatch.setattr(vsphere, "POLL_S", 0.01)
    assert session.guest(number) is not None and states == ["success"]
    states[:] = ["running"]
    monkeypatch.setattr(vsphere, "TASK_S", 0.05)
    with pytest.raises(HostError) as caught:
        session.guest(number)
    assert caught.value.what == "vsphere.late"
