"""The speed of a switch's port, on described switches of every kind."""

import pytest
from described_switch import PORTS, DescribedSwitch, switch
from proof import plan_on, prove
from pydantic import ValidationError
from samples import section_of

from wirespeed.model.finding import Danger
from wirespeed.model.observed import Known, Unreadable
from wirespeed.model.switch_kind import SwitchKind
from wirespeed.platforms.switch.steps.switchport_link import SwitchportLink

K = SwitchKind
FORCED = [SwitchportLink(kind=kind, port=PORTS[kind], link_mbit_per_s=10000) for kind in K]
OS6 = FORCED[0]
AT_10G: dict[SwitchKind, DescribedSwitch] = {
    K.DELL_OS6: switch(K.DELL_OS6, speed="10000"),
    K.DELL_OS9: switch(K.DELL_OS9, speed="10000"),
    K.DELL_OS10: switch(K.DELL_OS10, speed="10000", negotiation="off"),
    K.SONIC: switch(K.SONIC, speed="10000", autoneg="off"),
    K.CUMULUS: switch(K.CUMULUS, speed="10G", auto_negotiate="off"),
    K.EOS: switch(K.EOS, speed="forced 10gfull"),
    K.NXOS: switch(K.NXOS, speed="10000", no__negotiate__auto=""),
}
LINES = {
    K.DELL_OS6: ("configure", "interface Te1/0/1", "speed 10000", "end"),
    K.DELL_OS9: ("configure", "interface TenGigabitEthernet 1/1", "speed 10000", "end"),
    K.DELL_OS10: (
        "configure terminal", "interface ethernet1/1/1", "speed 10000", "negotiation off", "end",
    ),
    K.SONIC: (
        "sudo -n config interface autoneg Ethernet0 disabled",
        "sudo -n config interface speed Ethernet0 10000",
    ),
    K.CUMULUS: (
        "nv set interface swp1 link auto-negotiate off", "nv set interface swp1 link speed 10G",
        "nv config apply -y",
    ),
    K.EOS: ("configure terminal", "interface Ethernet1", "speed forced 10gfull", "end"),
    K.NXOS: (
        "configure terminal", "interface Ethernet1/1", "speed 10000", "no negotiate auto", "end",
    ),
}  # fmt: skip


@pytest.mark.parametrize("step", FORCED, ids=lambda s: s.kind)
def test_a_switchport_is_forced_and_negotiates_again(step: SwitchportLink):
    goal = AT_10G[step.kind]
    start = switch(step.kind)
    start.saved = goal.saved
    prove(step, start, goal)


@pytest.mark.parametrize("kind", K)
def test_a_forced_switchport_negotiates_and_is_forced_again(kind: SwitchKind):
    step = SwitchportLink(kind=kind, port=PORTS[kind], link_mbit_per_s=None)
    goal = switch(kind, speed="10000") if kind is K.SONIC else switch(kind)
    goal.saved = AT_10G[kind].saved
    prove(step, AT_10G[kind], goal)


@pytest.mark.parametrize("step", FORCED, ids=lambda s: s.kind)
def test_what_is_typed_at_the_switchport_is_what_its_manual_has(step: SwitchportLink):
    (command,) = plan_on(step, switch(step.kind)).steps[0].commands
    assert command.argv == LINES[step.kind]
    assert step.danger is Danger.DROPS_LINK


def test_undo_types_the_very_line_that_a_switchport_had():
    step = SwitchportLink(kind=K.DELL_OS6, port="Te1/0/1", link_mbit_per_s=10000)
    state = step.parse(section_of("switchport mode trunk\nspeed auto 1000 10000\n"))
    assert isinstance(state, Known)
    (undo,) = step.change(step.wanted(state.value), state.value)
    assert "speed auto 1000 10000" in undo.argv


def test_a_switch_that_restarts_has_what_was_saved_of_its_switchport():
    described = switch(K.DELL_OS6)
    (command,) = plan_on(OS6, described).steps[0].commands
    assert not described.run(command).returncode
    assert described.ports["Te1/0/1"] == {"speed": "10000"}
    described.restart()
    assert described.ports["Te1/0/1"] == {}


def test_two_forms_of_one_setting_of_an_eos_switchport_are_one():
    step = next(s for s in FORCED if s.kind is K.EOS)
    for line in ("speed 10g", "speed forced 10gfull"):
        found = step.parse(section_of(f"interface Ethernet1\n   {line}\n"))
        assert isinstance(found, Known) and found.value == {"speed": "speed forced 10gfull"}


def test_a_cumulus_switchport_may_stand_in_a_range():
    step = SwitchportLink(kind=K.CUMULUS, port="swp3", link_mbit_per_s=None)
    text = "nv set interface swp1-2,swp3-5 link speed 25G\nnv set interface swp30 link speed 1G\n"
    found = step.parse(section_of(text))
    assert isinstance(found, Known) and found.value == {"autoneg": None, "speed": "25G"}


@pytest.mark.parametrize(
    ("word", "state"), [("disabled", "off"), ("enabled", "on"), ("off", "off")]
)
def test_a_cumulus_switchport_negotiates_or_not_in_words_of_either_release(word: str, state: str):
    """Cumulus Linux 5.15, deprecated commands: `auto-negotiate on|off`, `enabled|disabled`."""
    step = SwitchportLink(kind=K.CUMULUS, port="swp1", link_mbit_per_s=10000)
    text = (
        f"nv set interface swp1 link auto-negotiate {word}\nnv set interface swp1 link speed 10G\n"
    )
    found = step.parse(section_of(text))
    assert isinstance(found, Known) and found.value == {"autoneg": state, "speed": "10G"}
    is_set = found.value == step.wanted(found.value)
    assert is_set == (state == "off")


@pytest.mark.parametrize("value", ["25G;reboot", "$(reboot)", "`reboot`", "25G|sh", "-x" * 20])
def test_a_switchports_value_that_a_shell_would_run_is_not_typed_again(value: str):
    """Law 9: undo types the value that was there, and Cumulus Linux has a shell."""
    step = SwitchportLink(kind=K.CUMULUS, port="swp1", link_mbit_per_s=10000)
    text = f"nv set interface swp1 link speed {value}\n"
    assert isinstance(step.parse(section_of(text)), Unreadable)


def test_a_line_of_an_eos_switchport_is_typed_again_as_words_alone():
    step = next(s for s in FORCED if s.kind is K.EOS)
    for line, known in (
        ("speed auto 100gfull", "speed auto 100gfull"),
        ("speed sfp-1000baset auto 100full", "speed sfp-1000baset auto 100full"),
        ("speed 25g; reload", None),
    ):
        found = step.parse(section_of(f"interface Ethernet1\n   {line}\n"))
        assert isinstance(found, Known) and found.value == {"speed": known}


@pytest.mark.parametrize(("port", "speed"), [("swp1s2", "10G"), ("swp2s0", "10G"), ("swp1", None)])
def test_a_cumulus_switchport_that_is_broken_out_may_stand_in_a_range(port: str, speed: str | None):
    """The first two lines are those of Cumulus Linux, Switch Port Attributes, of one port."""
    text = (
        "nv set interface swp1 link breakout 4x\nnv set interface swp1s0-3,swp2s0-3 link state up\n"
        "nv set interface swp1s0-3,swp2s0-3 link speed 10G\n"
    )
    step = SwitchportLink(kind=K.CUMULUS, port=port, link_mbit_per_s=None)
    found = step.parse(section_of(text))
    assert isinstance(found, Known) and found.value == {"autoneg": None, "speed": speed}


@pytest.mark.parametrize("step", [s for s in FORCED if s.kind is not K.DELL_OS6])
def test_another_switchport_or_none_is_not_taken_for_it(step: SwitchportLink):
    for text in ("", "interface Ethernet77\n speed 10000\n", "% Invalid command\n", "{}", "{1"):
        assert isinstance(step.parse(section_of(text)), Unreadable)


@pytest.mark.parametrize(
    "fields",
    [
        {"port": "Te1/0/1; reload"},
        {"port": "Te1/0/1\nreload"},
        {"port": "-x"},
        {"port": "Te1s0"},
        {"kind": "abacus"},
        {"link_mbit_per_s": 1},
    ],
)
def test_no_such_switchport(fields: dict[str, object]):
    with pytest.raises(ValidationError):
        SwitchportLink.model_validate({**OS6.model_dump(), **fields})
