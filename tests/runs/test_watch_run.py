"""A host whose ports are watched: what its driver counts late, and what is shown of it."""

from collections.abc import Sequence

import pytest

from wirespeed.host.runner import Completed
from wirespeed.model.question import Question
from wirespeed.runs import watch_run
from wirespeed.runs.watch_run import Watch, watch


class CardAskedInTheBackground:
    """A host whose eth0 gets 1000 frames a second and dropped 5000 an hour ago.

    It tells what it had when it was last read, an hour ago to begin with.
    """

    def __init__(self) -> None:
        self.now_s = 7200.0
        self._told = self._counts(3599)

    def run(self, argv: Sequence[str], *, stdin: str, **_: object) -> Completed:
        if "cat /proc/net/dev >/dev/null; sleep 0.1" in stdin:
            self._told = self._counts(self.now_s)
            self.now_s += 0.1
        output = f"netdev eth0\nuptime {self.now_s:.2f}\n{self._told}"
        self._told = self._counts(self.now_s)
        return Completed(argv=tuple(argv), output=output, errors="", returncode=0, duration_s=0)

    @staticmethod
    def _counts(at_s: float) -> str:
        frames, dropped = int(1000 * at_s), 5000 if at_s >= 3600 else 0
        return (
            f"rx_packets {frames}\nrx_bytes {1514 * frames}\nrx_missed_errors {dropped}\n"
            "tx_packets 0\ntx_bytes 0\n"
        )


def test_what_was_lost_long_before_does_not_limit_a_port_now(monkeypatch: pytest.MonkeyPatch):
    host = CardAskedInTheBackground()

    def sleep_s(seconds: float) -> None:
        host.now_s += seconds

    monkeypatch.setattr(watch_run, "runner_at", lambda *_: host)
    monkeypatch.setattr(watch_run, "sleep_s", sleep_s)
    monkeypatch.setattr(Watch, "judge", lambda *_: None)
    monkeypatch.setattr(watch_run, "diagnosed", lambda *_: None)
    (state,) = watch("here", Question(), ports=(), every_s=10, count=1, seconds=None)
    seen = state.ports["eth0"].seen
    assert seen is not None and "rx_missed" not in seen.limited_by
    # 1514 bytes, FCS, preamble and gap: 1538 on the wire.
    assert seen.receive.bps_l1 == pytest.approx(1000 * 1538 * 8, rel=0.01)
