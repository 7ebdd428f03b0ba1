"""How a parameter is given to the kernel of this host at its next boot."""

from collections.abc import Sequence

from wirespeed.facts.kernel import Kernel
from wirespeed.model.command import Command, write_file
from wirespeed.model.finding import ByHand, Danger, Remedy, StepCall
from wirespeed.model.observed import Known

GRUBBY = ("Red Hat", "CentOS", "Rocky", "Alma", "Fedora", "Oracle", "Amazon")
GRUB_FOLDER = ("Debian", "Ubuntu")


def boot_remedy(kernel: Kernel, text: str, name: str, parameters: str) -> Remedy:
    """Make the remedy that adds `parameters`; `name` tells its file from that of other remedies.

    Commands are given for the distributions that have one for it: grubby(8) of Red Hat's family,
    /etc/default/grub.d of Debian's (grub-mkconfig(8)); and only where GRUB is, and has started this
    kernel with a line of its own.
    """
    distribution = kernel.distribution.value if isinstance(kernel.distribution, Known) else ""
    commands: tuple[Command, ...] = ()
    steps: tuple[StepCall, ...] = ()
    where = ""
    why = f"{text[0].upper()}{text[1:]}."
    words = parameters.split()
    if not (isinstance(kernel.has_grub, Known) and kernel.has_grub.value):
        where = "; GRUB was not found here: set it where this host's kernel is started from"
    elif started := _started_by(kernel, words):
        where = f"; {started}"
    elif any(word in distribution for word in GRUBBY):
        commands = (Command(argv=("grubby", "--update-kernel=ALL", f"--args={parameters}")),)
        steps = (StepCall.of("kernel_arguments", parameters=words, reason=why),)
    elif any(word in distribution for word in GRUB_FOLDER):
        line = f'GRUB_CMDLINE_LINUX_DEFAULT="$GRUB_CMDLINE_LINUX_DEFAULT {parameters}"'
        commands = (
            write_file(f"/etc/default/grub.d/wirespeed-{name}.cfg", line),
            Command(argv=("update-grub",)),
        )
        steps = (StepCall.of("kernel_command_line", name=name, parameters=words, reason=why),)
    return Remedy(
        text=f"{text}: boot with `{parameters}`{where}",
        commands=commands,
        danger=Danger.REBOOT,
        steps=steps,
        by_hand=None if steps else ByHand.NO_STEP,
    )


def _started_by(kernel: Kernel, words: Sequence[str]) -> str:
    """Say what else than GRUB's own settings this kernel was started by; empty: they were.

    systemd-boot gives the initrd as a path of EFI, as on Proxmox VE whose root is ZFS; there GRUB
    is installed and its menu is made, and nothing reads it. ostree writes the line of each of its
    deployments (RHEL CoreOS, Fedora CoreOS) from what `rpm-ostree kargs` was told.
    """
    line = kernel.command_line.value if isinstance(kernel.command_line, Known) else None
    if line is None:
        return ""
    if any("\\" in path for path in line.values("initrd")):
        return (
            "GRUB did not start this kernel, systemd-boot did: set it where that has the line (on "
            "Proxmox VE in /etc/kernel/cmdline, then `proxmox-boot-tool refresh`)"
        )
    if line.last("ostree"):
        given = " ".join(f"--append={word}" for word in words)
        return (
            f"ostree started this kernel: `rpm-ostree kargs {given}`, on OpenShift by a "
            "MachineConfig (kernelArguments)"
        )
    return ""
