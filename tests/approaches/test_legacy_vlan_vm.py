"""Guests that are virtual machines: what is done on their host, and what within them."""

import pytest
from test_legacy_vlan import host as ports_of_host

from wirespeed.apply.spec_file import parse_spec
from wirespeed.approaches.legacy_vlan import legacy_vlan
from wirespeed.approaches.legacy_vlan_vm import guest_ssh_port, management_mac
from wirespeed.facts.cpu import Cpus
from wirespeed.facts.pci import Pci
from wirespeed.model.capture import parse_capture
from wirespeed.model.error import InputError
from wirespeed.model.fact import FactT, HostFacts
from wirespeed.model.observed import CannotTellError
from wirespeed.model.spec.spec import Spec
from wirespeed.steps.guest_libvirt import GuestLibvirt
from wirespeed.steps.guest_qemu import GuestQemu
from wirespeed.steps.hugepages import Hugepages

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINbVBC67eWFEdo1bStFUdU8ji6Qfi5CV4X"
SPEC = f"""
hosts:
  alpha: {{reach: ssh://root@alpha, ports: ["0000:03:00.0", "0000:03:00.1"]}}
  beta: {{reach: ssh://root@beta, ports: ["0000:03:00.0", "0000:03:00.1"]}}
approach: legacy-vlan
underlay: {{subnet: 192.168.9.0/24, mtu: 9080}}
networks:
  storage: {{segment: 42, subnet: 192.168.10.0/24, mtu: 9000}}
  public: {{segment: 40, subnet: 192.168.20.0/24, mtu: 1500}}
guests:
  ceph-1: {{host: alpha, networks: [storage], kind: namespace}}
  gpu-1: {{host: alpha, networks: [storage, public], kind: qemu, vcpus: 2, memory_gib: 1.5,
          image: /srv/a.qcow2, hugepage_kib: 2048, authorized_keys: ["{KEY}"]}}
  gpu-2: {{host: alpha, networks: [public], kind: libvirt, memory_gib: 1,
          image: /srv/b.img, hugepage_kib: 2048, authorized_keys: ["{KEY}"]}}
"""


SYSFS = "/sys/devices/system"


class Described(HostFacts):
    """The host of the other test, with the CPUs and the place of its cards besides."""

    def __init__(self, nodes: dict[int, str], total: int) -> None:
        ports = ports_of_host(total=total)
        super().__init__(ports.name, ports.capture)
        cpus = [f"{SYSFS}/cpu/online:0-{nodes[max(nodes)].rpartition('-')[2]}"]
        cpus += [f"{SYSFS}/node/node{node}/cpulist:{cpus}" for node, cpus in nodes.items()]
        ways = [f"/sys/devices/pci0000:00/0000:03:00.{port}" for port in (0, 1)]
        places = [f"/sys/bus/pci/devices/0000:03:00.{port}/numa_node:1" for port in (0, 1)]
        lines = ["wirespeed-capture 1 case", "case begin cpu -", *cpus, "", "case end 0"]
        lines += ["case begin pci-hops -", *ways, "", "case end 0"]
        lines += ["case begin pci -", *places, "", "case end 0", "case done", ""]
        self._more = HostFacts(ports.name, parse_capture("\n".join(lines), ports.name))

    def __getitem__(self, fact: type[FactT]) -> FactT:
        return self._more[fact] if fact in (Cpus, Pci) else super().__getitem__(fact)


def host(nodes: dict[int, str] | None = None, total: int = 16) -> HostFacts:
    return Described(nodes or {0: "0-7"}, total)


def spec(text: str = SPEC) -> Spec:
    return parse_spec(text, "spec.yaml")


def test_a_guest_has_what_it_needs_before_it_starts_and_is_set_up_after():
    found = [
        (w.guest, f"{w.step.model_dump()['step']} {w.step.subject}")
        for w in legacy_vlan(spec(), "alpha", host())
    ]
    at = found.index(("", "hugepages hugepages of 2048 KiB"))
    assert found[at:] == [
        ("", "hugepages hugepages of 2048 KiB"),
        ("", "module vfio_iommu_type1"),
        ("", "guest_seed /run/wirespeed/guests/gpu-1/seed"),
        ("", "guest_qemu gpu-1"),
        ("gpu-1", "module bonding"),
        ("gpu-1", "netdev_name 0000:00:08.0 as net0p0"),
        ("gpu-1", "netdev_name 0000:00:09.0 as net0p1"),
        ("gpu-1", "bond bond0"),
        ("gpu-1", "mtu bond0"),
        ("gpu-1", "address bond0"),
        ("gpu-1", "netdev_name 0000:00:0a.0 as net1p0"),
        ("gpu-1", "netdev_name 0000:00:0b.0 as net1p1"),
        ("gpu-1", "bond bond1"),
        ("gpu-1", "mtu bond1"),
        ("gpu-1", "address bond1"),
        ("", "guest_seed /run/wirespeed/guests/gpu-2/seed"),
        ("", "guest_libvirt gpu-2"),
        ("gpu-2", "module bonding"),
        ("gpu-2", "netdev_name 0000:00:08.0 as net0p0"),
        ("gpu-2", "netdev_name 0000:00:09.0 as net0p1"),
        ("gpu-2", "bond bond0"),
        ("gpu-2", "mtu bond0"),
        ("gpu-2", "address bond0"),
    ]
    within = [w for w in legacy_vlan(spec(), "alpha", host()) if w.guest]
    assert all(w.is_made for w in within), "the guest is started by an earlier step"


def test_its_vfs_are_its_own_networks_on_both_ports_in_the_order_of_its_slots():
    """VF 0 is ceph-1's; offsets 2 and 17 of the ports, so that VF 1 is 03:00.3 and 03:02.2 + 1."""
    steps = [w.step for w in legacy_vlan(spec(), "alpha", host())]
    [qemu] = [s for s in steps if isinstance(s, GuestQemu)]
    [libvirt] = [s for s in steps if isinstance(s, GuestLibvirt)]
    assert qemu.vfs == ("0000:03:00.3", "0000:03:02.3", "0000:03:00.4", "0000:03:02.4")
    assert libvirt.vfs == ("0000:03:00.5", "0000:03:02.5")
    assert (qemu.memory_mib, qemu.vcpus, qemu.image) == (1536, 2, "/srv/a.qcow2")


def test_hugepages_are_enough_for_all_guests_of_the_host():
    steps = [w.step for w in legacy_vlan(spec(), "alpha", host())]
    [pages] = [step for step in steps if isinstance(step, Hugepages)]
    # 1536 MiB and 1024 MiB in pages of 2 MiB.
    assert pages.count == 768 + 512


@pytest.mark.parametrize(
    ("gib", "page_kib", "mib", "pages"),
    [(1.5, 1048576, 2048, 2), (0.5, 1048576, 1024, 1), (1.001, 2048, 1026, 513)],
)
def test_a_guests_memory_is_whole_hugepages(gib: float, page_kib: int, mib: int, pages: int):
    # QEMU 10.0 of 1536M in pages of 1 GiB: failed to resize memfd to 1610612736: Invalid argument
    text = SPEC.replace("memory_gib: 1,", f"memory_gib: {gib},").replace(
        "image: /srv/b.img, hugepage_kib: 2048", f"image: /srv/b.img, hugepage_kib: {page_kib}"
    )
    steps = [w.step for w in legacy_vlan(spec(text), "alpha", host())]
    [libvirt] = [step for step in steps if isinstance(step, GuestLibvirt)]
    assert libvirt.memory_mib == mib
    of_size = [s.count for s in steps if isinstance(s, Hugepages) and s.page_kib == page_kib]
    assert of_size == [pages + (768 if page_kib == 2048 else 0)]


def test_memory_and_cpus_are_of_the_cards_node_where_there_are_several():
    steps = [w.step for w in legacy_vlan(spec(), "alpha", host({0: "0-3", 1: "4-7"}))]
    [qemu] = [s for s in steps if isinstance(s, GuestQemu)]
    assert (qemu.numa_node, qemu.cpus) == (1, "4,5,6,7")
    [pages] = [s for s in steps if isinstance(s, Hugepages)]
    assert pages.numa_node == 1
    [alone] = [
        w.step for w in legacy_vlan(spec(), "alpha", host()) if isinstance(w.step, GuestQemu)
    ]
    assert (alone.numa_node, alone.cpus) == (None, "")


def test_without_knowing_the_cards_node_no_guest_is_planned():
    with pytest.raises(CannotTellError):
        list(legacy_vlan(spec(), "alpha", ports_of_host()))


def test_each_has_its_own_port_of_the_hosts_loopback_and_its_own_mac():
    assert guest_ssh_port(spec(), "gpu-1") != guest_ssh_port(spec(), "gpu-2")
    assert management_mac("gpu-1") != management_mac("gpu-2")


def test_a_host_without_virtual_machines_has_no_step_of_them():
    assert not [w for w in legacy_vlan(spec(), "beta", host()) if w.guest]


def test_more_vfs_than_a_guest_has_slots_for_are_refused():
    networks = [f"n{number}" for number in range(12)]
    text = SPEC.replace("networks: [public], kind: libvirt", f"networks: {networks}, kind: libvirt")
    more = "".join(
        f"  {name}: {{segment: {100 + n}, subnet: 10.1.{n}.0/24, mtu: 1500}}\n"
        for n, name in enumerate(networks)
    )
    text = text.replace("guests:\n", f"{more}guests:\n")
    with pytest.raises(InputError) as caught:
        list(legacy_vlan(spec(text), "alpha", host(total=64)))
    assert caught.value.what == "spec.too_many_vfs_in_guest"


PINNED = SPEC.replace("kind: qemu, vcpus: 2", "kind: libvirt, vcpus: 2, cpus: '0,1'").replace(
    "kind: libvirt, memory", "kind: libvirt, vcpus: 2, cpus: 2-3, memory"
)


def test_each_vcpu_has_a_cpu_of_its_own_and_qemu_those_of_none():
    guests = [
        w.step
        for w in legacy_vlan(spec(PINNED), "alpha", host())
        if isinstance(w.step, GuestLibvirt)
    ]
    assert [(one.cpus, one.emulator_cpus) for one in guests] == [
        ("0,1", "4,5,6,7"),
        ("2,3", "4,5,6,7"),
    ]


@pytest.mark.parametrize(
    ("nodes", "found"),
    [({0: "0-2"}, "CPUs 3 of alpha are not online"), ({0: "0-3"}, "all CPUs of alpha: 0,1,2,3")],
)
def test_cpus_that_are_not_there_or_leave_qemu_none_are_refused(nodes: dict[int, str], found: str):
    with pytest.raises(InputError) as caught:
        list(legacy_vlan(spec(PINNED), "alpha", host(nodes)))
    assert caught.value.what == "spec.guest_cpus" and found in caught.value.found


@pytest.mark.parametrize(
    ("was", "is_now", "why"),
    [
        ("cpus: 2-3", "cpus: 2-4", "3 for 2 vcpus"),
        ("cpus: 2-3", "cpus: 1-2", "guests gpu-1 and gpu-2: both have CPU 1"),
        ("vcpus: 2, cpus: 2-3, ", "", "guest gpu-2: it would run on the CPUs of others on alpha"),
        (
            "kind: libvirt, vcpus: 2, cpus: 2-3",
            "kind: qemu, vcpus: 2, cpus: 2-3",
            "kind libvirt alone",
        ),
    ],
)
def test_cpus_of_guests_that_cannot_be_are_refused(was: str, is_now: str, why: str):
    assert was in PINNED
    with pytest.raises(InputError, match=why):
        spec(PINNED.replace(was, is_now))


@pytest.mark.parametrize(
    ("was", "is_now", "why"),
    [
        ("image: /srv/b.img", 'image: "/srv/b,c"', "absolute path"),
        ("image: /srv/b.img", "image: /srv/b.img, initrd: /x", "belong to a kernel"),
        ("image: /srv/b.img", "image: /srv/b.img, kernel: x", "absolute path"),
        (f'"{KEY}"]}}}}\n', '"no key"]}}\n', "public key"),
    ],
)
def test_a_spec_of_a_virtual_machine_that_cannot_be_is_refused(was: str, is_now: str, why: str):
    assert was in SPEC or was.replace("}}", "}") in SPEC
    text = SPEC.replace(was.replace("}}", "}"), is_now.replace("}}", "}"))
    with pytest.raises(InputError, match=why):
        spec(text)
