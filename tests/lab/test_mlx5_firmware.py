"""The firmware of a modelled card by Debian's own mstconfig, mstflint and mstfwreset: read, stored
for the next boot, in force after it, put back; settings and images."""

import base64
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from firmware_image import write_image
from mlx5_host import PORTS, mlx5_lab, refused, sh
from namespace_story import SMALL, written
from program import wirespeed

from wirespeed.apply.control_posix import PosixControl
from wirespeed.facts.firmware import Firmware
from wirespeed.host.reach_destination import Remote
from wirespeed.host.ssh_session import SshSession
from wirespeed.lab.machines import Machine, Machines
from wirespeed.model.capture import Capture, Section
from wirespeed.model.observed import Known

pytestmark = [pytest.mark.machines, pytest.mark.rare, pytest.mark.timeout(900)]
CARD = PORTS[0]
TOTAL = f"cat /sys/bus/pci/devices/{CARD}/sriov_totalvfs"
NAMES = ("NUM_OF_VFS", "CQE_COMPRESSION")
TABLE = f"mstconfig -d {CARD} -e q {' '.join(NAMES)}"
PSID = "WSP_MODEL_00001"
FORMER, NEW = (16, 35, 4030), (16, 36, 1010)
HAS_NOT = "settings of group 0x"
"""mstconfig reads settings of the boot ROM whether the card says that it has them or not."""
NOT_MODELLED = ("register 0x5028", "register 0x503e")
"""Eye and histogram of FEC, which the doctor asks mstlink for."""


@pytest.fixture(scope="module")
def lab() -> Iterator[Machines]:
    name = f"test-{os.getpid()}-mlx5fw"
    with mlx5_lab(name, "alpha", wiring="switch", mstflint=True) as lab:
        yield lab


def table(host: Machine) -> dict[str, tuple[str, str, str]]:
    """Default, current and next boot of the settings, as our own parser reads the real tool."""
    section = Section("mstconfig", CARD, sh(host, TABLE), "", 0)
    settings = Firmware.parse(Capture([section], complete=True)).cards[CARD].settings
    assert isinstance(settings, Known)
    found = {}
    for name in NAMES:
        one = settings.value[name]
        cells = [
            cell.value
            for cell in (one.default, one.current, one.next_boot)
            if isinstance(cell, Known)
        ]
        found[name] = (cells[0], cells[1], cells[2])
    return found


def change(host: Machine, run: Path, *words: str) -> None:
    where = f"ssh://{host.state.destination}"
    done = wirespeed(
        "firmware",
        where,
        "--port",
        CARD,
        "--run",
        str(run),
        "--apply",
        "--yes",
        "--allow-firmware",
        *words,
        timeout_s=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_mlx5_settings_are_stored_in_force_after_a_boot_and_put_back(lab: Machines, tmp_path: Path):
    alpha, run = lab.hosts["alpha"], tmp_path / "run"
    assert sh(alpha, TOTAL) == "8"
    said = sh(alpha, f"mstflint -d {CARD} -qq query")
    assert "FW Version:            16.35.4030" in said
    assert "PSID:                  WSP_MODEL_00001" in said

    change(alpha, run, "--set", "NUM_OF_VFS=4", "--set", "CQE_COMPRESSION=AGGRESSIVE")
    stored = {
        "NUM_OF_VFS": ("8", "8", "4"),
        "CQE_COMPRESSION": ("BALANCED(0)", "BALANCED(0)", "AGGRESSIVE(1)"),
    }
    assert table(alpha) == stored
    assert sh(alpha, TOTAL) == "8"
    # The tool and the model refuse what the card cannot.
    assert "larger than maximum allowed 8" in sh(
        alpha, f"mstconfig -d {CARD} -y set NUM_OF_VFS=16 || :"
    )
    assert table(alpha) == stored

    with SshSession(Remote(alpha.state.destination, alpha.state.destination)) as session:
        control = PosixControl("alpha", session)
        control.reboot(control.boot_id())
    assert table(alpha) == {
        "NUM_OF_VFS": ("8", "4", "4"),
        "CQE_COMPRESSION": ("BALANCED(0)", "AGGRESSIVE(1)", "AGGRESSIVE(1)"),
    }
    assert sh(alpha, TOTAL) == "4"
    assert "rror" in sh(
        alpha, f"echo 5 >/sys/bus/pci/devices/{CARD}/sriov_numvfs 2>&1 || echo error"
    )

    undone = wirespeed("undo", str(run), timeout_s=600)
    assert undone.returncode == 0, undone.stdout + undone.stderr
    assert table(alpha)["NUM_OF_VFS"] == ("8", "4", "8")
    assert {
        line.partition(": PF ")[2][: len(HAS_NOT)] for line in refused(lab, "alpha").splitlines()
    } <= {HAS_NOT, *NOT_MODELLED}


def firmware(host: Machine) -> tuple[str, str, str]:
    """What the card holds and what it runs, as mstflint says; and what it runs by the driver."""
    said = sh(host, f"mstflint -d {CARD} -qq query")
    pairs = (line.partition(":")[::2] for line in said.splitlines())
    values = {name.strip(): value.strip() for name, value in pairs}
    stored = values["FW Version"]
    running = values.get("FW Version(Running)", stored)
    # After a reset of the card udev takes a moment to name the netdev.
    netdev = f"$(ls /sys/bus/pci/devices/{CARD}/net)"
    driver = sh(host, f"udevadm settle; ethtool -i {netdev} | grep firmware-version")
    return stored, running, driver.removeprefix("firmware-version: ").removesuffix(f" ({PSID})")


def copied(host: Machine, work: Path, name: str, version: tuple[int, int, int], psid: str) -> str:
    write_image(work / name, version, psid)
    text = base64.b64encode((work / name).read_bytes()).decode()
    done = host.run(["sh", "-c", f"base64 -d >/srv/{name}"], stdin=text)
    assert done.returncode == 0, done.errors
    return f"/srv/{name}"


def test_mlx5_an_image_is_burnt_waits_for_a_boot_and_undo_burns_the_former(
    lab: Machines, tmp_path: Path
):
    alpha, run = lab.hosts["alpha"], tmp_path / "run"
    old = copied(alpha, tmp_path, "old.bin", FORMER, PSID)
    new = copied(alpha, tmp_path, "new.bin", NEW, PSID)
    other = copied(alpha, tmp_path, "other.bin", NEW, "WSP_OTHER_00001")
    before, after = "16.35.4030", "16.36.1010"
    assert firmware(alpha) == (before, before, before)
    refusal = sh(alpha, f"mstflint -d {CARD} -i {other} -y burn 2>&1 || :")
    assert "PSID mismatch" in refusal and firmware(alpha)[0] == before, refusal

    change(alpha, run, "--image", new, "--former-image", old)
    assert firmware(alpha) == (after, before, before)
    with SshSession(Remote(alpha.state.destination, alpha.state.destination)) as session:
        control = PosixControl("alpha", session)
        control.reboot(control.boot_id())
    assert firmware(alpha) == (after, after, after)

    # The host has no disk: its images are gone with the boot.
    copied(alpha, tmp_path, "old.bin", FORMER, PSID)
    copied(alpha, tmp_path, "new.bin", NEW, PSID)
    undone = wirespeed("undo", str(run), timeout_s=600)
    assert undone.returncode == 0, undone.stdout + undone.stderr
    assert firmware(alpha) == (before, after, after)


def test_mlx5_a_reset_of_the_card_brings_what_waits(lab: Machines, tmp_path: Path):
    """By mstfwreset, which unbinds the driver and takes the link down; no other port goes down."""
    alpha = lab.hosts["alpha"]
    old = copied(alpha, tmp_path, "old.bin", FORMER, PSID)
    new = copied(alpha, tmp_path, "new.bin", NEW, PSID)
    sh(alpha, f"mstflint -d {CARD} -i {new} -y burn")
    sh(alpha, f"mstconfig -d {CARD} -y set NUM_OF_VFS=2 CQE_COMPRESSION=0")
    assert table(alpha)["NUM_OF_VFS"][1:] != ("2", "2")
    done = alpha.run(["mstfwreset", "-d", CARD, "-y", "reset"], timeout_s=240)
    assert done.returncode == 0 and "FW was loaded successfully" in done.output, done.output
    assert table(alpha) == {
        "NUM_OF_VFS": ("8", "2", "2"),
        "CQE_COMPRESSION": ("BALANCED(0)", "BALANCED(0)", "BALANCED(0)"),
    }
    assert sh(alpha, f"basename $(readlink /sys/bus/pci/devices/{CARD}/driver)") == "mlx5_core"
    assert firmware(alpha) == ("16.36.1010",) * 3
    # In force at the next test's boot. Another reset so soon may fail: mstfwreset wants the
    # firmware to have been up for less time after it than before (mlxfwreset_status_checker.py).
    sh(alpha, f"mstflint -d {CARD} -i {old} -y burn")
    assert firmware(alpha) == ("16.35.4030", "16.36.1010", "16.36.1010")


def test_mlx5_apply_stores_what_gives_vfs_reboots_and_goes_on(lab: Machines, tmp_path: Path):
    alpha = lab.hosts["alpha"]
    # A card of which nobody asked VFs.
    sh(alpha, f"mstconfig -d {CARD} -y set SRIOV_EN=0 NUM_OF_VFS=0")
    with SshSession(Remote(alpha.state.destination, alpha.state.destination)) as session:
        control = PosixControl("alpha", session)
        control.reboot(control.boot_id())
    assert sh(alpha, f"{TOTAL} 2>/dev/null || echo none") in ("0", "none")

    spec = written(lab, tmp_path / "spec.yaml", SMALL, {"alpha": PORTS[:1]})
    told = wirespeed("apply", str(spec), "--yes", "--reboot", timeout_s=600)
    assert told.returncode == 2 and "--allow-firmware" in told.stderr, told.stdout + told.stderr
    allowed = ("--yes", "--reboot", "--allow-firmware")
    done = wirespeed("apply", str(spec), *allowed, timeout_s=800)
    assert done.returncode == 0, done.stdout + done.stderr
    assert sh(alpha, TOTAL) == "1"
    assert "vlan 42" in sh(alpha, "ip link show enp1s0f0")
    assert "192.168.10.1/24" in sh(alpha, "ip -n ceph-1 address")

    undone = wirespeed("undo", str(spec), timeout_s=600)
    assert undone.returncode == 0, undone.stdout + undone.stderr
    assert table(alpha)["NUM_OF_VFS"] == ("8", "1", "0")
    assert sh(alpha, f"cat /sys/bus/pci/devices/{CARD}/sriov_numvfs") == "0"
    assert "ceph-1" not in sh(alpha, "ip netns")
