"""A host's ports watched: counters at every reading, ceilings and findings once a minute."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

from wirespeed.doctor.port_watch import SCRIPT, Standing, Watched, parse_standings, watched
from wirespeed.host.clock import Deadline, monotonic_s, sleep_s
from wirespeed.host.reach_destination import Here, Remote, parse_destination
from wirespeed.host.runner import Runner
from wirespeed.model.ceiling import Ledger
from wirespeed.model.error import HostError, InputError
from wirespeed.model.finding import Diagnosis, Severity
from wirespeed.model.question import Question
from wirespeed.model.shown import shown
from wirespeed.runs.access import runner_at
from wirespeed.runs.export_run import diagnosed

DOCTOR_S = 60.0
READ_S = 15.0
"""A host that takes longer for a few files is not to be waited for."""


@dataclass(slots=True)
class PortState:
    """One port, as it was seen last."""

    standing: Standing
    seen: Watched | None = None
    change: str = ""
    changed_at_s: float = 0.0
    """Of the host's uptime."""


@dataclass(slots=True)
class Watch:
    """The ports of one host, and what the doctor said of them."""

    ports: dict[str, PortState] = field(default_factory=dict)
    ledgers: dict[str, Ledger] = field(default_factory=dict)
    findings: dict[str, frozenset[str]] = field(default_factory=dict)

    def take(self, found: dict[str, Standing]) -> None:
        """Take a reading of the counters; a port that is gone is left out."""
        for netdev in set(self.ports) - set(found):
            del self.ports[netdev]
        for netdev, standing in found.items():
            old = self.ports.get(netdev)
            if old is None:
                self.ports[netdev] = PortState(standing)
                continue
            seen = watched(old.standing, standing, self.ledgers.get(netdev))
            old.standing, old.seen = standing, seen or old.seen
            if seen is not None and seen.changes:
                old.change, old.changed_at_s = "; ".join(seen.changes), standing.uptime_s

    def judge(self, answer: Diagnosis) -> None:
        """Take the doctor's answer: ceilings, and findings that are new or gone."""
        self.ledgers = {ledger.port: ledger for ledger in answer.ledgers}
        is_first, before = not self.findings, self.findings
        self.findings = {
            netdev: frozenset(
                one.rule for one in answer.findings
                if one.where == netdev and one.severity is not Severity.NOTE
            )
            for netdev in self.ports
        }  # fmt: skip
        for netdev, state in self.ports.items():
            old, new = before.get(netdev, frozenset()), self.findings[netdev]
            told = [*sorted(new - old), *(f"no {rule}" for rule in sorted(old - new))]
            if told and not is_first:
                state.change, state.changed_at_s = "; ".join(told), state.standing.uptime_s


def watch(
    host: str, question: Question, *, ports: Sequence[str], every_s: float, count: int | None,
    seconds: float | None,
) -> Iterator[Watch]:  # fmt: skip
    """Give the ports after each reading, until `count` or `seconds` is reached.

    Raises InputError `watch.not_linux`, `watch.no_port`; HostError.
    """
    place = parse_destination(host)
    if not isinstance(place, Here | Remote):
        raise InputError(
            "watch.not_linux",
            where=host,
            found="not a Linux host",
            next="give `here`, or a host that `ssh HOST` reaches",
        )
    state, left, end = Watch(), count, None
    with ExitStack() as stack:
        runner = runner_at(place, stack)
        if runner is None:
            raise AssertionError("a Linux host runs commands")
        state.take(_read(runner, host, ports))
        missing = [port for port in ports if port not in state.ports]
        if missing or not state.ports:
            raise InputError(
                "watch.no_port",
                where=host,
                found=f"no netdev {shown(missing[0])}" if missing else "no netdev with a device",
                next="give --port NETDEV; `ip link` on the host lists them",
            )
        judged_s = None
        while left is None or left > 0:
            if judged_s is None or monotonic_s() - judged_s >= DOCTOR_S:
                state.judge(diagnosed(host, question))
                judged_s = monotonic_s()
            # The first answer of the doctor takes seconds, in which no port was watched.
            if end is None and seconds is not None:
                end = Deadline(seconds)
            sleep_s(every_s)
            state.take(_read(runner, host, ports))
            yield state
            left = None if left is None else left - 1
            if end is not None and end.expired:
                return


def _read(runner: Runner, host: str, ports: Sequence[str]) -> dict[str, Standing]:
    done = runner.run(("sh", "-s", "--", *ports), stdin=SCRIPT, timeout_s=READ_S)
    if done.returncode != 0:
        raise HostError(
            "watch.not_read",
            where=host,
            found=shown(done.errors.strip() or f"exit code {done.returncode}", 300),
            next="run `wirespeed capture` to see what can be read there",
        )
    return parse_standings(done.output)
