"""netplan's own program accepts what is written, and makes of it what the spec says."""

import subprocess
from pathlib import Path

import pytest
import yaml
from described_ports import CABLE, GUESTS, ONE_EACH, SPACES, written

from wirespeed.formats.netplan import vf_netdev

GENERATE = Path("/usr/libexec/netplan/generate")


def generated(tmp_path: Path, text: str) -> dict[str, str]:
    """Give the files that netplan makes for systemd and udev, by name."""
    assert GENERATE.exists(), "no netplan: scripts/install-system.sh test installs it"
    folder = tmp_path / "etc/netplan"
    folder.mkdir(parents=True)
    for name, content in written("netplan", text).files.items():
        (folder / name).write_text(content)
        (folder / name).chmod(0o600)
    done = subprocess.run(
        [GENERATE, "--root-dir", tmp_path], capture_output=True, text=True, timeout=30
    )
    assert (done.returncode, done.stderr) == (0, "")
    return {
        path.name: path.read_text() for path in (tmp_path / "run").rglob("*.*") if path.is_file()
    }


def data_of(text: str) -> dict[str, dict[str, dict[str, object]]]:
    (content,) = written("netplan", text).files.values()
    return yaml.safe_load(content)["network"]  # type: ignore[no-any-return]


@pytest.mark.parametrize("text", [GUESTS, ONE_EACH, SPACES, CABLE])
def test_netplan_gives_every_port_its_mtu(text: str, tmp_path: Path):
    mtu = "9000" if text is CABLE else "9080"
    made = generated(tmp_path, text)
    assert f"MTUBytes={mtu}\n" in made["10-netplan-enp3s0f0np0.network"]
    assert f"MTUBytes={mtu}\n" in made["10-netplan-enp3s0f0np0.link"]
    assert ("99-sriov-netplan-setup.rules" in made) == (text is not CABLE)


def test_netplan_gives_a_port_its_address(tmp_path: Path):
    network = generated(tmp_path, CABLE)["10-netplan-enp3s0f0np0.network"]
    assert "Address=192.168.9.1/24\n" in network


def test_netplan_makes_a_vlan_on_a_port_which_has_the_address(tmp_path: Path):
    made = generated(tmp_path, CABLE.replace("mtu: 9000", "mtu: 9000, vlan: 40"))
    netdev = made["10-netplan-enp3s0f0np0.40.netdev"]
    assert {"Name=enp3s0f0np0.40", "Kind=vlan", "MTUBytes=9000", "Id=40"} <= set(netdev.split())
    assert "Address=192.168.9.1/24\n" in made["10-netplan-enp3s0f0np0.40.network"]
    port = made["10-netplan-enp3s0f0np0.network"]
    assert "VLAN=enp3s0f0np0.40\n" in port and "Address=" not in port


def test_what_netplan_would_refuse_is_seen(tmp_path: Path):
    folder = tmp_path / "etc/netplan"
    folder.mkdir(parents=True)
    (content,) = written("netplan", SPACES).files.values()
    (folder / "a.yaml").write_text(content.replace("virtual-function-count", "vf-count"))
    done = subprocess.run([GENERATE, "--root-dir", tmp_path], capture_output=True, timeout=30)
    assert done.returncode != 0


def test_vfs_of_namespaces_have_their_vlan_and_lent_ones_only_their_number():
    network = data_of(SPACES)
    assert network["ethernets"]["enp3s0f1np1"] == {"mtu": 9080, "virtual-function-count": 2}
    assert network["ethernets"]["enp3s0f1v1"] == {"link": "enp3s0f1np1"}
    assert {(v["link"], v["id"], v["renderer"]) for v in network["vlans"].values()} == {
        ("enp3s0f0v0", 42, "sriov"), ("enp3s0f0v1", 40, "sriov"),
        ("enp3s0f1v0", 42, "sriov"), ("enp3s0f1v1", 40, "sriov"),
    }  # fmt: skip
    assert {str(v["link"]) for v in data_of(ONE_EACH)["vlans"].values()} == {
        "enp3s0f0v1",
        "enp3s0f1v1",
    }
    assert "vlans" not in data_of(GUESTS)
    # Its head says how to get the VLANs of VFs whose netdevs come late.
    late = [any("--sriov-only" in o for o in written("netplan", t).notes) for t in (SPACES, GUESTS)]
    assert late == [True, False]
    unsaid = "\n".join(written("netplan", GUESTS).unsaid)
    assert "VF 0 of enp3s0f1np1: VLAN 42 (netplan knows a VF by its netdev" in unsaid


@pytest.mark.parametrize(
    ("pf", "vf"),
    [
        ("enp3s0f0np0", "enp3s0f0v7"), ("ens1f1", "ens1f1v7"), ("enP2p1s0f0", "enP2p1s0f0v7"),
        ("eth0", None), ("eno1", None), ("storage", None), ("enP12p193s0f15", None),
    ],
)  # fmt: skip
def test_a_vf_is_named_only_where_udev_named_its_port(pf: str, vf: str | None):
    assert vf_netdev(pf, 7) == vf
