"""An external virtual switch of Hyper-V."""

from copy import deepcopy

import pytest
from described_windows import (
    Adapter,
    BlueScreenError,
    DescribedWindows,
    Switch,
    own_adapter,
    own_description,
)
from proof import DescribedControl, plan_on, prove
from samples import is_never_guessed

from wirespeed.apply.planner import planned
from wirespeed.model.finding import Danger
from wirespeed.model.observed import Known, Unreadable
from wirespeed.platforms.windows.steps.windows_switch import WindowsSwitch

CARD = "Mellanox ConnectX-5 Ex Adapter #3"
OWN = "Realtek PCIe 10GbE Family Controller"
STEP = WindowsSwitch(name="ConnectX-External", adapter=CARD, filters=("nt_rtf64",), own=(OWN,))
INTERNAL = {"Default Switch": Switch(1, None, True, False)}


def host(
    filter_on_card: bool = False, filtered: bool = False, **switches: Switch
) -> DescribedWindows:
    adapters = {
        CARD: Adapter("이더넷 10", {"nt_rtf64": filter_on_card, "vms_pp": False}),
        OWN: Adapter("이더넷 7", {"nt_rtf64": True}),
    }
    named = {name.replace("_", "-"): switch for name, switch in switches.items()}
    if "ConnectX-External" in named:
        bindings = {"nt_rtf64": filtered, "ms_tcpip": True}
        name = "ConnectX-External"
        adapters[own_description(name)] = own_adapter(name, bindings)
    return DescribedWindows(adapters, deepcopy(INTERNAL) | named, crashing={"nt_rtf64": OWN})


def refusal(where: DescribedWindows) -> str:
    (found,) = DescribedControl(where).read([STEP])
    assert isinstance(found, Unreadable)
    return found.reason


def test_made_and_taken_away():
    prove(STEP, host(), host(ConnectX_External=Switch(2, CARD, True, True)))


def test_one_that_is_there_is_shared_with_the_host_and_keeps_its_iov():
    mine = Switch(2, CARD, False, False)
    prove(STEP, host(ConnectX_External=mine), host(ConnectX_External=Switch(2, CARD, True, False)))


@pytest.mark.parametrize("name", ["외부 [10G]", "it's #1", "-x", "10"])
def test_its_name_is_whatever_somebody_gave_it(name: str):
    found, shared = (
        DescribedWindows({CARD: Adapter("이더넷 10", {})}, {name: Switch(2, CARD, is_on, False)})
        for is_on in (False, True)
    )
    prove(WindowsSwitch(name=name, adapter=CARD), found, shared)


def test_filters_that_bound_themselves_to_it_are_taken_off_and_put_back():
    mine = Switch(2, CARD, True, True)
    prove(STEP, host(filtered=True, ConnectX_External=mine), host(ConnectX_External=mine))


def jumbo(host_: DescribedWindows, value: str) -> DescribedWindows:
    host_.adapters[own_description("ConnectX-External")].properties["*JumboPacket"] = [value]
    return host_


@pytest.mark.parametrize("before", ["1514", "4088"])
def test_the_hosts_own_adapter_on_it_gets_jumbo_frames_and_its_value_back(before: str):
    """WSL in mirrored mode has the MTU of that adapter: microsoft/WSL, GnsEngine.cpp."""
    step = STEP.model_copy(update={"host_jumbo": 9014})
    shared = Switch(2, CARD, True, True)
    prove(step, host(), jumbo(host(ConnectX_External=shared), "9014"))
    found, large = (jumbo(host(ConnectX_External=shared), one) for one in (before, "9014"))
    prove(step, found, large)


def test_an_adapter_that_knows_no_jumbo_frames_stays():
    step = STEP.model_copy(update={"host_jumbo": 9014})
    where = host(ConnectX_External=Switch(2, CARD, True, True))
    assert plan_on(step, where).steps[0].commands, "1514 is not what is asked for"
    where.adapters[own_description("ConnectX-External")].properties.clear()
    assert not plan_on(step, where).steps[0].commands


def test_the_commands():
    one = plan_on(STEP, host()).steps[0]
    assert [c.line() for c in one.commands] == [
        f"New-VMSwitch -Name 'ConnectX-External' -NetAdapterInterfaceDescription '{CARD}' "
        "-AllowManagementOS:$true -EnableIov:$true",
        "Disable-NetAdapterBinding -Name 'vEthernet (ConnectX-External)' -ComponentID 'nt_rtf64' "
        "-IncludeHidden:$true -Confirm:$false -ErrorAction 'SilentlyContinue'",
    ]
    assert [c.line() for c in one.undo] == [
        "Remove-VMSwitch -Name 'ConnectX-External' -Force:$true"
    ]
    assert one.danger is Danger.DROPS_LINK


def test_while_a_foreign_filter_is_bound_the_state_says_which_and_it_comes_off_first():
    start, made = host(True), host(False, ConnectX_External=Switch(2, CARD, True, True))
    # A proof lets each command in turn do nothing, which here is a crash; one host at a time does.
    start.crashing = made.crashing = {}
    made.adapters[own_description("ConnectX-External")].bindings = {"ms_tcpip": True}
    prove(STEP, start, made)
    one = plan_on(STEP, host(True)).steps[0]
    assert one.before is not None
    assert one.before["filtered"] == f"nt_rtf64 on {CARD}"
    verbs = [command.argv[0].split("-")[0] for command in one.commands]
    assert verbs == ["Disable", "New", "Disable"]
    assert [c.argv[0].split("-")[0] for c in one.undo] == ["Remove", "Enable"]


def test_the_described_windows_crashes_where_the_documents_did():
    with pytest.raises(BlueScreenError):
        host(True).run(planned("alpha", STEP, None).commands[0])
    host(False).run(planned("alpha", STEP, None).commands[0])


def test_a_switch_that_is_there_is_known_whatever_is_bound():
    mine = Switch(2, CARD, True, True)
    prove(STEP, host(True, ConnectX_External=mine), host(ConnectX_External=mine))


def test_filters_that_somebody_bound_meanwhile_are_off_while_the_switch_goes():
    control = DescribedControl(host(True, True, ConnectX_External=Switch(2, CARD, True, True)))
    (now,) = control.read([STEP])
    assert isinstance(now, Known)
    control.change(STEP, STEP.change(now.value, STEP.made()))
    assert control.host == host(False)


@pytest.mark.parametrize(
    "there",
    [
        {"ConnectX_External": Switch(1, None, True, False)},
        {"ConnectX_External": Switch(2, OWN, True, False)},
        {"other": Switch(2, CARD, True, False)},
    ],
)
def test_a_switch_of_somebody_else_is_not_touched(there: dict[str, Switch]):
    assert "switch" in refusal(host(**there))


def test_nothing_is_guessed():
    is_never_guessed(STEP)


def test_what_an_earlier_step_leaves_is_that_there_is_none():
    one = planned("alpha", STEP, None)
    assert one.before is None and one.commands[0].argv[0] == "New-VMSwitch"
