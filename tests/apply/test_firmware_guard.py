"""Firmware is written by nobody who did not ask for it."""

import pytest

from wirespeed.apply.firmware_guard import refuse_firmware, refuse_no_way_back
from wirespeed.apply.planner import planned
from wirespeed.model.error import InputError
from wirespeed.model.observed import Known
from wirespeed.model.plan import Plan
from wirespeed.model.step import State, Step
from wirespeed.steps.firmware_image import FirmwareImage
from wirespeed.steps.firmware_reset import FirmwareReset
from wirespeed.steps.firmware_settings import FirmwareSettings
from wirespeed.steps.mtu import Mtu

CARD = "0000:03:00.0"
SETTINGS = FirmwareSettings(pci_address=CARD, settings={"SRIOV_EN": 1})
RESET = FirmwareReset(pci_address=CARD)
IMAGE = FirmwareImage(
    pci_address=CARD, psid="MT_0000000228", image="/srv/new.bin", version="20.36.1010"
)
WITH_FORMER = IMAGE.model_copy(
    update={"former_image": "/srv/old.bin", "former_version": "20.35.1012"}
)
OFF: State = {"SRIOV_EN": 0}
OLD: State = {"stored": "20.35.1012"}
WAITS: State = {"firmware_waits": True, "settings_wait": False}


def plan_of(*steps: tuple[Step, State]) -> Plan:
    return Plan(steps=tuple(planned("alpha", step, Known(state, "x")) for step, state in steps))


@pytest.mark.parametrize(
    ("step", "state", "word"),
    [
        (SETTINGS, OFF, "set SRIOV_EN=1"),
        (RESET, WAITS, "mstfwreset"),
        (WITH_FORMER, OLD, "burn"),
        (IMAGE, OLD, "burn"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_each_is_refused_with_its_commands(step: Step, state: State, word: str):
    with pytest.raises(InputError) as caught:
        refuse_firmware(plan_of((Mtu(netdev="eth0", mtu=9000), {"mtu": 1500}), (step, state)))
    assert caught.value.what == "plan.writes_firmware"
    assert word in caught.value.found and CARD in caught.value.where
    assert "--allow-firmware" in caught.value.next


def test_what_is_so_already_writes_nothing():
    on: State = {"SRIOV_EN": 1}
    none: State = {"firmware_waits": False, "settings_wait": False}
    refuse_firmware(plan_of((SETTINGS, on), (RESET, none)))
    refuse_no_way_back(plan_of((RESET, none)))


def test_other_steps_are_not_its_business():
    mtu = plan_of((Mtu(netdev="eth0", mtu=9000), {"mtu": 1500}))
    refuse_firmware(mtu)
    refuse_no_way_back(mtu)


@pytest.mark.parametrize(("step", "state"), [(IMAGE, OLD), (RESET, WAITS)])
def test_what_has_no_way_back_is_refused_on_its_own(step: Step, state: State):
    with pytest.raises(InputError) as caught:
        refuse_no_way_back(plan_of((step, state)))
    assert caught.value.what == "plan.no_way_back"
    assert "NO WAY BACK" in caught.value.found and "--allow-no-undo" in caught.value.next


def test_a_former_image_and_former_settings_are_a_way_back():
    refuse_no_way_back(plan_of((WITH_FORMER, OLD), (SETTINGS, OFF)))
