"""The steps of the legacy VLAN approach, against the document that it comes from."""

import json
from collections.abc import Sequence

import pytest

from wirespeed.apply.spec_file import parse_spec
from wirespeed.approaches.guest_network import guest_mac
from wirespeed.approaches.legacy_vlan import legacy_vlan
from wirespeed.approaches.vf_ports import vf_shares
from wirespeed.model.capture import parse_capture
from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import CannotTellError
from wirespeed.model.spec.spec import Spec
from wirespeed.steps.in_namespace import InNamespace

SPEC = """
hosts:
  alpha: {reach: ssh://root@alpha, ports: ["0000:03:00.0", "0000:03:00.1"]}
  beta: {reach: ssh://root@beta, ports: ["0000:03:00.0", "0000:03:00.1"]}
approach: legacy-vlan
underlay: {subnet: 192.168.9.0/24, mtu: 9080}
networks:
  storage: {segment: 42, subnet: 192.168.10.0/24, mtu: 9000}
  public: {segment: 40, subnet: 192.168.20.0/24, mtu: 1500}
guests:
  ceph-1: {host: alpha, networks: [storage], vcpus: 16, memory_gib: 8}
  gpu-1: {host: alpha, networks: [public], vcpus: 16, memory_gib: 8}
"""
SYSFS = "/sys/bus/pci/devices"
PFS = {"0000:03:00.0": ("enp3s0f0np0", 2), "0000:03:00.1": ("enp3s0f1np1", 17)}
"""Netdev, and the offset that gives the document's addresses: VF 1 is 03:00.3 and 03:02.3."""


MSTCONFIG = (
    "Configurations:   Default  Current  Next Boot",
    "  NUM_OF_VFS   0   1   1",
    "  SRIOV_EN   False(0)   True(1)   True(1)",
)


def spec(text: str = SPEC) -> Spec:
    return parse_spec(text, "spec.yaml")


def host(
    *,
    total: int = 16,
    now: int = 0,
    offset: bool = True,
    driver: str = "mlx5_core",
    vfs: Sequence[str] = (),
    autoprobe: int | None = 1,
    release: str = "",
    managers: Sequence[str] = (),
    links: str = "",
    groups: int | None = None,
    mode: str = "",
) -> HostFacts:
    ports = [
        f"{netdev} driver={driver} physfn= port=p{n} device=/sys/devices/pci0000:00/{address}"
        for n, (address, (netdev, _)) in enumerate(PFS.items())
    ]
    ports += vfs
    files, errors = [], []
    for address, (_, vf_offset) in PFS.items():
        content = {
            "sriov_totalvfs": total,
            "sriov_numvfs": now,
        }
        switch = "sriov_drivers_autoprobe"
        if autoprobe is None:
            errors.append(f"grep: {SYSFS}/{address}/{switch}: No such file or directory")
        content |= {switch: autoprobe} if autoprobe is not None else {}
        content |= {"sriov_offset": vf_offset, "sriov_stride": 1} if offset else {}
        files += [f"{SYSFS}/{address}/{name}:{value}" for name, value in content.items()]
    lines = ["wirespeed-capture 1 case", "case begin ports -", *ports, "", "case end 0"]
    lines += ["case begin sriov -", *files, ""]
    lines += ["case errors", *errors, "", "case end 2"] if errors else ["case end 0"]
    if release:
        kernel = f"/proc/sys/kernel/osrelease:{release}"
        lines += ["case begin kernel -", kernel, "", "case end 0"]
    if links:
        lines += ["case begin ip-link -", links, "", "case end 0"]
    if mode:
        said = json.dumps({"dev": {"pci/0000:03:00.1": {"mode": mode}}})
        lines += ["case begin devlink-eswitch 0000:03:00.1", said, "", "case end 0"]
    if groups is not None:
        lines += ["case begin iommu -", f"groups {groups}", "", "case end 0"]
    if managers:
        running = [f"manager {manager}" for manager in managers]
        lines += ["case begin installed -", *running, "", "case end 0"]
    lines += ["case begin mstconfig 0000:03:00.0", *MSTCONFIG, "", "case end 0", "case done", ""]
    return HostFacts("alpha", parse_capture("\n".join(lines), "alpha"))


def steps(facts: HostFacts, name: str = "alpha", text: str = SPEC) -> list[str]:
    return [
        f"{wanted.step.model_dump()['step']} {wanted.step.subject}"
        for wanted in legacy_vlan(spec(text), name, facts)
    ]


def test_the_steps_of_the_document_in_its_order():
    assert steps(host()) == [
        "module vfio-pci",
        "mtu enp3s0f0np0",
        "link_up enp3s0f0np0",
        f"kernel_switch {SYSFS}/0000:03:00.0/sriov_drivers_autoprobe",
        "vf_count 0000:03:00.0",
        "vf_settings VF 0 of enp3s0f0np0",
        "vf_settings VF 1 of enp3s0f0np0",
        "driver_override 0000:03:00.2",
        "driver_override 0000:03:00.3",
        "mtu enp3s0f1np1",
        "link_up enp3s0f1np1",
        f"kernel_switch {SYSFS}/0000:03:00.1/sriov_drivers_autoprobe",
        "vf_count 0000:03:00.1",
        "vf_settings VF 0 of enp3s0f1np1",
        "vf_settings VF 1 of enp3s0f1np1",
        "driver_override 0000:03:02.2",
        "driver_override 0000:03:02.3",
    ]


def test_each_vf_has_its_guests_vlan_and_mac_on_both_ports():
    found = [w.step.model_dump() for w in legacy_vlan(spec(), "alpha", host())]
    vfs = [(s["netdev"], s["vf"], s["vlan"], s["mac"]) for s in found if s["step"] == "vf_settings"]
    ceph, gpu = guest_mac("ceph-1", "storage"), guest_mac("gpu-1", "public")
    assert vfs == [
        ("enp3s0f0np0", 0, 42, ceph),
        ("enp3s0f0np0", 1, 40, gpu),
        ("enp3s0f1np1", 0, 42, ceph),
        ("enp3s0f1np1", 1, 40, gpu),
    ]
    assert ceph != gpu
    assert int(ceph[:2], 16) & 0b11 == 0b10, "of one station, given out by nobody"


def test_vfs_that_are_not_there_yet_are_made_and_those_that_are_there_are_read():
    made = {w.step.subject: w.is_made for w in legacy_vlan(spec(), "alpha", host())}
    assert made["VF 0 of enp3s0f0np0"]
    assert made["0000:03:00.2"]
    assert not made["0000:03:00.0"]
    assert not any(w.is_made for w in legacy_vlan(spec(), "alpha", host(now=2)))


def test_a_host_without_guests_has_its_ports_made_ready_only():
    assert vf_shares(spec(), "beta") == ()
    assert [s.split()[0] for s in steps(host(), "beta")] == [
        "mtu", "link_up", "mtu", "link_up",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("facts", "what"),
    [
        (host(total=1, driver="igb"), "spec.too_many_vfs"),
        (host(total=0, driver="igb"), "spec.too_many_vfs"),
        (host(now=3), "spec.vfs_in_use"),
    ],
)
def test_what_the_host_cannot_give_is_refused(facts: HostFacts, what: str):
    with pytest.raises(InputError) as caught:
        steps(facts)
    assert caught.value.what == what


def test_as_many_vfs_as_the_card_offers_are_not_too_many():
    assert len(steps(host(total=2))) == 17


def test_a_port_that_is_no_network_card_is_refused_with_those_that_are():
    with pytest.raises(InputError) as caught:
        steps(host(), text=SPEC.replace('alpha, ports: ["0000:03', 'alpha, ports: ["0000:04'))
    assert caught.value.what == "spec.port_unknown"
    assert "0000:03:00.0, 0000:03:00.1" in caught.value.found


def test_nothing_is_planned_where_the_place_of_the_vfs_is_not_known():
    with pytest.raises(CannotTellError, match="sriov_offset"):
        steps(host(offset=False))


NAMESPACES = SPEC.replace("vcpus: 16, memory_gib: 8", "kind: namespace")


def test_a_guest_that_is_a_namespace_gets_its_netdevs_a_bond_and_an_address():
    text = NAMESPACES.replace("networks: [public], kind: namespace", "networks: [public]")
    assert steps(host(), text=text)[-10:] == [
        "module bonding",
        "namespace ceph-1",
        "in_namespace lo in ceph-1",
        "vf_mac 0000:03:00.2",
        "vf_in_namespace 0000:03:00.2 as net0p0 in ceph-1",
        "vf_mac 0000:03:02.2",
        "vf_in_namespace 0000:03:02.2 as net0p1 in ceph-1",
        *["in_namespace bond0 in ceph-1"] * 3,
    ]


def test_vfs_of_namespaces_stay_with_the_kernels_driver():
    assert not [s for s in steps(host(), text=NAMESPACES) if "vfio" in s or "override" in s]
    mixed = steps(
        host(), text=NAMESPACES.replace("networks: [public], kind: namespace", "networks: [public]")
    )
    assert mixed[0] == "module vfio-pci"
    assert [s for s in mixed if "override" in s] == [
        "driver_override 0000:03:00.3", "driver_override 0000:03:02.3",
    ]  # fmt: skip


@pytest.mark.parametrize(("driver", "asked"), [("igb", True), ("mlx5_core", False)])
def test_vfs_that_do_not_hear_of_their_link_are_watched_by_arp(driver: str, asked: bool):
    text = NAMESPACES.replace(
        "gpu-1: {host: alpha, networks: [public]", "gpu-1: {host: beta, networks: [storage]"
    )
    inner = [
        w.step.inner
        for w in legacy_vlan(spec(text), "alpha", host(driver=driver))
        if isinstance(w.step, InNamespace)
    ]
    bonds = [step for step in inner if step["step"] == "bond"]
    assert [bool(bond["arp_ip_targets"]) for bond in bonds] == [asked]


def test_a_card_whose_firmware_offers_too_few_vfs_is_told_first_and_vfs_wait_for_the_boot():
    """Both ports are one card, whose settings are one."""
    found = [w.step for w in legacy_vlan(spec(), "alpha", host(total=1))]
    assert [(s.model_dump()["step"], s.subject) for s in found] == [
        ("firmware_settings", "0000:03:00.0"),
        ("module", "vfio-pci"),
        ("mtu", "enp3s0f0np0"), ("link_up", "enp3s0f0np0"),
        ("mtu", "enp3s0f1np1"), ("link_up", "enp3s0f1np1"),
    ]  # fmt: skip
    assert found[0].wanted({}) == {"SRIOV_EN": 1, "NUM_OF_VFS": 2}
    assert found[0].ends_stage
    assert "firmware_settings" not in " ".join(steps(host(total=2)))


@pytest.mark.parametrize(
    ("vfs", "refused"),
    [
        ("enp3s0f0v0 driver=mlx5_core", True),
        ("- driver=vfio-pci", True),
        ("- driver=mlx5_core", False),
        ("- driver=", False),
    ],
)
def test_a_vf_that_is_there_and_not_in_a_namespace_may_be_somebody_elses(vfs: str, refused: bool):
    line = f"{vfs} physfn=0000:03:00.0 port= device=/sys/devices/pci0000:00/0000:03:00.2"
    facts = host(now=2, vfs=[line])
    if not refused:
        assert steps(facts, text=NAMESPACES)
        return
    with pytest.raises(InputError) as caught:
        steps(facts, text=NAMESPACES)
    assert caught.value.what == "spec.vfs_in_use"
    assert "echo 0 | tee /sys/bus/pci/devices/0000:03:00.0/sriov_numvfs" in caught.value.next
    assert steps(facts), "of a virtual machine it is vfio-pci's, or will be"


@pytest.mark.parametrize(
    ("parent", "refused"),
    [("", True), (',"parentbus":"pci","parentdev":"0000:03:00.0"', False)],
)
def test_a_host_that_does_not_say_whose_a_netdev_is_is_refused_for_namespaces_alone(
    parent: str, refused: bool
):
    # Ubuntu 20.04 (5.4), Debian 11 (5.10): IFLA_PARENT_DEV_NAME came with Linux 5.14.
    facts = host(links=f'[{{"ifindex":2,"ifname":"enp3s0f0np0"{parent}}}]')
    assert steps(facts)
    if not refused:
        assert steps(facts, text=NAMESPACES)
        return
    with pytest.raises(InputError) as caught:
        steps(facts, text=NAMESPACES)
    assert caught.value.what == "spec.vfs_not_found"
    assert "Linux 5.14" in caught.value.found


@pytest.mark.parametrize("text", [SPEC, NAMESPACES], ids=["none", "namespace"])
def test_a_card_in_switchdev_mode_is_refused(text: str):
    # mlx5_eswitch_set_vport_vlan(): a tag is EOPNOTSUPP there, and 0 is taken without effect.
    with pytest.raises(InputError) as caught:
        steps(host(mode="switchdev"), text=text)
    assert (caught.value.what, caught.value.where) == ("spec.switchdev_mode", "alpha 0000:03:00.1")
    assert "devlink dev eswitch set pci/0000:03:00.1 mode legacy" in caught.value.next
    assert steps(host(mode="legacy"), text=text)


def test_a_host_without_an_iommu_is_refused_for_virtual_machines_alone():
    with pytest.raises(InputError) as caught:
        steps(host(groups=0))
    assert caught.value.what == "spec.no_iommu"
    assert "wirespeed doctor alpha --for guests" in caught.value.next
    assert steps(host(groups=0), text=NAMESPACES)
    assert steps(host(groups=60))


def test_a_host_that_gives_vfs_no_driver_is_refused_for_namespaces_alone():
    with pytest.raises(InputError) as caught:
        steps(host(autoprobe=0), text=NAMESPACES)
    assert caught.value.what == "spec.vfs_not_probed"
    assert steps(host(autoprobe=0))


@pytest.mark.parametrize(
    ("kind", "driver", "is_off"),
    [
        ("none", "mlx5_core", True),
        ("namespace", "mlx5_core", False),
        ("none", "i40e", True),
        ("none", "igb", True),
        ("namespace", "ice", False),
    ],
)
def test_the_hosts_driver_is_kept_off_vfs_that_are_all_for_guests(
    kind: str, driver: str, *, is_off: bool
):
    text = SPEC.replace("networks: [storage], vcpus", f"networks: [storage], kind: {kind}, vcpus")
    found = steps(host(driver=driver), text=text)
    assert any("sriov_drivers_autoprobe" in one for one in found) == is_off


@pytest.mark.parametrize(
    ("release", "is_off"),
    [("4.18.0-553.el8_10.x86_64", False), ("5.2.0", False), ("5.3.0", True), ("6.12.0", True)],
)
def test_a_kernel_that_binds_no_vfio_pci_without_the_switch_keeps_it(release: str, *, is_off: bool):
    """pci_device_can_probe() looks at driver_override since Linux 5.3."""
    found = steps(host(release=release))
    assert any("sriov_drivers_autoprobe" in one for one in found) == is_off


def test_a_kernel_that_has_no_such_switch_is_told_nothing():
    assert not any("drivers_autoprobe" in one for one in steps(host(autoprobe=None)))
