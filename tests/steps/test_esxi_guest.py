"""Settings of guests on a described ESXi host, which answers as the vSphere API does."""

import json
from dataclasses import dataclass, field
from typing import Any

import pytest
from proof import Answer, UnknownCommandError, prove
from pydantic import ValidationError

from wirespeed.model.capture import Section
from wirespeed.model.command import Command, Shell
from wirespeed.model.observed import Known, Observed, Unreadable
from wirespeed.model.step import State
from wirespeed.platforms.esxi.steps.esxi_guest import EsxiGuest

REPORT = EsxiGuest(
    number="7",
    reserve_memory=True,
    affinity=",".join(map(str, range(25, 48))),
    numa_node=1,
    latency_sensitivity="high",
)
"""As the virtual hardware of test 5 has it, and VMware's own setting for cores of one's own."""
READ = (
    *("RetrieveProperties", "7", "config.hardware.memoryMB"),
    *("config.memoryAllocation.reservation", "config.memoryReservationLockedToMax"),
    *("config.cpuAllocation.reservation", "config.cpuAffinity.affinitySet"),
    *("config.latencySensitivity.level", "config.extraConfig.numa.nodeAffinity"),
)


@dataclass
class Guest:
    """As one was made: nothing reserved, any core, any node."""

    memory_mb: int = 32768
    reservation_mb: int = 0
    is_locked: bool = False
    reservation_mhz: int = 0
    affinity: list[int] = field(default_factory=list)
    latency: str = "normal"
    extra: dict[str, str] = field(default_factory=lambda: {"svga.present": "TRUE"})


@dataclass
class DescribedVsphere:
    """One task sets all that it names, or nothing; a locked reservation is all of the memory."""

    guests: dict[str, Guest]

    def run(self, command: Command) -> Answer:
        if command.shell is not Shell.VSPHERE or command.stdin is not None:
            raise UnknownCommandError(command.line())
        if command.argv == READ:
            return Answer(json.dumps(self.said(self.guests["7"])))
        if command.argv[:2] != ("ReconfigVM_Task", "7"):
            raise UnknownCommandError(command.line())
        return self.reconfigured(self.guests["7"], dict(w.split("=", 1) for w in command.argv[2:]))

    @staticmethod
    def said(guest: Guest) -> dict[str, Any]:
        return {
            "hardware.memoryMB": guest.memory_mb,
            "memoryAllocation.reservation": guest.reservation_mb,
            "memoryReservationLockedToMax": guest.is_locked,
            "cpuAllocation.reservation": guest.reservation_mhz,
            "cpuAffinity.affinitySet": ",".join(map(str, guest.affinity)),
            "latencySensitivity.level": guest.latency,
            "extraConfig.numa.nodeAffinity": guest.extra.get("numa.nodeAffinity", ""),
            "powerState": "poweredOff",
        }

    @staticmethod
    def reconfigured(guest: Guest, values: dict[str, str]) -> Answer:
        is_locked = values.pop("memoryReservationLockedToMax", str(guest.is_locked)).lower()
        reserved = int(values.pop("memoryAllocation.reservation", guest.reservation_mb))
        if is_locked == "true" and reserved != guest.memory_mb:
            return Answer("", "InvalidArgument: a locked reservation is all of the memory", 1)
        guest.is_locked, guest.reservation_mb = is_locked == "true", reserved
        for name, value in values.items():
            match name:
                case "cpuAllocation.reservation":
                    guest.reservation_mhz = int(value)
                case "cpuAffinity.affinitySet":
                    guest.affinity = [int(word) for word in value.split(",") if word]
                case "latencySensitivity.level":
                    guest.latency = value
                case "extraConfig.numa.nodeAffinity":
                    guest.extra.pop("numa.nodeAffinity", None)
                    if value:
                        guest.extra["numa.nodeAffinity"] = value
                case _:
                    raise UnknownCommandError(name)
        return Answer()


def host(**of_7: Any) -> DescribedVsphere:
    return DescribedVsphere({"7": Guest(**of_7), "8": Guest(memory_mb=1024)})


def ready(**others: Any) -> DescribedVsphere:
    return host(
        reservation_mb=32768,
        is_locked=True,
        affinity=list(range(25, 48)),
        latency="high",
        extra={"svga.present": "TRUE", "numa.nodeAffinity": "1"},
        **others,
    )


def test_an_esxi_guest_as_made_is_set_up_as_in_the_report():
    prove(REPORT, host(), ready())


def test_what_else_an_esxi_guest_has_stays_and_comes_back():
    before = host(
        reservation_mb=8192,
        reservation_mhz=500,
        affinity=[1, 2],
        extra={"svga.present": "TRUE", "numa.nodeAffinity": "0,1"},
    )
    prove(REPORT, before, ready(reservation_mhz=500))


def test_only_the_clock_of_an_esxi_guest_is_reserved_where_only_that_is_asked_for():
    step = EsxiGuest(number="7", reserve_cpu_mhz=62100)
    prove(step, host(latency="low"), host(latency="low", reservation_mhz=62100))


def test_an_esxi_guest_with_half_of_its_memory_locks_all_of_it_and_goes_back_to_half():
    step = EsxiGuest(number="7", reserve_memory=True)
    prove(step, host(reservation_mb=16384), host(reservation_mb=32768, is_locked=True))


def test_the_plan_for_an_esxi_guest_is_one_task_that_a_person_can_read():
    step = EsxiGuest(number="7", reserve_memory=True, numa_node=1)
    state = state_of(json.dumps(DescribedVsphere.said(Guest())))
    assert isinstance(state, Known)
    (command,) = step.change(state.value, step.wanted(state.value))
    assert command.line() == (
        "ReconfigVM_Task 7 memoryAllocation.reservation=32768 memoryReservationLockedToMax=true "
        "extraConfig.numa.nodeAffinity=1"
    )


def state_of(output: str, code: int | None = 0) -> Observed[State]:
    return REPORT.parse(Section("step", "", output, "", code))


@pytest.mark.parametrize(
    "changed",
    [
        {"hardware.memoryMB": None},
        {"hardware.memoryMB": True},
        {"hardware.memoryMB": 0},
        {"memoryAllocation.reservation": None},
        {"memoryAllocation.reservation": -1},
        {"memoryReservationLockedToMax": "true"},
        {"cpuAffinity.affinitySet": [1, 2]},
        {"cpuAffinity.affinitySet": "1-2"},
        {"cpuAffinity.affinitySet": "99999"},
        {"latencySensitivity.level": "custom"},
        {"extraConfig.numa.nodeAffinity": "all"},
    ],
)
def test_what_could_not_be_written_again_of_an_esxi_guest_is_unreadable(changed: dict[str, Any]):
    said = DescribedVsphere.said(Guest()) | changed
    assert isinstance(state_of(json.dumps(said)), Unreadable)


@pytest.mark.parametrize("output", ["", "null", "[]", "not json", "[" * 5000])
def test_what_an_esxi_host_does_not_tell_is_unreadable(output: str):
    assert isinstance(state_of(output), Unreadable)
    assert isinstance(state_of("{}", 1), Unreadable)


@pytest.mark.parametrize(
    "wrong",
    [
        {"number": "7"},
        {"number": "7 8", "numa_node": 1},
        {"number": "7", "numa_node": -1},
        {"number": "7", "affinity": "2,1"},
        {"number": "7", "affinity": "1-2"},
        {"number": "7", "latency_sensitivity": "highest"},
    ],
)
def test_what_an_esxi_guest_cannot_be_told_is_refused(wrong: dict[str, Any]):
    with pytest.raises(ValidationError):
        EsxiGuest(**wrong)
