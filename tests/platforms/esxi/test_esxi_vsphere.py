"""Control of ESXi guests by the API: against VMware's own simulator, and where one is at fault."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pyVmomi import vim
from test_esxi_guest import REPORT, DescribedVsphere, Guest, host, ready
from vcsim import PASSWORD, Vcsim

from wirespeed.apply.executor import Executor
from wirespeed.apply.planner import make_plan
from wirespeed.commands.apply import apply
from wirespeed.commands.drift import drift
from wirespeed.commands.plan import plan
from wirespeed.commands.undo import undo
from wirespeed.host import vsphere
from wirespeed.host.vsphere import VsphereSession
from wirespeed.host.vsphere_values import guest_values
from wirespeed.model.error import ApplyError, HostError, InputError, LeftChangedError
from wirespeed.model.journal import Ended, Entry
from wirespeed.model.observed import Unreadable
from wirespeed.platforms.esxi.control_vsphere import VsphereControl
from wirespeed.platforms.esxi.steps.esxi_guest import EsxiGuest

NAME = "vmhost"
SPEC = """\
hosts:
  vmhost: {{reach: "{reach}", ports: ["0000:0b:00.0"]}}
approach: esxi
esxi:
  guests:
    "{number}":
      {{reserve_memory: true, affinity: 0-1, numa_node: 0, latency_sensitivity: high}}
"""


@pytest.fixture(name="simulated")
def _simulated(monkeypatch: pytest.MonkeyPatch) -> Iterator[Vcsim]:
    made = Vcsim()
    vsphere._password.cache_clear()
    monkeypatch.setenv(vsphere.PASSWORD, PASSWORD)
    monkeypatch.setenv(vsphere.THUMBPRINT, made.thumbprint)
    yield made
    made.close()


@pytest.fixture(name="session")
def _session(simulated: Vcsim) -> Iterator[VsphereSession]:
    place = vsphere.VsphereHost(simulated.url, "127.0.0.1", "root", simulated.port)
    with VsphereSession(place) as session:
        yield session


def test_uplinks_say_which_speeds_they_can_have(session: VsphereSession):
    (first, *_) = session.host()["pnic"]
    assert first["speedMb"] == 10_000 and first["validMb"] == [10_000]


def test_a_share_of_a_gpu_is_no_card_of_the_guest():
    device = vim.vm.device.VirtualPCIPassthrough
    vgpu = device(backing=device.VmiopBackingInfo(vgpu="grid_t4-1q"))
    card = device(backing=device.DeviceBackingInfo())
    guest = vim.vm.ConfigInfo(hardware=vim.vm.VirtualHardware(device=[vgpu, card]))
    machine = SimpleNamespace(config=guest, runtime=SimpleNamespace(powerState="poweredOff"))
    assert guest_values(machine)["devices"] == 1


def spec_of(tmp_path: Path, simulated: Vcsim, number: str) -> Path:
    path = tmp_path / "spec.yaml"
    path.write_text(SPEC.format(reach=simulated.url, number=number))
    return path


def run(command: Any, *words: object) -> int:
    return int(command.main([str(word) for word in words], standalone_mode=False) or 0)


def power(session: VsphereSession, number: str, *, on: bool) -> None:
    machine = session._machine(number)
    (machine.PowerOnVM_Task if on else machine.PowerOffVM_Task)()


def test_plan_apply_and_undo_of_a_simulated_esxi_guest(
    simulated: Vcsim, session: VsphereSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    number, other = sorted(session.host()["guests"])
    power(session, number, on=False)
    spec, before = spec_of(tmp_path, simulated, number), session.guest(number)
    beside = session.guest(other)
    assert run(plan, spec) == 0
    assert session.guest(number) == before
    said = capsys.readouterr().out
    assert f"ReconfigVM_Task {number} memoryAllocation.reservation=32" in said

    assert run(apply, spec, "--yes") == 0
    now = session.guest(number)
    assert before is not None and now == before | {
        "memoryAllocation.reservation": 32,
        "memoryReservationLockedToMax": True,
        "cpuAffinity.affinitySet": "0,1",
        "latencySensitivity.level": "high",
        "extraConfig.numa.nodeAffinity": "0",
    }
    capsys.readouterr()
    assert run(apply, spec, "--yes") == 0
    assert "it is so already" in capsys.readouterr().out

    # Someone sets one of them back: it is named, and nothing else is.
    assert run(drift, spec) == 0
    assert session.reconfigure(number, {"latencySensitivity.level": "normal"}) == ""
    capsys.readouterr()
    assert run(drift, spec) == 1
    assert "latencySensitivity.level" in capsys.readouterr().out
    assert run(undo, spec) == 0
    assert session.guest(number) == before and session.guest(other) == beside


def test_a_simulated_esxi_guest_that_is_on_is_refused_and_left(
    simulated: Vcsim, session: VsphereSession, tmp_path: Path
):
    number = sorted(session.host()["guests"])[0]
    spec, before = spec_of(tmp_path, simulated, number), session.guest(number)
    with pytest.raises(ApplyError) as caught:
        run(apply, spec, "--yes")
    assert "shut it down" in caught.value.found
    assert session.guest(number) == before


def test_undo_waits_for_a_simulated_esxi_guest_that_was_started(
    simulated: Vcsim, session: VsphereSession, tmp_path: Path
):
    number = sorted(session.host()["guests"])[0]
    power(session, number, on=False)
    spec, before = spec_of(tmp_path, simulated, number), session.guest(number)
    assert run(apply, spec, "--yes") == 0
    power(session, number, on=True)
    with pytest.raises(LeftChangedError):
        run(undo, spec)
    power(session, number, on=False)
    assert run(undo, spec) == 0
    assert session.guest(number) == before


def test_an_esxi_guest_that_is_not_there_is_said_with_those_that_are(
    simulated: Vcsim, session: VsphereSession, tmp_path: Path
):
    numbers = sorted(session.host()["guests"])
    with pytest.raises(InputError) as caught:
        run(plan, spec_of(tmp_path, simulated, "no-such"))
    assert caught.value.what == "spec.guest_unknown"
    assert all(number in caught.value.found for number in numbers)


class DescribedSession:
    """The API of a described host; answer number `at` of all has `fault`.

    hangs     it is not done, and there is no answer
    lost      it is done, and the connection is lost before the answer
    restarts  as `lost`, and the agent is away for two more questions
    refused   it is not done, and the host says so
    """

    def __init__(self, described: DescribedVsphere, fault: str = "", at: int = -1) -> None:
        self.described, self.fault, self.at = described, fault, at
        self.count = self.away = self.sessions = 0

    def host(self) -> dict[str, Any]:
        raise AssertionError("nobody asks")

    def guest(self, number: str) -> dict[str, Any] | None:
        guest = self.described.guests.get(number)
        return self._answered(lambda: DescribedVsphere.said(guest) if guest else None)

    def reconfigure(self, number: str, values: dict[str, str]) -> str:
        guest = self.described.guests[number]
        if self.count == self.at and self.fault == "refused":
            self.count += 1
            return "NotSupported: refused"
        return self._answered(lambda: DescribedVsphere.reconfigured(guest, values).errors)

    def renew(self) -> None:
        self.sessions += 1

    def _answered(self, do: Callable[[], Any]) -> Any:
        if self.away:
            self.away -= 1
            raise HostError("vsphere.unreachable", where=NAME, found="it is away")
        number, self.count = self.count, self.count + 1
        fault = self.fault if number == self.at else ""
        answer = None if fault == "hangs" else do()
        if fault in ("hangs", "lost", "restarts"):
            self.away = 2 if fault == "restarts" else 0
            raise HostError("vsphere.lost", where=NAME, found="no answer")
        return answer


def control_on(session: DescribedSession, reconnect_s: float = 1.0) -> VsphereControl:
    return VsphereControl(NAME, session, reconnect_s=reconnect_s, pause_s=0.01)


def executor(session: DescribedSession, journal: list[Entry], **more: float) -> Executor:
    (state,) = control_on(DescribedSession(host())).read([REPORT])
    made = make_plan([(NAME, REPORT, state)])
    controls = {NAME: control_on(session, **more)}
    return Executor(made, controls, journal.append, lambda: "now", journal)


CALLS = 4
"""Of one step: read, read once more before it is set, set and read again."""


@pytest.mark.parametrize("at", range(CALLS))
@pytest.mark.parametrize("fault", ["hangs", "lost", "restarts", "refused"])
def test_an_esxi_host_at_fault_at_any_answer_ends_as_it_was_or_as_wanted(fault: str, at: int):
    session, journal = DescribedSession(host(), fault, at), list[Entry]()
    with suppress(ApplyError, HostError):
        executor(session, journal).apply()
    # What is unfinished is finished by the next run, which here is an undo.
    if not any(isinstance(entry, Ended) for entry in journal):
        executor(DescribedSession(session.described), journal).undo()
    assert session.described in (host(), ready())
    outcomes = [entry.outcome for entry in journal if isinstance(entry, Ended)]
    if session.described == ready():
        assert outcomes == ["applied"]
        executor(DescribedSession(session.described), journal).undo()
    assert session.described == host()


def test_what_an_esxi_host_did_before_the_answer_was_lost_is_seen_and_kept():
    session, journal = DescribedSession(host(), "lost", 1), list[Entry]()
    executor(session, journal).apply()
    assert session.described == ready() and session.sessions


def test_an_esxi_host_that_does_not_come_back_is_said():
    session, journal = DescribedSession(host(), "hangs", 1), list[Entry]()
    session.renew = lambda: setattr(session, "away", 10**6)  # type: ignore[method-assign]
    with pytest.raises((HostError, LeftChangedError)):
        executor(session, journal, reconnect_s=0.05).apply()


def test_an_esxi_guest_that_is_gone_is_unreadable():
    gone = control_on(DescribedSession(host())).read([EsxiGuest(number="9", numa_node=0)])
    assert isinstance(gone[0], Unreadable) and "no guest of that number" in gone[0].reason


def test_one_esxi_guest_of_two_steps_is_asked_once():
    session = DescribedSession(host())
    steps = [EsxiGuest(number="7", numa_node=0), EsxiGuest(number="7", reserve_memory=True)]
    control_on(session).read([*steps, EsxiGuest(number="8", numa_node=1)])
    assert session.count == 2
    assert deepcopy(session.described) == host() and Guest() == Guest()
