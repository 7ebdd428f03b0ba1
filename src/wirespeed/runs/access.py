"""What leads to a destination: what runs commands there, and what changes it. One ladder for all.

Libraries are loaded by the branch that needs them: those who stay on this machine load no asyncio.
"""

from contextlib import ExitStack

from wirespeed.apply.control_posix import PosixControl
from wirespeed.host.local import LocalRunner
from wirespeed.host.reach_destination import Destination, Here, Remote, WindowsHost
from wirespeed.host.runner import Runner
from wirespeed.platforms.windows.control import WindowsControl

REACHED = "here, ssh://USER@HOST, winssh://USER@HOST or winrm://USER@HOST"
"""What leads to a Linux or a Windows, for a person who named something else."""


def runner_at(place: Destination, stack: ExitStack) -> Runner | None:
    """Give what runs commands at a Linux or a Windows, ended by `stack`; None: a file, or neither.

    On Windows, commands are PowerShell.
    """
    if isinstance(place, Here):
        return LocalRunner()
    if isinstance(place, Remote):
        from wirespeed.host.ssh_session import SshSession

        return stack.enter_context(SshSession(place))
    if isinstance(place, WindowsHost):
        from wirespeed.host.reach_windows import windows_session

        session = windows_session(place)
        stack.callback(session.close)
        return session
    return None


def control_at(name: str, place: Destination, stack: ExitStack) -> PosixControl | None:
    """Give control of a Linux or a Windows, ended by `stack`; None: a file, or neither.

    `name` is how the user calls it.
    """
    runner = runner_at(place, stack)
    if runner is None:
        return None
    made = WindowsControl if isinstance(place, WindowsHost) else PosixControl
    return made(name, runner)
