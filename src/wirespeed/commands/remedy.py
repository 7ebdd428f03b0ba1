"""`wirespeed remedy`: what the doctor named, planned; and done, with a journal."""

from typing import Any

import click

from wirespeed.commands.described import Described
from wirespeed.commands.doctor import check_wanted
from wirespeed.commands.shared_options import apply_options, purpose_option
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
        1: "a fix is planned but not applied",
        2: "bad input",
        3: "a host was left changed",
    },
)
@click.argument("host", default=HERE)
@purpose_option
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
    help="Rule to fix, instead of all; may be repeated.",
)
@apply_options
def remedy(
    host: str,
    purpose: str | None,
    wanted: tuple[str, ...],
    rules: tuple[str, ...],
    **allowed: Any,
) -> int:
    """Plan the steps that fix what the doctor found, and apply them with --apply.

    HOST is here, ssh://, winssh:// or winrm://. `wirespeed undo FOLDER` undoes the steps. If the
    best remedy of a finding is manual, remedy skips the finding, unless --of names its rule.
    """
    check_wanted(wanted)
    asked = RemedyRequest(
        host,
        Question(purpose=Purpose(purpose) if purpose else None, wanted=wanted),
        rules,
        Allowed(**allowed),
    )
    return remedy_host(asked)
