"""What a switch starts with, beside what it runs with, on described switches of every kind."""

from copy import deepcopy

import pytest
from described_switch import PORTS, switch
from test_control_switchport import DescribedSession, forced, run

from wirespeed.model.error import HostError
from wirespeed.model.switch_kind import SwitchKind
from wirespeed.platforms.switch.save import save, unsaved
from wirespeed.platforms.switch.steps.switchport_saved import differing

K = SwitchKind
WHERE = "the port of sw1"
CHANGED = {
    K.DELL_OS6: {"speed"}, K.DELL_OS9: {"speed"}, K.DELL_OS10: {"speed", "negotiation"},
    K.SONIC: {"autoneg", "speed"}, K.CUMULUS: {"autoneg", "speed"}, K.EOS: {"speed"},
    K.NXOS: {"speed", "negotiation"},
}  # fmt: skip
"""What of a port is other than before once it is set to 10 Gb/s by hand."""


def set_by_hand(kind: SwitchKind, fault: str = "", at: int = -1) -> DescribedSession:
    session = DescribedSession(switch(kind))
    _, executor = run(session, forced(kind))
    executor.apply()
    session.count, session.fault, session.at = 0, fault, at
    return session


@pytest.mark.parametrize("kind", K)
def test_a_switchport_that_was_saved_is_so_after_a_restart(kind: SwitchKind):
    session = set_by_hand(kind)
    ports = deepcopy(session.switch.ports)
    assert set(unsaved(session, PORTS[kind], WHERE)) == CHANGED[kind]
    assert set(save(session, PORTS[kind], WHERE)) == CHANGED[kind]
    session.switch.restart()
    assert session.switch.ports == ports
    assert save(session, PORTS[kind], WHERE) == ()


@pytest.mark.parametrize("kind", K)
def test_what_is_saved_already_is_not_saved_again(kind: SwitchKind):
    session = DescribedSession(switch(kind))
    assert save(session, PORTS[kind], WHERE) == ()
    assert session.count == 2


@pytest.mark.parametrize("fault", ["refused", "hangs", "lost", "restarts"])
def test_a_fault_while_a_switchport_is_saved_is_no_success(fault: str):
    for at in range(5):
        session = set_by_hand(K.NXOS, fault, at)
        with pytest.raises(HostError) as caught:
            save(session, PORTS[K.NXOS], WHERE)
        what = {"switch.lost", "switch.not_saved", "switch.saved_unknown"}
        assert caught.value.what in what, at
    session = set_by_hand(K.NXOS, fault, 5)
    assert save(session, PORTS[K.NXOS], WHERE)


def test_a_switch_that_says_saved_and_did_not_is_found_out(monkeypatch: pytest.MonkeyPatch):
    session = set_by_hand(K.EOS)
    monkeypatch.setattr(session, "save", lambda: "Copy completed successfully.\n")
    with pytest.raises(HostError, match=r"switch\.not_saved"):
        save(session, PORTS[K.EOS], WHERE)


RUNNING = {
    K.DELL_OS6: "speed 10000\n",
    K.SONIC: "{'speed': '25000', 'autoneg': 'on', 'mtu': '9100'}\n",
    K.CUMULUS: '{"swp1": {"link": {"speed": "10G"}}}',
    K.EOS: "interface Ethernet1\n   speed forced 10gfull\n",
}


@pytest.mark.parametrize("kind", RUNNING)
@pytest.mark.parametrize(
    "text", ["", "% Invalid input\n", "{}", "[]", "- x", "[1", "null", "a: &b"]
)
def test_what_is_no_saved_configuration_of_a_switchport_is_not_taken_for_one(
    kind: SwitchKind, text: str
):
    with pytest.raises((ValueError, LookupError, TypeError, AttributeError)):
        differing(kind, PORTS[kind], RUNNING[kind], text)


def test_the_saved_setting_of_another_switchport_is_not_its_own():
    saved = "interface Te1/0/2\nspeed 10000\nexit\ninterface Te1/0/11\nspeed 10000\nexit\n"
    assert differing(K.DELL_OS6, "Te1/0/1", "speed 10000\n", saved) == ("speed",)
    own = "interface tengigabitethernet 1/0/1\nspeed 10000\nexit\n"
    assert differing(K.DELL_OS6, "Te1/0/1", "speed 10000\n", saved + own) == ()
