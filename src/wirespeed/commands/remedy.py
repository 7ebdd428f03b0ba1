"""`wirespeed remedy`: what the doctor named, planned; and done, with a journal."""

from pathlib import Path

import click

from wirespeed.commands.described import Described
from wirespeed.commands.doctor import check_wanted
from wirespeed.commands.shared_options import break_lock
from wirespeed.host.reach_destination import HERE
from wirespeed.model.question import Purpose, Question
from wirespeed.runs.host_plan import Allowed
from wirespeed.runs.remedy_run import RemedyRequest, remedy_host


@click.command(
    cls=Described,
    reads="the host, as doctor does",
    changes="with --apply: the host; the run folder",
    codes={
        0: "nothing to do, or done",
        1: "there is something to do",
        2: "bad input",
        3: "a host was left changed",
    },
)
@click.argument("host", default=HERE)
@click.option(
    "--for",
    "purpose",
    type=click.Choice([p.value for p in Purpose]),
    help="Purpose of the ports.",
)
@click.option(
    "--wanted",
    multiple=True,
    metavar="KEYWORD=VALUE",
    help="Advanced property that you set on a Windows card; may be repeated.",
)
@click.option(
    "--of",
    "rules",
    multiple=True,
    metavar="RULE",
    help="Rule whose finding is the only one to fix; may be repeated.",
)
@click.option(
    "--apply", "is_applied", is_flag=True, help="Apply the plan; without it the plan is only shown."
)
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.option(
    "--run", "folder", type=click.Path(path_type=Path), help="Folder of the run, with its journal."
)
@click.option(
    "--allow-cutoff", is_flag=True, help="Also change the port that the host is reached by."
)
@click.option("--allow-firmware", is_flag=True, help="Also write firmware of a card.")
@click.option("--allow-no-undo", is_flag=True, help="Also apply steps that cannot be undone.")
@break_lock
def remedy(
    host: str,
    purpose: str | None,
    wanted: tuple[str, ...],
    rules: tuple[str, ...],
    is_applied: bool,
    yes: bool,
    folder: Path | None,
    allow_cutoff: bool,
    allow_firmware: bool,
    allow_no_undo: bool,
    breaks_lock: bool,
) -> int:
    """Plan the steps that fix what the doctor found, and apply them with --apply.

    HOST is here, ssh://, winssh:// or winrm://. `wirespeed undo FOLDER` takes the steps back. If
    the best remedy of a finding is by hand, the finding is left to you, unless --of names its rule.
    """
    check_wanted(wanted)
    asked = RemedyRequest(
        host,
        Question(purpose=Purpose(purpose) if purpose else None, wanted=wanted),
        rules,
        Allowed(
            folder,
            is_applied=is_applied,
            yes=yes,
            allow_cutoff=allow_cutoff,
            allow_firmware=allow_firmware,
            allow_no_undo=allow_no_undo,
            breaks_lock=breaks_lock,
        ),
    )
    return remedy_host(asked)
