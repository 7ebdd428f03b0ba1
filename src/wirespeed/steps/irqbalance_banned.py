"""The CPUs that irqbalance keeps interrupts away from."""

import re
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator

from wirespeed.facts.cpu_list import parse_cpu_list
from wirespeed.facts.distribution import IrqbalanceFile
from wirespeed.facts.locality import cpu_mask_text
from wirespeed.model.capture import Section
from wirespeed.model.command import Command
from wirespeed.model.observed import Known, Observed, Unreadable
from wirespeed.model.step import Scope, State, Step
from wirespeed.steps.file_content import durable_name, moved
from wirespeed.steps.irqbalance import UNIT
from wirespeed.steps.queue_cpus import cpu_list
from wirespeed.steps.readings import files_of

NAME = "IRQBALANCE_BANNED_CPULIST"
ASSIGNED = re.compile(rf"^(?:export )?{NAME}=.*$", re.M)
MASK = re.compile(r"^((?:export )?IRQBALANCE_BANNED_CPUS=)[\"']?[0-9a-fA-F].*$", re.M)
"""With a mask, irqbalance does not look at the list (setup_banned_cpus, cputree.c)."""
GROUPS = "/sys/fs/cgroup"
PROCESSES = tuple(
    f"{GROUPS}/{tree}system.slice/{UNIT}/cgroup.procs" for tree in ("", "systemd/", "unified/")
)
"""There while the unit runs: control groups of version 2, of version 1, of both at once."""


def _some(text: str) -> str:
    cpus = cpu_list(text)
    if not parse_cpu_list(cpus):
        raise ValueError("no CPU in it")
    return cpus


class IrqbalanceBanned(Step):
    """irqbalance moves no interrupt to these CPUs, from now on and after the next boot.

    Its file of settings gets the line, and a mask that is there gets the same CPUs; all other lines
    stay. The daemon reads that file when it starts, so it is stopped before and started after,
    where it runs: a run that was killed between the two is seen by the daemon that is not there.

    Interrupts that are on those CPUs already are moved when irqbalance next looks. irqbalance has
    known the list since 1.8; before, a mask had another name.
    """

    scope: ClassVar[Scope] = Scope.OS
    purpose: ClassVar[str] = "A core that polls loses frames whenever an interrupt is moved to it."
    step: Literal["irqbalance_banned"] = "irqbalance_banned"
    cpus: Annotated[str, AfterValidator(_some)]
    """`4-7`: those that poll."""
    path: IrqbalanceFile = "/etc/default/irqbalance"
    """Debian's and Ubuntu's, or Red Hat's."""

    @property
    def subject(self) -> str:
        return self.path

    @property
    def outlives_boot(self) -> bool:
        return True

    def read(self) -> Command:
        return Command(argv=("grep", "-H", "", self.path, *PROCESSES))

    def parse(self, section: Section) -> Observed[State]:
        """Give the file, None where there is none, and whether the daemon runs."""
        source = self.read().line()
        names = (self.path, PROCESSES[0])
        files = files_of(section, names)
        found = {path: files[path] for path in (self.path, *PROCESSES)}
        for path, one in found.items():
            if isinstance(one, Unreadable):
                return Unreadable(f"{path}: {one.reason}", source)
        content = found.pop(self.path)
        return Known(
            {
                "content": content.value if isinstance(content, Known) else None,
                "is_running": any(isinstance(one, Known) for one in found.values()),
            },
            source,
        )

    def wanted(self, before: State) -> State:
        """Give the file with the line, and the daemon as it is."""
        line = f"{NAME}={self.cpus}"
        content = str(before["content"] or "")
        if ASSIGNED.search(content):
            content = ASSIGNED.sub(line, content)
        else:
            content = f"{content}\n{line}" if content else line
        mask = cpu_mask_text(parse_cpu_list(self.cpus))
        return before | {"content": MASK.sub(rf"\g<1>{mask}", content)}

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        """Stop it, write the file beside itself and rename it, start it."""
        commands: list[Command] = []
        if now["content"] != to["content"]:
            if now["is_running"]:
                commands.append(Command(argv=("systemctl", "stop", UNIT)))
            beside = f"{self.path}.wirespeed"
            if to["content"] is None:
                commands += [Command(argv=("rm", "-f", self.path)), *durable_name(self.path)]
            else:
                if now["content"] is not None:
                    # Mode and owner stay: they are what the rename would change.
                    commands.append(Command(argv=("cp", "-p", self.path, beside)))
                commands.append(Command(argv=("tee", beside), stdin=str(to["content"])))
                commands += moved(beside, self.path)
            if to["is_running"]:
                commands.append(Command(argv=("systemctl", "start", UNIT)))
        elif now["is_running"] != to["is_running"]:
            verb = "start" if to["is_running"] else "stop"
            commands.append(Command(argv=("systemctl", verb, UNIT)))
        return tuple(commands)
