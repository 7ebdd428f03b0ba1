"""A guest, as measuring sees it: where commands run, and what each of its networks is there."""

from dataclasses import dataclass
from ipaddress import IPv4Address

from wirespeed.host.runner import Runner


@dataclass(frozen=True, slots=True)
class Attachment:
    """A guest in one network."""

    network: str
    segment: int
    """VLAN id or VNI."""
    netdev: str
    """What has the address: the bond, or the first of `members` where there is none."""
    members: tuple[str, ...]
    """The guest's netdevs of this network, in the order of the host's ports: the bond's members.
    Without a bond those after the first are spare."""
    address: IPv4Address
    prefix_length: int
    mac: str
    mtu: int

    @property
    def is_bond(self) -> bool:
        """Whether `netdev` is a bond over `members`."""
        return self.netdev not in self.members


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A guest that is up."""

    name: str
    host: str
    """Its host's name in the spec."""
    runner: Runner
    """Runs commands inside the guest."""
    attachments: dict[str, Attachment]
    """By network."""
