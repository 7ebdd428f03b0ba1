"""Which port of a bond carries a flow.

An active-backup bond says so itself. One by LACP does not: its hash chooses for what is sent, and
the far end's for what is received. There, frames are counted on each member for a moment: the flow
is all that goes over the bond while guests are measured, but for a few frames of the protocols.
"""

from dataclasses import dataclass

from wirespeed.host.clock import sleep_s
from wirespeed.host.runner import Runner
from wirespeed.measure.network.lease import said
from wirespeed.model.error import MeasurementError
from wirespeed.model.shown import shown

NONE = "none"
COUNTED_S = 0.5
FEW_FRAMES = 8
"""In that time: LACP, spanning tree and discovery send one or two each, a flow of 50/s 25."""
FRESH_S = 0.1
"""A reading of an mlx5 in switchdev mode gives what the one before it made the driver ask the card
for (mlx5e_get_stats() in en_main.c): so long after that, the answer is there."""
TIMEOUT_S = 30.0


@dataclass(frozen=True, slots=True)
class Place:
    """Where it is read which port carries the flow."""

    name: str
    """Of the guest."""
    runner: Runner
    bond: str
    """Empty: `members` has what carries it."""
    members: tuple[str, ...]


def carrier_of(place: Place) -> str:
    """Give the member that carries the traffic of a bond; the netdev itself without one.

    `NONE`: none does. Raises MeasurementError `bond.unreadable`.
    """
    if not place.bond:
        return place.members[0]
    mode = _read(place, f"/sys/class/net/{place.bond}/bonding/mode").split()
    if mode[:1] == ["802.3ad"]:
        return _by_count(place)
    return shown(_read(place, f"/sys/class/net/{place.bond}/bonding/active_slave"), 40) or NONE


def _by_count(place: Place) -> str:
    before = _fresh_frames(place)
    sleep_s(COUNTED_S)
    new = {member: after - before[member] for member, after in _fresh_frames(place).items()}
    most = max(new, key=lambda member: new[member])
    return most if new[most] > FEW_FRAMES else NONE


def _fresh_frames(place: Place) -> dict[str, int]:
    _frames(place)
    sleep_s(FRESH_S)
    return _frames(place)


def _frames(place: Place) -> dict[str, int]:
    """Count the frames of each member, both ways."""
    found = {}
    for member in place.members:
        folder = f"/sys/class/net/{member}/statistics"
        words = _read(place, f"{folder}/rx_packets", f"{folder}/tx_packets").split()
        if len(words) != 2 or not all(word.isdecimal() for word in words):
            raise _unreadable(place, f"{member} has no counters of frames")
        found[member] = sum(map(int, words))
    return found


def _read(place: Place, *paths: str) -> str:
    done = place.runner.run(("cat", *paths), timeout_s=TIMEOUT_S)
    if done.returncode:
        raise _unreadable(place, said(done))
    return done.output.strip()


def _unreadable(place: Place, found: str) -> MeasurementError:
    return MeasurementError(
        "bond.unreadable",
        where=place.name,
        found=found,
        next=f"run `grep . /proc/net/bonding/{place.bond}` there: it shows whether the bond still "
        f"exists, and its members, which must be {', '.join(place.members)}",
    )
