"""`wirespeed advise`, called as a user does."""

import json

import click
import pytest
from click.testing import CliRunner

from wirespeed.commands.advise import advise
from wirespeed.commands.doctor import doctor
from wirespeed.commands.measure_command import command as measure_command
from wirespeed.commands.watch import watch
from wirespeed.model.error import InputError


def ran(*arguments: str) -> str:
    result = CliRunner().invoke(advise, arguments, catch_exceptions=False, standalone_mode=False)
    assert not isinstance(result.exception, click.ClickException), result.exception
    assert result.return_value == 0
    return result.output


EVERY = [
    ("transport", "--ports", "2x10G", "--rdma", "--dcb"),
    ("transport", "--ports", "4x25G", "--for", "storage", "--guests", "1"),
    ("fabric", "--card", "25G", "--switch", "10G"),
    ("fabric", "--card", "100G", "--switch", "10G"),
    ("slot", "--card", "2x100G", "--slot", "4.0x8"),
    ("slot", "--card", "100G", "--bidirectional"),
    ("cable", "--link", "25G", "--metres", "4"),
    ("wsl2", "--no-lan"),
    ("inference", "--hidden", "8192", "--layers", "80", "--tokens-per-s", "70", "--link", "10G",
     "--latency-us", "50"),
]  # fmt: skip


@pytest.mark.parametrize("arguments", EVERY, ids=" ".join)
def test_every_answer_fits_a_terminal_and_says_what_it_rests_on(arguments: tuple[str, ...]):
    text = ran(*arguments)
    assert max(map(len, text.splitlines())) <= 80
    assert "answer    " in text
    assert "because   " in text
    assert "not known " in text


@pytest.mark.parametrize("arguments", EVERY, ids=" ".join)
def test_every_answer_is_json_too_with_its_certainty(arguments: tuple[str, ...]):
    found = json.loads(ran(*arguments, "--json"))
    assert found["choices"]
    assert all(choice["certainty"] and choice["name"] for choice in found["choices"])
    assert all(ground["source"] for ground in found["grounds"])


def test_figures_stand_beside_their_cpu():
    text = " ".join(ran("transport", "--ports", "2x10G").split())
    assert "choice Gb/s CPU % SMB Multichannel, no team 20 6 to 7 published" in text


def test_no_link_is_not_an_unknown_one():
    text = ran("fabric", "--card", "25G", "--switch", "10G")
    assert "card fixed, switch negotiates                                  0\n    no link" in text


@pytest.mark.parametrize(
    ("arguments", "where"),
    [
        (("transport", "--ports", "two"), "--ports"),
        (("transport", "--ports", "0x10G"), "--ports"),
        (("fabric", "--card", "25", "--switch", "10G"), "--card"),
        (("fabric", "--card", "25G", "--switch", "0G"), "--switch"),
        (("slot", "--card", "1x100G", "--slot", "7.0x16"), "--slot"),
        (("slot", "--card", "1x100G", "--slot", "4.0x3"), "--slot"),
        (("cable", "--link", "30G", "--metres", "1"), "--link"),
    ],
)
def test_what_cannot_be_read_is_refused_with_an_example(arguments: tuple[str, ...], where: str):
    with pytest.raises(InputError) as caught:
        ran(*arguments)
    assert caught.value.where == where
    assert caught.value.next


def test_a_small_share_of_a_link_is_not_printed_as_nothing():
    text = ran(*EVERY[-1])
    assert "pipeline: layers by host                                   0.018\n" in text


@pytest.mark.parametrize("value", ["nan", "inf"])
@pytest.mark.parametrize(
    ("command", "option"),
    [
        (advise, "inference --hidden 8192 --layers 80 --link 10G --latency-us 50 --tokens-per-s"),
        (advise, "inference --hidden 8192 --layers 80 --link 10G --tokens-per-s 70 --latency-us"),
        (advise, "cable --link 25G --metres"),
        (advise, "network --hosts 16 --ports 2x100G --switch 32x100G --dac-price"),
        (watch, "--count 2 --every"),
        (watch, "--count 2 --seconds"),
        (doctor, "--timeout"),
        (measure_command, "--out run --label before --figure (.*) --limit-seconds"),
    ],
)
def test_what_is_not_a_finite_number_is_refused(command: click.Command, option: str, value: str):
    """Python reads `nan` and `inf` as figures, and no comparison finds `nan` out of a range."""
    result = CliRunner().invoke(command, [*option.split(), value], standalone_mode=False)
    assert isinstance(result.exception, click.BadParameter), result.output
