"""Every frame has a fate: sent = received + lost at a named place + unexplained. Pure.

Each place is a counter of its own, or the difference of two counters at either end of one stretch.
A place is named only when its counter is above zero; what no counter claims stays unexplained, and
is negative when counters claim more than is missing (a switch that floods, say).
"""

from collections.abc import Iterator

from wirespeed.model.trial import DutReading, Fate, Ledger, PortCounters, Trial


def build_ledger(trial: Trial) -> Ledger:
    """Account for every frame that was offered in `trial`."""
    lost = tuple(fate for fate in _fates(trial) if fate.frames > 0)
    received = trial.offered_frames - trial.missing_frames
    return Ledger(
        offered_frames=trial.offered_frames,
        received_frames=received,
        lost=lost,
        unexplained_frames=trial.missing_frames - sum(fate.frames for fate in lost),
        dut_statistics=() if trial.dut_reading is None else trial.dut_reading.statistics,
    )


def _fates(trial: Trial) -> Iterator[Fate]:
    refused = sum(s.refused_frames for s in trial.streams)
    yield Fate(
        place="DUT input queue",
        frames=refused,
        counter="frames that the full ring behind the tester's port refused",
    )
    if trial.dut_reading is not None and trial.dut_reading.ports:
        yield from _dut_fates(trial, trial.dut_reading, trial.offered_frames - refused)
    for place, frames, counter in (
        ("corrupted", sum(s.corrupted_frames for s in trial.streams), "the tester's judge"),
        ("misdelivered", sum(s.misdelivered_frames for s in trial.streams), "the tester's judge"),
    ):
        yield Fate(place=place, frames=frames, counter=counter)


def _dut_fates(trial: Trial, dut: DutReading, accepted: int) -> Iterator[Fate]:
    received, sent = _sum(dut.ports, "ipackets"), _sum(dut.ports, "opackets")
    missed, no_mbuf = _sum(dut.ports, "imissed"), _sum(dut.ports, "rx_nombuf")
    spoilt, left = 0, accepted
    of_ours = {port.port for port in trial.tester_ports}
    if dut.far and not {stream.tx_port for stream in trial.streams} - of_ours:
        # Behind a link of its own each port counts what it sent, and what came in damaged.
        spoilt, left = _sum(dut.ports, "ierrors"), _sum(trial.tester_ports, "opackets")
        yield Fate(
            place="tester transmit",
            frames=accepted - left,
            counter="tester's accepted frames less its port's opackets",
        )
        yield Fate(place="DUT port", frames=spoilt, counter="DUT's ierrors")
    yield Fate(place="DUT receive queue", frames=missed, counter="DUT's imissed")
    before = left - received - missed - spoilt
    no_mbuf = without_mbuf(no_mbuf, before)
    yield Fate(
        place="DUT no mbuf",
        frames=no_mbuf,
        counter="DUT's rx_nombuf, of the frames that are in none of its other counters",
    )
    yield Fate(
        place="wire to the DUT",
        frames=before - no_mbuf,
        counter="tester's frames less DUT's ipackets, imissed, rx_nombuf and ierrors"
        if dut.far
        else "tester's accepted frames less DUT's ipackets, imissed and rx_nombuf",
    )
    if dut.forward_tx_dropped is not None:
        # The port's oerrors count the same frames again, so only one of the two is taken.
        yield Fate(
            place="DUT transmit",
            frames=dut.forward_tx_dropped,
            counter="TX-dropped of the DUT's forwarding engine",
        )
    else:
        yield Fate(
            place="DUT transmit",
            frames=received - sent,
            counter="DUT's ipackets less opackets",
        )
    if {stream.rx_port for stream in trial.streams} - {port.port for port in trial.tester_ports}:
        return  # its counters could not be read: nothing can be claimed of this stretch
    back = _sum(trial.tester_ports, "ipackets")
    tester_spoilt = _sum(trial.tester_ports, "ierrors") if dut.far else 0
    tester_missed = _sum(trial.tester_ports, "imissed")
    tester_missed += without_mbuf(
        _sum(trial.tester_ports, "rx_nombuf"), sent - back - tester_missed - tester_spoilt
    )
    yield Fate(
        place="tester receive queue",
        frames=tester_missed,
        counter="tester's imissed and rx_nombuf",
    )
    yield Fate(place="tester port", frames=tester_spoilt, counter="tester's ierrors")
    yield Fate(
        place="wire from the DUT",
        frames=sent - back - tester_missed - tester_spoilt,
        counter="DUT's opackets less tester's ipackets",
    )


def without_mbuf(failures: int, gone: int) -> int:
    """Give how many of the frames that are gone before a port's queue had no buffer.

    `rx_nombuf` counts failed allocations (rte_ethdev.h), not frames. Most drivers leave the frame
    in its ring and try again at the next poll (eth_igb_recv_pkts(), mlx5_rx_burst()): it rises with
    each poll and nothing is lost; what then finds the ring full is in `imissed`. Others drop the
    frame (hn_rxpkt()).
    """
    return max(0, min(failures, gone))


def _sum(ports: tuple[PortCounters, ...], name: str) -> int:
    return sum(getattr(port, name) for port in ports)
