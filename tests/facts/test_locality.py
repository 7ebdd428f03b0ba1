"""CPUs near a port, and masks as sysfs reads them."""

import pytest

from wirespeed.facts.cpu_list import parse_cpu_mask
from wirespeed.facts.locality import (
    cpu_mask_text,
    is_one_socket,
    local_cores,
    local_cpus,
    node_of_port,
)
from wirespeed.model.capture import Capture, Section
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import Absent, Known
from wirespeed.model.port import Port, PortKind

ADDRESS = "0000:3b:00.0"
CPU = "/sys/devices/system"
PORT = Port("enp59s0f0", ADDRESS, "mlx5_core", PortKind.PHYSICAL)


def host(node: int, nodes: str) -> HostFacts:
    """A host of four CPUs on two cores, and a card on `node`."""
    siblings = "\n".join(
        f"{CPU}/cpu/cpu{cpu}/topology/thread_siblings_list:{cpu % 2},{cpu % 2 + 2}"
        for cpu in range(4)
    )
    way = f"/sys/devices/pci0000:3a/0000:3a:00.0/{ADDRESS}"
    sections = [
        Section("cpu", "", f"{CPU}/cpu/online:0-3\n{nodes}\n{siblings}", "", 0),
        Section("pci-hops", "", way, "", 0),
        Section("pci", "", f"/sys/bus/pci/devices/{ADDRESS}/numa_node:{node}", "", 0),
    ]
    return HostFacts("host", Capture(sections, complete=True))


TWO = f"{CPU}/node/node0/cpulist:0,2\n{CPU}/node/node1/cpulist:1,3"
ONE = f"{CPU}/node/node0/cpulist:0-3"
WITH_MEMORY_ONLY = f"{ONE}\n{CPU}/node/node1/cpulist:"


@pytest.mark.parametrize(
    ("cpus", "text"),
    [
        ([], "0"),
        ([0], "1"),
        ([0, 1, 2, 3], "f"),
        ([31], "80000000"),
        ([32], "1,00000000"),
        ([0, 64], "1,00000000,00000001"),
    ],
)
def test_a_mask_is_written_in_groups_of_32_bits(cpus: list[int], text: str):
    assert cpu_mask_text(cpus) == text
    assert parse_cpu_mask(text) == frozenset(cpus)


def test_cpus_near_a_card_are_those_of_its_node():
    found = host(1, TWO)
    node = node_of_port(found, PORT)
    assert isinstance(node, Known)
    assert node.value == 1
    near = local_cpus(found, PORT)
    assert isinstance(near, Known)
    assert near.value == frozenset({1, 3})
    cores = local_cores(found, PORT)
    assert isinstance(cores, Known)
    assert cores.value == 1


@pytest.mark.parametrize(("node", "nodes"), [(-1, TWO), (0, ONE), (0, WITH_MEMORY_ONLY)])
def test_without_a_node_of_its_own_every_cpu_is_near(node: int, nodes: str):
    found = host(node, nodes)
    assert isinstance(node_of_port(found, PORT), Absent)
    near = local_cpus(found, PORT)
    assert isinstance(near, Known)
    assert near.value == frozenset(range(4))
    cores = local_cores(found, PORT)
    assert isinstance(cores, Known)
    assert cores.value == 2


@pytest.mark.parametrize(
    ("package", "flags", "detected", "is_one"),
    [
        # An EPYC with two nodes per socket.
        (0, "flags\t: fpu avx2", "none", True),
        # A guest of an Arm host: no feature of the CPU tells it.
        (0, "Features\t: fp asimd", "kvm", False),
        (0, "Features\t: fp asimd", "none", True),
        (0, "flags\t: fpu hypervisor", None, False),
        # An Arm whose firmware describes no sockets (topology_physical_package_id).
        (-1, "Features\t: fp asimd", "none", False),
    ],
)
def test_what_is_known_of_a_bare_processor_alone_is_one_socket(
    package: int, flags: str, detected: str | None, is_one: bool
):
    topology = "\n".join(
        f"{CPU}/cpu/cpu{cpu}/topology/physical_package_id:{package}" for cpu in range(4)
    )
    sections = [
        Section("cpu", "", f"{CPU}/cpu/online:0-3\n{TWO}\n{topology}", "", 0),
        Section("cpuinfo", "", flags, "", 0),
    ]
    if detected is not None:
        sections.append(Section("detect-virt", "", detected, "", int(detected == "none")))
    assert is_one_socket(HostFacts("host", Capture(sections, complete=True)), range(4)) is is_one
