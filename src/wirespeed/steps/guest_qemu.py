"""A virtual machine that QEMU runs directly, where there is no libvirt."""

from typing import Literal

from wirespeed.model.capture import Section
from wirespeed.model.command import Command
from wirespeed.model.observed import Known, Observed, Unreadable
from wirespeed.model.step import State
from wirespeed.steps.guest_machine import (
    DISK_SLOT,
    MANAGEMENT_SLOT,
    SEED_SLOT,
    GuestMachine,
    vf_slot,
)
from wirespeed.steps.marks import words

PROGRAM = "qemu-system-x86_64"
NONE_FOUND = 1
"""pgrep(1): no process matched."""
START = (
    'cd "$0" && rm -f monitor.in monitor.out && mkfifo -m 600 monitor.in monitor.out && '
    '{ "$@" || { code=$?; rm -f monitor.in monitor.out console; exit "$code"; }; }'
)
STOP = (
    'cd "$0" && pid=$(cat pid) || exit 1; '
    'alive() { kill -0 "$pid" 2>/dev/null; }; '
    'until_gone() { for try in $(seq "$1"); do alive || return 0; sleep 0.2; done; ! alive; }; '
    "timeout 2 sh -c 'echo system_powerdown >monitor.in'; until_gone 75 || "
    '{ kill "$pid"; until_gone 25; } || { kill -9 "$pid"; until_gone 25; } && '
    "rm -f pid console monitor.in monitor.out"
)
"""Press the power button and wait 15 s; then end QEMU, which keeps nothing that has to be saved."""


class GuestQemu(GuestMachine):
    """The virtual machine runs, as it is defined here.

    QEMU takes KVM where the host has it, and else emulates the CPU: slow, and the same otherwise.
    One of that name with another definition is not touched. Undo presses its power button, and
    ends QEMU when the guest does not switch itself off within 15 s.
    """

    step: Literal["guest_qemu"] = "guest_qemu"

    def read(self) -> Command:
        """Look for the process that has our pid file. The pattern does not match itself."""
        return Command(argv=("pgrep", "-a", "-f", f"[-]pidfile {self.folder}/pid( |$)"))

    @property
    def mark(self) -> str:
        return words(self.definition_uuid)

    def parse(self, section: Section) -> Observed[State]:
        """Give whether it runs; by its UUID it is told from another of the same name."""
        source = self.read().line()
        if section.returncode == NONE_FOUND and not section.errors and not section.output:
            return Known({"runs": False}, source)
        text = section.text(source)
        if not isinstance(text, Known):
            return Unreadable(text.reason, source)
        found = [line.split(" ") for line in text.value.splitlines()]
        mine = [words for words in found if words[1:2] and words[1].endswith(PROGRAM)]
        if not mine:
            # The shell or the `timeout` that this very command was started by.
            return Unreadable("what pgrep printed is not QEMU", source)
        if any(self.definition_uuid not in words for words in mine):
            return Unreadable(f"a guest {self.guest} runs that is defined otherwise", source)
        return Known({"runs": True}, source)

    def made(self) -> State:
        """Give that it does not run."""
        return {"runs": False}

    def wanted(self, before: State) -> State:
        return {"runs": True}

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        """Start it, detached from us; or end it: one command each, so that nothing is half."""
        if not to["runs"]:
            return (Command(argv=("sh", "-c", STOP, self.folder)),)
        return (Command(argv=("sh", "-c", START, self.folder, *self.qemu_argv())),)

    def qemu_argv(self) -> tuple[str, ...]:
        """Give the whole command that starts it."""
        pinned = ("taskset", "-c", self.cpus) if self.cpus else ()
        boot: list[str] = []
        if self.kernel is not None:
            boot += ["-kernel", self.kernel]
            boot += ["-initrd", self.initrd] if self.initrd is not None else []
            boot += ["-append", self.append] if self.append else []
        vfs: list[str] = []
        for number, address in enumerate(self.vfs):
            vfs += ["-device", f"vfio-pci,host={address},addr={vf_slot(number):#x}"]
        forward = f"hostfwd=tcp:127.0.0.1:{self.ssh_port}-:22"
        return (
            # A VF may write anywhere in the guest's memory, so that all of it is locked.
            *("prlimit", "--memlock=unlimited", *pinned, PROGRAM),
            *("-name", f"guest={self.guest}", "-uuid", self.definition_uuid),
            *("-nodefaults", "-no-user-config", "-display", "none"),
            *("-machine", "q35,memory-backend=ram", "-accel", "kvm", "-accel", "tcg"),
            *("-cpu", "max", "-smp", str(self.vcpus), "-m", str(self.memory_mib)),
            *("-object", self._memory(), *boot),
            "-drive",
            f"if=none,id=disk,file={self.image},format={self.image_format},snapshot=on",
            *("-device", f"virtio-blk-pci,drive=disk,addr={DISK_SLOT:#x}"),
            "-blockdev",
            f"driver=vvfat,node-name=seed,dir={self.seed},label=CIDATA,read-only=on",
            *("-device", f"virtio-blk-pci,drive=seed,addr={SEED_SLOT:#x}"),
            *("-netdev", f"user,id=management,restrict=on,ipv6=off,{forward}"),
            "-device",
            f"virtio-net-pci,netdev=management,romfile=,mac={self.mac},addr={MANAGEMENT_SLOT:#x}",
            *vfs,
            *("-chardev", f"file,id=console,path={self.folder}/console"),
            *("-serial", "chardev:console"),
            *("-chardev", f"pipe,id=monitor,path={self.folder}/monitor"),
            *("-mon", "chardev=monitor,mode=readline"),
            *("-daemonize", "-pidfile", f"{self.folder}/pid"),
        )

    def _memory(self) -> str:
        memory = f"memory-backend-memfd,id=ram,size={self.memory_mib}M"
        if self.hugepage_kib is not None:
            memory += f",hugetlb=on,hugetlbsize={self.hugepage_kib}K,prealloc=on"
        if self.numa_node is not None:
            memory += f",host-nodes={self.numa_node},policy=bind"
        return memory
