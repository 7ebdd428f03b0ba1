"""FEC of a switch's port, on described switches of the kinds that have it."""

import pytest
from described_switch import PORTS, DescribedSwitch, switch
from proof import prove
from pydantic import ValidationError

from wirespeed.model.switch_kind import SwitchKind
from wirespeed.platforms.switch.steps.switchport_fec import SwitchportFec

K = SwitchKind
WITH = {
    (K.DELL_OS10, "rs"): switch(K.DELL_OS10, fec="CL108-RS"),
    (K.DELL_OS10, "baser"): switch(K.DELL_OS10, fec="CL74-FC"),
    (K.DELL_OS10, "off"): switch(K.DELL_OS10, fec="off"),
    (K.EOS, "rs"): switch(K.EOS, **{"error-correction__encoding": "reed-solomon"}),
    (K.EOS, "baser"): switch(K.EOS, **{"error-correction__encoding": "fire-code"}),
    (K.EOS, "off"): switch(K.EOS, **{"no__error-correction__encoding": ""}),
    (K.NXOS, "rs"): switch(K.NXOS, fec="rs-fec"),
    (K.NXOS, "off"): switch(K.NXOS, fec="off"),
    (K.SONIC, "rs"): switch(K.SONIC, fec="rs"),
    (K.SONIC, "baser"): switch(K.SONIC, fec="fc"),
    (K.CUMULUS, "rs"): switch(K.CUMULUS, fec="rs"),
    (K.CUMULUS, "off"): switch(K.CUMULUS, fec="off"),
}
STEPS = [
    SwitchportFec.model_validate({"kind": kind, "port": PORTS[kind], "encoding": encoding})
    for kind, encoding in WITH
]

OF_SONIC = SwitchportFec(kind=K.SONIC, port="Ethernet0", encoding="rs")


def same_saved(goal: DescribedSwitch, start: DescribedSwitch) -> DescribedSwitch:
    start.saved = goal.saved
    return start


@pytest.mark.parametrize("step", STEPS, ids=lambda s: f"{s.kind}-{s.encoding}")
def test_the_fec_of_a_switchport_is_set_and_comes_back(step: SwitchportFec):
    goal = WITH[step.kind, step.encoding]
    prove(step, same_saved(goal, switch(step.kind)), goal)


@pytest.mark.parametrize("kind", [K.DELL_OS10, K.EOS, K.NXOS])
def test_the_default_fec_of_a_switchport_is_no_line(kind: SwitchKind):
    step = SwitchportFec(kind=kind, port=PORTS[kind], encoding="auto")
    prove(step, WITH[kind, "rs"], same_saved(WITH[kind, "rs"], switch(kind)))


def test_one_encoding_of_an_eos_switchport_takes_the_place_of_another():
    step = SwitchportFec(kind=K.EOS, port="Ethernet1", encoding="baser")
    goal = switch(K.EOS, **{"error-correction__encoding": "fire-code"})
    prove(step, same_saved(goal, WITH[K.EOS, "rs"]), goal)


@pytest.mark.parametrize("kind", [K.DELL_OS6, K.DELL_OS9])
def test_a_switchport_without_fec_has_no_such_step(kind: SwitchKind):
    with pytest.raises(ValidationError, match="has no setting of its fec"):
        SwitchportFec(kind=kind, port=PORTS[kind], encoding="rs")
