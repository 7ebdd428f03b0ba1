"""`wirespeed import-spec`: what `export-spec` writes comes back, and nothing is lost in silence."""

from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result
from described_ports import BRIDGED, CABLE, GUESTS, capture_text

from wirespeed.apply.spec_file import parse_spec
from wirespeed.approaches.guest_network import guest_mac
from wirespeed.commands.export_spec import export_spec
from wirespeed.commands.import_spec import import_spec
from wirespeed.commands.plan import plan
from wirespeed.model.error import InputError

OURS = """
hosts:
  alpha: {reach: ALPHA, ports: ["0000:03:00.0", "0000:03:00.1"]}
approach: legacy-vlan
underlay: {subnet: 192.168.9.0/24, mtu: 9080}
networks:
  vlan42: {segment: 42, subnet: 192.168.10.0/24, mtu: 9080}
  vlan40: {segment: 40, subnet: 192.168.20.0/24, mtu: 9080}
guests:
  alpha-vf0: {host: alpha, networks: [vlan42], KIND}
  alpha-vf1: {host: alpha, networks: [vlan40], KIND}
"""
NONE, SPACE = OURS.replace("KIND", "kind: none"), OURS.replace("KIND", "kind: namespace")
SUBNETS = [
    "--subnet", "underlay=192.168.9.0/24", "--subnet", "vlan42=192.168.10.0/24",
    "--subnet", "vlan40=192.168.20.0/24",
]  # fmt: skip
BEHIND = BRIDGED.replace("KIND", "kind: none")
OF_BRIDGES = [
    "--subnet", "underlay=192.168.9.0/24", "--subnet", "storage=192.168.10.0/24",
    "--subnet", "public=192.168.20.0/24",
]  # fmt: skip
VNIS = ["--segment", "storage=7042", "--segment", "public=7040"]
TUNING = "tuning: {rings: largest, channels: 4, pause: false}"
UNTUNED = CABLE.replace(TUNING, "")
TAGGED = UNTUNED.replace("mtu: 9000", "mtu: 9000, vlan: 40")
NO_CHANNELS = CABLE.replace("channels: 4, ", "")
RINGS_ALONE = CABLE.replace("underlay: {subnet: 192.168.9.0/24, mtu: 9000}", "")
LATER = CABLE.replace("alpha:", "omega:").replace("pause: false", "pause: true")


def run(command: object, *words: object) -> Result:
    given = [str(word) for word in words]
    return CliRunner().invoke(command, given, catch_exceptions=False, standalone_mode=False)  # type: ignore[arg-type]


def capture(folder: Path) -> Path:
    path = folder / "host.txt"
    path.write_text(capture_text())
    return path


def exported(folder: Path, form: str, text: str) -> tuple[str, list[Path]]:
    """Give the spec with its places, and the files that it is written as."""
    host = str(capture(folder))
    text = text.replace("ALPHA", host).replace("BETA", host)
    (folder / "spec.yaml").write_text(text)
    run(export_spec, folder / "spec.yaml", "--as", form, "--out", folder / "out")
    return text, sorted((folder / "out").glob("*/*"))


def hosts_of(text: str, folder: Path) -> list[str]:
    names = parse_spec(text, "spec").hosts
    return [word for name in names for word in ("--host", f"{name}={folder / 'host.txt'}")]


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("netplan", UNTUNED), ("networkd", CABLE), ("networkd", UNTUNED), ("networkd", RINGS_ALONE),
        ("networkd", LATER), ("nmstate", NO_CHANNELS), ("nmstate", UNTUNED),
        ("netplan", TAGGED), ("networkd", TAGGED), ("nmstate", TAGGED),
        ("netplan", SPACE), ("networkd", NONE), ("nmstate", NONE),
        ("sriov-operator", NONE), ("sriov-operator", SPACE),
    ],
)  # fmt: skip
def test_what_is_written_is_read_back_as_the_same_spec(form: str, text: str, tmp_path: Path):
    text, files = exported(tmp_path, form, text)
    subnets = SUBNETS if "guests" in text else []
    done = run(import_spec, *files, "--as", form, *hosts_of(text, tmp_path), *subnets)
    assert parse_spec(done.stdout, "spec") == parse_spec(text, "spec")
    assert "cannot say" not in done.stderr and "cannot:" not in done.stdout


@pytest.mark.parametrize("kind", ["kind: none", "kind: namespace"])
def test_vfs_behind_bridges_come_back_as_the_same_spec(kind: str, tmp_path: Path):
    text, files = exported(tmp_path, "sriov-operator", BRIDGED.replace("KIND", kind))
    words = [*files, "--as", "sriov-operator", *hosts_of(text, tmp_path), *OF_BRIDGES, *VNIS]
    done = run(import_spec, *words)
    assert parse_spec(done.stdout, "spec") == parse_spec(text, "spec")
    assert "cannot say" not in done.stderr
    assert "alpha: ovs_bridge br-storage" in done.stderr


@pytest.mark.parametrize(
    ("more", "what", "where"),
    [
        ([*OF_BRIDGES[2:], *VNIS], "formats.subnet_missing", "underlay"),
        (OF_BRIDGES, "formats.segment_missing", "storage, public"),
    ],
)
def test_what_no_file_has_of_bridges_is_asked_for(
    more: list[str], what: str, where: str, tmp_path: Path
):
    text, files = exported(tmp_path, "sriov-operator", BEHIND)
    with pytest.raises(InputError) as caught:
        run(import_spec, *files, "--as", "sriov-operator", *hosts_of(text, tmp_path), *more)
    assert (caught.value.what, caught.value.where) == (what, where)


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("bridge: br-storage", "bridge: physnet_1", "VF 0 of enp3s0f0np0: bridge of its "
         "representor physnet_1"),
        ("bridge: br-storage", "bridge: br-public", "VF 0 of enp3s0f0np0: bridge of its "
         "representor br-public"),
        ("eSwitchMode: switchdev", "eSwitchMode: legacy", "enp3s0f0np0: mode of the embedded "
         "switch legacy"),
    ],
)  # fmt: skip
def test_bridges_of_other_names_or_without_switchdev_make_no_spec_of_guests(
    old: str, new: str, line: str, tmp_path: Path
):
    text, files = exported(tmp_path, "sriov-operator", BEHIND)
    files[0].write_text(files[0].read_text().replace(old, new))
    done = run(import_spec, *files, "--as", "sriov-operator", *hosts_of(text, tmp_path))
    assert parse_spec(done.stdout, "spec").approach == "none"
    assert f"  alpha: {line}\n" in done.stderr


def test_a_segment_is_a_number():
    with pytest.raises(click.BadParameter):
        run(import_spec, "a", "--as", "netplan", "--host", "a=here", "--segment", "storage=x")


@pytest.mark.parametrize(("form", "text"), [("netplan", UNTUNED), ("networkd", NONE)])
def test_a_plan_from_another_tools_files_is_that_of_the_spec(form: str, text: str, tmp_path: Path):
    text, files = exported(tmp_path, form, text)
    subnets = SUBNETS if "guests" in text else []
    unread = run(plan, tmp_path / "spec.yaml", "--unread", "alpha").stdout
    done = run(
        plan, "--from", form, *files, *hosts_of(text, tmp_path), *subnets, "--unread", "alpha"
    )
    assert done.stdout == unread and len(unread.splitlines()) > 20


@pytest.mark.parametrize(
    "words",
    [
        ("a", "b"),
        ("a", "--host", "alpha=here"),
        ("a", "--subnet", "x=y"),
        ("a", "--segment", "x=1"),
        ("--from", "netplan", "a"),
    ],
)
def test_a_plan_takes_one_spec_or_files_with_their_hosts(words: tuple[str, ...]):
    with pytest.raises(click.BadParameter):
        run(plan, *words)


@pytest.mark.parametrize("form", ["networkd", "nmstate"])
def test_of_guests_of_other_names_the_macs_are_listed(form: str, tmp_path: Path):
    text, files = exported(tmp_path, form, GUESTS)
    done = run(import_spec, *files, "--as", form, *hosts_of(text, tmp_path), *SUBNETS)
    spec = parse_spec(done.stdout, "spec")
    assert [guest.networks for guest in spec.guests.values()] == [("vlan42",), ("vlan40",)]
    ours = guest_mac("alpha-vf0", "vlan42")
    line = f"VF 0 of enp3s0f1np1: MAC {guest_mac('ceph-1', 'storage')} (the spec gives {ours})"
    assert f"  alpha: {line}\n" in done.stderr


def test_a_vf_without_a_vlan_makes_no_guest_and_is_listed(tmp_path: Path):
    text, files = exported(tmp_path, "netplan", GUESTS)
    done = run(import_spec, *files, "--as", "netplan", *hosts_of(text, tmp_path))
    assert parse_spec(done.stdout, "spec").approach == "none"
    for line in ("enp3s0f0np0: number of VFs 2", "enp3s0f1np1: MTU 9080"):
        assert f"  alpha: {line}\n" in done.stderr
        assert f"# - alpha: {line}\n" in done.stdout


def test_one_host_of_two_has_an_address_that_a_spec_cannot_give(tmp_path: Path):
    _, files = exported(tmp_path, "networkd", CABLE)
    beta = [path for path in files if path.parent.name == "beta"]
    done = run(import_spec, *beta, "--as", "networkd", "--host", f"beta={tmp_path / 'host.txt'}")
    assert "underlay:" not in done.stdout
    assert "  beta: enp3s0f0np0: address 192.168.9.2/24\n" in done.stderr


def test_what_a_spec_says_beyond_the_file_is_listed(tmp_path: Path):
    text, files = exported(tmp_path, "networkd", NONE)
    done = run(import_spec, *files, "--as", "networkd", *hosts_of(text, tmp_path), *SUBNETS)
    assert "the spec says beyond them:\n" in done.stderr
    assert "# - alpha: VF 0 of enp3s0f0np0: driver vfio-pci\n" in done.stdout


def test_the_subnets_of_vlans_are_asked_for(tmp_path: Path):
    text, files = exported(tmp_path, "nmstate", NONE)
    with pytest.raises(InputError) as caught:
        run(import_spec, *files, "--as", "nmstate", *hosts_of(text, tmp_path), *SUBNETS[:4])
    assert (caught.value.what, caught.value.where) == ("formats.subnet_missing", "vlan40")


NETPLAN = "network: {version: 2, ethernets: {enp3s0f0np0: {WRONG}}}"
LINK = "[Match]\nPath=pci-0000:03:00.0\n[Link]\n"
STATE = "interfaces: [{name: enp3s0f0np0, WRONG}]"
POLICY = """
apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: p, namespace: sriov-network-operator}
spec: {nodeSelector: {kubernetes.io/hostname: alpha}, resourceName: r, WRONG}
"""


@pytest.mark.parametrize(
    ("form", "name", "text", "found"),
    [
        ("netplan", "a.yaml", NETPLAN.replace("WRONG", "mtuu: 9000"),
         "network.ethernets.enp3s0f0np0.mtuu: found 9000; expected one of "),
        ("netplan", "a.yaml", NETPLAN.replace("WRONG", "mtu: large"),
         "network.ethernets.enp3s0f0np0.mtu: found large; expected a whole number"),
        ("netplan", "a.yaml", "network: {version: 1}", "network.version: found 1; expected 2"),
        ("netplan", "a.yaml", "[]", "the file: found []; expected fields"),
        ("networkd", "a.link", LINK + "MTU=9000\n", "line 4: [Link]: found MTU; expected one of "),
        ("networkd", "a.link", LINK + "[Lonk]\n", "line 4: found [Lonk]; expected one of "),
        ("networkd", "a.link", "MTUBytes=1\n", "line 1: found MTUBytes=1; expected [SECTION]"),
        ("networkd", "a.link", LINK + "RxFlowControl=maybe\n",
         "line 4: [Link] RxFlowControl: found maybe; expected yes or no"),
        ("networkd", "a.link", LINK.replace("03:00.0", "09:00.0"),
         "line 2: [Match] Path: found 0000:09:00.0; expected a port of alpha, which has 0000:03:"),
        ("networkd", "a.conf", LINK, "expected .link or .network"),
        ("networkd", "a.link", LINK + "MTUBytes=9000\nMTUBytes=1500\n",
         "line 5: [Link] MTUBytes: found 1500; expected 9000, given elsewhere"),
        ("nmstate", "a.yml", STATE.replace("WRONG", "mut: 1"),
         "interfaces.enp3s0f0np0.mut: found 1; expected one of "),
        ("nmstate", "a.yml", STATE.replace("WRONG", "state: on"),
         "interfaces.enp3s0f0np0.state: found on; expected up, down, absent or ignore"),
        ("sriov-operator", "a.yaml", POLICY.replace("WRONG", "numVf: 2"),
         "SriovNetworkNodePolicy p.numVf: found 2; expected one of "),
        ("sriov-operator", "a.yaml",
         POLICY.replace("WRONG", "numVfs: 2, nicSelector: {pfNames: [ens9]}"),
         "nicSelector.pfNames: found ens9; expected a netdev of alpha, which has enp3s0f0np0"),
        ("sriov-operator", "a.yaml",
         POLICY.replace("alpha", "gamma").replace("WRONG", "numVfs: 2, nicSelector: {}"),
         "nodeSelector: found gamma; expected one of alpha"),
        ("sriov-operator", "a.yaml", "apiVersion: v1", "apiVersion: found v1; expected sriov"),
    ],
)  # fmt: skip
def test_what_a_tool_does_not_know_is_refused(
    form: str, name: str, text: str, found: str, tmp_path: Path
):
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError) as caught:
        run(import_spec, tmp_path / name, "--as", form, "--host", f"alpha={capture(tmp_path)}")
    assert caught.value.what == "formats.invalid"
    assert caught.value.where == str(tmp_path / name)
    assert found in caught.value.found


@pytest.mark.parametrize(
    ("text", "found"), [("a: [", "line 1: "), ("a: &x 1\nb: *x", "line 2: an alias")]
)
def test_what_is_no_yaml_is_refused_with_its_line(text: str, found: str, tmp_path: Path):
    (tmp_path / "a.yaml").write_text(text)
    with pytest.raises(InputError) as caught:
        run(import_spec, tmp_path / "a.yaml", "--as", "nmstate", "--host", f"a={capture(tmp_path)}")
    assert caught.value.what == "formats.not_yaml" and caught.value.found.startswith(found)


def test_a_file_of_no_host_is_refused(tmp_path: Path):
    (tmp_path / "a.link").write_text(LINK)
    hosts = [word for name in "ab" for word in ("--host", f"{name}={capture(tmp_path)}")]
    with pytest.raises(InputError) as caught:
        run(import_spec, tmp_path / "a.link", "--as", "networkd", *hosts)
    assert caught.value.what == "formats.file_of_no_host"


def test_files_that_say_nothing_of_a_port_make_no_spec(tmp_path: Path):
    (tmp_path / "a.yaml").write_text("network: {version: 2, bonds: {bond0: {}}}")
    with pytest.raises(InputError) as caught:
        run(import_spec, tmp_path / "a.yaml", "--as", "netplan", "--host", f"a={capture(tmp_path)}")
    assert caught.value.what == "formats.says_nothing" and "network.bonds" in caught.value.found
