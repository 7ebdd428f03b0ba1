"""The guests of a spec: what owns the VFs, and where it runs."""

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, StrictInt

from wirespeed.model.frozen import Frozen
from wirespeed.model.spec.dpdk import HostCpus
from wirespeed.model.spec.names import AuthorizedKey, Name, Number, whole


class GuestKind(StrEnum):
    """What owns the VFs."""

    NONE = "none"
    """Nothing of ours: the VFs are made ready, and somebody else starts the guest."""
    NAMESPACE = "namespace"
    """A network namespace of the host, as containers have one: the VF's netdev moves into it."""
    QEMU = "qemu"
    """A virtual machine that QEMU runs directly."""
    LIBVIRT = "libvirt"
    """A virtual machine that libvirt runs."""


VIRTUAL_MACHINES = (GuestKind.QEMU, GuestKind.LIBVIRT)


class GuestSpec(Frozen):
    """A guest, its host, and its networks: the first one's address is how it is measured."""

    host: Name
    networks: Annotated[tuple[Name, ...], Field(min_length=1, max_length=16)]
    kind: GuestKind = GuestKind.NONE
    vcpus: Annotated[StrictInt, Field(ge=1, le=1024)] = 1
    memory_gib: Annotated[Number, Field(gt=0, le=65536)] = 1
    """Of a virtual machine."""
    cpus: HostCpus | None = None
    """CPUs of its host, one for each vCPU of a virtual machine of libvirt, which stays on it; all
    else that QEMU does is kept off them. None: the CPUs near the card."""
    image: str | None = None
    """Disk of a virtual machine, a path on its host; it is not written to."""
    hugepage_kib: Annotated[Literal[2048, 1048576] | None, BeforeValidator(whole)] = None
    """Pages that a virtual machine's memory is made of; None: the host's usual ones."""
    kernel: str | None = None
    """Kernel of a virtual machine, a path on its host; None: the image's own, by its firmware."""
    initrd: str | None = None
    append: str = ""
    """Command line of that kernel."""
    authorized_keys: tuple[AuthorizedKey, ...] = ()
    """Who may log in as root to a virtual machine; none: a key that wirespeed keeps for itself."""
