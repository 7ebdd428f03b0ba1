"""Which port of a bond carries a flow: its own word, or the frames that its members count."""

from collections.abc import Iterator, Sequence

import pytest

from wirespeed.host.runner import Completed
from wirespeed.measure.network import carrier
from wirespeed.measure.network.carrier import NONE, Place, carrier_of
from wirespeed.model.error import MeasurementError

MEMBERS = ("enp1s0", "enp2s0")
NET = "/sys/class/net"


class DescribedBond:
    """Files of a bond; each reading of the members' counters gives the next of `counts`."""

    def __init__(self, mode: str, active: str = "", counts: Sequence[tuple[int, ...]] = ()) -> None:
        self._mode, self._active = mode, active
        self._counts: Iterator[int] = (one for reading in counts for one in reading)

    def run(self, argv: Sequence[str], **_: object) -> Completed:
        assert argv[0] == "cat"
        match [path.removeprefix(f"{NET}/") for path in argv[1:]]:
            case ["underlay0/bonding/mode"]:
                return done(self._mode)
            case ["underlay0/bonding/active_slave"]:
                return done(self._active)
            case [received, sent] if received.endswith("/statistics/rx_packets"):
                assert sent == received.replace("rx_", "tx_")
                return done(f"{next(self._counts)}\n{next(self._counts)}")
            case _:
                return done("", 1)


def done(output: str, returncode: int = 0) -> Completed:
    errors = "cat: No such file or directory" if returncode else ""
    return Completed(
        argv=("cat",), output=f"{output}\n", errors=errors, returncode=returncode, duration_s=0
    )


def place(bond: DescribedBond, name: str = "underlay0") -> Place:
    return Place("ceph-1", bond, name, MEMBERS)  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def no_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(carrier, "sleep_s", lambda _: None)


def test_an_active_backup_bond_says_so_itself():
    assert carrier_of(place(DescribedBond("active-backup 1", "enp2s0"))) == "enp2s0"
    assert carrier_of(place(DescribedBond("active-backup 1", ""))) == NONE


def test_without_a_bond_it_is_the_netdev():
    assert carrier_of(place(DescribedBond(""), "")) == "enp1s0"


# Received and sent, of both members: before, then after.
@pytest.mark.parametrize(
    ("after", "carries"),
    [
        ((100, 225, 50, 51), "enp1s0"),
        ((101, 200, 180, 50), "enp2s0"),
        ((102, 201, 51, 52), NONE),
    ],
)
def test_by_lacp_it_is_the_member_whose_frames_grow(after: tuple[int, ...], carries: str):
    before = (100, 200, 50, 50)
    bond = DescribedBond("802.3ad 4", counts=(before, before, after, after))
    assert carrier_of(place(bond)) == carries


def test_what_a_driver_counted_before_it_was_last_read_is_not_of_now():
    # Each reading gives the counters as they were at the one before: the first is minutes old, and
    # the other member was busy since.
    old, at_first, before, after = (
        (0, 0, 0, 0),
        (9000, 0, 40, 0),
        (9000, 0, 50, 0),
        (9000, 0, 80, 0),
    )
    bond = DescribedBond("802.3ad 4", counts=(old, at_first, before, after))
    assert carrier_of(place(bond)) == "enp2s0"


def test_a_bond_that_cannot_be_read_is_an_error():
    with pytest.raises(MeasurementError, match=r"bond\.unreadable"):
        carrier_of(place(DescribedBond("x"), "other0"))
