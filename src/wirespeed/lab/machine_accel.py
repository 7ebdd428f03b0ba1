"""Whether this machine's KVM runs a guest. That /dev/kvm opens and answers proves nothing.

    no access to /dev/kvm  -> no
    a dozen instructions in a guest must come to their end -> else no
    the first real host must say a word within FIRST_WORD_S -> else no, and TCG from then on

The verdict is remembered until this machine boots again.
"""

from pathlib import Path

from pydantic import ValidationError

from wirespeed.host.build_cache import cache_folder
from wirespeed.host.files import make_folder, read_text, write_bytes, write_whole
from wirespeed.host.kept import may_read_and_write
from wirespeed.host.local import LocalRunner
from wirespeed.host.runner import Runner
from wirespeed.lab.machine_qemu import PROGRAM
from wirespeed.model.error import InputError, MeasurementError
from wirespeed.model.frozen import Frozen
from wirespeed.model.json_value import read_record

DEVICE = Path("/dev/kvm")
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
PROBE_S = 5.0
FIRST_WORD_S = 10.0
EXIT_WORD = 0x2A
_ROM_BYTES = 1 << 16


class Verdict(Frozen):
    """What is known of KVM on this machine."""

    boot_id: str
    kvm: bool
    proven: bool
    """A real host has run; without it, only the probe's few instructions have."""
    why: str


def accelerator(runner: Runner | None = None) -> Verdict:
    """Tell whether to use KVM, from what is remembered or by a probe."""
    boot_id = read_text(BOOT_ID).strip()
    try:
        known = read_record(Verdict, read_text(_memory()))
    except (InputError, ValidationError):
        known = None
    if not may_read_and_write(DEVICE):
        # Not remembered: to be let in takes no boot.
        return Verdict(boot_id=boot_id, kvm=False, proven=True, why=f"no access to {DEVICE}")
    if known is not None and known.boot_id == boot_id:
        return known
    return remember(_probe(runner or LocalRunner(), boot_id))


def remember(verdict: Verdict) -> Verdict:
    """Keep it for the next lab."""
    make_folder(cache_folder())
    write_whole(_memory(), verdict.model_dump_json())
    return verdict


def probe_rom() -> bytes:
    """Give a BIOS whose first instructions end QEMU with EXIT_WORD: mov al; out 0xf4, al; hlt."""
    code = bytes((0xB0, EXIT_WORD, 0xE6, 0xF4, 0xF4))
    # The first instruction is 16 bytes below 4 GiB, where the end of the ROM is.
    return bytes(_ROM_BYTES - 16) + code.ljust(16, b"\xf4")


def _probe(runner: Runner, boot_id: str) -> Verdict:
    rom = cache_folder() / "lab-kvm-probe.rom"
    make_folder(rom.parent)
    write_bytes(rom, probe_rom(), 0o600)
    argv = [PROGRAM, "-nodefaults", "-no-user-config", "-display", "none", "-machine", "q35"]
    argv += ["-accel", "kvm", "-cpu", "host", "-m", "16", "-bios", str(rom)]
    argv += ["-device", "isa-debug-exit,iobase=0xf4,iosize=1"]
    try:
        done = runner.run(argv, timeout_s=PROBE_S)
    except MeasurementError:
        return Verdict(boot_id=boot_id, kvm=False, proven=True, why="a guest of KVM hangs")
    if done.returncode == EXIT_WORD << 1 | 1:
        return Verdict(boot_id=boot_id, kvm=True, proven=False, why="a dozen instructions ran")
    said = (done.errors.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
    return Verdict(boot_id=boot_id, kvm=False, proven=True, why=f"a guest of KVM fails: {said}")


def _memory() -> Path:
    return cache_folder() / "lab-kvm.json"
