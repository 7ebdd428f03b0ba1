"""Forward error correction."""

from described_ethtool import DescribedPorts, Port
from proof import plan_on, prove
from samples import is_never_guessed, reason_of, sample, section_of, state_of

from wirespeed.model.command import Command
from wirespeed.steps.fec import Fec

STEP = Fec(netdev="eth0", encoding="rs")


def host(*encodings: str) -> DescribedPorts:
    return DescribedPorts({"eth0": Port(fec=encodings)})


def test_one_and_back():
    prove(STEP, host("Auto"), host("RS"))
    prove(Fec(netdev="eth0", encoding="off"), host("RS"), host("Off"))


def test_several_that_were_allowed_come_back():
    prove(STEP, host("Auto", "RS", "BaseR"), host("RS"))
    undo = plan_on(STEP, host("Auto", "RS", "BaseR")).steps[0].undo
    assert undo == (
        Command(argv=("ethtool", "--set-fec", "eth0", "encoding", "auto", "baser", "rs")),
    )


def test_real_outputs():
    assert state_of(STEP, sample("ethtool/fec_5")) == {"encoding": "auto"}
    assert state_of(STEP, sample("ethtool/fec_6")) == {"encoding": "auto baser rs"}


def test_it_is_never_guessed():
    is_never_guessed(STEP)
    text = "FEC parameters for eth0:\nSupported/Configured FEC encodings: $(reboot)\n"
    reason_of(STEP, section_of(text))
