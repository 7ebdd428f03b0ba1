"""Labs that stay up: started, listed and taken down by commands that return."""

from collections.abc import Callable
from pathlib import Path

from wirespeed.host.detached import Detached, end_owner, our_python, our_python_path
from wirespeed.host.lab_folders import OWNER, labs_up
from wirespeed.host.private_log import private_log
from wirespeed.lab.machine_image import BUILD_S
from wirespeed.lab.machine_keeper import DOING, ERROR, UP
from wirespeed.lab.machine_spec import LabSpec
from wirespeed.lab.machines import BOOT_S, LabState, read_state
from wirespeed.model.error import InputError, MeasurementError
from wirespeed.model.json_value import read_json

_KEEPER = "wirespeed.lab.machine_keeper"


def start_lab(name: str, spec: LabSpec, progress: Callable[[str], None]) -> LabState:
    """Bring a lab up that goes on when we end. Raises what `Machines` does, and `lab.failed`."""
    with private_log() as log:
        argv = [*our_python(_KEEPER), name, spec.model_dump_json()]
        keeper = Detached(argv, log.path, our_python_path())
        is_up = False
        try:
            for line in keeper.lines(BUILD_S + 3 * BOOT_S):
                if line.startswith(DOING):
                    progress(line.removeprefix(DOING))
                elif line.startswith(ERROR):
                    raise _error(line.removeprefix(ERROR))
                is_up = line == UP
            state = next((lab for _, lab in running_labs() if lab and lab.name == name), None)
            if not is_up or state is None:
                raise MeasurementError(
                    "lab.failed",
                    where=name,
                    found=log.tail() or "its process ended without a message",
                    next="run `wirespeed lab up` again; `dmesg | tail` says whether the kernel "
                    "ended the process for lack of memory",
                )
        except BaseException:
            keeper.end()
            raise
    return state


def running_labs() -> list[tuple[Path, LabState | None]]:
    """Folder and state of each lab that is up; no state: it is coming up."""
    return [(folder, read_state(folder)) for folder, _ in labs_up()]


def find_lab(name: str) -> tuple[Path, LabState]:
    """Find a lab that is up. Raises InputError `lab.none`."""
    for folder, state in running_labs():
        if folder.name == name and state is not None:
            return folder, state
    raise _none(name)


def end_lab(name: str) -> None:
    """Take a lab down. Raises InputError `lab.none`, MeasurementError `lab.unkillable`."""
    for folder, owner in labs_up():
        if folder.name == name:
            if not end_owner(folder / OWNER, owner):
                raise MeasurementError(
                    "lab.unkillable",
                    where=name,
                    found=f"process {owner} still exists 5 s after SIGKILL",
                    next=f"see /proc/{owner}/stack",
                )
            # What a killed owner left is cleared away by looking at it.
            list(labs_up())
            return
    raise _none(name)


def _none(name: str) -> InputError:
    up = ", ".join(folder.name for folder, _ in labs_up())
    return InputError(
        "lab.none",
        where=name,
        found=f"no lab of that name is running{f': only {up}' if up else ''}",
        next="start one with `wirespeed lab up`",
    )


def _error(text: str) -> InputError | MeasurementError:
    told = read_json(text)
    kind = InputError if told.pop("exit_code") == InputError.exit_code else MeasurementError
    return kind(told.pop("what"), **told)
