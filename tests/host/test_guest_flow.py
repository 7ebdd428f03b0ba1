"""What the receiver of a paced flow counts."""

import pytest

from wirespeed.host import guest_flow_receiver
from wirespeed.host.guest_flow_receiver import Account

MS = 1_000_000


class Clock:
    """A described clock: it stands where it is put."""

    def __init__(self) -> None:
        self.now = 0

    def monotonic_ns(self) -> int:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(guest_flow_receiver, "time", clock)
    return clock


def test_a_silence_is_cut_where_a_phase_begins_and_ends(clock: Clock):
    account = Account()
    account.add(0, 0)
    clock.now = 100 * MS
    account.begin("away")
    account.add(1, 400 * MS)
    account.add(2, 450 * MS)
    clock.now = 470 * MS
    start, away = account.told()["phases"]
    assert start["longest_silence_ns"] == 100 * MS
    assert (away["received"], away["longest_silence_ns"]) == (2, 300 * MS)
    assert away["last_silence_ns"] == 20 * MS


def test_a_phase_without_a_packet_was_silent_from_end_to_end(clock: Clock):
    account = Account()
    account.begin("away")
    clock.now = 900 * MS
    away = account.told()["phases"][1]
    assert (away["longest_silence_ns"], away["last_silence_ns"]) == (900 * MS, 900 * MS)


@pytest.mark.usefixtures("clock")
def test_duplicates_do_not_hide_losses_and_order_is_told():
    account = Account()
    for number in (0, 1, 1, 1, 5, 4, 5):
        account.add(number, 0)
    told = account.told()
    assert (told["received"], told["duplicates"], told["reordered"]) == (4, 3, 1)
    # 2, 3 and 4 were passed over at once, though 4 came later.
    assert told["phases"][0]["longest_skip"] == 3


@pytest.mark.usefixtures("clock")
def test_a_number_that_would_fill_the_memory_is_not_counted():
    account = Account()
    account.add(1 << 40, 0)
    assert account.told()["received"] == 0
    assert len(account.seen) == 0
