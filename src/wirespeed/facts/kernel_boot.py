"""How a parameter is given to the kernel of this host at its next boot."""

from wirespeed.facts.kernel import Kernel
from wirespeed.model.command import Command, write_file
from wirespeed.model.finding import ByHand, Danger, Remedy, StepCall
from wirespeed.model.observed import Known

GRUBBY = ("Red Hat", "CentOS", "Rocky", "Alma", "Fedora", "Oracle", "Amazon")
GRUB_FOLDER = ("Debian", "Ubuntu")


def boot_remedy(kernel: Kernel, text: str, name: str, parameters: str) -> Remedy:
    """Make the remedy that adds `parameters`; `name` tells its file from that of other remedies.

    Commands are given for the distributions that have one for it: grubby(8) of Red Hat's family,
    /etc/default/grub.d of Debian's (grub-mkconfig(8)); and only where GRUB is.
    """
    distribution = kernel.distribution.value if isinstance(kernel.distribution, Known) else ""
    commands: tuple[Command, ...] = ()
    steps: tuple[StepCall, ...] = ()
    where = ""
    why = f"{text[0].upper()}{text[1:]}."
    words = parameters.split()
    if not (isinstance(kernel.has_grub, Known) and kernel.has_grub.value):
        where = "; GRUB was not found here: set it where this host's kernel is started from"
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
