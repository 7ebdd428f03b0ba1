"""A filter driver of another vendor on adapters of Windows."""

from copy import deepcopy

import pytest
from described_windows import Adapter, DescribedWindows
from proof import plan_on, prove
from pydantic import ValidationError
from samples import is_never_guessed, reason_of, section_of, state_of

from wirespeed.model.finding import Danger
from wirespeed.platforms.windows.steps.windows_filter import WindowsFilter

CARD = "Mellanox ConnectX-5 Ex Adapter #3"
OWN = "Realtek PCIe 10GbE Family Controller"
VIRTUAL = "Hyper-V Virtual Ethernet Adapter"
STEP = WindowsFilter(component_id="nt_rtf64", adapters=(CARD, VIRTUAL))


def host(card: bool | None, virtual: bool | None, others: str = "") -> DescribedWindows:
    """`others`: one more adapter, whose name a careless pattern would match."""
    adapters = {
        CARD: Adapter("이더넷 10", {"ms_tcpip": True}),
        OWN: Adapter("이더넷 7", {"ms_tcpip": True, "nt_rtf64": True}),
        VIRTUAL: Adapter("vEthernet (Default Switch)", {"ms_tcpip": True}),
    }
    for name, is_on in ((CARD, card), (VIRTUAL, virtual)):
        if is_on is not None:
            adapters[name].bindings["nt_rtf64"] = is_on
    if others:
        adapters[others] = Adapter("x", {"nt_rtf64": True})
    return DescribedWindows(adapters)


def test_it_is_taken_off_all_but_its_own():
    prove(STEP, host(True, True), host(False, False))


def test_undo_puts_it_back_only_where_it_was():
    prove(STEP, host(True, False), host(False, False))


def test_where_it_cannot_be_bound_nothing_is_done():
    prove(STEP, host(True, None), host(False, None))


@pytest.mark.parametrize("name", ["a*", "[x] card", "what?", "tick`", "it's ; Restart-Computer #"])
def test_a_hostile_name_stands_for_that_adapter_alone(name: str):
    step = WindowsFilter(component_id="nt_rtf64", adapters=(name,))
    start = host(True, True, name)
    start.adapters["abc"] = Adapter("other", {"nt_rtf64": True})
    goal = deepcopy(start)
    goal.adapters[name].bindings["nt_rtf64"] = False
    prove(step, start, goal)


def test_the_commands():
    planned = plan_on(STEP, host(True, False)).steps[0]
    assert [c.line() for c in planned.commands] == [
        f"Disable-NetAdapterBinding -InterfaceDescription '{CARD}' -ComponentID 'nt_rtf64' "
        "-IncludeHidden:$true -Confirm:$false"
    ]
    assert [c.line() for c in planned.undo] == [
        f"Enable-NetAdapterBinding -InterfaceDescription '{CARD}' -ComponentID 'nt_rtf64' "
        "-IncludeHidden:$true -Confirm:$false"
    ]
    assert planned.danger is Danger.DROPS_LINK


def test_the_state_is_what_windows_says():
    row = '{"InterfaceDescription":"%s","ComponentID":"NT_RTF64","Enabled":%s}'
    said = f"[{row % (CARD, 'true')},{row % (VIRTUAL, 'false')}]"
    assert state_of(STEP, section_of(said)) == {CARD: True, VIRTUAL: False}
    both = f"[{row % (CARD, 'true')},{row % (CARD, 'false')}]"
    assert "on and off" in reason_of(STEP, section_of(both))
    assert "Enabled" in reason_of(STEP, section_of(f"[{row % (CARD, 'null')}]"))
    assert reason_of(STEP, section_of("[]")) == "it names no adapter"


def test_nothing_is_guessed():
    is_never_guessed(STEP)


@pytest.mark.parametrize("wrong", [{"component_id": "a b"}, {"adapters": ()}, {"adapters": ("",)},
                                   {"adapters": ("a\nb",)}])  # fmt: skip
def test_what_is_no_name_is_refused(wrong: dict[str, object]):
    with pytest.raises(ValidationError):
        WindowsFilter.model_validate({**STEP.model_dump(), **wrong})
