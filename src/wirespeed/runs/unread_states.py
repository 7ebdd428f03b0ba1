"""What a plan needs and the capture of a host does not hold: a script that reads it there."""

from collections.abc import Mapping

from wirespeed import catalog
from wirespeed.apply.control import HostControl
from wirespeed.apply.control_recorded import NOT_HELD, RecordedControl
from wirespeed.apply.control_script import readings_script
from wirespeed.host.reach_destination import Recorded, parse_destination
from wirespeed.model.command import Command, Shell
from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import CannotTellError
from wirespeed.model.spec.spec import Spec


def unread_script(
    spec: Spec,
    host: str,
    facts: Mapping[str, HostFacts],
    controls: Mapping[str, HostControl],
) -> str:
    """Give a script for the host's shell that reads every state that its capture lacks.

    Its output goes into a file beside the capture: RecordedFacts reads it. Raises InputError
    `plan.not_a_capture` for a host that can be reached, `plan.nothing_unread`,
    `plan.cannot_tell` where only the host itself tells, or a fact is missing.
    """
    place = parse_destination(spec.hosts[host].reach)
    if not isinstance(place, Recorded):
        raise InputError(
            "plan.not_a_capture",
            where=host,
            found=f"{place.text} can be reached: `wirespeed plan` reads it directly",
            next="leave --unread out",
        )
    commands: list[Command] = []
    stopped: CannotTellError | None = None
    try:
        for one in catalog.approaches()[spec.approach].steps(spec, host, facts[host]):
            control = controls[one.guest or host]
            if one.is_made or one.guest in spec.guests or not isinstance(control, RecordedControl):
                continue
            command = one.step.read()
            if control.said(command) is None:
                commands.append(command)
    except CannotTellError as error:
        stopped = error
    here = [command for command in commands if command.shell is Shell.POSIX]
    if here:
        return readings_script(here)
    if stopped is not None or commands:
        raise InputError(
            "plan.cannot_tell",
            where=host,
            found=stopped.reason if stopped else NOT_HELD[False],
            so="a script of --unread cannot read this",
            next=stopped.would_tell if stopped else commands[0].line(),
        ) from None
    raise InputError(
        "plan.nothing_unread",
        where=host,
        found="the capture holds the state of every step",
        next="run `wirespeed plan SPEC` without --unread",
    )
