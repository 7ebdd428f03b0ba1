"""Exported files, applied on a virtual host by the tool that they are for, make what apply makes.

systemd's udev and networkd read ours at a boot; of netplan's file, `netplan generate` makes theirs
here. VFs are made by netplan itself, which is copied to the host from this machine.
"""

import base64
import json
import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from program import wirespeed

from wirespeed.host.clock import Deadline, sleep_s
from wirespeed.lab.machine_spec import LabSpec, MachineSpec
from wirespeed.lab.machines import Machine, Machines
from wirespeed.model.error import WirespeedError

pytestmark = [pytest.mark.machines, pytest.mark.rare, pytest.mark.timeout(600)]
BOOT_S = 240
PORTS = ("0000:01:00.0", "0000:02:00.0")
NETPLAN = Path("/usr/libexec/netplan/generate")
NETPLAN_PACKAGES = (
    "netplan.io", "libnetplan0", "libyaml-0-2", "python3-dbus", "python3-markdown-it",
    "python3-mdurl", "python3-netifaces", "python3-pkg-resources", "python3-pygments",
    "python3-rich", "python3-yaml",
)  # fmt: skip
"""With what it needs and a lab's host has not."""
SETTLE_S = 20
GUEST = {"host": "alpha", "kind": "none", "vcpus": 1, "memory_gib": 1}
GUESTS: dict[str, Any] = {
    "approach": "legacy-vlan",
    "underlay": {"subnet": "192.168.9.0/24", "mtu": 9080},
    "networks": {
        "storage": {"segment": 42, "subnet": "192.168.10.0/24", "mtu": 9000},
        "public": {"segment": 40, "subnet": "192.168.20.0/24", "mtu": 1500},
    },
    "guests": {
        "ceph-1": {"networks": ["storage"], **GUEST},
        "web-1": {"networks": ["public"], **GUEST},
    },
}
CABLE = {"approach": "none", "underlay": {"subnet": "192.168.9.0/24", "mtu": 9000, "vlan": 40}}
TUNED = {"approach": "none", "tuning": {"rings": "largest", "channels": 2, "pause": False}}
SPACES = {**GUESTS, "guests": {n: {**g, "kind": "namespace"} for n, g in GUESTS["guests"].items()}}


@pytest.fixture(scope="module")
def host() -> Iterator[Machine]:
    alpha = MachineSpec(name="alpha", systemd=True, disk=True)
    name = f"test-{os.getpid()}-exported"
    with Machines(LabSpec(hosts=(alpha,), wiring="switch"), name=name) as lab:
        yield lab.hosts["alpha"]


def spec_of(host: Machine, folder: Path, ports: tuple[str, ...], what: Mapping[str, Any]) -> str:
    reach = f"ssh://{host.state.destination}"
    path = folder / "spec.yaml"
    path.write_text(json.dumps({"hosts": {"alpha": {"reach": reach, "ports": ports}}, **what}))
    return str(path)


def ran(*words: str) -> str:
    done = wirespeed(*words)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def sh(host: Machine, script: str) -> str:
    done = host.run(["sh", "-ec", script])
    assert done.returncode == 0, f"{script}\n{done.output}\n{done.errors}"
    return done.output.strip()


def put(host: Machine, folder: str, files: dict[str, str]) -> None:
    for name, text in files.items():
        done = host.run(["sh", "-ec", f'mkdir -p "{folder}"; cat >"{folder}/{name}"'], stdin=text)
        assert done.returncode == 0, done.errors


def install_netplan(host: Machine) -> None:
    """Copy netplan and what it needs from this machine to a host of the same release."""
    words = ["dpkg-query", "-L", *NETPLAN_PACKAGES]
    owned = subprocess.run(words, capture_output=True, text=True, check=True, timeout=60).stdout
    paths = [path[1:] for path in owned.splitlines() if Path(path).is_file()]
    words = ["tar", "-czC", "/", *(path for path in paths if "share/doc/" not in path)]
    tar = subprocess.run(words, capture_output=True, check=True, timeout=60).stdout
    text = base64.b64encode(tar).decode()
    done = host.run(["sh", "-ec", "base64 -d | tar -xz -C /; ldconfig"], stdin=text, timeout_s=120)
    assert done.returncode == 0, done.errors


def standing(host: Machine) -> dict[str, Any]:
    """What the host itself says of its ports: MTU, link, addresses; number, VLAN, MAC of VFs."""
    found: dict[str, Any] = {}
    for link in json.loads(sh(host, "ip -j -d link")):
        if link["ifname"] in ("enp1s0", "enp2s0"):
            vfs = [
                {k: v for k, v in vf.items() if k != "stats"} for vf in link.get("vfinfo_list", ())
            ]
            found[link["ifname"]] = (link["mtu"], "UP" in link["flags"], vfs)
    for link in json.loads(sh(host, "ip -j -4 address")):
        if link["ifname"].startswith("enp"):
            found[f"{link['ifname']} has"] = [a["local"] for a in link["addr_info"]]
    found["VFs"] = sh(host, "cat /sys/bus/pci/devices/0000:0[12]:00.0/sriov_numvfs")
    return found


def tuned(host: Machine) -> str:
    """What ethtool says of a port's rings, channels and pause."""
    return sh(host, "ethtool -g enp1s0; ethtool -l enp1s0; ethtool -a enp1s0")


def vlans(host: Machine) -> list[list[int]]:
    """The VLANs of each port's VFs."""
    links = {one["ifname"]: one for one in json.loads(sh(host, "ip -j -d link"))}
    vfs = [links[name].get("vfinfo_list", ()) for name in ("enp1s0", "enp2s0")]
    return [[vf["vlan_list"][0].get("vlan", 0) for vf in one] for one in vfs]


def to_do(spec: str) -> list[str]:
    """Give the kinds of the steps that a plan would take."""
    steps = json.loads(ran("plan", "--json", spec))["steps"]
    return sorted(one["step"]["step"] for one in steps if not one.get("no_op"))


def boot_id(host: Machine) -> str:
    try:
        return host.run(["cat", "/proc/sys/kernel/random/boot_id"]).output.strip()
    except WirespeedError:
        return ""


def reboot(host: Machine) -> None:
    before, deadline = boot_id(host), Deadline(BOOT_S)
    host.run(["systemctl", "--no-block", "reboot"])
    while boot_id(host) in ("", before):
        assert not deadline.expired, "it did not come back"
        sleep_s(1)
    host.run(["systemctl", "is-system-running", "--wait"], timeout_s=BOOT_S)


def test_fleet_networkds_link_file_gives_a_port_the_rings_channels_and_pause_of_apply(
    host: Machine, tmp_path: Path
):
    spec = spec_of(host, tmp_path, PORTS[:1], TUNED)
    done = wirespeed("export-spec", spec, "--as", "networkd", "--out", str(tmp_path / "out"))
    assert (done.returncode, done.stderr) == (0, "")
    # A link that comes up negotiates pause again (igb_config_fc_after_link_up()), in its own time.
    sh(host, "ip link set enp1s0 down")
    as_found = tuned(host)
    ran("apply", spec, "--yes")
    as_applied = tuned(host)
    ran("undo", spec)
    assert tuned(host) == as_found != as_applied

    (file,) = (tmp_path / "out/alpha").iterdir()
    put(host, "/etc/systemd/network", {file.name: file.read_text()})
    # udev reads a .link file when the port appears.
    words = "; ".join(f"echo {PORTS[0]} >/sys/bus/pci/drivers/igb/{o}" for o in ("unbind", "bind"))
    again = f"udevadm control --reload; {words}; udevadm settle"
    sh(host, again)
    assert tuned(host) == as_applied
    assert to_do(spec) == []
    sh(host, f"rm /etc/systemd/network/{file.name}; {again}; ip link set enp1s0 up")
    assert tuned(host) == as_found


def test_fleet_networkd_files_make_of_a_host_at_its_boot_what_apply_makes(
    host: Machine, tmp_path: Path
):
    # As on a host that has it: apply then keeps networkd off the VFs, which no format says.
    sh(host, "systemctl enable --now systemd-networkd")
    spec = spec_of(host, tmp_path, PORTS, GUESTS)
    done = wirespeed("export-spec", spec, "--as", "networkd", "--out", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    as_found = standing(host)
    ran("apply", spec, "--yes")
    as_applied = standing(host)
    ran("undo", spec)
    assert standing(host) == as_found != as_applied

    files = {path.name: path.read_text() for path in (tmp_path / "out/alpha").iterdir()}
    assert len(files) == 4
    put(host, "/etc/systemd/network", files)
    reboot(host)
    # networkd sets a port and its VFs up in its own time: a boot that is over does not wait for it.
    deadline = Deadline(SETTLE_S)
    while standing(host) != as_applied and not deadline.expired:
        sleep_s(0.5)
    assert standing(host) == as_applied
    # They name file and line of a key, a section or a value that they do not know (log_syntax()).
    log = "journalctl --boot --output=cat --unit=systemd-networkd --unit=systemd-udevd"
    said = sh(host, log)
    assert "10-wirespeed-enp1s0.network" in said
    assert re.findall(r"^.*10-wirespeed-\S+:\d+: .*$", said, re.M) == []
    # What is left is what was listed, line by line, and no more.
    unsaid = [line.removeprefix("  ") for line in done.stderr.splitlines() if line[:2] == "  "]
    kinds = ["driver_override" if ": driver vfio-pci" in o else o.split()[0] for o in unsaid]
    assert to_do(spec) == sorted(kinds)
    assert set(kinds) == {"module", "driver_override", "file_content"}


def test_fleet_what_netplan_generates_gives_networkd_the_vlan_address_and_mtu_of_the_spec(
    host: Machine, tmp_path: Path
):
    spec = spec_of(host, tmp_path, PORTS[:1], CABLE)
    ran("export-spec", spec, "--as", "netplan", "--out", str(tmp_path / "out"))
    folder = tmp_path / "root/etc/netplan"
    folder.mkdir(parents=True)
    (tmp_path / "out/alpha/90-wirespeed.yaml").rename(folder / "90-wirespeed.yaml")
    subprocess.run([NETPLAN, "--root-dir", tmp_path / "root"], check=True, timeout=30)
    made = list((tmp_path / "root/run/systemd/network").iterdir())
    assert {path.suffix for path in made} == {".link", ".network", ".netdev"}

    sh(host, "rm -f /etc/systemd/network/10-wirespeed-*; systemctl enable --now systemd-networkd")
    put(host, "/run/systemd/network", {path.name: path.read_text() for path in made})
    sh(host, "networkctl reload; networkctl reconfigure enp1s0")
    deadline = Deadline(SETTLE_S)
    while standing(host).get("enp1s0.40 has") != ["192.168.9.1"]:
        assert not deadline.expired, sh(host, "networkctl status enp1s0")
        sleep_s(0.5)
    assert standing(host)["enp1s0"][:2] == (9000, True)
    assert to_do(spec) == []


def test_fleet_netplan_makes_the_vfs_of_its_file_with_their_vlans(host: Machine, tmp_path: Path):
    spec = spec_of(host, tmp_path, PORTS, SPACES)
    sh(host, "for n in /sys/bus/pci/devices/0000:0[12]:00.0/sriov_numvfs; do echo 0 >$n; done")
    assert vlans(host) == [[], []]
    ran("export-spec", spec, "--as", "netplan", "--out", str(tmp_path / "out"))
    install_netplan(host)
    (file,) = (tmp_path / "out/alpha").iterdir()
    put(host, "/etc/netplan", {file.name: file.read_text()})
    # The first time, no VF has its netdev yet, by which netplan knows it.
    sh(host, "for n in 1 2; do netplan apply --sriov-only; udevadm settle; done")
    assert vlans(host) == [[42, 40], [42, 40]]
