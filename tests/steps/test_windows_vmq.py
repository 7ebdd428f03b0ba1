"""Receive queues for guests are switched on, and off again."""

import pytest
from described_windows import Adapter, DescribedWindows
from proof import DescribedControl, plan_on, prove
from pydantic import ValidationError
from samples import is_never_guessed

from wirespeed.model.finding import Danger
from wirespeed.model.observed import Unreadable
from wirespeed.platforms.windows.steps.windows_vmq import WindowsVmq

CARD = "Mellanox ConnectX-5 [Ex] Adapter #10"
OTHER = "Mellanox ConnectX-5 [Ex] Adapter #1"
STEP = WindowsVmq(adapter=CARD)


def host(vmq: bool | None) -> DescribedWindows:
    return DescribedWindows({CARD: Adapter("p0", vmq=vmq), OTHER: Adapter("p1", vmq=False)})


def test_on_and_off_again():
    prove(STEP, host(False), host(True))


def test_off_and_on_again():
    prove(WindowsVmq(adapter=CARD, enabled=False), host(True), host(False))


def test_the_commands_name_one_adapter_and_ask_nothing():
    one = plan_on(STEP, host(False)).steps[0]
    name = "Mellanox ConnectX-5 `[Ex`] Adapter #10"
    assert [c.line() for c in (*one.commands, *one.undo)] == [
        f"Enable-NetAdapterVmq -InterfaceDescription '{name}' -Confirm:$false",
        f"Disable-NetAdapterVmq -InterfaceDescription '{name}' -Confirm:$false",
    ]
    assert one.danger is Danger.DROPS_LINK


def test_an_adapter_whose_driver_offers_none_is_refused():
    (found,) = DescribedControl(host(None)).read([STEP])
    assert isinstance(found, Unreadable) and "have VMQ" in found.reason


def test_nothing_is_guessed():
    is_never_guessed(STEP)


@pytest.mark.parametrize("wrong", [{}, {"adapter": ""}, {"adapter": "a\nb"}])
def test_what_makes_no_sense_is_refused(wrong: dict[str, str]):
    with pytest.raises(ValidationError):
        WindowsVmq.model_validate(wrong)
