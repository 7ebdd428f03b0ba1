"""Interrupt coalescing."""

import pytest
from described_ethtool import DescribedPorts, Port
from proof import plan_on, prove
from pydantic import ValidationError
from samples import is_never_guessed, sample, section_of, state_of

from wirespeed.steps.coalescing import Coalescing

MLX5 = {"on": {"usecs": "8", "frames": "128"}, "off": {"usecs": "16", "frames": "32"}}
NOW = Coalescing(netdev="eth0", adaptive_rx=False, rx_usecs=0)
ADAPTIVE = Coalescing(netdev="eth0", adaptive_rx=True)


def host(
    adaptive: str, usecs: int, frames: int, *, is_mlx5: bool = False, is_netlink: bool = False
) -> DescribedPorts:
    port = Port(
        coalescing={
            "adaptive-rx": adaptive,
            "adaptive-tx": "on",
            "rx-usecs": str(usecs),
            "rx-frames": str(frames),
            "tx-usecs": "8",
            "tx-frames": "128",
        },
        defaults_when_adaptive=MLX5 if is_mlx5 else None,
        is_netlink=is_netlink,
    )
    return DescribedPorts({"eth0": port})


def without_frames(usecs: int) -> DescribedPorts:
    """As igc: no frames, not adaptive."""
    return DescribedPorts({"eth0": Port(coalescing={"rx-usecs": str(usecs)})})


def test_numbers_alone():
    step = Coalescing(netdev="eth0", rx_usecs=50, rx_frames=64)
    prove(step, host("off", 3, 32), host("off", 50, 64))
    prove(step, host("off", 50, 32), host("off", 50, 64))
    prove(Coalescing(netdev="eth0", rx_usecs=0), without_frames(3), without_frames(0))


def test_adaptive_to_a_number_and_back():
    # The driver keeps its numbers while it is adaptive: they come back too.
    prove(NOW, host("on", 50, 32), host("off", 0, 32))
    prove(NOW, host("off", 50, 32), host("off", 0, 32))


def test_adaptive_to_a_number_and_back_where_every_turn_resets_the_numbers():
    prove(NOW, host("on", 8, 128, is_mlx5=True), host("off", 0, 32, is_mlx5=True))


def test_a_number_that_was_there_already_is_set_again_after_such_a_turn():
    step = Coalescing(netdev="eth0", adaptive_rx=False, rx_usecs=8)
    prove(step, host("on", 8, 128, is_mlx5=True), host("off", 8, 32, is_mlx5=True))


def test_a_driver_without_frames_can_be_adaptive():
    def ice(adaptive: str) -> DescribedPorts:
        coalescing = {"adaptive-rx": adaptive, "rx-usecs": "50"}
        return DescribedPorts({"eth0": Port(coalescing=coalescing, is_netlink=True)})

    prove(ADAPTIVE, ice("off"), ice("on"))


def test_a_number_to_adaptive_and_back():
    prove(ADAPTIVE, host("off", 0, 32, is_netlink=True), host("on", 0, 32, is_netlink=True))


def test_a_number_to_adaptive_and_back_where_every_turn_resets_the_numbers():
    prove(ADAPTIVE, host("off", 0, 1, is_mlx5=True), host("on", 8, 128, is_mlx5=True))


def test_off_first_then_numbers_then_on():
    step = Coalescing(netdev="eth0", adaptive_rx=False, rx_usecs=0, tx_usecs=8)
    planned = plan_on(step, host("on", 8, 128)).steps[0]
    assert [command.line() for command in planned.commands] == [
        "ethtool -C eth0 adaptive-rx off",
        "ethtool -C eth0 rx-usecs 0",
    ]
    assert [command.line() for command in planned.undo] == [
        "ethtool -C eth0 rx-usecs 8",
        "ethtool -C eth0 adaptive-rx on",
    ]


def test_what_an_adaptive_driver_shows_is_no_state():
    shown = [section_of(host("on", n, 1).run(ADAPTIVE.read()).output) for n in (8, 64)]
    assert state_of(ADAPTIVE, shown[0]) == state_of(ADAPTIVE, shown[1])


def test_real_outputs():
    every = Coalescing(netdev="e", adaptive_tx=False, rx_usecs=1, rx_frames=1, tx_usecs=1)
    assert state_of(every, sample("ethtool/coalescing_connectx4lx")) == {
        "adaptive-tx": True,
        "rx-usecs": 8,
        "rx-frames": 128,
        "tx-usecs": 8,
    }
    # It has no frames to replace.
    adaptive_tx = Coalescing(netdev="e", adaptive_tx=True)
    section = sample("ethtool/coalescing_mlx4_ioctl")
    state = {"adaptive-tx": False, "tx-usecs": 0, "tx-frames": 0}
    assert state_of(adaptive_tx, section) == state
    number = Coalescing(netdev="e", tx_usecs=1)
    assert state_of(number, sample("ethtool/coalescing_igc")) == {"tx-usecs": 3}


def test_it_is_never_guessed():
    is_never_guessed(NOW)
    is_never_guessed(ADAPTIVE)


@pytest.mark.parametrize(
    "fields", [{}, {"adaptive_rx": True, "rx_usecs": 3}, {"rx_usecs": -1}, {"tx_frames": 1 << 17}]
)
def test_no_such_step(fields: dict[str, object]):
    with pytest.raises(ValidationError):
        Coalescing.model_validate({"netdev": "eth0", **fields})
