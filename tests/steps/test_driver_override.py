"""A function goes to vfio-pci and back to the very driver that had it."""

from dataclasses import dataclass

import pytest
from proof import Answer, UnknownCommandError, prove

from wirespeed.apply.planner import planned
from wirespeed.model.capture import Section
from wirespeed.model.command import Command
from wirespeed.model.observed import Known, Observed, Unreadable
from wirespeed.model.step import State
from wirespeed.steps.driver_override import DriverOverride

VF = "0000:03:00.3"
FOLDER = f"/sys/bus/pci/devices/{VF}"
STEP = DriverOverride(pci_address=VF)
UEVENT = """\
PCI_CLASS=20000
PCI_ID=15B3:101A
PCI_SUBSYS_ID=15B3:0008
PCI_SLOT_NAME=0000:03:00.3
MODALIAS=pci:v000015B3d0000101Asv000015B3sd00000008bc02sc00i00
"""


@dataclass
class DescribedFunction:
    """One VF and the loaded drivers, by drivers/pci/pci-driver.c and drivers/base/bus.c."""

    driver: str | None = "mlx5_core"
    override: str | None = None
    loaded: tuple[str, ...] = ("mlx5_core", "vfio-pci")
    """In the order in which they registered."""
    for_this_kind: tuple[str, ...] = ("mlx5_core",)
    """Those that list its vendor and device, of themselves or by `new_id`."""
    drivers_autoprobe: bool = True
    """sriov_drivers_autoprobe of the PF."""

    def run(self, command: Command) -> Answer:
        match command.argv, command.stdin:
            case ("grep", "-H", "", one, other), None if {one, other} == {
                f"{FOLDER}/driver_override",
                f"{FOLDER}/uevent",
            }:
                # driver_override_show() prints a string that is not there as (null).
                uevent = (f"DRIVER={self.driver}\n" if self.driver else "") + UEVENT
                lines = [f"{FOLDER}/driver_override:{self.override or '(null)'}"]
                lines += [f"{FOLDER}/uevent:{line}" for line in uevent.splitlines()]
                return Answer("\n".join(lines) + "\n")
            case ("tee", path), str(text):
                return self._write(path, text)
            case _:
                raise UnknownCommandError(command.line())

    def _write(self, path: str, text: str) -> Answer:
        if path == f"{FOLDER}/driver_override":
            # driver_set_override(): an empty line takes it away; a bound driver stays.
            self.override = text or None
        elif path == f"{FOLDER}/driver/unbind":
            if self.driver is None:
                return Answer(text, f"tee: {path}: No such file or directory", 1)
            if text != VF:
                return Answer(text, f"tee: {path}: No such device", 1)
            self.driver = None
        elif path == "/sys/bus/pci/drivers_probe" and text == VF:
            # bus_rescan_devices_helper(): a function that is free; that none matches is no error.
            if self.driver is None:
                self.driver = next(filter(self._matches, self.loaded), None)
        else:
            raise UnknownCommandError(f"{text!r} to {path}")
        return Answer(text + "\n")

    def _matches(self, driver: str) -> bool:
        # pci_match_device(): with an override no other driver matches, and that one always does.
        # pci_device_can_probe(): so it does for a VF without autoprobe.
        if self.override is not None:
            return driver == self.override
        return driver in self.for_this_kind and self.drivers_autoprobe


def test_a_vf_goes_to_vfio_and_back_to_its_driver():
    prove(STEP, DescribedFunction(), DescribedFunction("vfio-pci", "vfio-pci"))


def test_a_vf_that_no_driver_had_is_free_again():
    prove(STEP, DescribedFunction(None), DescribedFunction("vfio-pci", "vfio-pci"))


def test_without_autoprobe_it_is_bound_and_comes_back():
    start = DescribedFunction(drivers_autoprobe=False)
    goal = DescribedFunction("vfio-pci", "vfio-pci", drivers_autoprobe=False)
    prove(STEP, start, goal)


def test_a_driver_that_took_it_by_new_id_gets_it_back_though_another_comes_first():
    kinds = ("mlx5_core", "vfio-pci", "uio_pci_generic")
    start = DescribedFunction("uio_pci_generic", loaded=kinds, for_this_kind=kinds)
    goal = DescribedFunction("vfio-pci", "vfio-pci", loaded=kinds, for_this_kind=kinds)
    prove(STEP, start, goal)


def test_an_override_that_stood_there_comes_back():
    start = DescribedFunction("mlx5_core", "mlx5_core")
    prove(STEP, start, DescribedFunction("vfio-pci", "vfio-pci"))


def test_bound_by_new_id_only_the_override_is_missing():
    start = DescribedFunction("vfio-pci", None)
    prove(STEP, start, DescribedFunction("vfio-pci", "vfio-pci"))


def test_the_commands_are_those_of_the_kernel_document():
    """Documentation/ABI/testing/sysfs-bus-pci, driver_override."""
    plan = planned("a", STEP, Known({"driver": "mlx5_core", "driver_override": None}, "grep"))
    assert [c.line() for c in plan.commands] == [
        f"echo vfio-pci | tee {FOLDER}/driver_override",
        f"echo {VF} | tee {FOLDER}/driver/unbind",
        f"echo {VF} | tee /sys/bus/pci/drivers_probe",
    ]
    assert [c.line() for c in plan.undo] == [
        f"echo mlx5_core | tee {FOLDER}/driver_override",
        f"echo {VF} | tee {FOLDER}/driver/unbind",
        f"echo {VF} | tee /sys/bus/pci/drivers_probe",
        f"echo '' | tee {FOLDER}/driver_override",
    ]


def state_of(override: str, uevent: str = UEVENT, code: int | None = 0) -> Observed[State]:
    lines = [f"{FOLDER}/driver_override:{override}"]
    lines += [f"{FOLDER}/uevent:{line}" for line in uevent.splitlines()]
    return STEP.parse(Section("step", VF, "\n".join(lines) + "\n", "", code))


def test_what_the_kernel_prints_where_nothing_is_set():
    for text in ("(null)", ""):
        state = state_of(text)
        assert isinstance(state, Known)
        assert state.value == {"driver": None, "driver_override": None}


@pytest.mark.parametrize("name", ["../../x", "a b", "x" * 65, "$(reboot)"])
def test_a_name_that_is_no_drivers_is_unreadable(name: str):
    assert isinstance(state_of(name), Unreadable)
    assert isinstance(state_of("(null)", UEVENT + f"DRIVER={name}\n"), Unreadable)


def test_a_function_that_is_not_there_is_unreadable():
    missing = f"grep: {FOLDER}/driver_override: No such file or directory\n"
    missing += f"grep: {FOLDER}/uevent: No such file or directory\n"
    assert isinstance(STEP.parse(Section("step", VF, "", missing, 2)), Unreadable)
    assert isinstance(STEP.parse(Section("step", VF, "", "", None)), Unreadable)
    assert isinstance(state_of("(null)", "DRIVER=igb\n"), Unreadable)
    assert isinstance(state_of("(null)", code=None), Unreadable)
