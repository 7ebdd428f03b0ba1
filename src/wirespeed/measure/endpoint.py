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
    """What has the address: the bond."""
    members: tuple[str, ...]
    """The bond's ports within the guest, in the order of the host's ports."""
    address: IPv4Address
    prefix_length: int
    mac: str
    mtu: int


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
