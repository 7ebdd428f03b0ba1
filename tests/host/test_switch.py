"""What a switch says of a line that it does not take."""

import pytest

from wirespeed.host.switch import is_refused


@pytest.mark.parametrize(
    "answer",
    [
        # sonic-net/sonic-utilities, scripts/portconfig: set_fec, set_speed.
        "fec rs is not in ['none', 'fc']\n",
        "Setting fec is not supported on port Ethernet0\n",
        "Invalid speed specified: 10000\nValid speeds:25000,100000\n",
        "% Invalid input detected at '^' marker.\n",
    ],
)
def test_a_switch_refuses_a_line(answer: str):
    assert is_refused(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "",
        # With its option -vv.
        "Setting fec rs on port Ethernet0\n",
        "Te1/0/1   Setting is not supported  Full   10000   Off  Up     Active\n",
    ],
)
def test_a_switch_takes_a_line(answer: str):
    assert not is_refused(answer)
