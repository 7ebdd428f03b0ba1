"""What the steps have in common that start a virtual machine with VFs of its own. Pure.

Its PCI slots are fixed, so that everything in it is found by PCI address: 2 is the management port,
3 the disk, 4 the seed, and from 8 on the VFs in the order of `vfs`.
"""

import uuid
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field

from wirespeed.model.finding import Danger
from wirespeed.model.names import PciAddress
from wirespeed.model.spec.names import KERNEL_LINE, NAME, PATH
from wirespeed.model.step import Scope, Step

ROOT = "/run/wirespeed/guests"
MANAGEMENT_SLOT, DISK_SLOT, SEED_SLOT, FIRST_VF_SLOT = 2, 3, 4, 8
MAX_VFS = 0x1F - FIRST_VF_SLOT
"""Slot 0x1f of a q35 is its south bridge."""
HOST_KEY = "wirespeed-host-key:"
"""A guest's own public host key follows it on the serial console, which nobody else writes."""
OURS = uuid.UUID("7c1f1d0e-3c0b-5b6c-9a55-3f6d0e1b2a41")
"""Name space of the UUIDs that we give to definitions (RFC 9562, version 5)."""


def _guest(text: str) -> str:
    if not NAME.fullmatch(text):
        raise ValueError(f"{text!r} is not a name of a guest")
    return text


def _path(text: str) -> str:
    if not PATH.fullmatch(text) or ".." in text.split("/"):
        raise ValueError(f"{text!r} is not a path of an image or a kernel")
    return text


GuestName = Annotated[str, AfterValidator(_guest)]
GuestPath = Annotated[str, AfterValidator(_path)]


def guest_folder(guest: str) -> str:
    """Give the folder of a guest on its host: seed, console, and what QEMU is spoken to by."""
    return f"{ROOT}/{guest}"


def vf_slot(number: int) -> int:
    """Give the slot of VF number 0, 1, … in the guest. Raises ValueError for one too many."""
    if not 0 <= number < MAX_VFS:
        raise ValueError(f"a guest has slots for {MAX_VFS} VFs, and not for {number + 1}")
    return FIRST_VF_SLOT + number


def vf_address_in_guest(number: int) -> str:
    """Give the PCI address that VF number 0, 1, … has in the guest."""
    return f"0000:00:{vf_slot(number):02x}.0"


class GuestMachine(Step):
    """Fields of a virtual machine. Its disk is not written to: it forgets what it writes."""

    scope: ClassVar[Scope] = Scope.GUEST
    danger: ClassVar[Danger] = Danger.NONE
    makes: ClassVar[bool] = True
    guest: GuestName
    vcpus: Annotated[int, Field(ge=1, le=1024)]
    memory_mib: Annotated[int, Field(ge=64, le=64 << 20)]
    hugepage_kib: Literal[2048, 1048576] | None = None
    numa_node: Annotated[int, Field(ge=0, le=1023)] | None = None
    """The card's: memory comes from it. None: the host has one, or it is not known."""
    cpus: Annotated[str, Field(pattern=r"^([0-9]+([,-][0-9]+)*)?$")] = ""
    """CPUs that it may run on, as `taskset -c` has them; empty: all. As many as vCPUs: of libvirt,
    each has its own."""
    emulator_cpus: Annotated[str, Field(pattern=r"^([0-9]+(,[0-9]+)*)?$")] = ""
    """CPUs of libvirt's QEMU itself, beside the vCPUs; empty: `cpus`."""
    image: GuestPath
    kernel: GuestPath | None = None
    initrd: GuestPath | None = None
    append: Annotated[str, Field(pattern=KERNEL_LINE.pattern)] = ""
    vfs: Annotated[tuple[PciAddress, ...], Field(max_length=MAX_VFS)]
    ssh_port: Annotated[int, Field(ge=1024, le=65535)]
    """Of the host's loopback: leads to the guest's sshd."""
    mac: Annotated[str, Field(pattern=r"^[0-9a-f]{2}(:[0-9a-f]{2}){5}$")]
    """Of its management port, which nothing but that leads to."""

    @property
    def subject(self) -> str:
        return self.guest

    @property
    def why(self) -> str:
        """Say what it owns, and what becomes of its disk."""
        return (
            f"The guest owns {len(self.vfs)} VFs; its memory is where the card's is. "
            "What it writes to its disk is gone when it ends: the image stays as it is."
        )

    @property
    def folder(self) -> str:
        """Its folder on the host."""
        return guest_folder(self.guest)

    @property
    def image_format(self) -> str:
        """Format of the disk, by the name of its file: QEMU does not guess, a guest could lie."""
        return "qcow2" if self.image.endswith(".qcow2") else "raw"

    @property
    def definition_uuid(self) -> str:
        """Give what tells this very definition from any other."""
        # A definition of a former version had no such field.
        later = set() if self.emulator_cpus else {"emulator_cpus"}
        return str(uuid.uuid5(OURS, self.model_dump_json(exclude=later)))

    @property
    def seed(self) -> str:
        """Folder that becomes the disk labelled CIDATA."""
        return f"{self.folder}/seed"
