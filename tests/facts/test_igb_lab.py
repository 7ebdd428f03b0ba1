"""A whole capture of a host of the virtual lab: igb, Linux 6.12, QEMU 10, made by

wirespeed lab up alpha,width=4,speed=5 beta
(in alpha: MTU 9000 on both ports, two VFs on port 0 with the VLANs 40 and 42)
wirespeed capture --anonymous --seconds 0 alpha.lab --out igb-lab.txt
"""

from pathlib import Path

import pytest

from wirespeed.catalog import rules
from wirespeed.doctor.diagnose import diagnose
from wirespeed.facts.netstack import NetStack
from wirespeed.facts.pci import Pci
from wirespeed.facts.ports import Ports
from wirespeed.facts.queues import Queues
from wirespeed.facts.sriov import Sriov
from wirespeed.model.capture import Capture, parse_capture
from wirespeed.model.fact import HostFacts
from wirespeed.model.finding import Severity
from wirespeed.model.observed import Known
from wirespeed.model.question import Question

SAMPLE = Path(__file__).parent / "samples/captures/igb-lab.txt"


@pytest.fixture(scope="module")
def capture() -> Capture:
    return parse_capture(SAMPLE.read_text(), SAMPLE.name)


def test_its_ports_are_two_cards_with_vfs_and_the_way_in(capture: Capture):
    kinds = {port.netdev: port.driver for port in Ports.parse(capture).ports}
    assert kinds["enp1s0"] == kinds["enp2s0"] == "igb"
    assert kinds["lab0"] == "virtio_net"
    pf = Sriov.parse(capture).pfs["0000:01:00.0"]
    assert (pf.total_vfs, pf.num_vfs) == (
        Known(7, pf.total_vfs.source),
        Known(2, pf.num_vfs.source),
    )
    assert [vf.pci_address for vf in pf.vfs] == ["0000:01:10.0", "0000:01:10.2"]
    assert [vf.netdev.value for vf in pf.vfs if isinstance(vf.netdev, Known)] == [
        *("enp1s0v0", "enp1s0v1")
    ]


def test_its_mtu_and_queues_are_as_they_were_set(capture: Capture):
    links = NetStack.parse(capture).links
    assert isinstance(links, Known)
    mtus = {name: getattr(link.mtu, "value", None) for name, link in links.value.items()}
    assert (mtus["enp1s0"], mtus["enp2s0"], mtus["enp1s0v0"]) == (9000, 9000, 1500)
    queues = Queues.parse(capture).of("enp1s0")
    assert queues.rx_ring_descriptors == Known(256, "ethtool -g enp1s0")
    assert queues.rx_ring_descriptors_max == Known(4096, "ethtool -g enp1s0")


def test_the_root_port_is_as_narrow_as_asked_for_and_the_card_as_qemu_made_it(capture: Capture):
    functions = Pci.parse(capture).functions
    above, card = functions["0000:00:03.0"], functions["0000:01:00.0"]
    found = [
        value.value
        for value in (above.max_lanes, above.max_gt_per_s, card.max_lanes, card.max_gt_per_s)
        if isinstance(value, Known)
    ]
    assert found == [4, 5.0, 1, 2.5]


def test_nothing_above_a_note_is_found_on_it(capture: Capture):
    diagnosis = diagnose(HostFacts("host", capture), Question(), rules())
    assert not diagnosis.faults
    assert {finding.severity for finding in diagnosis.findings} <= {Severity.NOTE}
