"""One script on many hosts at once: each gives what it printed, or why it could not be reached.

    files       read in the order given
    this machine  in this thread, while the others are on their way
    hosts       over SSH, `limit` at a time, each with its own time-out
    Windows     each in a thread of its own, at the same time; see reach_windows.py
    ESXi        over SSH as the hosts, or one after another by its API; see reach_vsphere.py
    switches    at the end, one after another; see reach_switch.py

Results come as they are there: one slow or dead host does not hold up the rest. Whoever may stop
before the last, by an error too, takes them within `with closing(…)`: an error keeps what it went
through alive, and with it the threads that read hosts.
"""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field

from wirespeed.host.clock import monotonic_s
from wirespeed.host.local import LocalRunner
from wirespeed.host.reach_destination import (
    Destination,
    EsxiHost,
    Here,
    Recorded,
    Remote,
    SwitchHost,
    VsphereHost,
    WindowsHost,
)
from wirespeed.host.recorded import read_recorded
from wirespeed.host.runner import MAX_OUTPUT_BYTES
from wirespeed.model.error import HostError, WirespeedError
from wirespeed.model.shown import shown
from wirespeed.model.switch_kind import SwitchKind

LIMIT = 32
TIMEOUT_S = 60.0
SHELL = ("sh", "-s")
"""The script comes on its standard input, so that no shell on the way sees it to quote it."""
SUDO = ("sudo", "-n", *SHELL)


@dataclass(frozen=True, slots=True)
class Told:
    """What the script printed on a host, or what a file holds."""

    destination: Destination
    text: str
    duration_s: float
    warnings: tuple[str, ...] = ()
    """Why it may not be all: it was cut at a limit, time was up."""


@dataclass(frozen=True, slots=True)
class Unreachable:
    """A host or a file that gave nothing, with the reason and what to do."""

    destination: Destination
    error: WirespeedError


Progress = Callable[[Destination, str], None]
"""Told of a destination and what is being done there: `connecting`, `reading`."""


@dataclass(frozen=True, slots=True)
class Errand:
    """What is to be run everywhere, and within which bounds."""

    script: str
    """POSIX shell."""
    begins: str
    """A word that its output has in its first lines; without it the host said something else."""
    sudo: bool = False
    timeout_s: float = TIMEOUT_S
    """For one host, connecting included."""
    max_bytes: int = MAX_OUTPUT_BYTES
    esxi: str = ""
    """What is run on an ESXi host instead: POSIX shell as busybox has it."""
    powershell: str = ""
    """What is run on a Windows host instead."""
    switch: Mapping[SwitchKind, Mapping[str, str]] = field(default_factory=dict)
    """What is typed at a switch instead, by its kind and by the section that holds the answer."""
    switch_again: Mapping[SwitchKind, str] = field(default_factory=dict)
    """Which of those sections has counters, by kind: it is read again."""
    again_s: int = 0
    """After so many seconds; 0: once is enough."""

    @property
    def argv(self) -> tuple[str, ...]:
        """The command that reads the script."""
        return SUDO if self.sudo else SHELL

    def judge(
        self, destination: Destination, output: str, errors: str, returncode: int | None
    ) -> str:
        """Give the output, or raise HostError when it is not the script's."""
        if self.begins in output[: 1 << 16]:
            return output
        said = shown((errors.strip() or output.strip()).partition("\n")[0], 200)
        if self.sudo and ("sudo" in said or returncode == 127):
            raise HostError(
                "sudo.refused",
                where=destination.text,
                found=said or "sudo said nothing",
                so="nothing was read: no password is ever asked for here",
                next="log in as root, allow `sudo -n sh` there, or leave --sudo out",
            )
        ended = "time was up" if returncode is None else f"return code {returncode}"
        raise HostError(
            "host.no_answer",
            where=destination.text,
            found=f"it did not run our script: {said or ended}",
            next="is its login shell one that runs `sh -s`? A script for every other way: "
            "wirespeed capture --script",
        )


def reach(
    destinations: Sequence[Destination],
    errand: Errand,
    *,
    limit: int = LIMIT,
    progress: Progress = lambda _destination, _doing: None,
) -> Generator[Told | Unreachable, None, None]:
    """Give one result for each destination, as they come. `progress` is called in this thread."""
    unique = list(dict.fromkeys(destinations))
    remote = [place for place in unique if isinstance(place, Remote)]
    windows = [place for place in unique if isinstance(place, WindowsHost)]
    if switches := [place for place in unique if isinstance(place, SwitchHost)]:
        from wirespeed.host.reach_switch import reach_switches

        rest = [place for place in unique if place not in switches]
        yield from reach(rest, errand, limit=limit, progress=progress)
        yield from reach_switches(switches, errand, progress)
        return
    if esxi := [place for place in unique if isinstance(place, EsxiHost)]:
        from wirespeed.host.reach_esxi import reach_esxi

        rest = [place for place in unique if place not in esxi]
        yield from reach(rest, errand, limit=limit, progress=progress)
        yield from reach_esxi(esxi, errand, limit, progress)
        return
    if apis := [place for place in unique if isinstance(place, VsphereHost)]:
        from wirespeed.host.reach_vsphere import reach_vsphere

        rest = [place for place in unique if place not in apis]
        yield from reach(rest, errand, limit=limit, progress=progress)
        yield from reach_vsphere(apis, errand, progress)
        return
    if windows:
        from wirespeed.host.reach_windows import reach_windows

        rest = [place for place in unique if place not in windows]
        with closing(reach_windows(windows, errand, limit, progress)) as found:
            yield from reach(rest, errand, limit=limit, progress=progress)
            yield from found
        return
    if not remote:
        yield from _near(unique, errand, progress)
        return
    # Its library takes longer to load than all of a local run.
    from wirespeed.host.reach_crowd import Crowd

    with closing(Crowd(remote, errand, limit)) as crowd:
        yield from _near(unique, errand, progress)
        yield from crowd.results(progress)


def _near(
    destinations: Sequence[Destination], errand: Errand, progress: Progress
) -> Iterator[Told | Unreachable]:
    """What needs no network: files first, as this machine takes longer."""
    for place in destinations:
        if isinstance(place, Recorded):
            yield _tried(place, lambda place=place: _read(place))  # type: ignore[misc]
    for place in destinations:
        if isinstance(place, Here):
            progress(place, "reading")
            yield _tried(place, lambda place=place: _run_here(place, errand))  # type: ignore[misc]


def _tried(place: Destination, read: Callable[[], Told]) -> Told | Unreachable:
    try:
        return read()
    except WirespeedError as error:
        return Unreachable(place, error)


def _read(place: Recorded) -> Told:
    started = monotonic_s()
    text = read_recorded(place.path)
    return Told(place, text, monotonic_s() - started)


def _run_here(place: Here, errand: Errand) -> Told:
    done = LocalRunner().run(
        errand.argv, stdin=errand.script, timeout_s=errand.timeout_s, max_bytes=errand.max_bytes
    )
    text = errand.judge(place, done.output, done.errors, done.returncode)
    return Told(place, text, done.duration_s, cut_warning(done.cut, errand))


def cut_warning(cut: bool, errand: Errand) -> tuple[str, ...]:
    """Say that there was more than the limit, where there was."""
    return (f"it printed more than {errand.max_bytes >> 20} MiB: cut there",) if cut else ()
