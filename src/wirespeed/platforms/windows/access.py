"""Windows, by PowerShell over SSH or WinRM."""

from contextlib import ExitStack, closing

from wirespeed.host.reach_destination import WindowsHost
from wirespeed.host.reach_windows import WindowsBatch, windows_session
from wirespeed.host.runner import Runner
from wirespeed.platforms.access import Access, Turn, Way
from wirespeed.platforms.windows.control import WindowsControl
from wirespeed.platforms.windows.counters import WindowsCounters
from wirespeed.platforms.windows.link import windows_card_end


def _session(place: WindowsHost, stack: ExitStack) -> Runner:
    return stack.enter_context(closing(windows_session(place)))


ACCESS = Access(
    "Windows",
    (
        Way(
            WindowsHost,
            WindowsBatch,
            Turn.AT_ONCE,
            _session,
            control=WindowsControl,
            counters=WindowsCounters,
            card_end=windows_card_end,
            approaches=("none",),
            instead="wsl2",
        ),
    ),
)
