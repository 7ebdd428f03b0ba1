from collections.abc import Sequence
from pathlib import Path

import pytest

from wirespeed.host.runner import Completed
from wirespeed.lab import machine_accel
from wirespeed.lab.machine_accel import EXIT_WORD, accelerator, probe_rom, remember
from wirespeed.model.error import MeasurementError


class Probed:
    """QEMU that ends with `returncode`, or hangs where there is none."""

    def __init__(self, returncode: int | None, errors: str = "") -> None:
        self.returncode, self.errors, self.count = returncode, errors, 0

    def run(
        self,
        argv: Sequence[str],
        *,
        timeout_s: float = 60.0,
        stdin: str | None = None,
        max_bytes: int = 0,
    ) -> Completed:
        self.count += 1
        if self.returncode is None:
            raise MeasurementError("command.timeout")
        return Completed(
            argv=tuple(argv),
            output="",
            errors=self.errors,
            returncode=self.returncode,
            duration_s=0.1,
        )


@pytest.fixture(autouse=True)
def _machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine of its own, that has /dev/kvm."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(machine_accel, "DEVICE", tmp_path / "kvm")
    monkeypatch.setattr(machine_accel, "BOOT_ID", tmp_path / "boot_id")
    (tmp_path / "kvm").touch()
    (tmp_path / "boot_id").write_text("first\n")


def test_kvm_whose_instructions_come_to_their_end_still_has_to_prove_itself():
    found = accelerator(Probed(EXIT_WORD << 1 | 1))
    assert (found.kvm, found.proven) == (True, False)


@pytest.mark.parametrize("returncode", [0, 1, -6, None])
def test_kvm_that_fails_or_hangs_is_not_used(returncode: int | None):
    found = accelerator(Probed(returncode, "no such MSR\n"))
    assert (found.kvm, found.proven) == (False, True)
    if returncode is not None:
        assert "no such MSR" in found.why or "exit code" in found.why


def test_the_verdict_is_remembered_until_the_next_boot(tmp_path: Path):
    failing, working = Probed(-6), Probed(EXIT_WORD << 1 | 1)
    assert not accelerator(failing).kvm
    assert not accelerator(working).kvm
    assert (failing.count, working.count) == (1, 0)
    (tmp_path / "boot_id").write_text("second\n")
    assert accelerator(working).kvm


def test_a_host_that_said_nothing_is_remembered_too():
    working = Probed(EXIT_WORD << 1 | 1)
    found = accelerator(working)
    remember(found.model_copy(update={"kvm": False, "proven": True, "why": "silent"}))
    assert accelerator(working).why == "silent"


def test_no_access_is_no_verdict_for_later(tmp_path: Path):
    working = Probed(EXIT_WORD << 1 | 1)
    (tmp_path / "kvm").unlink()
    assert not accelerator(working).kvm
    (tmp_path / "kvm").touch()
    assert accelerator(working).kvm


def test_a_torn_memory_is_asked_again(tmp_path: Path):
    accelerator(Probed(-6))
    (tmp_path / "wirespeed/lab-kvm.json").write_text('{"boot_id": "first"')
    assert accelerator(Probed(EXIT_WORD << 1 | 1)).kvm


def test_the_probe_starts_where_the_processor_does():
    """Intel SDM, volume 3, 9.1.4: the first instruction is at FFFFFFF0H, 16 bytes below the end."""
    rom = probe_rom()
    assert len(rom) == 1 << 16
    assert rom[-16:-11] == bytes((0xB0, EXIT_WORD, 0xE6, 0xF4, 0xF4))
    assert not any(rom[:-16])
