"""Forward error correction."""

import pytest
from described_ethtool import DescribedPorts, Port
from proof import plan_on, prove
from samples import is_never_guessed, reason_of, sample, section_of, state_of

from wirespeed.model.observed import CannotTellError
from wirespeed.steps.fec import Fec

STEP = Fec(netdev="eth0", encoding="rs")
FEC = "FEC parameters for eth0:\nSupported/Configured FEC encodings: {}\n"


def host(*encodings: str) -> DescribedPorts:
    return DescribedPorts({"eth0": Port(fec=encodings)})


def test_one_and_back():
    prove(STEP, host("Auto"), host("RS"))
    prove(Fec(netdev="eth0", encoding="off"), host("RS"), host("Off"))


def test_of_several_that_are_printed_none_is_taken_for_the_one_to_put_back():
    """Intel's ice prints what the cable can do, whatever is set, and takes one at a time."""
    reason = reason_of(STEP, section_of(FEC.format("Auto RS BaseR")))
    assert "several encodings (auto, baser, rs)" in reason
    with pytest.raises(CannotTellError, match="several encodings"):
        plan_on(STEP, host("Auto", "RS", "BaseR"))


def test_real_outputs():
    assert state_of(STEP, sample("ethtool/fec_5")) == {"encoding": "auto"}
    assert "several encodings" in reason_of(STEP, sample("ethtool/fec_6"))


def test_it_is_never_guessed():
    is_never_guessed(STEP)
    reason_of(STEP, section_of(FEC.format("$(reboot)")))
