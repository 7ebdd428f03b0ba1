"""Links of old kernels, from the registers. The dump is what `lspci -xxx` gave of a ConnectX-5 Ex;
the fields' places are those of include/uapi/linux/pci_regs.h."""

from pathlib import Path

import pytest

from wirespeed.facts.pci import Pci
from wirespeed.facts.pci_links import has_state
from wirespeed.model.capture import Capture, Section
from wirespeed.model.observed import Absent, Known, Unreadable

CARD, SLOT = "0000:01:00.0", "0000:00:01.0"
WAY = f"/sys/devices/pci0000:00/{SLOT}/{CARD}"
DUMP = (Path(__file__).parent / "samples/od/connectx5ex.txt").read_text()
NAMES = ("current_link_speed", "current_link_width", "max_link_speed", "max_link_width")
EXPRESS = 0x60
"""Where this card has its PCI Express capability: `setpci 68.w` is its device control."""


def with_link(status: int) -> str:
    config = bytearray.fromhex(DUMP)
    config[EXPRESS + 0x12 : EXPRESS + 0x14] = status.to_bytes(2, "little")
    return " ".join(f"{byte:02x}" for byte in config)


def host(dump: str, release: str, files: str = "", errors: str = "") -> Pci:
    return Pci.parse(
        Capture(
            [
                Section("kernel", "", f"/proc/sys/kernel/osrelease:{release}\n", "", 0),
                Section("pci-hops", "", WAY, "", 0),
                Section("pci", "", files, errors, 2 if errors else 0),
                Section("pci-config", CARD, dump, "", 0),
            ],
            complete=True,
        )
    )


def missing() -> str:
    return "".join(
        f"grep: /sys/bus/pci/devices/{CARD}/{name}: No such file or directory\n" for name in NAMES
    )


def unknown() -> str:
    said = ("Unknown speed", "255", "Unknown speed", "255")
    return "".join(
        f"/sys/bus/pci/devices/{CARD}/{name}:{text}\n"
        for name, text in zip(NAMES, said, strict=True)
    )


@pytest.mark.parametrize(
    ("status", "speed", "width"), [(0x1103, 8.0, 16), (0x1084, 16.0, 8), (0x1041, 2.5, 4)]
)
@pytest.mark.parametrize("release", ["3.10.0-1160.el7.x86_64", "4.4.0-210-generic"])
def test_a_kernel_without_link_files_has_the_link_from_its_registers(
    release: str, status: int, speed: float, width: int
):
    one = host(with_link(status), release, errors=missing()).functions[CARD]
    assert one.gt_per_s == Known(speed, f"setpci -s {CARD} CAP_EXP+12.w")
    assert one.lanes == Known(width, f"setpci -s {CARD} CAP_EXP+12.w")


def test_an_unknown_speed_is_not_an_absent_link():
    found = host(with_link(0x1103), "4.18.0-553.el8.x86_64", files=unknown())
    assert found.functions[CARD].gt_per_s == Known(8.0, f"setpci -s {CARD} CAP_EXP+12.w")


def test_what_the_card_can_do_is_in_its_registers_too():
    one = host(DUMP, "3.10.0-1160.el7.x86_64", errors=missing()).functions[CARD]
    # The thread's own lspci: LnkCap Speed 16GT/s, Width x16.
    assert (one.max_gt_per_s, one.max_lanes) == (
        Known(16.0, f"setpci -s {CARD} CAP_EXP+c.l"),
        Known(16, f"setpci -s {CARD} CAP_EXP+c.l"),
    )


@pytest.mark.parametrize("files", ["", unknown()])
def test_without_root_the_link_of_an_old_kernel_could_not_be_determined(files: str):
    public = " ".join(DUMP.split()[:64])
    found = host(public, "3.10.0-1160.el7.x86_64", files, "" if files else missing())
    assert isinstance(found.functions[CARD].lanes, Unreadable)
    assert has_state(found.links(CARD)[0])


def test_a_function_without_a_link_has_none_by_its_registers():
    for dump in (with_link(0), " ".join(["00"] * 256)):
        one = host(dump, "3.10.0-1160.el7.x86_64", errors=missing()).functions[CARD]
        assert isinstance(one.lanes, Absent)


def test_sysfs_counts_where_it_says_something():
    files = f"/sys/bus/pci/devices/{CARD}/current_link_width:8\n"
    one = host(with_link(0x1103), "6.12.0", files=files).functions[CARD]
    assert one.lanes == Known(8, f"cat /sys/bus/pci/devices/{CARD}/current_link_width")


def test_on_a_newer_kernel_a_function_without_link_files_has_no_link():
    public = " ".join(DUMP.split()[:64])
    one = host(public, "6.12.0", errors=missing()).functions[CARD]
    assert isinstance(one.lanes, Absent)
