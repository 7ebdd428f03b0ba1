"""Hosts that are watched while a command runs: a described one is read, is lost, is no Linux."""

from collections.abc import Sequence

import pytest

from wirespeed.host.clock import sleep_s
from wirespeed.host.runner import MAX_OUTPUT_BYTES, Completed
from wirespeed.measure.workload import watch as workload_watch
from wirespeed.measure.workload.use import READ
from wirespeed.measure.workload.watch import LinuxCounters, watched
from wirespeed.model.error import HostError, InputError, MeasurementError


class DescribedCounters:
    """A host whose eth0 receives 125 MB between two readings, which are 1 s apart by its clock."""

    def __init__(self, *, lost_after: int = 10**9, output: str = "") -> None:
        self.read = 0
        self._lost_after, self._output = lost_after, output

    def run(
        self,
        argv: Sequence[str],
        *,
        timeout_s: float = 60.0,
        stdin: str | None = None,
        max_bytes: int = MAX_OUTPUT_BYTES,
    ) -> Completed:
        assert tuple(argv) == READ
        self.read += 1
        if self.read > self._lost_after:
            raise HostError("ssh.lost", where="beta", found="connection reset")
        zeros = " 0" * 15
        output = self._output or (
            f"{self.read}.00 1.00\n  eth0: {125_000_000 * self.read}{zeros}\n"
            f"cpu0 {self.read * 100} 0 0 0 0 0 0 0\n"
        )
        return Completed(argv=tuple(argv), output=output, errors="", returncode=0, duration_s=0.0)


class CardAskedInTheBackground:
    """A host whose eth0 receives 1 Gb/s, and tells what it had when it was last read."""

    def __init__(self) -> None:
        self.now_s, self._asked_at_s = 1000.0, 0.0

    def run(self, argv: Sequence[str], **_: object) -> Completed:
        shell, option, text = argv
        assert (shell, option) == ("sh", "-c")
        output = ""
        for command in text.split("; "):
            match command.split():
                case ["sleep", seconds]:
                    self.now_s += float(seconds)
                case ["cat", *files] if "/proc/net/dev" in files:
                    received = int(125_000_000 * self._asked_at_s)
                    self._asked_at_s = self.now_s
                    output = f"{self.now_s:.2f} 1.00\n  eth0: {received}{' 0' * 15}\n"
        return Completed(argv=tuple(argv), output=output, errors="", returncode=0, duration_s=0)


def test_what_a_driver_counted_before_it_was_last_read_is_not_of_the_trial():
    beta = CardAskedInTheBackground()
    with watched({"beta": LinuxCounters(beta)}) as uses:
        beta.now_s += 10
    assert uses[0].ports[0].received_bps == pytest.approx(1e9, rel=0.001)


def test_a_host_is_read_before_and_after_however_short_it_was():
    beta = DescribedCounters()
    with watched({"beta": LinuxCounters(beta)}) as uses:
        assert beta.read == 1
    (use,) = uses
    assert (use.host, use.readings, use.failed) == ("beta", 2, "")
    assert use.ports[0].received_bps == 1e9
    assert use.cores[0].busy == 1


def test_a_host_is_read_again_and_again_meanwhile(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(workload_watch, "EVERY_S", 0.01)
    beta, gamma = DescribedCounters(), DescribedCounters()
    with watched({"beta": LinuxCounters(beta), "gamma": LinuxCounters(gamma)}) as uses:
        while min(beta.read, gamma.read) < 4:
            sleep_s(0.005)
    assert [use.host for use in uses] == ["beta", "gamma"]
    assert all(use.readings >= 5 for use in uses)


def test_a_host_that_is_lost_meanwhile_says_so_in_its_place():
    with watched({"beta": LinuxCounters(DescribedCounters(lost_after=1))}) as uses:
        pass
    assert uses[0].failed == "ssh.lost: connection reset"
    assert uses[0].ports == ()


def test_a_host_that_cannot_be_read_to_begin_with_stops_it():
    with (
        pytest.raises(HostError),
        watched({"beta": LinuxCounters(DescribedCounters(lost_after=0))}),
    ):
        raise AssertionError("nothing is to be run")


def test_a_host_without_proc_is_no_linux_host():
    with (
        pytest.raises(MeasurementError) as caught,
        watched({"beta": LinuxCounters(DescribedCounters(output="cat: /proc: not found\n"))}),
    ):
        raise AssertionError("nothing is to be run")
    assert caught.value.what == "host.unreadable"


def test_an_error_of_what_runs_meanwhile_is_not_hidden():
    with pytest.raises(InputError), watched({"beta": LinuxCounters(DescribedCounters())}):
        raise InputError("command.missing")
