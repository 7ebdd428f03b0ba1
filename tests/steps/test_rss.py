"""The indirection table."""

import pytest
from described_ethtool import DescribedPorts, Port
from proof import DescribedControl, plan_on, prove
from pydantic import ValidationError
from samples import is_never_guessed, reason_of, sample, section_of, state_of

from wirespeed.model.finding import Danger
from wirespeed.steps.rss import Rss, table_words

STEP = Rss(netdev="eth0", queues=4)
EQUAL_4 = (0, 1, 2, 3) * 32


def host(*table: int) -> DescribedPorts:
    return DescribedPorts({"eth0": Port(table=table)})


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ((0, 1, 2, 3, 4, 5, 6, 7) * 16, "equal 8"),
        ((0,) * 128, "equal 1"),
        ((4, 5, 6, 7) * 32, "start 4 equal 4"),
        # igb's own: queues in blocks.
        ((0,) * 64 + (1,) * 64, "weight 64 64"),
        ((0,) * 3 + (2,) * 5 + (3,) * 120, "weight 3 0 5 120"),
        ((2,) * 127 + (5,), "weight 0 0 127 0 0 1"),
        # More queues than divide the table.
        (tuple(at % 6 for at in range(128)), "equal 6"),
    ],
)
def test_every_table_that_ethtool_can_make_comes_back(table: tuple[int, ...], words: str):
    prove(STEP, host(*table), host(*EQUAL_4))
    planned = plan_on(STEP, host(*table)).steps[0]
    assert planned.commands[0].line() == "ethtool -X eth0 equal 4"
    assert planned.undo[0].line() == f"ethtool -X eth0 {words}"
    assert planned.danger is Danger.NONE


def test_a_table_that_ethtool_cannot_make_is_not_touched():
    assert table_words([0, 2, 1, 3]) == ""
    shown = host(*(0, 2, 1, 3) * 32).run(STEP.read())
    assert "no words of ethtool" in reason_of(STEP, section_of(shown.output))


def test_more_queues_than_there_are_is_refused():
    many = Rss(netdev="eth0", queues=9)
    controls = DescribedControl(host(*EQUAL_4))
    assert "Invalid" in controls.change(many, many.change({"table": ""}, many.asked())).failed


def test_real_outputs():
    assert state_of(STEP, sample("ethtool/rss_ixgbe")) == {"table": "equal 12"}
    assert state_of(STEP, sample("ethtool/rss_symmetric")) == {"table": "weight 7 1"}
    assert "no indirection table" in reason_of(STEP, sample("ethtool/rss_virtio_none"))


def test_the_key_is_in_no_state():
    shown = host(*EQUAL_4).run(STEP.read()).output
    assert "6d:5a" in shown
    assert "6d" not in str(state_of(STEP, section_of(shown)))


def test_it_is_never_guessed():
    is_never_guessed(STEP)
    header = "RX flow hash indirection table for eth0 with 4 RX ring(s):\n"
    for lines in ("    8:      0     1\n", "    0:      0     x\n", "    0:\n", "0: 0 1\n"):
        reason_of(STEP, section_of(header + lines))
    reason_of(STEP, section_of(header + "    0:      0     1\n    9:      0     1\n"))


@pytest.mark.parametrize("queues", [0, -1, 5000])
def test_no_such_step(queues: int):
    with pytest.raises(ValidationError):
        Rss(netdev="eth0", queues=queues)
