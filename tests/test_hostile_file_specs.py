"""Files from outside, each in the worst shape of its kind: linear, bounded, one error of ours.

20 MB are read or refused in 5 s and 512 MB. Each runs the command in a process of its own.
"""

from pathlib import Path

import pytest
from described_ports import capture_text

from hostile_reader import wirespeed

PF = "enp3s0f0np0"
NETPLAN = "network: {version: 2, ethernets: {PF: {virtual-function-count: VFS}}}\n"
NMSTATE = """
interfaces:
- {name: PF, type: ethernet, ethernet: {sr-iov: {total-vfs: VFS}}}
"""
POLICY = """
apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: p}
spec:
  nodeSelector: {kubernetes.io/hostname: alpha}
  nicSelector: {rootDevices: ["0000:03:00.0"]}
  numVfs: VFS
  resourceName: r
"""
LINK = "[Match]\nPath=pci-0000:03:00.0\n\n[Link]\nSR-IOVVirtualFunctions=VFS\n"
KEYS = {
    "netplan": (NETPLAN, "a.yaml", f"network.ethernets.{PF}.virtual-function-count"),
    "networkd": (LINK, "a.link", "line 5: [Link] SR-IOVVirtualFunctions"),
    "nmstate": (NMSTATE, "a.yaml", f"interfaces.{PF}.ethernet.sr-iov.total-vfs"),
    "sriov-operator": (POLICY, "a.yaml", "SriovNetworkNodePolicy p.numVfs"),
}
MANY = 99999999999


def imported(folder: Path, form: str, text: str, *more: str, total: int = 16):
    (folder / "host.txt").write_text(capture_text(total=total))
    path = folder / KEYS[form][1]
    path.write_text(text)
    host = f"alpha={folder / 'host.txt'}"
    return wirespeed("import-spec", path, "--as", form, "--host", host, *more)


@pytest.mark.parametrize("form", KEYS)
def test_a_hostile_file_asks_for_more_vfs_than_pci_has(form: str, tmp_path: Path):
    text, name, key = KEYS[form]
    done = imported(tmp_path, form, text.replace("PF", PF).replace("VFS", str(MANY)))
    said = " ".join(done.stderr.split())
    assert done.refuses("formats.invalid")
    assert f"{tmp_path / name} found {key}: found {MANY}; expected" in said
    assert "at most 65535 (TotalVFs has 16 bits in PCI Express)" in said


def test_a_hostile_file_has_a_number_of_5000_digits(tmp_path: Path):
    text = NETPLAN.replace("PF", PF).replace("VFS", f'"{"9" * 5000}"')
    assert imported(tmp_path, "netplan", text).refuses("formats.invalid")


def test_a_hostile_file_is_the_capture_of_a_port_with_10e11_vfs(tmp_path: Path):
    text = NETPLAN.replace("PF", PF).replace("VFS", "4")
    done = imported(tmp_path, "netplan", text, total=MANY)
    assert done.returncode == 0 and "number of VFs 4" in done.stderr and done.is_bounded


def test_a_hostile_file_names_each_vf_of_a_port_as_a_netdev(tmp_path: Path):
    """16,000 netdevs were each compared with the names of 65,535 VFs."""
    netdevs = "".join(f"    e{number}: {{link: {PF}}}\n" for number in range(16_000))
    done = imported(
        tmp_path, "netplan", f"network:\n  ethernets:\n{netdevs}", total=65_535
    )  # fmt: skip
    assert done.refuses("formats.says_nothing") and len(done.stderr) < 10_000


def test_a_hostile_file_gives_each_of_5000_vfs_a_vlan(tmp_path: Path):
    """The settings of each VF were sought among those of all."""
    vfs = ", ".join(f"{{id: {vf}, vlan-id: 42}}" for vf in range(5000))
    text = (
        f"interfaces:\n- {{name: {PF}, type: ethernet, mtu: 9000, ethernet: {{sr-iov: "
        f"{{total-vfs: 5000, vfs: [{vfs}]}}}}}}\n"
    )
    subnets = ("--subnet", "underlay=192.168.0.0/16", "--subnet", "vlan42=10.0.0.0/8")
    done = imported(tmp_path, "nmstate", text, *subnets, total=65_535)
    assert done.returncode == 0 and done.stdout.count("host: alpha") == 5000 and done.is_bounded


def test_a_hostile_file_repeats_a_policy_of_65535_vfs(tmp_path: Path):
    one = POLICY.replace("VFS", "65535")
    assert imported(tmp_path, "sriov-operator", "---".join([one] * 900)).refuses("formats.invalid")


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("[" + "a," * 1_000_000, "spec.not_yaml"),
        ("a: " + "b " * 1_000_000, "spec.invalid"),
        ("#" * (20 << 20), "file.too_large"),
    ],
    ids=["values", "one text", "20 MB"],
)
def test_a_hostile_file_is_a_spec(text: str, what: str, tmp_path: Path):
    (tmp_path / "a.yaml").write_text(text)
    assert wirespeed("plan", tmp_path / "a.yaml").refuses(what)


def test_a_hostile_file_without_an_end_is_a_spec():
    assert wirespeed("plan", "/dev/zero").refuses("file.too_large")


def test_a_hostile_file_is_no_capture_and_nothing_of_it_is_shown(tmp_path: Path):
    """A spec may name any file as a host: whoever plans need not be who may read it."""
    (tmp_path / "shadow").write_text("root:$6$planted:19000:0:99999:7:::\n")
    spec = f"hosts: {{a: {{reach: {tmp_path / 'shadow'}, ports: ['0000:03:00.0']}}}}\n"
    (tmp_path / "a.yaml").write_text(f"{spec}approach: none\n")
    done = wirespeed("plan", tmp_path / "a.yaml")
    assert done.refuses("capture.not_one") and "planted" not in done.stderr


ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


def test_a_hostile_file_of_utf_8_is_read_and_written_in_a_locale_of_ascii(tmp_path: Path):
    (tmp_path / "host.txt").write_text(capture_text().replace("RX:", "RX\u00e9:"), "utf-8")
    page = tmp_path / "a.html"
    done = wirespeed("doctor", tmp_path / "host.txt", "--html", page, environment=ASCII)
    assert "Traceback" not in done.stderr and page.read_text("utf-8").startswith("<!doctype")


def test_a_word_that_the_locale_cannot_hold_is_refused_with_the_encoding(tmp_path: Path):
    done = wirespeed("doctor", f"{tmp_path}/\u00e9.txt", environment=ASCII)
    assert done.refuses("locale.encoding") and "encoding is ascii" in done.stderr


def test_a_hostile_file_of_trials_without_an_end_is_not_in_memory(tmp_path: Path):
    with (tmp_path / "trials.jsonl").open("wb") as file:
        file.truncate(8 << 30)
    assert wirespeed("report", tmp_path).refuses("file.too_large")
