"""Which cloud rents out this guest, and what it grants that the guest itself does not see. Pure."""

from dataclasses import dataclass

from wirespeed.facts.hardware import Hardware
from wirespeed.facts.kernel import Kernel
from wirespeed.facts.virtualization import Virtualization
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import Known

GBPS = 10**9


@dataclass(frozen=True, slots=True)
class Cloud:
    """What a cloud says of the bandwidth of its instances."""

    name: str
    sizes: str
    """Where it says what each size of instance is granted."""
    flows: tuple[tuple[int, str], ...] = ()
    """What one flow is granted at the most, in bits per second, and where that holds."""


CLOUDS = {
    "amazon": Cloud(
        name="AWS",
        sizes="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/"
        "ec2-instance-network-bandwidth.html",
        flows=(
            (5 * GBPS, "outside a cluster placement group"),
            (10 * GBPS, "within a cluster placement group"),
            (25 * GBPS, "with ENA Express"),
        ),
    ),
    "google": Cloud(
        name="Google Cloud", sizes="https://cloud.google.com/compute/docs/network-bandwidth"
    ),
    "azure": Cloud(
        name="Azure",
        sizes="https://learn.microsoft.com/azure/virtual-network/virtual-machine-network-throughput",
    ),
}
"""The pages named there, as they read in 2026."""


@dataclass(frozen=True, slots=True)
class Instance:
    """A guest that a cloud rents out."""

    cloud: Cloud
    size: str
    """`c6i.2xlarge`, or empty: only AWS writes it where the guest reads it."""


def instance_of(host: HostFacts) -> Instance | None:
    """Give the cloud's instance that a host is; None where it is none, or none that is known.

    Microsoft's hypervisor runs under Azure and in anybody's own rack: Azure's kernel tells.
    """
    guest_of, release = host[Virtualization].guest_of, host[Kernel].release
    word = guest_of.value if isinstance(guest_of, Known) else ""
    if word == "microsoft" and isinstance(release, Known) and "azure" in release.value:
        word = "azure"
    cloud = CLOUDS.get(word)
    if cloud is None:
        return None
    model = host[Hardware].model
    size = model.value.rpartition(" ")[2] if isinstance(model, Known) else ""
    return Instance(cloud, size if "." in size else "")
