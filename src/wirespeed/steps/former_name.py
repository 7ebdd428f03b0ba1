"""A netdev's way back to the name that udev had given it."""

from wirespeed.model.command import Command

NAMED_BACK = (
    'ip link property del dev "$0" altname "$1" 2>/dev/null; ip link set dev "$0" name "$1"'
)
"""To a netdev that is called otherwise, udev (AlternativeNamesPolicy, systemd.link(5)) gives the
name of its own choice as a further one, and the kernel refuses it as the first then: File exists.
Seen with systemd 252 on Linux 6.12."""


def named_back(netdev: str, former: str) -> Command:
    """Give it its former name, which may have become its further one meanwhile."""
    return Command(argv=("sh", "-c", NAMED_BACK, netdev, former))
