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
        30, Known(domain, f"cat /sys/bus/pci/devices/{CARD}/iommu_group/type"), domain
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


def before(release: str, line: str, said: str, unit: str = "dmar0") -> IommuGroup:
    kernel = f"/proc/sys/kernel/osrelease:{release}\n/proc/cmdline:{line}"
    lines = f"unit {unit}\ngroups 60\n{CARD} group=30 type={said}"
    sections = [Section("kernel", "", kernel, "", 0), Section("iommu", "", lines, "", 0)]
    group = Iommu.parse(Capture(sections, complete=True)).by_function[CARD]
    assert isinstance(group, Known)
    return group.value


@pytest.mark.parametrize(
    ("release", "line", "said", "domain"),
    [
        ("4.14.0", "ro intel_iommu=on", "", "DMA-FQ"),
        ("4.14.0", "ro intel_iommu=on iommu=pt", "", "identity"),
        ("4.14.0", "ro intel_iommu=on,strict", "", "DMA"),
        ("5.4.0", "ro amd_iommu=fullflush", "DMA", "DMA"),
        ("5.4.0", "ro", "DMA", "DMA-FQ"),
        ("5.15.0", "ro", "DMA", "DMA"),
    ],
)
def test_what_a_type_means_differs_by_the_release(release: str, line: str, said: str, domain: str):
    found = before(release, line, said).domain
    assert isinstance(found, Known)
    assert found.value == domain


def test_an_arm_waits_unless_it_is_told_otherwise():
    smmu = "smmu3.0x0000000011000000"
    assert before("5.4.0", "ro", "DMA", smmu).domain == Known(
        "DMA", f"cat /sys/bus/pci/devices/{CARD}/iommu_group/type"
    )
    lazy = before("5.4.0", "ro iommu.strict=0", "DMA", smmu).domain
    assert isinstance(lazy, Known)
    assert lazy.value == "DMA-FQ"
    assert isinstance(before("4.14.0", "ro iommu=pt", "", smmu).domain, Known)


def test_a_release_that_has_the_file_and_was_not_read_leaves_it_open():
    assert isinstance(before("5.4.0", "ro", "").domain, Unreadable)
