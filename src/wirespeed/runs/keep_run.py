"""A run that is tried is kept, or has gone back."""

from collections.abc import Mapping

from wirespeed.apply.control_posix import PosixControl
from wirespeed.apply.run import Run
from wirespeed.host.clock import utc_now
from wirespeed.model.journal import Begun, Ended, tried_s
from wirespeed.model.plan import Plan
from wirespeed.runs import tryout
from wirespeed.runs.run_hosts import HostLocks, lock_hosts, rebooted, roll_back
from wirespeed.terminal import echo


def refuse_gone(run: Run, plan: Plan, controls: Mapping[str, PosixControl], name: str) -> None:
    """Undo a run on every host if one host has undone it: raises `try.went_back`.

    Otherwise each host's timer starts again.
    """
    with lock_hosts(run, controls) as held:
        gone = tryout.gone_back(run, plan, controls)
        if not gone:
            return
        roll_back(run, plan, controls, name, held)
    raise tryout.went_back(gone, tried_s(run.entries), name)


def keep(run: Run, plan: Plan, controls: Mapping[str, PosixControl], name: str) -> None:
    """Confirm a run on all its hosts. Raises ApplyError `try.went_back` where it is too late."""
    with lock_hosts(run, controls) as held:
        gone = tryout.gone_back(run, plan, controls) or tryout.end(run, plan, controls)
        if not gone:
            run.write(Ended(at=utc_now(), outcome="applied"))
            echo("kept: no host will undo it")
            _tell_rebooted(run, held, name)
            return
        roll_back(run, plan, controls, name, held)
    raise tryout.went_back(gone, tried_s(run.entries), name)


def _tell_rebooted(run: Run, held: HostLocks, name: str) -> None:
    begun = [entry for entry in run.entries if isinstance(entry, Begun)]
    if since := rebooted(begun[-1].boot_ids if begun else {}, held.boot_ids):
        echo(
            f"{', '.join(sorted(since))}: rebooted since, which lost what a reboot loses: "
            f"wirespeed drift {name}",
            err=True,
        )
