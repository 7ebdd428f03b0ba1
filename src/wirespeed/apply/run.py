"""A run: its folder holds the journal, from which it is finished, undone or told of at any time."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from wirespeed.host.files import is_file
from wirespeed.host.jsonl import JsonlWriter, read_lines
from wirespeed.model.error import InputError
from wirespeed.model.journal import ENTRY, Begun, Entry, outcome, whole_plan
from wirespeed.model.plan import Plan
from wirespeed.model.spec import Spec

JOURNAL = "journal.jsonl"


class Run:
    """The journal of one run, open for writing: nobody else has it open at the same time."""

    def __init__(self, folder: Path, writer: JsonlWriter, entries: list[Entry]) -> None:
        self.folder, self._writer, self.entries = folder, writer, entries

    @property
    def plan(self) -> Plan | None:
        """All stages that were begun, as one plan; None: nothing was."""
        return whole_plan(self.entries)

    @property
    def spec(self) -> Spec | None:
        """What the run was made from; None: nothing was begun, or an older wirespeed did."""
        return run_spec(self.entries)

    @property
    def outcome(self) -> str:
        """How it ended; see `journal.outcome`."""
        return outcome(self.entries)

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
    if must_exist:
        _must_be_there(folder)
    writer = JsonlWriter(folder / JOURNAL)
    try:
        yield Run(folder, writer, read_journal(folder))
    finally:
        writer.close()


def run_spec(entries: Iterable[Entry]) -> Spec | None:
    """Give what a run was made from."""
    return next((e.spec for e in entries if isinstance(e, Begun) and e.spec is not None), None)


def _must_be_there(folder: Path) -> None:
    if not is_file(folder / JOURNAL):
        raise InputError(
            "run.missing",
            where=str(folder),
            found=f"no {JOURNAL}",
            next="name the folder that `wirespeed apply` wrote to",
        )


def read_journal(folder: Path) -> list[Entry]:
    """Read the entries of a run. Raises InputError `run.missing`, `run.not_a_journal`."""
    _must_be_there(folder)
    try:
        return [ENTRY.validate_json(line) for line in read_lines(folder / JOURNAL)]
    except ValueError as error:
        raise InputError(
            "run.not_a_journal",
            where=str(folder / JOURNAL),
            found=str(error).splitlines()[0],
            so="nobody can tell from it what was done",
        ) from None
