"""How the IOMMU treats a port: lines of our own script over sysfs-kernel-iommu_groups."""

import pytest

from wirespeed.facts.iommu import Iommu, IommuGroup
from wirespeed.model.capture import Capture, Section
from wirespeed.model.observed import Absent, Known, Unreadable

CARD = "0000:3b:00.0"


def iommu(*lines: str) -> Iommu:
    return Iommu.parse(Capture([Section("iommu", "", "\n".join(lines), "", 0)], complete=True))


@pytest.mark.parametrize("domain", ["DMA", "DMA-FQ", "identity"])
def test_the_type_of_a_group_is_the_kernels_word(domain: str):
    found = iommu("unit dmar0", "groups 60", f"{CARD} group=30 type={domain}")
    group = found.by_function[CARD]
    assert isinstance(group, Known)
    assert group.value == IommuGroup(
        30, Known(domain, f"cat /sys/bus/pci/devices/{CARD}/iommu_group/type")
    )
    assert found.units == Known(("dmar0",), "ls /sys/class/iommu")
    assert found.groups == Known(60, "ls /sys/class/iommu")


def test_a_kernel_that_does_not_say_leaves_it_open():
    group = iommu("groups 1", f"{CARD} group=30 type=").by_function[CARD]
    assert isinstance(group, Known)
    assert isinstance(group.value.domain, Unreadable)


def test_no_group_is_no_iommu():
    found = iommu("groups 0", f"{CARD} group= type=")
    assert isinstance(found.by_function[CARD], Absent)
    assert found.groups == Known(0, "ls /sys/class/iommu")
    assert found.units == Known((), "ls /sys/class/iommu")


def test_nothing_read_is_not_no_iommu():
    found = Iommu.parse(Capture([], complete=True))
    assert isinstance(found.groups, Unreadable)
    assert found.by_function == {}


@pytest.mark.parametrize(("said", "without"), [("Y", True), ("N", False)])
def test_vfio_may_go_without(said: str, without: bool):
    source = "cat /sys/module/vfio/parameters/enable_unsafe_noiommu_mode"
    assert iommu("groups 0", f"noiommu {said}").vfio_goes_without == Known(without, source)


@pytest.mark.parametrize(
    ("option", "without"), [("1", True), ("Y", True), ("on", True), ("0", False)]
)
def test_vfio_may_go_without_as_soon_as_it_is_loaded(option: str, without: bool):
    source = "grep -r enable_unsafe_noiommu_mode /etc/modprobe.d"
    assert iommu("groups 0", f"option {option}").vfio_goes_without == Known(without, source)
    assert iommu("noiommu N", f"option {option}").vfio_goes_without != Known(True, source)


def test_vfio_that_is_not_loaded_says_nothing():
    assert isinstance(iommu("groups 0").vfio_goes_without, Absent)
    assert isinstance(iommu("groups 0", "noiommu ?").vfio_goes_without, Unreadable)
