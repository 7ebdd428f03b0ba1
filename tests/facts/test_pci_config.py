"""Configuration space: samples/od/connectx5ex.txt is what `lspci -xxx` gave of a ConnectX-5 Ex.

It stands in a thread of linux-pci of January 2022 on SR-IOV after a reset; od prints those bytes.
"""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wirespeed.facts.pci_cards import card
from wirespeed.facts.pci_config import (
    ACCESS_CONTROL,
    PCI_EXPRESS,
    PciConfig,
    capability,
    config_bytes,
    extended_capability,
)
from wirespeed.model.capture import Capture, Section
from wirespeed.model.observed import Absent, Known, Unreadable

CARD = "0000:01:00.0"
DUMP = (Path(__file__).parent / "samples/od/connectx5ex.txt").read_text()


def settings(dump: str, errors: str = "", returncode: int | None = 0):
    capture = Capture([Section("pci-config", CARD, dump, errors, returncode)], complete=True)
    return PciConfig.parse(capture).of(CARD)


def dumped(config: bytes) -> str:
    return " ".join(f"{byte:02x}" for byte in config)


def with_acs(control: int) -> str:
    config = bytearray(4096)
    config[:256] = config_bytes(DUMP) or b""
    # Error reporting first, and access control after it, as lspci lists a ConnectX-4 Lx.
    config[0x100:0x104] = (0x0001 | 1 << 16 | 0x230 << 20).to_bytes(4, "little")
    config[0x230:0x238] = (
        (ACCESS_CONTROL | 1 << 16).to_bytes(4, "little") + bytes(2) + bytes([control, 0])
    )
    return dumped(bytes(config))


def test_a_card_is_decoded_as_lspci_does():
    found = settings(DUMP)
    assert found.port_type == Known("endpoint", f"setpci -s {CARD} CAP_EXP+2.w")
    assert found.max_payload_supported_bytes == Known(512, f"setpci -s {CARD} CAP_EXP+4.w")
    assert found.max_payload_bytes == Known(512, f"setpci -s {CARD} CAP_EXP+8.w")
    assert found.max_read_request_bytes == Known(512, f"setpci -s {CARD} CAP_EXP+8.w")
    assert found.relaxed_ordering == Known(True, f"setpci -s {CARD} CAP_EXP+8.w")
    assert found.extended_tags == Known(True, f"setpci -s {CARD} CAP_EXP+8.w")
    assert found.aspm == Known("disabled", f"setpci -s {CARD} CAP_EXP+10.w")


def test_the_register_of_the_published_report_reads_as_it_says():
    # "setpci 68.w=3936" sets read requests of 1024: DPDK 19.08 report, table 3.
    config = bytearray(config_bytes(DUMP) or b"")
    config[0x68:0x6A] = (0x3936).to_bytes(2, "little")
    found = settings(dumped(bytes(config)))
    assert (found.max_read_request_bytes, found.max_payload_bytes) == tuple(
        Known(size, f"setpci -s {CARD} CAP_EXP+8.w") for size in (1024, 256)
    )


def test_without_root_it_needs_root():
    found = settings("\n".join(DUMP.splitlines()[:4]))
    assert isinstance(found.max_payload_bytes, Unreadable)
    assert "needs root" in found.max_payload_bytes.reason
    assert found.max_payload_bytes.source == f"lspci -vv -s {CARD}"


@pytest.mark.parametrize(("control", "expected"), [(0x00, False), (0x1D, True), (0x19, False)])
def test_access_control_redirects_by_its_own_bit(control: int, expected: bool):
    assert settings(with_acs(control)).acs_redirects == Known(
        expected, f"setpci -s {CARD} ECAP_ACS+6.w"
    )


def test_without_the_extended_space_access_control_is_not_known():
    assert isinstance(settings(DUMP).acs_redirects, Unreadable)


def test_a_function_that_is_no_pci_express_has_no_settings():
    config = bytearray(256)
    config[0x06] = 0x10
    config[0x34] = 0x40
    config[0x40:0x42] = b"\x09\x00"  # vendor specific, as virtio has
    assert isinstance(settings(dumped(bytes(config))).max_payload_bytes, Absent)


@pytest.mark.parametrize(
    ("dump", "errors", "returncode"),
    [
        ("", "od: /sys/…/config: Permission denied", 1),
        ("", "sh: od: not found", 127),
        ("not a dump", "", 0),
        (" ff" * 256, "", 0),
        (DUMP * 20, "", 0),
        (DUMP[:400], "", None),
    ],
)
def test_what_makes_no_sense_is_unreadable(dump: str, errors: str, returncode: int | None):
    assert isinstance(settings(dump, errors, returncode).max_payload_bytes, Unreadable)


def test_a_list_that_bites_its_tail_ends():
    config = bytearray(4096)
    config[0x06] = 0x10
    config[0x34] = 0x40
    config[0x40:0x42] = b"\x05\x40"
    config[0x100:0x104] = (0x0001 | 1 << 16 | 0x100 << 20).to_bytes(4, "little")
    assert capability(bytes(config), PCI_EXPRESS) is None
    assert extended_capability(bytes(config), ACCESS_CONTROL) is None


def test_a_reserved_size_is_not_guessed():
    config = bytearray(config_bytes(DUMP) or b"")
    config[0x69] |= 0x70
    found = settings(dumped(bytes(config)))
    assert isinstance(found.max_read_request_bytes, Unreadable)
    assert isinstance(found.max_payload_bytes, Known)


@given(st.binary(min_size=64, max_size=4096))
def test_any_bytes_are_read_without_an_error(config: bytes):
    settings(dumped(config))


@given(st.text())
def test_any_text_is_read_without_an_error(text: str):
    settings(text)


def test_a_card_is_told_by_its_device():
    assert card(0x15B3, 0x1019) is not None
    found = card(0x15B3, 0x101E)
    assert found is not None
    assert found.is_vf
    assert card(0x8086, 0x1019) is None
