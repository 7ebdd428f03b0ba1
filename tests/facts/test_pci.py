"""The way up from a card. The paths are those of sysfs on real machines, with other addresses."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wirespeed.facts.pci import Pci
from wirespeed.model.capture import Capture, Section
from wirespeed.model.observed import Absent, CannotTellError, Known, Unreadable

SERVER = "/sys/devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0"
SWITCH = "/sys/devices/pci0000:00/0000:00:01.1/0000:01:00.0/0000:02:04.0/0000:03:00.0"
VMD = "/sys/devices/pci0000:00/0000:00:0e.0/pci10000:e0/10000:e0:06.0/10000:e1:00.0"
HYPERV = "/sys/devices/LNXSYSTM:00/VMBUS:00/e2f6c9a4-1ba2-4a1f/pci1ba2:00/1ba2:00:02.0"


def pci(*ways: str, files: str = "", errors: str = "") -> Pci:
    return Pci.parse(
        Capture(
            [
                Section("pci-hops", "", "\n".join(ways), "", 0),
                Section("pci", "", files, errors, 0),
            ],
            complete=True,
        )
    )


def ends(found: Pci, address: str) -> list[tuple[str, str]]:
    return [(link.lower.address, link.upper.address) for link in found.links(address)]


def test_a_card_in_a_slot_has_one_link():
    assert ends(pci(SERVER), "0000:3b:00.0") == [("0000:3b:00.0", "0000:3a:00.0")]


def test_the_inside_of_a_switch_is_no_link():
    assert ends(pci(SWITCH), "0000:03:00.0") == [
        ("0000:03:00.0", "0000:02:04.0"),
        ("0000:01:00.0", "0000:00:01.1"),
    ]


def test_a_domain_below_another_bus_begins_there():
    assert ends(pci(VMD), "10000:e1:00.0") == [("10000:e1:00.0", "10000:e0:06.0")]


def test_a_function_on_the_root_bus_has_no_link():
    assert pci(HYPERV).links("1ba2:00:02.0") == ()
    assert pci(HYPERV).links(None) == ()


def test_a_way_that_was_not_read_is_not_known():
    with pytest.raises(CannotTellError, match="not read"):
        pci(SERVER).links("0000:5e:00.0")


def test_a_way_that_is_no_way_from_a_card_to_a_root_port_is_not_guessed():
    with pytest.raises(CannotTellError, match="odd"):
        pci("/sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:00.0").links("0000:02:00.0")


@pytest.mark.parametrize(
    ("printed", "expected"),
    [("2.5 GT/s PCIe", 2.5), ("8 GT/s", 8.0), ("32.0 GT/s PCIe", 32.0), ("64.0 GT/s PCIe", 64.0)],
)
def test_every_way_that_a_kernel_prints_a_speed(printed: str, expected: float):
    path = "/sys/bus/pci/devices/0000:3b:00.0/current_link_speed"
    found = pci(SERVER, files=f"{path}:{printed}").functions["0000:3b:00.0"]
    assert found.gt_per_s == Known(expected, f"cat {path}")


@pytest.mark.parametrize(("width", "kind"), [("0", Absent), ("255", Unreadable), ("x", Unreadable)])
def test_a_width_that_is_none(width: str, kind: type):
    path = "/sys/bus/pci/devices/0000:3b:00.0/current_link_width"
    found = pci(SERVER, files=f"{path}:{width}").functions["0000:3b:00.0"]
    assert isinstance(found.lanes, kind)


def test_a_bridge_that_a_hypervisor_makes_up_is_told():
    path = "/sys/bus/pci/devices/0000:3a:00.0/vendor"
    found = pci(SERVER, files=f"{path}:0x1b36").functions
    assert found["0000:3a:00.0"].emulator == "QEMU"
    assert found["0000:3b:00.0"].emulator is None


@given(st.text(), st.text(), st.text())
def test_any_text_is_read_without_an_error(ways: str, files: str, errors: str):
    pci(ways, SERVER, files=files, errors=errors)
