"""A HOST where a command also takes a spec: which of them is meant, and what stands on it."""

import os
from pathlib import Path
from typing import Protocol, runtime_checkable

from wirespeed.apply.control import HostControl
from wirespeed.apply.found_copy import FoundCopy, HostRuns, in_order
from wirespeed.apply.run import is_run
from wirespeed.apply.run_place import run_folder
from wirespeed.host.reach_destination import HERE, Here, Remote, parse_destination
from wirespeed.model.error import InputError, LeftChangedError
from wirespeed.model.owner import owner_said, runs_said
from wirespeed.model.shown import shown

FILES = (".yaml", ".yml", ".json")
MOST_NAMED = 4


@runtime_checkable
class HasRuns(Protocol):
    """Control of a host that can list the runs applied to it."""

    def host_runs(self) -> HostRuns:
        """Read the copies on the host, who has locked it, and which steps are armed."""
        ...


def named_host(text: str) -> str:
    """Give the host that is named; empty: it is a spec, or the folder of a run.

    Raises InputError `destination.invalid`, `host.no_copy`.
    """
    if text != HERE and "://" not in text and _is_path(text):
        return ""
    place = parse_destination(text)
    if not isinstance(place, Here | Remote):
        raise InputError(
            "host.no_copy",
            where=text,
            found="not a Linux host: Windows, ESXi, vSphere and switches keep no copy of a journal",
            so="only the run folder knows which runs are applied there",
            next="give the spec, or the folder of the run; `wirespeed status` lists them",
        )
    return text


def runs_on(control: HostControl) -> HostRuns:
    """Give the runs that are applied to a host of `named_host`."""
    if not isinstance(control, HasRuns):
        raise AssertionError("a Linux host lists its runs")
    return control.host_runs()


def chosen_copies(place: str, runs: HostRuns, only: str) -> list[FoundCopy]:
    """Give the copies to undo, the latest first; `only`: the first digits of the one.

    Raises InputError `copies.unknown`, `copies.not_one`, `copies.order_unknown`; LeftChangedError
    `copies.not_readable`.
    """
    standing = runs.standing
    if only:
        found = [copy for copy in standing if copy.name.startswith(only)]
        if len(found) != 1:
            raise InputError(
                "copies.not_one" if found else "copies.unknown",
                where=place,
                found=f"{len(found)} runs applied there have an id that begins with "
                f"{shown(only, 60)}",
                so="nothing was changed",
                next=f"list them with `wirespeed status {place}`",
            )
        return found
    if spoilt := [copy for copy in standing if copy.why]:
        raise LeftChangedError(
            "copies.not_readable",
            where=place,
            found="; ".join(f"run {copy.run}: {copy.why}" for copy in spoilt[:MOST_NAMED]),
            so="what that run changed is not known, and later runs may depend on it; nothing was "
            "changed",
            next="find out who put that file there; to undo another run: wirespeed undo "
            f"{place} --only RUN",
        )
    if not in_order(standing):
        raise InputError(
            "copies.order_unknown",
            where=place,
            found=f"{len(standing)} runs are applied there, and which was started first is not "
            "known",
            so="undoing a run before a later one would damage the later one; nothing was changed",
            next=f"list them with `wirespeed status {place}`; then undo one at a time with --only "
            "RUN, the latest first",
        )
    return standing


def whose(copy: FoundCopy) -> str:
    """Say whose a copy is: all of it is the host's word."""
    owner = owner_said(copy.about.owner) if copy.about else f"run {copy.run} of an unknown user"
    of = shown(copy.about.of, 200) if copy.about and copy.about.of else "an unknown spec"
    return f"{owner}, of {of}: {copy.outcome}"


def held_lines(runs: HostRuns) -> list[str]:
    """Say who has the host, and what it undoes by itself."""
    lines = [f"locked by {owner_said(runs.owner)}"] if runs.owner else []
    if runs.armed:
        lines.append(f"undone by the host unless it is confirmed: {runs_said(runs.armed)}")
    return lines


def _is_path(text: str) -> bool:
    """Tell whether it is a spec or a run: it is there, or was, or is called as a file."""
    if "/" in text or text.startswith((".", "~")) or text.endswith(FILES):
        return True
    return os.path.lexists(text) or is_run(run_folder(Path(text)))
