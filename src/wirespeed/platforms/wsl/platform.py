"""WSL 2: a Linux within Windows. Its rules say for themselves where they do not apply."""

from wirespeed.model.command import Shell
from wirespeed.model.platform import Platform

PLATFORM = Platform(name="WSL", shell=Shell.POSIX)
