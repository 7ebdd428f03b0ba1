"""Windows: alone, or around the Linux of WSL 2."""

from wirespeed.model.command import Shell
from wirespeed.model.platform import Platform
from wirespeed.platforms.windows.carriers import windows_carried
from wirespeed.platforms.windows.collector import wsl_part
from wirespeed.platforms.windows.describe import (
    adapter_names,
    card_addresses,
    card_beneath,
    windows_ledgers,
    windows_lines,
)
from wirespeed.platforms.windows.facts.windows_host import is_only_windows

PLATFORM = Platform(
    name="Windows",
    shell=Shell.POWERSHELL,
    is_alone=is_only_windows,
    about=windows_lines,
    ports=adapter_names,
    ledgers=windows_ledgers,
    beneath=card_beneath,
    carried=windows_carried,
    cards=card_addresses,
    within_linux=wsl_part,
    elsewhere="of the Windows side: reach it by winssh:// or winrm://, or `approach: wsl2`",
)
