"""A virtual machine of QEMU is started and ended; another of its name is left alone."""

from copy import deepcopy
from dataclasses import dataclass, field

import pytest
from proof import Answer, UnknownCommandError, plan_on, prove
from pydantic import ValidationError
from samples import reason_of, section_of, state_of

from wirespeed.model.command import Command
from wirespeed.model.observed import CannotTellError
from wirespeed.steps.guest_qemu import START, STOP, GuestQemu

FOLDER = "/run/wirespeed/guests/gpu-1"
STEP = GuestQemu(
    guest="gpu-1",
    vcpus=2,
    memory_mib=4096,
    image="/srv/debian-13.qcow2",
    vfs=("0000:3b:02.0", "0000:3b:0a.0"),
    ssh_port=22100,
    mac="02:11:22:33:44:55",
)
FIFOS = (f"{FOLDER}/monitor.in", f"{FOLDER}/monitor.out")


@dataclass
class DescribedHost:
    """Processes, files and pipes; strict about everything that QEMU is told."""

    running: str = ""
    """Command line of the guest's QEMU."""
    paths: set[str] = field(default_factory=set)

    def run(self, command: Command) -> Answer:
        match command.argv:
            case ("pgrep", "-a", "-f", pattern) if pattern == f"[-]pidfile {FOLDER}/pid( |$)":
                return Answer(f"215 {self.running}\n") if self.running else Answer(returncode=1)
            case ("sh", "-c", script, folder, "prlimit", "--memlock=unlimited", *argv) if (
                script == START and folder == FOLDER
            ):
                return self._start(argv)
            case ("sh", "-c", script, folder) if (script, folder) == (STOP, FOLDER):
                if not self.running:
                    return Answer(errors="cat: pid: No such file or directory", returncode=1)
                self.running, self.paths = "", set()
                return Answer()
            case _:
                raise UnknownCommandError(command.line())

    def _start(self, argv: list[str]) -> Answer:
        if self.running:
            return Answer(errors="qemu: cannot lock pid file", returncode=1)
        self.running = " ".join(argv)
        self.paths = {*FIFOS, f"{FOLDER}/pid", f"{FOLDER}/console"}
        return Answer()


def running(step: GuestQemu = STEP) -> DescribedHost:
    line = " ".join(step.qemu_argv()[2:])
    return DescribedHost(line, {*FIFOS, f"{FOLDER}/pid", f"{FOLDER}/console"})


def test_it_is_started_and_ended():
    prove(STEP, DescribedHost(), running())


def test_its_vfs_have_slots_that_the_guest_finds_them_by():
    line = " ".join(STEP.qemu_argv())
    assert "-device vfio-pci,host=0000:3b:02.0,addr=0x8 " in line
    assert "-device vfio-pci,host=0000:3b:0a.0,addr=0x9 " in line


def test_its_image_is_not_written_and_only_loopback_leads_to_it():
    line = " ".join(STEP.qemu_argv())
    assert "file=/srv/debian-13.qcow2,format=qcow2,snapshot=on " in line
    assert "restrict=on,ipv6=off,hostfwd=tcp:127.0.0.1:22100-:22 " in line


def test_memory_comes_from_the_cards_node_in_the_pages_that_are_asked_for():
    fields = {"hugepage_kib": 2048, "numa_node": 1, "cpus": "8-15"}
    argv = STEP.model_copy(update=fields).qemu_argv()
    assert argv[argv.index("-object") + 1] == (
        "memory-backend-memfd,id=ram,size=4096M,hugetlb=on,hugetlbsize=2048K,prealloc=on,"
        "host-nodes=1,policy=bind"
    )
    assert argv[:5] == ("prlimit", "--memlock=unlimited", "taskset", "-c", "8-15")


def test_a_kernel_of_the_host_can_be_booted():
    fields = {"kernel": "/boot/vmlinuz", "initrd": "/boot/initrd", "append": "console=ttyS0 quiet"}
    argv = STEP.model_copy(update=fields).qemu_argv()
    at = argv.index("-kernel")
    assert argv[at : at + 6] == (
        "-kernel", "/boot/vmlinuz", "-initrd", "/boot/initrd", "-append", "console=ttyS0 quiet",
    )  # fmt: skip


def test_another_definition_of_that_name_is_left_alone():
    other = running(STEP.model_copy(update={"vcpus": 4}))
    before = deepcopy(other)
    with pytest.raises(CannotTellError, match="defined otherwise"):
        plan_on(STEP, other)
    assert other == before


def test_what_looked_for_it_is_not_taken_for_it():
    line = f"99 timeout 20 pgrep -a -f [-]pidfile {FOLDER}/pid( |$)\n"
    reason_of(STEP, section_of(line))
    assert state_of(STEP, section_of("", "", 1)) == {"runs": False}
    reason_of(STEP, section_of("", "pgrep: cannot allocate", 1))


@pytest.mark.parametrize("image", ["/a,b", "relative", "/a b", "/x/../y", "/a\n"])
def test_a_path_has_no_meaning_to_qemu(image: str):
    with pytest.raises(ValidationError):
        GuestQemu.model_validate(STEP.model_dump() | {"image": image})
