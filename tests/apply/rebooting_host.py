"""A described host that forgets at a reboot what was set since its boot, and a spec of such hosts.

Keys that begin with `kept.` are files: they stay. Others are as the boot leaves them.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar, Literal

import pytest
from described_host import DescribedHost, Killed, Put

from described.approach import planned_by
from wirespeed import catalog
from wirespeed.apply.claim import Claim
from wirespeed.apply.control import Changed
from wirespeed.apply.found_copy import FoundCopy, HostRuns
from wirespeed.apply.host_copy import About, HostCopy
from wirespeed.apply.run import Run
from wirespeed.approaches.traits import RequestedStep
from wirespeed.commands import apply as apply_command
from wirespeed.commands import drift as drift_command
from wirespeed.commands import status as status_command
from wirespeed.commands import undo as undo_command
from wirespeed.model.capture import Capture
from wirespeed.model.command import Command
from wirespeed.model.error import HostError
from wirespeed.model.finding import Danger
from wirespeed.model.journal import Entry
from wirespeed.model.journal_lines import read_journal_text
from wirespeed.model.observed import Known, Observed
from wirespeed.model.spec.spec import Spec
from wirespeed.model.step import State, Step
from wirespeed.runs import undo_run as undo_run_module

KEPT = "kept."


class PutAndReboot(Put):
    """It is in force from the next boot on."""

    danger: ClassVar[Danger] = Danger.REBOOT
    step: Literal["put_and_reboot"] = "put_and_reboot"  # type: ignore[assignment]


class StoredCopy:
    """What the disk of a described host has of a run."""

    def __init__(self, number: int, about: str) -> None:
        self.text, self.number, self.about, self.is_undone = "", number, about, False


class RebootingHost(DescribedHost):
    """Control of one, with everything that commands ask of them; its disk has journals."""

    interruption = ""
    keeps_copy = True

    def __init__(self, values: dict[str, int]) -> None:
        super().__init__(values)
        self.at_boot = dict(values)
        self.boots = 1
        self.owner = ""
        self.reboots_after: int | None = None
        """Commands until it reboots by itself, in the midst of a change."""
        self.disk: dict[str, StoredCopy] = {}
        self.cannot_keep = ""
        """Why no copy can be written there."""
        self.copy: HostCopy | None = None

    def keep_copy(self, copy: HostCopy) -> None:
        self.copy = copy

    def host_runs(self) -> HostRuns:
        found = []
        for name, stored in self.disk.items():
            told = read_journal_text(stored.text.encode(errors="surrogateescape"))
            about = About.model_validate_json(stored.about)
            is_undone = stored.is_undone
            found.append(
                FoundCopy(name, stored.number, about, told, stored.text, is_undone=is_undone)
            )
        found.sort(key=lambda one: one.number or 0, reverse=True)
        return HostRuns(tuple(found), self.owner, ())

    def _keep(self) -> str:
        """Write what is to be kept; give why not, where the change must not be made then."""
        batch = self.copy.batch() if self.copy else None
        if self.copy is None or batch is None:
            return ""
        if self.cannot_keep:
            return self.cannot_keep if batch.is_must else ""
        if batch.about:
            number = 1 + max((one.number for one in self.disk.values()), default=0)
            self.disk[self.copy.name] = StoredCopy(number, batch.about)
        stored = self.disk[self.copy.name]
        assert len(stored.text) >= batch.at, "the described host's copy is shorter than it was"
        stored.text = stored.text[: batch.at] + batch.text
        stored.is_undone = batch.is_undone
        self.copy.sent(batch)
        return ""

    def reboot_now(self) -> None:
        kept = {key: value for key, value in self.values.items() if key.startswith(KEPT)}
        self.values = self.at_boot | kept
        self.boots, self.owner = self.boots + 1, ""

    def change(self, step: Step, commands: Sequence[Command], now: State | None = None) -> Changed:
        if now is not None and self._state(step) != Known(now, "get"):
            return super().change(step, commands, now)
        if why := self._keep():
            return Changed(why, self.read([step])[0])
        if self.reboots_after is not None and self.reboots_after < len(commands):
            super().change(step, commands[: self.reboots_after], now)
            self.reboots_after = None
            self.reboot_now()
            raise HostError("ssh.lost", where="alpha", found="the connection ended")
        if self.reboots_after is not None:
            self.reboots_after -= len(commands)
        return super().change(step, commands, now)

    def change_or_roll_back(
        self,
        step: Step,
        commands: Sequence[Command],
        undo: Sequence[Command],
        within_s: int,
        now: State | None = None,
    ) -> Changed:
        raise AssertionError("no step of these tests cuts anybody off")

    def capture(
        self, collector: str, steps: Sequence[Step]
    ) -> tuple[Capture, list[Observed[State]]]:
        assert "wirespeed" in collector
        return Capture((), complete=True), self.read(steps)

    def boot_id(self) -> str:
        self.trips += 1
        return f"boot-{self.boots}"

    def reboot(self, before: str) -> str:
        assert before == f"boot-{self.boots}"
        self.reboot_now()
        return f"boot-{self.boots}"

    def lock(self, claim: Claim) -> str:
        self.trips += 1
        assert self.owner in ("", claim.run)
        self.owner = claim.run
        if self.copy:
            stored = self.disk.get(self.copy.name)
            self.copy.found(stored.text if stored else None)
        return f"boot-{self.boots}"

    def unlock(self, claim: Claim) -> None:
        self.trips += 1
        assert self.owner in ("", claim.run)
        self._keep()
        self.owner = ""


def write_spec(path: Path, *hosts: str) -> None:
    text = "".join(f'  {name}: {{reach: here, ports: ["0000:03:00.0"]}}\n' for name in hosts)
    path.write_text(
        f"hosts:\n{text}approach: legacy-vlan\nfailover: none\n"
        "underlay: {subnet: 192.168.9.0/24, mtu: 9000}\nnetworks: {}\nguests: {}\n"
    )


def use_hosts(
    monkeypatch: pytest.MonkeyPatch, hosts: dict[str, RebootingHost], wanted: list[RequestedStep]
) -> None:
    """Let every command reach these hosts, and the approach ask for these steps of each."""

    @contextmanager
    def controls_of(spec: Spec) -> Iterator[dict[str, RebootingHost]]:
        # A name with a hyphen is how `undo HOST` calls the host that a spec calls otherwise.
        called = {name: hosts.get(name.partition("-")[0]) for name in spec.hosts}
        yield {name: host for name, host in called.items() if host} or hosts

    for module in (apply_command, undo_command, drift_command, status_command, undo_run_module):
        monkeypatch.setattr(module, "controls_of", controls_of)
    approaches = {"legacy-vlan": lambda *_: iter(wanted)}
    monkeypatch.setattr(catalog, "approaches", planned_by(approaches))
    kinds = {"put": Put, "put_and_reboot": PutAndReboot}
    monkeypatch.setattr(catalog, "step_types", lambda: kinds)


@contextmanager
def dies_at(
    monkeypatch: pytest.MonkeyPatch, at: int, *, written: bool
) -> Iterator[pytest.MonkeyPatch]:
    """Let the controller die at its entry `at`, before it is durable or just after.

    Gives what more is patched until then.
    """
    whole, count = Run.write, 0

    def write(run: Run, entry: Entry) -> None:
        nonlocal count
        if count == at and not written:
            raise Killed
        whole(run, entry)
        count += 1
        if count == at + 1 and written:
            raise Killed

    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(Run, "write", write)
        yield patch
