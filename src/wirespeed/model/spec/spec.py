"""What every spec says, whatever its approach: hosts and ports, and what is measured."""

from collections.abc import Iterable
from ipaddress import IPv4Network, IPv6Network
from typing import Annotated, ClassVar, Self

from pydantic import BeforeValidator, Field, StrictBool, StrictInt, model_validator

from wirespeed.model.frozen import Frozen
from wirespeed.model.names import PciAddress
from wirespeed.model.spec.dpdk import HostCpus, Role
from wirespeed.model.spec.esxi import cpus
from wirespeed.model.spec.guests import GuestSpec
from wirespeed.model.spec.measure import MeasureSpec
from wirespeed.model.spec.names import Name
from wirespeed.model.spec.networks import Failover, NetworkSpec

OF_APPROACHES = ("pmd_cpus", "n_rxq", "spare_vfs", "role", "cores", "use_vfs")
"""Words of a host that only some approaches have a use for."""


class HostSpec(Frozen):
    """A host, how it is reached, and the ports that are shared out."""

    reach: str
    ports: Annotated[tuple[PciAddress, ...], Field(min_length=1, max_length=8)]
    pmd_cpus: Annotated[str, BeforeValidator(cpus)] | None = None
    """CPUs that poll for Open vSwitch with DPDK, as `4-5,36`; None: the last one near the card."""
    n_rxq: Annotated[StrictInt, Field(ge=1, le=64)] | None = None
    """Receive queues of the port that DPDK drives; None: one for each CPU that polls."""
    spare_vfs: Annotated[StrictInt, Field(ge=0, le=1024)] = 0
    """VFs that the card's firmware shall offer beyond what the guests of this spec take."""

    role: Role | None = None
    """Of the approach dpdk: what the host does."""
    cores: HostCpus | None = None
    """Of the approach dpdk: CPUs that poll, as `24-27`."""
    use_vfs: StrictBool = False
    """Of the approach dpdk: a VF of each port goes to the program; the port stays with its kernel.
    """

    @property
    def polling(self) -> frozenset[int]:
        """Numbers of `pmd_cpus`; empty where none are named."""
        return frozenset(map(int, self.pmd_cpus.split(","))) if self.pmd_cpus else frozenset()


class Spec(Frozen):
    """What is wanted. Each approach has its own kind (`model/spec/members.py`)."""

    gives_addresses: ClassVar[bool] = True
    """Whether its steps give addresses of its subnets to hosts or guests."""

    host_words: ClassVar[tuple[str, ...]] = ()
    """Of `OF_APPROACHES`, what hosts of this one may have."""

    hosts: dict[Name, HostSpec]
    approach: str
    failover: Failover = Failover.NONE
    networks: dict[Name, NetworkSpec] = Field(default_factory=dict)
    guests: dict[Name, GuestSpec] = Field(default_factory=dict)
    measure: MeasureSpec = MeasureSpec()

    def subnets(self) -> dict[str, IPv4Network | IPv6Network]:
        """Give the subnets by their place in the file."""
        return {f"networks.{name}": network.subnet for name, network in self.networks.items()}

    @model_validator(mode="after")
    def _ports_differ(self) -> Self:
        for name, host in self.hosts.items():
            if len(set(host.ports)) < len(host.ports):
                raise ValueError(f"host {name}: a port is named twice")
        return self

    @model_validator(mode="after")
    def _hosts_are_of_the_approach(self) -> Self:
        for name, host in self.hosts.items():
            for word in set(OF_APPROACHES) - set(self.host_words):
                if getattr(host, word) != HostSpec.model_fields[word].default:
                    raise ValueError(f"host {name}: approach: {self.approach} has no {word}")
        return self


class WithoutGuests(Spec):
    """A spec of hosts alone."""

    @model_validator(mode="after")
    def _has_no_networks(self) -> Self:
        if self.networks or self.guests:
            raise ValueError(f"{self.approach}: it has neither networks nor guests")
        if self.failover is not Failover.NONE:
            raise ValueError(f"{self.approach}: it has no fail-over, so failover: none")
        return self


def listed(names: Iterable[str]) -> str:
    """Give names as a message has them."""
    return ", ".join(sorted(names)) or "none"
