"""Linux: every host that no other kind claims alone. Its facts, rules and steps are the shared."""

from wirespeed.model.command import Shell
from wirespeed.model.platform import Platform

PLATFORM = Platform(
    name="Linux", shell=Shell.POSIX, is_usual=True, elsewhere="of a Linux: reach that one"
)
