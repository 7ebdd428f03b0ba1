"""Files as the documentation of each tool shows them: what a spec cannot say of them is listed.

They are in the form of the pages that stand beside them; ports and addresses are of the case here.
"""

from pathlib import Path

import pytest
from click.testing import CliRunner
from described_ports import capture_text

from wirespeed.apply.spec_file import parse_spec
from wirespeed.commands.import_spec import import_spec
from wirespeed.model.spec.members import HostsOnly, LegacyVlan
from wirespeed.model.spec.spec import Spec

PF, OTHER = "enp3s0f0np0", "enp3s0f1np1"


def read(folder: Path, form: str, files: dict[str, str], *more: str) -> tuple[Spec, list[str]]:
    """Give the spec, and what it cannot say."""
    (folder / "host.txt").write_text(capture_text())
    paths = []
    for name, text in files.items():
        (folder / name).write_text(text)
        paths.append(str(folder / name))
    words = [*paths, "--as", form, "--host", f"alpha={folder / 'host.txt'}", *more]
    done = CliRunner().invoke(import_spec, words, catch_exceptions=False, standalone_mode=False)
    lines = done.stderr.splitlines()
    end = lines.index("the spec says beyond them:") if any("beyond" in o for o in lines) else None
    unsaid = [line for line in lines[:end] if line.startswith("  ")]
    head = " ".join(done.stdout.partition("\n\n")[0].replace("\n#", " ").split())
    assert all(" ".join(line.split()) in head for line in unsaid)
    return parse_spec(done.stdout, "spec"), [
        line.replace(f"{folder}/", "").removeprefix("  alpha: ") for line in unsaid
    ]


# https://github.com/canonical/netplan/blob/main/examples/sriov_vlan.yaml
NETPLAN_SRIOV = f"""
network:
  version: 2
  renderer: networkd
  ethernets:
    {PF}: {{mtu: 9000}}
    enp3s0f0v0: {{link: {PF}, addresses: ["192.0.2.25/24"]}}
  vlans:
    vlan1: {{id: 15, link: enp3s0f0v0, addresses: ["198.51.100.5/24"]}}
    vlan2_hw: {{id: 10, link: enp3s0f0v0, renderer: sriov}}
"""
# https://netplan.readthedocs.io/en/stable/netplan-yaml/ (match, routes, nameservers, bonds)
NETPLAN_STATIC = f"""
network:
  version: 2
  ethernets:
    uplink:
      match: {{name: {PF}}}
      mtu: 9000
      dhcp4: no
      addresses: [192.168.9.1/24, "2001:db8::1/64"]
      routes: [{{to: default, via: 192.168.9.254}}]
    any: {{match: {{driver: ixgbe}}, wakeonlan: true}}
  bonds: {{bond0: {{interfaces: [uplink]}}}}
"""


def test_netplans_vf_with_a_vlan_in_the_card(tmp_path: Path):
    spec, unsaid = read(tmp_path, "netplan", {"a.yaml": NETPLAN_SRIOV})
    assert spec.hosts["alpha"].ports == ("0000:03:00.0",) and spec.approach == "none"
    assert unsaid == [
        f"{PF}: link up",
        f"{PF}: MTU 9000",
        f"VF 0 of {PF}: VLAN 10",
        "a.yaml: network.renderer: networkd",
        'a.yaml: network.ethernets.enp3s0f0v0.addresses: ["192.0.2.25/24"]',
        'a.yaml: network.vlans.vlan1: {"id": 15, "link": "enp3s0f0v0", '
        '"addresses": ["198.51.100.5/24"]}',
    ]


def test_netplans_port_with_addresses_and_routes(tmp_path: Path):
    spec, unsaid = read(tmp_path, "netplan", {"a.yaml": NETPLAN_STATIC})
    assert isinstance(spec, HostsOnly) and spec.underlay is not None
    assert (str(spec.underlay.subnet), spec.underlay.mtu) == ("192.168.9.0/24", 9000)
    assert unsaid == [
        'a.yaml: network.bonds: {"bond0": {"interfaces": ["uplink"]}}',
        "a.yaml: network.ethernets.uplink.addresses: 2001:db8::1/64",
        "a.yaml: network.ethernets.uplink.dhcp4: no",
        'a.yaml: network.ethernets.uplink.routes: [{"to": "default", "via": "192.168.9.254"}]',
        "a.yaml: network.ethernets.any (which port of alpha it is, is not known): "
        '{"match": {"driver": "ixgbe"}, "wakeonlan": true}',
    ]


@pytest.mark.parametrize("version", ["", "version: 2, ", 'version: "2", '])
def test_netplans_version_need_not_stand_there(version: str, tmp_path: Path):
    """`version` "defaults to 2 if not defined" (doc/netplan-yaml.md); parse.c has the fields."""
    fields = (
        "mtu: 9000, addresses: [192.168.9.1/24], ra-overrides: {use-dns: false}, "
        "wakeonwlan: [default], hairpin: true, neigh-suppress: true, port-mac-learning: false"
    )
    text = f"network: {{{version}ethernets: {{{PF}: {{{fields}}}}}}}"
    spec, unsaid = read(tmp_path, "netplan", {"a.yaml": text})
    assert isinstance(spec, HostsOnly) and spec.underlay is not None
    named = [line.partition(f".{PF}.")[2].partition(":")[0] for line in unsaid]
    others = ["ra-overrides", "wakeonwlan", "hairpin", "neigh-suppress", "port-mac-learning"]
    assert named == others


# https://netplan.readthedocs.io/en/stable/netplan-yaml/ (properties for device type vlans)
NETPLAN_VLANS = f"""
network:
  version: 2
  ethernets: {{{PF}: {{mtu: 9000}}}}
  vlans:
    vlan7: {{id: 7, link: {PF}, mtu: 9000, addresses: [192.168.9.1/24, 10.3.99.5/24], dhcp4: no}}
    en-vpn: {{id: 2, link: {PF}, addresses: [192.0.2.9/24]}}
"""
# https://nmstate.io/examples.html (VLAN)
NMSTATE_VLAN = f"""
interfaces:
- {{name: {PF}, type: ethernet, state: up, mtu: 9000}}
- name: {PF}.101
  type: vlan
  state: up
  vlan: {{base-iface: {PF}, id: 101, protocol: 802.1q}}
  ipv4: {{enabled: true, dhcp: false, address: [{{ip: 192.168.9.1, prefix-length: 24}}]}}
"""
# systemd.netdev(5), example 2, and the lines of systemd.network(5) that name it
VLAN1 = "[Match]\nVirtualization=no\n\n[NetDev]\nName=vlan1\nKind=vlan\n\n[VLAN]\nId=1\n"
ABOVE = f"[Match]\nName={PF}\n\n[Network]\nVLAN=vlan1\n"


def test_a_vlan_on_a_port_is_its_underlay_and_what_a_spec_names_otherwise_is_listed(tmp_path: Path):
    spec, unsaid = read(tmp_path, "netplan", {"a.yaml": NETPLAN_VLANS})
    assert isinstance(spec, HostsOnly) and spec.underlay is not None
    assert (str(spec.underlay.subnet), spec.underlay.vlan) == ("192.168.9.0/24", 7)
    assert unsaid == [
        f"{PF}: netdev of the VLAN on it vlan7 (the spec gives {PF}.7)",
        "a.yaml: network.vlans.vlan7.addresses: 10.3.99.5/24",
        "a.yaml: network.vlans.vlan7.dhcp4: no",
        f'a.yaml: network.vlans.en-vpn: {{"id": 2, "link": "{PF}", "addresses": ["192.0.2.9/24"]}}',
    ]
    spec, unsaid = read(tmp_path, "nmstate", {"b.yaml": NMSTATE_VLAN})
    assert isinstance(spec, HostsOnly) and spec.underlay is not None
    assert spec.underlay.vlan == 101
    assert unsaid == [f"b.yaml: interfaces.{PF}.101.vlan.protocol: 802.1q"]


def test_a_netdev_of_systemd_that_is_not_for_every_host_is_listed_whole(tmp_path: Path):
    files = {"25-vlan1.netdev": VLAN1, "25-port.network": ABOVE}
    spec, unsaid = read(tmp_path, "networkd", files)
    assert isinstance(spec, HostsOnly) and spec.underlay is None
    assert [line.rpartition(": ")[0] for line in unsaid] == [
        f"{PF}",
        "25-vlan1.netdev: line 2: [Match] Virtualization (its port is not told)",
        "25-vlan1.netdev: line 5: [NetDev] Name (its port is not told)",
        "25-vlan1.netdev: line 6: [NetDev] Kind (its port is not told)",
        "25-vlan1.netdev: line 9: [VLAN] Id (its port is not told)",
        "25-port.network: line 5: [Network] VLAN",
    ]


# `nmstatectl show` of nmstate 2.2.62 on a host of the lab, shortened
SHOWN_STATE = f"""
interfaces:
- name: {PF}
  profile-name: Wired connection 1
  type: ethernet
  driver: igb
  state: up
  mtu: 9000
  min-mtu: 68
  ipv4:
    enabled: true
    dhcp: false
    address: [{{ip: 169.254.7.1, prefix-length: 16}}, {{ip: 192.168.9.1, prefix-length: 24}}]
    prefix-route-metric: -1
  ipv6:
    enabled: true
    address: [{{ip: "fe80::bf17:a246:140:c917", prefix-length: 64}}]
  ethtool: {{ring: {{rx: 256, rx-max: 8192, tx: 256, tx-max: 4096}}}}
  ethernet:
    sr-iov: {{drivers-autoprobe: true, total-vfs: 0, max-vfs: 7, vfs: []}}
"""


def test_what_nmstate_itself_shows_of_a_host_is_read(tmp_path: Path):
    spec, unsaid = read(tmp_path, "nmstate", {"a.yaml": SHOWN_STATE})
    assert isinstance(spec, HostsOnly) and spec.underlay is not None
    assert (str(spec.underlay.subnet), spec.underlay.mtu) == ("192.168.9.0/24", 9000)
    of = f"a.yaml: interfaces.{PF}"
    for line in (
        f"{of}.ipv4.prefix-route-metric: -1",
        f'{of}.ipv4.address: {{"ip": "169.254.7.1", "prefix-length": 16}}',
        f'{of}.ipv6.address: {{"ip": "fe80::bf17:a246:140:c917", "prefix-length": 64}}',
        f"{of}.ethtool.ring.rx-max: 8192",
        f"{of}.ethernet.sr-iov.max-vfs: 7",
    ):
        assert line in unsaid


# systemd.network(5), example 1 (https://www.freedesktop.org/software/systemd/man/252/)
STATIC = f"""
# 50-static.network
[Match]
Name={PF}

[Network]
Address=192.168.9.1/24
Gateway=192.168.9.254
"""
# systemd.link(5), [SR-IOV] section, and example 2, of a port by its MAC
SRIOV_LINK = f"""
[Match]
OriginalName={PF}
[Link]
MTUBytes=9000
RxBufferSize=max
SR-IOVVirtualFunctions=1
[SR-IOV]
VirtualFunction=0
VLANId=42
VLANProtocol=802.1ad
Trust=yes
"""
DMZ = "[Match]\nMACAddress=02:00:5e:00:53:01\n\n[Link]\nName=dmz0\n"


def test_systemds_port_with_an_address_and_a_gateway(tmp_path: Path):
    files = {"50-static.network": STATIC, "10-dmz.link": DMZ}
    spec, unsaid = read(tmp_path, "networkd", files)
    assert spec.hosts["alpha"].ports == ("0000:03:00.0",)
    assert unsaid == [
        f"{PF}: link up",
        f"{PF}: address 192.168.9.1/24",
        "50-static.network: line 8: [Network] Gateway: 192.168.9.254",
        "10-dmz.link: line 2: [Match] MACAddress (its port is not told): 02:00:5e:00:53:01",
        "10-dmz.link: line 5: [Link] Name (its port is not told): dmz0",
    ]


@pytest.mark.parametrize(("name", "is_port"), [(PF, True), (OTHER, False), ("eth9", False)])
def test_systemds_file_that_names_a_port_twice_is_of_both_or_of_none(
    name: str, is_port: bool, tmp_path: Path
):
    """Conditions of [Match] must all hold (systemd.network(5))."""
    text = f"[Match]\nPath=pci-0000:03:00.0\nName={name}\n\n[Link]\nMTUBytes=9000\n"
    whole = f"[Match]\nName={PF}\n\n[Network]\nAddress=192.168.9.1/24\n"
    spec, unsaid = read(tmp_path, "networkd", {"10-a.network": text, "20-b.network": whole})
    assert isinstance(spec, HostsOnly)
    assert (spec.underlay is not None) == is_port
    assert any("its port is not told" in line for line in unsaid) != is_port


def test_systemds_keys_of_later_releases_are_listed(tmp_path: Path):
    """systemd's NEWS: 255 and 256 (Ubuntu 24.04, Debian 13), 258, 260."""
    network = (
        f"[Match]\nName={PF}\n\n[Network]\nIPv4Forwarding=yes\nIPv6Forwarding=no\n"
        "IPv4ReversePathFilter=loose\nMPLSRouting=no\n\n[Address]\nAddress=192.168.9.1/24\n"
        "NFTSet=prefix:netdev:filter:eth\n\n[MobileNetwork]\nAPN=x\n"
    )
    link = f"[Match]\nOriginalName={PF}\n\n[Link]\nMTUBytes=9000\nScatterGather=yes\n"
    spec, unsaid = read(tmp_path, "networkd", {"10-a.network": network, "10-a.link": link})
    assert isinstance(spec, HostsOnly) and spec.underlay is not None
    assert [line.partition("] ")[2] for line in unsaid] == [
        "IPv4Forwarding: yes", "IPv6Forwarding: no", "IPv4ReversePathFilter: loose",
        "MPLSRouting: no", "NFTSet: prefix:netdev:filter:eth", "APN: x", "ScatterGather: yes",
    ]  # fmt: skip


def test_systemds_vfs_in_a_link_file(tmp_path: Path):
    subnets = ("--subnet", "underlay=192.168.9.0/24", "--subnet", "vlan42=192.168.10.0/24")
    spec, unsaid = read(tmp_path, "networkd", {"10-vfs.link": SRIOV_LINK}, *subnets)
    assert isinstance(spec, LegacyVlan) and spec.networks["vlan42"].segment == 42
    assert unsaid == [
        f"VF 0 of {PF}: trust",
        "10-vfs.link: line 6: [Link] RxBufferSize: max",
        "10-vfs.link: line 11: [SR-IOV] VLANProtocol: 802.1ad",
    ]


# https://docs.rs/nmstate/latest/nmstate/struct.SrIovConfig.html
NMSTATE_SRIOV = f"""
interfaces:
- name: {PF}
  type: ethernet
  state: up
  mac-address: 02:00:5E:00:53:02
  mtu: 1500
  min-mtu: 68
  max-mtu: 9702
  ethernet:
    sr-iov:
      total-vfs: 1
      vfs:
      - {{id: 0, mac-address: "02:00:5e:00:53:03", spoof-check: true, trust: false,
          min-tx-rate: 0, max-tx-rate: 0, vlan-id: 0, qos: 0}}
"""
# https://www.nmstate.io/examples.html (ethernet, bond, routes)
NMSTATE_STATIC = f"""
interfaces:
- name: {PF}
  type: ethernet
  state: up
  mtu: 9000
  ipv4: {{enabled: true, address: [{{ip: 192.168.9.1, prefix-length: 24}}]}}
  ipv6: {{enabled: true, address: [{{ip: "2001:db8::1:1", prefix-length: 64}}]}}
- name: {OTHER}
  type: ethernet
  state: down
  ipv4: {{enabled: false}}
- name: bond99
  type: bond
  state: up
routes:
  config: [{{destination: 0.0.0.0/0, next-hop-interface: {PF}}}]
"""


def test_nmstates_vf_with_all_its_fields(tmp_path: Path):
    spec, unsaid = read(tmp_path, "nmstate", {"a.yml": NMSTATE_SRIOV})
    assert spec.approach == "none"
    assert unsaid == [
        f"{PF}: link up",
        f"VF 0 of {PF}: MAC 02:00:5e:00:53:03",
        f"VF 0 of {PF}: spoof check",
        f"VF 0 of {PF}: trust no",
        f"VF 0 of {PF}: least rate, Mbit/s 0",
        f"VF 0 of {PF}: largest rate, Mbit/s 0",
        f"VF 0 of {PF}: VLAN 0",
        f"{PF}: number of VFs 1",
        f"{PF}: MTU 1500",
        f"a.yml: interfaces.{PF}.ethernet.sr-iov.vfs[0].qos: 0",
        f"a.yml: interfaces.{PF}.mac-address: 02:00:5E:00:53:02",
        f"a.yml: interfaces.{PF}.min-mtu: 68",
        f"a.yml: interfaces.{PF}.max-mtu: 9702",
    ]


def test_nmstates_ports_up_and_down_a_bond_and_a_route(tmp_path: Path):
    spec, unsaid = read(tmp_path, "nmstate", {"a.yml": NMSTATE_STATIC})
    assert isinstance(spec, HostsOnly) and spec.underlay is not None
    assert str(spec.underlay.subnet) == "192.168.9.0/24"
    assert unsaid == [
        'a.yml: routes: {"config": [{"destination": "0.0.0.0/0", '
        f'"next-hop-interface": "{PF}"}}]}}',
        f'a.yml: interfaces.{PF}.ipv6.address: {{"ip": "2001:db8::1:1", "prefix-length": 64}}',
        f"a.yml: interfaces.{OTHER}.state: down",
        "a.yml: interfaces.bond99 (no port of a card of alpha): "
        '{"name": "bond99", "type": "bond", "state": "up"}',
    ]


# https://github.com/k8snetworkplumbingwg/sriov-network-operator/blob/master/doc/basic-examples.md
POLICY = f"""
apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {{name: nic, namespace: sriov-network-operator}}
spec:
  deviceType: vfio-pci
  nicSelector: {{vendor: "15b3", deviceID: "1017", pfNames: ["{PF}"]}}
  nodeSelector: {{kubernetes.io/hostname: alpha}}
  numVfs: 2
  resourceName: mlx_dpdk
  priority: 10
"""
BY_LABEL = POLICY.replace(
    "kubernetes.io/hostname: alpha", "feature.node.kubernetes.io/network-sriov.capable: 'true'"
).replace("name: nic", "name: any")
NETWORK = """
apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetwork
metadata: {name: net, namespace: default}
spec:
  resourceName: mlx_dpdk
  ipam: '{"type": "host-local"}'
  vlan: 100
"""


def test_the_operators_policy_and_network(tmp_path: Path):
    subnets = ("--subnet", "underlay=192.168.9.0/24", "--subnet", "vlan100=192.168.10.0/24")
    text = POLICY.replace("numVfs: 2", "numVfs: 2\n  mtu: 9000") + "---" + NETWORK
    spec, unsaid = read(tmp_path, "sriov-operator", {"a.yaml": text}, *subnets)
    assert isinstance(spec, LegacyVlan) and len(spec.guests) == 2
    assert {guest.networks for guest in spec.guests.values()} == {("vlan100",)}
    policy = "a.yaml: SriovNetworkNodePolicy nic"
    assert unsaid == [
        f"{policy}.nicSelector.vendor: 15b3",
        f"{policy}.nicSelector.deviceID: 1017",
        f"{policy}.priority: 10",
        "a.yaml: SriovNetwork net: metadata.namespace: default",
        'a.yaml: SriovNetwork net.ipam: {"type": "host-local"}',
    ]


def test_a_policy_by_label_is_listed_and_never_guessed_at(tmp_path: Path):
    spec, unsaid = read(tmp_path, "sriov-operator", {"a.yaml": POLICY, "b.yaml": BY_LABEL})
    assert spec.approach == "none" and spec.hosts["alpha"].ports == ("0000:03:00.0",)
    assert f"VF 1 of {PF}: driver vfio-pci" in unsaid and f"{PF}: number of VFs 2" in unsaid
    listed = "b.yaml: SriovNetworkNodePolicy any (which hosts it is for, their labels say): {"
    assert unsaid[-1].startswith(listed)


# https://github.com/k8snetworkplumbingwg/sriov-network-operator/blob/master/doc/ovs-hw-offload.md
OFFLOAD = POLICY.replace("deviceType: vfio-pci", "eSwitchMode: switchdev").replace(
    "resourceName: mlx_dpdk", "resourceName: mlx_dpdk\n  mtu: 1500\n  bridge: {ovs: {}}"
)
OVS = NETWORK.replace("kind: SriovNetwork", "kind: OVSNetwork")


def test_the_operators_own_bridge_and_a_vlan_of_its_port_are_listed(tmp_path: Path):
    spec, unsaid = read(tmp_path, "sriov-operator", {"a.yaml": f"{OFFLOAD}---{OVS}"})
    assert spec.approach == "none"
    assert f"{PF}: mode of the embedded switch switchdev" in unsaid
    assert 'a.yaml: SriovNetworkNodePolicy nic.bridge: {"ovs": {}}' in unsaid
    assert "a.yaml: OVSNetwork net.vlan: 100" in unsaid


@pytest.mark.parametrize("kind", ["SriovIBNetwork", "SriovNetworkPoolConfig"])
def test_other_objects_of_the_operator_are_listed(kind: str, tmp_path: Path):
    other = NETWORK.replace("SriovNetwork", kind)
    _, unsaid = read(tmp_path, "sriov-operator", {"a.yaml": f"{POLICY}---{other}"})
    assert any(line.startswith(f"a.yaml: {kind} net: {{") for line in unsaid)


def test_a_secret_of_another_tools_file_is_shown_nowhere(tmp_path: Path):
    secret = "correct-horse"  # noqa: S105
    text = NETPLAN_STATIC.replace(
        "  bonds:",
        f"  wifis: {{w: {{access-points: {{home: {{password: {secret}}}}}}}}}\n  bonds:",
    ).replace("mtu: 9000", f"mtu: 9000\n      auth: {{key-management: eap, password: {secret}}}")
    _, unsaid = read(tmp_path, "netplan", {"a.yaml": text})
    assert "a.yaml: network.ethernets.uplink.auth: (a secret)" in unsaid
    hidden = '{"w": {"access-points": {"home": {"password": "(a secret)"}}}}'
    assert f"a.yaml: network.wifis: {hidden}" in unsaid
    assert not any(secret in line for line in unsaid)
    unit = DMZ + f"WakeOnLanPassword={secret}\n"
    _, unsaid = read(tmp_path, "networkd", {"a.network": STATIC, "b.link": unit})
    assert "WakeOnLanPassword (its port is not told): (a secret)" in unsaid[-1]


@pytest.mark.parametrize("address", ["169.254.7.1/24", "192.168.9.1/31", "192.168.9.7/24"])
def test_an_address_that_a_spec_cannot_give_is_listed(address: str, tmp_path: Path):
    text = NETPLAN_STATIC.replace("192.168.9.1/24", address)
    spec, unsaid = read(tmp_path, "netplan", {"a.yaml": text})
    assert isinstance(spec, HostsOnly) and spec.underlay is None
    assert f"{PF}: address {address}" in unsaid
