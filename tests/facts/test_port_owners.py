"""What files of other programs say of ports, read by the collector's own shell text."""

import subprocess
from pathlib import Path

import pytest

from wirespeed.facts.port_owners import PortOwners
from wirespeed.host.sections import sections_script
from wirespeed.model.capture import Capture, parse_capture
from wirespeed.model.observed import Known, Unreadable

PF, OTHER = "0000:d8:00.0", "0000:d8:00.1"
APPLIED = (
    '{"pciAddress":"0000:d8:00.0","numVfs":1,"name":"enp216s0f0np0","linkType":"IB","vfGroups":'
    '[{"resourceName":"mlnxnics","deviceType":"netdevice","vfRange":"0-0","policyName":"ib"}]}'
)
"""What the operator writes: json.Marshal of an Interface (pkg/host/store/store.go, and
https://github.com/k8snetworkplumbingwg/sriov-network-operator/issues/1046)."""
EXTERNAL = APPLIED.replace("}]}", '}],"externallyManaged":true}')
BY_SYSTEMD = """\
spec:
    interfaces:
        - pciaddress: "0000:d8:00.0"
          numvfs: 1
          name: enp216s0f0np0
        - pciaddress: 0000:d8:00.1
          externallymanaged: true
unsupportedNics: false
"""
"""yaml.v3 writes names of fields without a tag in small letters."""
KEYFILE = """\
[connection]
id=data
interface-name=enp216s0f0np0
[wifi-security]
psk=hunter2kqz
[sriov]
total-vfs=8
"""
NETPLAN = """\
network:
  ethernets:
    mgmt0:
      dhcp4: true
    "enp216s0f0np0":
      match:
        macaddress: 52:54:00:00:00:01
      virtual-function-count: 12
    enp9s0:
      virtual-function-count: 3
    enp216s0f1np1:
      addresses:
        - 10.0.0.1/24
  wifis:
    wlan0:
      access-points:
        home: {password: hunter2kqz}
"""
LINK = "[Match]\nPath=pci-0000:d8:00.1\n\n[Link]\nSR-IOVVirtualFunctions=4\n"
IFCFG = 'DEVICE=enp216s0f1np1\nSRIOV_TOTAL_VFS="6"\n'


def read(root: Path, files: dict[str, str]) -> tuple[PortOwners, str]:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    head = f"pfs='{PF} {OTHER}' port_netdevs='enp216s0f0np0 enp216s0f1np1'\nset -f\n"
    body = PortOwners.script
    for folder in ("/etc/", "/run/"):
        body = body.replace(folder, f"{root}{folder}").replace(
            f'"{folder[:-1]}$', f'"{root}{folder[:-1]}$'
        )
    done = subprocess.run(
        ["/bin/sh", "-c", sections_script(head, body)],
        capture_output=True, text=True, check=True, timeout=30,
    )  # fmt: skip
    assert done.stderr == ""
    return PortOwners.parse(parse_capture(done.stdout, "here")), done.stdout


@pytest.mark.parametrize(
    ("files", "operator", "counts"),
    [
        ({}, {}, {}),
        ({f"etc/sriov-operator/pci/{PF}": APPLIED}, {PF: False}, {}),
        (
            {f"etc/sriov-operator/pci/{PF}": EXTERNAL},
            {PF: True},
            {},
        ),
        (
            {"etc/sriov-operator/sriov-interface-config.yaml": BY_SYSTEMD},
            {PF: False, OTHER: True},
            {},
        ),
        ({"etc/sriov-operator/pci/0000:01:00.0": APPLIED}, {}, {}),
        (
            {"etc/NetworkManager/system-connections/data.nmconnection": KEYFILE},
            {},
            {"enp216s0f0np0": {"NetworkManager": 8}},
        ),
        (
            {"run/NetworkManager/system-connections/a b": KEYFILE.replace("=8", "=0")},
            {},
            {"enp216s0f0np0": {"NetworkManager": 0}},
        ),
        ({"etc/systemd/network/10-a.link": LINK}, {}, {OTHER: {"systemd.link": 4}}),
        (
            {"etc/sysconfig/network-scripts/ifcfg-enp216s0f1np1": IFCFG},
            {},
            {"enp216s0f1np1": {"ifcfg": 6}},
        ),
        ({"etc/netplan/50-cloud.yaml": NETPLAN}, {}, {"enp216s0f0np0": {"netplan": 12}}),
    ],
)  # fmt: skip
def test_what_another_program_sets_up_is_read_from_its_files(
    tmp_path: Path,
    files: dict[str, str],
    operator: dict[str, bool],
    counts: dict[str, dict[str, int]],
):
    found, printed = read(tmp_path, files)
    assert isinstance(found.operator, Known) and found.operator.value == operator
    assert isinstance(found.vf_counts, Known) and found.vf_counts.value == counts
    # Passwords stand in those files, and names that people chose.
    assert "hunter2kqz" not in printed
    assert "mgmt0" not in printed and "wlan0" not in printed


def test_a_former_collector_did_not_look():
    found = PortOwners.parse(Capture((), complete=True))
    assert isinstance(found.operator, Unreadable)
    assert isinstance(found.vf_counts, Unreadable)
