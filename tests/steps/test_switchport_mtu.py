"""The MTU of a switch's port, on described switches of the kinds that set it by the port."""

import pytest
from described_switch import PORTS, switch
from proof import prove
from pydantic import ValidationError

from wirespeed.model.switch_kind import SwitchKind
from wirespeed.platforms.switch.steps.switchport_mtu import SwitchportMtu

K = SwitchKind
OF_NXOS = SwitchportMtu(kind=K.NXOS, port="Ethernet1/1", mtu=9216)
KINDS = (K.DELL_OS9, K.DELL_OS10, K.NXOS, K.SONIC, K.CUMULUS)
STEPS = [SwitchportMtu(kind=kind, port=PORTS[kind], mtu=9216) for kind in KINDS]


@pytest.mark.parametrize("step", STEPS, ids=lambda s: s.kind)
def test_the_mtu_of_a_switchport_is_set_and_comes_back(step: SwitchportMtu):
    for start in (switch(step.kind), switch(step.kind, mtu="1500")):
        goal = switch(step.kind, mtu="9216")
        start.saved = goal.saved
        prove(step, start, goal)


@pytest.mark.parametrize("kind", [K.DELL_OS6, K.EOS])
def test_a_switchport_whose_mtu_is_the_switchs_has_no_such_step(kind: SwitchKind):
    with pytest.raises(ValidationError, match="has no setting of its mtu"):
        SwitchportMtu(kind=kind, port=PORTS[kind], mtu=9216)


def test_an_mtu_that_no_switchport_has_is_none():
    with pytest.raises(ValidationError):
        SwitchportMtu(kind=K.NXOS, port="Ethernet1/1", mtu=100)
