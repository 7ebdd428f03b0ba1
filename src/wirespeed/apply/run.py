"""A run: its folder holds the journal, from which it is finished, undone or told of at any time."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from wirespeed.host.files import is_file
from wirespeed.host.jsonl import JsonlWriter, read_lines
from wirespeed.model.error import InputError
from wirespeed.model.journal import ENTRY, Begun, Ended, Entry
from wirespeed.model.plan import Plan

JOURNAL = "journal.jsonl"


class Run:
    """The journal of one run, open for writing: nobody else has it open at the same time."""

    def __init__(self, folder: Path, writer: JsonlWriter, entries: list[Entry]) -> None:
        self.folder, self._writer, self.entries = folder, writer, entries

    @property
    def plan(self) -> Plan | None:
        """The plan that was begun; None: nothing was."""
        return next((e.plan for e in self.entries if isinstance(e, Begun)), None)

    @property
    def outcome(self) -> str:
        """How it ended: `applied`, `undone`, `left changed`; `unfinished`, or `new`."""
        if not self.entries:
            return "new"
        last = self.entries[-1]
        return last.outcome if isinstance(last, Ended) else "unfinished"

    def write(self, entry: Entry) -> None:
        """Make an entry durable. Raises InputError `file.unwritable`."""
        self._writer.append(entry.model_dump_json())
        self.entries.append(entry)

    def begin_anew(self) -> None:
        """Forget what was undone."""
        self._writer.clear()
        self.entries.clear()


@contextmanager
def open_run(folder: Path, *, must_exist: bool = False) -> Iterator[Run]:
    """Open a run's folder. Raises InputError `run.missing`, `run.in_use`, `run.not_a_journal`."""
    if must_exist and not is_file(folder / JOURNAL):
        raise InputError(
            "run.missing",
            where=str(folder),
            found=f"no {JOURNAL}",
            next="name the folder that `wirespeed apply` wrote to",
        )
    writer = JsonlWriter(folder / JOURNAL)
    try:
        yield Run(folder, writer, read_journal(folder))
    finally:
        writer.close()


def read_journal(folder: Path) -> list[Entry]:
    """Read the entries of a run. Raises InputError `run.not_a_journal`."""
    try:
        return [ENTRY.validate_json(line) for line in read_lines(folder / JOURNAL)]
    except ValueError as error:
        raise InputError(
            "run.not_a_journal",
            where=str(folder / JOURNAL),
            found=str(error).splitlines()[0],
            so="nobody can tell from it what was done",
        ) from None
