"""Two switches, or spine and leaf: ports, cables and prices, counted by hand."""

import pytest
from click.testing import CliRunner

from wirespeed.advice.network import Asked, advise_network
from wirespeed.commands.advise import advise
from wirespeed.model.advice import Advice
from wirespeed.model.error import InputError


def answer(hosts: int, **differs: object) -> Advice:
    usual: dict[str, object] = {
        "host_ports": 2, "switch_ports": 32, "gbps": 100, "metres": 3, "uplink_metres": 20,
    }  # fmt: skip
    return advise_network(Asked(hosts=hosts, **(usual | differs)))  # type: ignore[arg-type]


def notes(advice: Advice) -> dict[str, str]:
    return {choice.name: choice.note for choice in advice.choices}


def test_sixteen_hosts_go_on_two_switches():
    found = answer(16)
    assert found.answer.startswith("Two stand-alone switches")
    assert [choice.name for choice in found.choices] == [
        "two stand-alone switches", "two joined switches (MLAG)", "spine and leaf, 1:1",
        "spine and leaf, 3:1",
    ]  # fmt: skip
    alone, joined, full, third = notes(found).values()
    assert "2 switches, 32 cables to hosts; 16 of 32 ports in use" in alone
    assert "2 between switches; 18 of 32 ports" in joined
    # 16 ports of a leaf for 16 hosts: 2 leaves, 32 uplinks, 2 spines.
    assert "4 switches, 32 cables to hosts; 32 between switches" in full
    # 3:1 has 8 ports of 32 towards spines; 16 of the other 24 are in use: 800 of 1600 Gb/s.
    assert "between leaves 50 % when all send" in third
    assert {(choice.gbps_low, choice.gbps_high) for choice in found.choices} == {(100, 200)}


def test_thirty_two_hosts_leave_no_port_to_join_the_switches():
    assert list(notes(answer(32)))[:2] == ["two stand-alone switches", "spine and leaf, 1:1"]


def test_forty_hosts_take_spines():
    """1:1: 3 pairs of leaves, 96 uplinks, 3 spines would have the ports, and 4 divide 16 evenly."""
    found = notes(answer(40))
    assert list(found) == ["spine and leaf, 1:1", "spine and leaf, 3:1"]
    assert "10 switches" in found["spine and leaf, 1:1"]
    # The first is not the one of the fewest switches, and must not be called so.
    said = answer(40).answer
    assert said.startswith("Spine and leaf, 1:1: two switches have too few ports"), said
    assert "fewest" not in said
    assert "6 leaves in pairs, 4 spines" in found["spine and leaf, 1:1"]
    # 80 ports of hosts on 6 leaves, and 16 uplinks of each.
    assert "30 of 32 ports in use" in found["spine and leaf, 1:1"]
    # 3:1: 24 and 8 ports; 2 pairs, 32 uplinks, 2 spines.
    assert "4 leaves in pairs, 2 spines" in found["spine and leaf, 3:1"]
    assert "6 switches" in found["spine and leaf, 3:1"]


def test_a_full_leaf_of_three_to_one_has_a_third_between_leaves():
    """24 hosts have 24 ports at each of 2 leaves, and 8 go to spines: 800 of 2400 Gb/s."""
    assert "between leaves 33 % when all send" in notes(answer(24))["spine and leaf, 3:1"]


def test_twisted_pairs_need_no_modules():
    """10GBASE-T plugs in as it is: 32 x 20 + 2 x 20 + 2 x 1000, whatever a module costs."""
    found = answer(16, gbps=10, switch_price=1000, dac_price=20, optic_price=100)
    assert "price 2,680, by the prices" in notes(found)["two joined switches (MLAG)"]
    assert not any("module" in line for line in found.todo)


def test_what_no_two_tiers_hold_is_said():
    found = answer(2000)
    assert (found.choices, found.answer.startswith("None of these")) == ((), True)


def test_the_sum_is_of_the_users_own_prices():
    """3 m are copper, 20 m are fibre with two modules: 32 x 80 + 2 x 2 x 200 + 2 x 10000."""
    found = notes(answer(16, switch_price=10_000, dac_price=80, optic_price=200))
    assert "price 22,560, by the prices" in found["two stand-alone switches"]
    assert "price 23,360, by the prices" in found["two joined switches (MLAG)"]
    assert all("price" not in note for note in notes(answer(16, switch_price=10_000)).values())


@pytest.mark.parametrize(
    ("dcb", "says"), [(True, "one priority with PFC"), (False, "ECN at cards")]
)
def test_rdma_has_its_settings_by_what_the_switches_can_do(dcb: bool, says: str):
    assert any(says in line for line in answer(16, rdma=True, dcb=dcb).todo)
    assert not any("RoCE" in line for line in answer(16).todo)


def test_a_length_that_nothing_reaches_is_not_guessed():
    assert any("goes 20000 m" in line for line in answer(16, uplink_metres=20_000).unknown)


def test_the_command_fits_80_columns_and_refuses_what_has_no_halves():
    argv = ["network", "--hosts", "16", "--ports", "2x100G", "--switch", "32x100G", "--rdma"]
    printed = CliRunner().invoke(advise, argv, standalone_mode=False)
    assert printed.exception is None
    assert all(len(line) <= 80 for line in printed.output.splitlines())
    for ports, switch in (("1x100G", "32x100G"), ("2x25G", "32x100G")):
        argv[4], argv[6] = ports, switch
        error = CliRunner().invoke(advise, argv, standalone_mode=False).exception
        assert isinstance(error, InputError)
        assert error.what == "options.invalid"
