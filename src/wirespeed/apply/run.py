"""A run: its folder holds the journal, from which it is finished, undone or told of at any time."""

import os
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from wirespeed.apply.journal_damage import (
    is_settled,
    refuse_damage,
    refuse_no_beginning,
    refuse_unfit_steps,
)
from wirespeed.apply.run_file import RUN, RunFile, read_run_file, write_run_file
from wirespeed.host.clock import utc_now
from wirespeed.host.jsonl import JsonlWriter
from wirespeed.host.private import check_private_folder, read_private, tighten_folder
from wirespeed.model.error import InputError
from wirespeed.model.journal import Begun, Entry, outcome, whole_plan
from wirespeed.model.journal_lines import JournalText, digest, read_journal_text, sealed
from wirespeed.model.json_value import too_full
from wirespeed.model.owner import RUN_ID
from wirespeed.model.plan import Plan
from wirespeed.model.spec.spec import Spec

JOURNAL = "journal.jsonl"
OLDER_NAME = ".run"
"""How the folder's name ends where an older release made it, beside the spec: 0755 then."""


class Run:
    """The journal of one run, open for writing: nobody else has it open at the same time."""

    def __init__(
        self,
        folder: Path,
        writer: JsonlWriter,
        told: JournalText,
        run: str,
        *,
        of: str,
        copy_name: str,
        breaks: bool,
    ) -> None:
        self.folder, self._writer, self.told = folder, writer, told
        self.entries: list[Entry] = list(told.entries)
        self.former: list[Entry] = []
        """Of what was undone before this was begun anew: hosts may not know yet that it was."""
        self.id = run
        """By which hosts know it: random, made once, and kept where the folder is moved."""
        self.of = of
        """What it is of, as `RunFile.of`."""
        self.copy_name = copy_name
        """As `RunFile.copy_name`."""
        self.breaks = breaks
        """Whether the lock of another run on a host is to be broken."""
        self.is_older = bool(told.entries) and not _journal_id(told.entries)
        """Whether its journal was begun by a wirespeed whose runs had no id."""
        self._number, self._name = told.number, told.run
        self._is_marked = False

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
        """Make an entry durable. Raises InputError `file.unwritable`, `plan.too_large`."""
        if self.entries:
            # After the first line, which changes nothing; before the first intent.
            self._mark()
        if isinstance(entry, Begun):
            entry = entry.model_copy(update={"run": self.id})
        body = entry.model_dump_json()
        if isinstance(entry, Begun) and (why := too_full(body)):
            raise InputError(
                "plan.too_large",
                where=str(self.folder),
                found=why,
                so="the journal of so large a plan could not be read again, so nothing is applied",
                next="split the spec into several, each with fewer hosts",
            )
        self._writer.append(sealed(body, self._number + 1, self._name))
        self._number += 1
        self._name = self._name or digest(body.encode())
        self.entries.append(entry)

    def begin_anew(self) -> None:
        """Forget what was undone."""
        self._say(begun_at=None)
        self._writer.clear()
        self.former = self.entries.copy() or self.former
        self.entries.clear()
        self._number, self._name, self._is_marked = 0, "", False

    def rewrite(self, entries: Sequence[Entry], lost: int) -> None:
        """Write the journal again with what it lacked; `lost` lines of it are not known still.

        What stood there is kept beside it. Raises InputError `file.unwritable`.
        """
        lines, name = [], ""
        for number, entry in enumerate(entries, 1):
            body = entry.model_dump_json()
            lines.append(sealed(body, number, name))
            name = name or digest(body.encode())
        lines += ["{}"] * lost
        self._writer.replace(lines)
        self.told = read_journal_text("".join(f"{line}\n" for line in lines).encode())
        self.entries[:] = self.told.entries
        self._number, self._name = self.told.number, self.told.run

    def put_aside(self) -> None:
        """Be as a run that was never begun; what stood in its journal is kept beside it."""
        self._say(begun_at=None)
        self._writer.set_aside()
        self.told = read_journal_text(b"")
        self.entries.clear()
        self._number, self._name, self._is_marked = 0, "", False

    def _mark(self) -> None:
        if not self._is_marked:
            self._say(begun_at=utc_now())
            self._is_marked = True

    def _say(self, begun_at: str | None) -> None:
        said = read_run_file(self.folder) or RunFile(run=self.id, made_at=utc_now())
        if begun_at is None or said.begun_at is None:
            write_run_file(self.folder, said.model_copy(update={"begun_at": begun_at}))


@contextmanager
def open_run(
    folder: Path, *, must_exist: bool = False, breaks: bool = False, of: str = ""
) -> Iterator[Run]:
    """Open a run's folder, made if need be; `of`: what the run is of, as `RunFile.of`.

    Raises InputError `run.missing`, `run.in_use`, `file.untrusted`; LeftChangedError
    `run.not_a_journal`, `run.damaged`: the file is left as it is then.
    """
    if must_exist or _is_there(folder):
        _refuse_standing_damage(folder, read_told(folder))
    with _opened(folder, breaks=breaks, of=of) as run:
        _refuse_standing_damage(folder, run.told)
        if run.told.damage:
            run.put_aside()
        yield run


def _refuse_standing_damage(folder: Path, told: JournalText) -> None:
    """Raise `run.damaged` unless all steps are undone: nothing is lost with such a journal."""
    if not is_settled(told):
        refuse_damage(folder, told)


@contextmanager
def salvage_run(folder: Path, *, breaks: bool = False) -> Iterator[Run]:
    """Open a run whose journal has a beginning, though lines of it may be damaged: `run.told`.

    Raises as `open_run`, but not `run.damaged`.
    """
    read_told(folder)
    with _opened(folder, breaks=breaks) as run:
        yield run


@contextmanager
def _opened(folder: Path, *, breaks: bool, of: str = "") -> Iterator[Run]:
    writer = JsonlWriter(folder / JOURNAL)
    try:
        if folder.name.endswith(OLDER_NAME):
            tighten_folder(folder)
        told = read_told(folder)
        if told.lines and not told.entries:
            # Of a beginning that a crash spoilt before anything was done.
            writer.set_aside()
            told = read_told(folder)
        said = _kept_file(folder, told.entries, of)
        names = {"of": said.of, "copy_name": said.copy_name}
        yield Run(folder, writer, told, said.run, breaks=breaks, **names)
    finally:
        writer.close()


def run_spec(entries: Iterable[Entry]) -> Spec | None:
    """Give what a run was made from."""
    return next((e.spec for e in entries if isinstance(e, Begun) and e.spec is not None), None)


def _kept_file(folder: Path, entries: Sequence[Entry], of: str) -> RunFile:
    """Give the `run.json` of a run, durable: the id is its journal's, else what was there.

    Where neither has one, one is made.
    """
    said = read_run_file(folder)
    known = (_journal_id(entries), said.run if said else "")
    found = next((one for one in known if RUN_ID.fullmatch(one)), uuid.uuid4().hex)
    of = of or (said.of if said else "")
    if said is None or (said.run, said.of) != (found, of):
        # An older release began it, and wrote no `run.json`.
        began = utc_now() if len(entries) > 1 else None
        began = said.begun_at if said else began
        made = said.made_at if said else utc_now()
        name = said.copy_name if said else ""
        said = RunFile(run=found, of=of, made_at=made, begun_at=began, copy_name=name)
        write_run_file(folder, said)
    return said


def _journal_id(entries: Iterable[Entry]) -> str:
    return next((e.run for e in entries if isinstance(e, Begun)), "")


def read_journal(folder: Path) -> list[Entry]:
    """Read the entries of a run, to act by them.

    Raises InputError `run.missing`, `file.untrusted`; LeftChangedError `run.not_a_journal`,
    `run.damaged`.
    """
    told = read_told(folder)
    refuse_damage(folder, told)
    return list(told.entries)


def read_told(folder: Path) -> JournalText:
    """Read what a journal says, damaged or not.

    Raises InputError `run.missing`, `file.untrusted`; LeftChangedError `run.not_a_journal` where
    it has no beginning though a run was begun.
    """
    path = folder / JOURNAL
    try:
        if _is_there(folder) or os.path.lexists(folder / RUN):
            check_private_folder(folder)
        said = read_run_file(folder)
        data = read_private(path) if _is_there(folder) else None
    except OSError as error:
        raise InputError("file.unreadable", where=str(path), found=str(error)) from None
    if data is None and (said is None or said.begun_at is None):
        raise InputError(
            "run.missing",
            where=str(folder),
            found=f"no {JOURNAL}",
            next="list the known runs with `wirespeed status`, and give the folder of one; if it "
            "was removed: `wirespeed status HOST` shows what a Linux host has of it",
        )
    told = read_journal_text(data or b"")
    # Before the mark is there, the first line may have been cut short: nothing was done.
    is_begun = said.begun_at is not None if said else told.size_bytes > 0
    if is_begun and not told.has_beginning:
        refuse_no_beginning(path, told, said.begun_at if said else None)
    refuse_unfit_steps(path, told)
    return told


def is_run(folder: Path) -> bool:
    """Tell whether a run's journal is in a folder, or its `run.json` says that one was begun.

    Raises InputError `file.untrusted`, `run.not_readable`.
    """
    if _is_there(folder):
        return True
    said = read_run_file(folder)
    return said is not None and said.begun_at is not None


def _is_there(folder: Path) -> bool:
    return os.path.lexists(folder / JOURNAL)
