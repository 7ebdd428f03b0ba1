"""A host's own copy of the journal: what of it is there, and what the next script adds.

    run folder   intent, durable
    host         the copy's lines until that intent, durable; then the change, in one script
    host         the result, with the next script there, or when the host is given back

So no change is made that the host's copy does not name, and it costs no further round trip. What
is sent names the size from which it is written: sent twice, it is there once. What a copy says
beyond the run folder was done from elsewhere, by `undo HOST`.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from pydantic import Field

from wirespeed.model.error import InputError
from wirespeed.model.frozen import Frozen
from wirespeed.model.journal import Begun, Entry, Intent, outcome
from wirespeed.model.journal_heal import says_more
from wirespeed.model.journal_lines import JournalText, digest, read_journal_text, sealed
from wirespeed.model.journal_part import (
    Relation,
    kept_of,
    more_of,
    part_of,
    relation,
    steps_of,
    with_numbers,
)
from wirespeed.model.owner import MAX_LINE
from wirespeed.model.plan import Plan

MAX_OF = 4096
MAX_COPY_BYTES = 4 << 20
"""A step takes about 3 KB; what a copy has is sent whole when a host is taken again."""


class About(Frozen):
    """Whose run a copy is of: `about.json` beside it."""

    owner: str = Field(max_length=MAX_LINE)
    """The line that stood in the host's lock when the copy was begun."""
    of: str = Field(default="", max_length=MAX_OF)
    """The real path of its spec, or what else it is of."""


class Batch(NamedTuple):
    """What one script adds to the copy."""

    at: int
    """Bytes of the copy that stay; 0: it is begun."""
    text: str
    entries: int
    """Of the host's part, once this is there."""
    is_must: bool
    """Nothing is changed where it cannot be kept: not so of an undo."""
    is_undone: bool
    about: str = ""
    too_long: str = ""
    """Why it is not kept."""

    @property
    def size(self) -> int:
        """Give the size of the copy then."""
        return self.at + len(self.text.encode())


class HostCopy:
    """The copy of one run on one host; `entries` is the run's journal, which grows."""

    def __init__(
        self,
        place: str,
        run: str,
        about: About,
        entries: Sequence[Entry],
        former: Sequence[Entry] = (),
        tell: Callable[[str], None] = lambda _: None,
        name: str = "",
    ) -> None:
        self.place, self.run = place, run
        self.name = name or copy_name(run, place)
        """Of its folder: two hosts of a spec may be one machine."""
        self._about, self._entries, self._former, self._tell = about, entries, former, tell
        self._size, self._kept, self._number, self._name = 0, 0, 0, ""
        self._more: list[Entry] = []
        self._is_spoilt = False
        self.text: str | None = None
        """What stands there; None: nothing, or it was not read."""
        self.is_needed = False
        """Whether it is damaged, and says what the run folder does not."""
        self.other = ""
        """Why the copy that is there is not this run's to write; empty: it is."""

    @property
    def is_ahead(self) -> bool:
        """Tell whether the copy says more than the run folder."""
        return bool(self._more)

    def found(self, text: str | None, refused: str = "", *, is_taken: bool = False) -> None:
        """Take the host's copy; None: there is none. `refused`: why it was not read.

        `is_taken`: all that a damaged one says is in the run folder.
        """
        self._size, self._kept, self._number, self._name = 0, 0, 0, ""
        self._more, self._is_spoilt, self.other = [], False, refused
        self.is_needed = False
        self.text = None if refused else text
        if text is None or refused:
            return
        told, own = read_journal_text(text.encode()), self._part()
        if told.damage or not told.entries:
            spoilt = "it is not as it was written: " + said_of(told)
            if not is_taken and says_more(self._entries, told, self.place, self.run):
                self.other = f"{spoilt}; it had more lines than the run folder has"
                self.is_needed = True
            elif own:
                self._is_spoilt = True
                self._tell(
                    f"{self.place}: its copy of the run's journal is written again from the run "
                    f"folder: {spoilt}"
                )
            else:
                self.other = spoilt
            return
        if _is_begun_only(own) and outcome(told.entries) == "undone":
            return  # Of what was undone before this beginning: nothing of this one is there yet.
        how = relation(own, told.entries)
        if how is Relation.BEHIND:
            self._stands(told, kept_of(own, told.entries))
        elif how is Relation.AHEAD and own:
            self._stands(told, len(own))
            self._more = more_of(own, told.entries)
        elif outcome(told.entries) != "undone" and not self._is_of_former(told):
            ended = outcome(told.entries)
            self.other = f"it is of another beginning of the same run, and that is {ended}"

    def batch(self) -> Batch | None:
        """Give what is to be sent with the next script; None: nothing, or there is no copy."""
        own = self._part()
        is_must = bool(self._entries) and isinstance(self._entries[-1], Intent)
        # Nothing of the run is on this host yet, or an older release did it: undo begins none.
        is_begun = self._size > 0 or (is_must and isinstance(own[-1], Intent))
        is_begun |= self._is_spoilt
        if self.other or self._more or not is_begun or len(own) == self._kept:
            return None
        lines, name = [], self._name
        for number, entry in enumerate(own[self._kept :], self._number + 1):
            body = entry.model_dump_json()
            lines.append(sealed(body, number, name) + "\n")
            name = name or digest(body.encode())
        about = "" if self._size else self._about.model_dump_json()
        is_undone = outcome(own) == "undone"
        found = Batch(self._size, "".join(lines), len(own), is_must, is_undone, about)
        if found.size > MAX_COPY_BYTES:
            why = f"the copy would have {found.size} bytes, at most {MAX_COPY_BYTES}"
            return found._replace(too_long=why, text="")
        return found

    def sent(self, batch: Batch) -> None:
        """Know that a batch is durable on the host."""
        self._number += batch.entries - self._kept
        self._name = self._name or _name_of(batch.text)
        self._size, self._kept, self._is_spoilt = batch.size, batch.entries, False

    def refuse_other(self) -> None:
        """Raise InputError `host.copy_differs`, `run.behind`: nothing may be changed from here."""
        if self.other:
            raise InputError(
                "host.copy_differs",
                where=self.place,
                found=f"its copy of this run's journal, run {self.run}: {self.other}",
                so="only that copy may have the host's original state; nothing was changed",
                next="read it with `wirespeed status HOST` (HOST as in ssh://root@alpha); undo "
                "it with `wirespeed undo HOST`",
            )
        if self._more:
            raise _behind(self.place, self.run, len(self._more))

    def catch_up(self, plan: Plan, write: Callable[[Entry], None]) -> None:
        """Write into the journal what the copy says beyond it, so that it is undone, and once.

        Raises InputError `run.behind` where that is a stage of which the run folder has no plan.
        """
        if self.other:
            self._tell(f"{self.place}: its copy of the run's journal is left alone: {self.other}")
        more, numbers = self._more, steps_of(plan, self.place)
        if not more:
            return
        if any(isinstance(entry, Begun) for entry in more):
            raise _behind(self.place, self.run, len(more))
        self._tell(
            f"{self.place}: its copy of the journal has {len(more)} lines that this run folder "
            "lacks, because the run was continued from another machine. wirespeed adds them to "
            "this folder"
        )
        for entry in more:
            if (known := with_numbers(entry, numbers)) is not None:
                write(known)
        self._more, self._kept = [], len(self._part())

    def _stands(self, told: JournalText, kept: int) -> None:
        self._size, self._kept = told.size_bytes - told.torn_bytes, kept
        self._number, self._name = told.number, told.run

    def _is_of_former(self, told: JournalText) -> bool:
        """Tell whether the copy is of the run that was undone before this beginning.

        The host was lost before it could be told of that.
        """
        former = part_of(self._former, self.place, self.run)
        is_undone = outcome(self._former) == "undone"
        return is_undone and relation(former, told.entries) is Relation.BEHIND

    def _part(self) -> list[Entry]:
        return part_of(self._entries, self.place, self.run)


def _is_begun_only(own: Sequence[Entry]) -> bool:
    """Tell whether nothing was done on the host since the run was begun."""
    return not any(isinstance(entry, Intent) for entry in own)


def copy_name(run: str, place: str) -> str:
    """Give the name of a copy's folder: of which run, and of which host of it."""
    return f"{run}-{digest(place.encode())[:8]}"


def said_of(told: JournalText) -> str:
    """Say what is wrong with the lines of a copy."""
    said = [f"line {one.line}: {one.found}" for one in told.damage[:3]]
    if not told.entries:
        said.insert(0, f"{told.size_bytes} bytes without a beginning")
    return "; ".join(said)


def _behind(place: str, run: str, lines: int) -> InputError:
    return InputError(
        "run.behind",
        where=place,
        found=f"its copy of the journal of run {run} has {lines} lines that this run folder lacks",
        so="the run was continued from another machine, or this folder is an old copy; nothing "
        "was changed",
        next="run `wirespeed undo HOST` (HOST as in ssh://root@alpha), which uses the host's "
        "copy; then run `wirespeed undo` with this folder for the rest",
    )


def _name_of(text: str) -> str:
    told = read_journal_text(text.encode())
    return told.run
