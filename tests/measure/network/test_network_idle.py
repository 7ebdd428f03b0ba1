"""What hosts spend at rest: a polling core is busy though nobody sends."""

from collections.abc import Sequence

import pytest

from wirespeed.host.runner import Completed
from wirespeed.measure.network import host_cpu
from wirespeed.measure.network.summary import summarize
from wirespeed.model.network_trial import IdleTrial


class Polls:
    """A described host of two cores, of which `busy` ticks of each 400 are not idle."""

    def __init__(self, busy: int) -> None:
        self._busy, self._read = busy, 0

    def run(
        self,
        argv: Sequence[str],
        *,
        timeout_s: float = 60.0,
        stdin: str | None = None,
        max_bytes: int = 1,
    ) -> Completed:
        """Answer the one question that is expected."""
        assert tuple(argv) == ("cat", "/proc/stat")
        self._read += 1
        busy, idle = self._busy * self._read, (400 - self._busy) * self._read
        text = f"cpu  {busy} 0 0 {idle} 0 0 0 0 0 0\ncpu0 0 0 0 0\ncpu1 0 0 0 0\n"
        return Completed(argv=tuple(argv), returncode=0, output=text, errors="", duration_s=0.0)


def test_each_host_is_read_three_times_while_nobody_sends(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(host_cpu, "sleep_s", lambda _: None)
    trials: list[IdleTrial] = []
    told: list[str] = []
    hosts = {"alpha": Polls(200), "beta": Polls(4)}
    host_cpu.idle_hosts(hosts, trials.append, told.append)
    summary = summarize(trials)
    # Half of all ticks of two cores: one core polls. 1 % of two cores: nobody does.
    assert summary.idle_cores["alpha"].median == pytest.approx(1.0)
    assert summary.idle_cores["beta"].median == pytest.approx(0.02)
    assert [spread.n for spread in summary.idle_cores.values()] == [3, 3]
    assert told == ["hosts at rest"]
