"""An advanced property of an adapter of Windows."""

import pytest
from described_windows import Adapter, DescribedWindows
from proof import DescribedControl, plan_on, prove
from samples import is_never_guessed

from wirespeed.model.observed import Unreadable
from wirespeed.platforms.windows.steps.windows_property import WindowsProperty

CARD = "Mellanox ConnectX-5 Ex Adapter #3"
STEP = WindowsProperty(adapter=CARD, keyword="*JumboPacket", value="9014")
LSO = WindowsProperty(adapter=CARD, keyword="*LsoV2IPv4", value="1")


def host(jumbo: str = "1514", lso: str = "0", **more: list[str]) -> DescribedWindows:
    properties = {"*JumboPacket": [jumbo], "*LsoV2IPv4": [lso], **more}
    other = Adapter("이더넷 9", properties={"*JumboPacket": ["1514"]})
    return DescribedWindows(
        {CARD: Adapter("이더넷 10", properties=properties), f"{CARD[:-1]}4": other}
    )


def reason(step: WindowsProperty, where: DescribedWindows) -> str:
    (found,) = DescribedControl(where).read([step])
    assert isinstance(found, Unreadable)
    return found.reason


def test_set_and_put_back():
    prove(STEP, host(), host(jumbo="9014"))
    prove(LSO, host(), host(lso="1"))


def test_the_commands_name_the_keyword_and_never_the_display_name():
    planned = plan_on(STEP, host()).steps[0]
    assert [c.line() for c in planned.commands] == [
        f"Set-NetAdapterAdvancedProperty -InterfaceDescription '{CARD}' "
        "-RegistryKeyword '*JumboPacket' -RegistryValue 9014 -AllProperties:$true "
        "-IncludeHidden:$true"
    ]


def test_a_keyword_that_the_driver_has_not_is_not_known():
    step = WindowsProperty(adapter=CARD, keyword="*QOS", value="1")
    assert reason(step, host()) == "the driver has no keyword *QOS"


def test_a_star_that_would_set_another_keyword_too_is_refused():
    assert "2 keywords" in reason(STEP, host(MyJumboPacket=["1"]))


@pytest.mark.parametrize("values", [[], ["1", "2"]])
def test_a_list_is_no_value(values: list[str]):
    where = host()
    where.adapters[CARD].properties["*JumboPacket"] = values
    assert "values" in reason(STEP, where)


def test_an_adapter_that_is_gone():
    assert "No MSFT_NetAdapter" in reason(STEP.model_copy(update={"adapter": "gone"}), host())


def test_nothing_is_guessed():
    is_never_guessed(STEP)
