"""A simulated card with an embedded switch on a lab's host: the kernel's own netdevsim.

It has eswitch modes, devlink ports and representors by the kernel's own devlink. It is no PCI
device, and steps know cards by their PCI address alone: so `devlink` on the host is told that
`netdevsim/netdevsim9` is called `pci/0000:ff:00.0`, in what goes in and in what comes out.
"""

import base64
import hashlib
import re
import subprocess
from pathlib import Path

from wirespeed.host.build_cache import build_once, cache_folder
from wirespeed.host.kept import newest_folders, remove_folder
from wirespeed.lab.machine_image import KEPT, lab_image
from wirespeed.lab.machines import Machine

BUILD = Path(__file__).with_name("netdevsim_build.sh")
BUILD_S = 300.0
PREFIX = "netdevsim-"
PF = "0000:ff:00.0"
SYSFS = "/sys/bus/netdevsim"
DEVICE = f"{SYSFS}/devices/netdevsim9"
NETDEV = "eni9np1"
"""Of its port, as udev names it."""
DEVLINK = r"""#!/bin/sh
for word; do
	shift
	set -- "$@" "$(printf %s "$word" | sed 's,^pci/0000:ff:00.0,netdevsim/netdevsim9,')"
done
said=$(mktemp) errors=$(mktemp)
/usr/sbin/devlink.real "$@" >"$said" 2>"$errors"
code=$?
sed 's,netdevsim/netdevsim9,pci/0000:ff:00.0,g' "$said"
cat "$errors" >&2
rm "$said" "$errors"
exit $code
"""


def netdevsim_module() -> Path:
    """Give the module for the kernel of the lab's hosts, built now if need be (half a minute)."""
    release = (lab_image() / "release").read_text().strip()
    digest = hashlib.sha256(BUILD.read_bytes()).hexdigest()[:12]
    numbers = re.match(r"\d+\.\d+", release)
    assert numbers, release

    def build(draft: Path) -> None:
        argv = ["sh", str(BUILD), str(draft), release, f"linux-source-{numbers[0]}"]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=BUILD_S, check=False)
        assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-2000:]}"

    built = build_once(cache_folder() / f"{PREFIX}{release}-{digest}", build, timeout_s=BUILD_S)
    for old in newest_folders(cache_folder(), PREFIX)[KEPT:]:
        remove_folder(old)
    return built / "netdevsim.ko"


def add_card(host: Machine, vfs: int) -> None:
    """Give a host the simulated card, with one port and so many VFs, in legacy mode."""
    packed = base64.b64encode(netdevsim_module().read_bytes()).decode()
    script = f"""
    base64 -d >/run/netdevsim.ko
    insmod /run/netdevsim.ko
    echo '9 1' >{SYSFS}/new_device
    echo {vfs} >{DEVICE}/sriov_numvfs
    mv /usr/sbin/devlink /usr/sbin/devlink.real
    cat >/usr/sbin/devlink <<'END'
{DEVLINK}END
    chmod 755 /usr/sbin/devlink
    udevadm settle --timeout=30
    """
    done = host.run(["sh", "-ec", script], stdin=packed)
    assert done.returncode == 0, f"{done.output}\n{done.errors}"
