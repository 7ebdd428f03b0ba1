"""A locked down kernel refuses writes past a driver: that is said before any is tried."""

import pytest

from wirespeed.apply.lockdown_guard import refuse_locked_down
from wirespeed.apply.planner import make_plan
from wirespeed.facts.lockdown import PATH, Lockdown
from wirespeed.model.capture import Capture, Section
from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import Absent, Known, Unreadable
from wirespeed.model.plan import Plan
from wirespeed.model.step import State, Step
from wirespeed.steps.firmware_settings import FirmwareSettings
from wirespeed.steps.mtu import Mtu
from wirespeed.steps.read_request import ReadRequest

CARD = "0000:03:00.0"
SECURE = "   6   0   0   0   1\n"


def host(mode: str, secure: str = "") -> HostFacts:
    files = Section("lockdown", "", f"{PATH}:{mode}\n" if mode else "",
                    "" if mode else f"grep: {PATH}: No such file or directory", 0)  # fmt: skip
    variable = Section("secure-boot", "", secure, "", 0)
    return HostFacts("alpha", Capture([files, variable], complete=True))


def plan(step: Step, now: State) -> Plan:
    return make_plan([("alpha", step, Known(now, "cat"))])


REQUEST = plan(
    ReadRequest(pci_address=CARD, max_read_request_bytes=4096), {"max_read_request_bytes": 512}
)
FIRMWARE = plan(FirmwareSettings(pci_address=CARD, settings={"NUM_OF_VFS": 16}), {"NUM_OF_VFS": 0})


@pytest.mark.parametrize("wanted", [REQUEST, FIRMWARE])
@pytest.mark.parametrize("mode", ["none [integrity] confidentiality",
                                  "none integrity [confidentiality]"])  # fmt: skip
def test_registers_are_not_written_past_a_locked_down_kernel(wanted: Plan, mode: str):
    with pytest.raises(InputError) as caught:
        refuse_locked_down(wanted, {"alpha": host(mode, SECURE)})
    assert caught.value.what == "plan.locked_down"
    assert "Secure Boot" in caught.value.found
    assert "nothing is changed" in caught.value.so


@pytest.mark.parametrize("mode", ["[none] integrity confidentiality", ""])
def test_a_kernel_that_is_not_locked_down_is_no_obstacle(mode: str):
    refuse_locked_down(REQUEST, {"alpha": host(mode)})


def test_what_goes_by_the_driver_is_done_all_the_same():
    mtu = plan(Mtu(netdev="eth0", mtu=9000), {"mtu": 1500})
    refuse_locked_down(mtu, {"alpha": host("none [integrity] confidentiality")})


def test_what_is_so_already_needs_no_write():
    so = plan(
        ReadRequest(pci_address=CARD, max_read_request_bytes=512), {"max_read_request_bytes": 512}
    )
    refuse_locked_down(so, {"alpha": host("none [integrity] confidentiality")})


def test_lockdown_and_secure_boot_are_read():
    of = host("none [integrity] confidentiality", SECURE)[Lockdown]
    assert isinstance(of.mode, Known) and of.mode.value == "integrity"
    assert isinstance(of.secure_boot, Known) and of.secure_boot.value is True
    off = host("", "   6   0   0   0   0\n")[Lockdown]
    assert isinstance(off.mode, Absent)
    assert isinstance(off.secure_boot, Known) and off.secure_boot.value is False
    assert isinstance(host("[none]")[Lockdown].secure_boot, Absent)
    assert isinstance(host("other")[Lockdown].mode, Unreadable)
    assert isinstance(host("[none]", "6 0")[Lockdown].secure_boot, Unreadable)
