"""Linux: every host that no other kind claims alone. Its facts, rules and steps are the shared."""

from collections.abc import Iterator

from wirespeed.facts.ports import Ports
from wirespeed.model.command import Shell
from wirespeed.model.fact import HostFacts
from wirespeed.model.platform import Platform


def _cards(host: HostFacts) -> Iterator[str]:
    return (port.pci_address for port in host[Ports].ports if port.pci_address)


PLATFORM = Platform(
    name="Linux",
    shell=Shell.POSIX,
    is_usual=True,
    cards=_cards,
    elsewhere="of a Linux: reach that one",
)
