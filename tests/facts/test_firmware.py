"""`mstconfig -d … -e q` and `devlink -j dev info`.

query_connectx5 has the lines that issues about SR-IOV show, in the columns of mstflint 4.21
(mlxconfig/mlxcfg_ui.cpp); query_wide is of a newer one, query_next_boot of a card that tells one
column. devlink's text is that of the kernel commit that brought it to mlx5, in its JSON.
"""

import json
from pathlib import Path

import pytest

from wirespeed.facts.firmware import CardFirmware, Firmware
from wirespeed.model.capture import Capture, Section
from wirespeed.model.observed import Absent, CannotTellError, Known, Unreadable

SAMPLES = Path(__file__).parent / "samples/mstconfig"
SOURCE = "mstconfig -d 0000:03:00.0 -e q"
PORTS = "\n".join(
    f"- driver=mlx5_core physfn= port= device=/sys/devices/pci0000:00/0000:03:00.{i}"
    for i in (0, 1)
)


def firmware(*sections: Section) -> Firmware:
    return Firmware.parse(Capture([Section("ports", "", PORTS, "", 0), *sections], complete=True))


def settings(output: str, code: int = 0) -> Section:
    return Section("mstconfig", "0000:03:00.0", output, "", code)


def read(name: str) -> CardFirmware:
    return firmware(settings((SAMPLES / f"{name}.txt").read_text())).of("0000:03:00.0")


def test_now_and_next_boot_are_told_apart():
    card = read("query_connectx5")
    assert isinstance(card.settings, Known)
    sriov = card.settings.value["SRIOV_EN"]
    assert (sriov.default, sriov.current, sriov.next_boot) == (
        Known("False(0)", SOURCE), Known("False(0)", SOURCE), Known("True(1)", SOURCE),
    )  # fmt: skip


def test_a_star_at_what_differs_from_the_default_is_not_taken_for_pending():
    card = read("query_connectx5")
    assert isinstance(card.settings, Known)
    number = card.settings.value["NUM_OF_VFS"]
    assert number.current == number.next_boot == Known("16", SOURCE)


def test_names_with_small_letters_and_values_longer_than_their_column_are_read():
    card = read("query_connectx5")
    assert isinstance(card.settings, Known)
    assert card.settings.value["EXP_ROM_UEFI_x86_ENABLE"].next_boot == Known("True(1)", SOURCE)
    fec = card.settings.value["PHY_FEC_OVERRIDE_P1"]
    assert fec.current == Known("DEVICE_DEFAULT(0)", SOURCE)
    assert isinstance(card.settings.value["ROCE_NEXT_PROTOCOL"].current, Absent)


def test_wider_columns_of_a_newer_tool_are_read():
    card = read("query_wide")
    assert isinstance(card.settings, Known)
    assert card.settings.value["CRYPTO_POLICY"].current == Known("UNRESTRICTED(1)", SOURCE)
    assert len(card.settings.value) == 4


def test_a_card_that_tells_the_next_boot_alone_leaves_the_rest_absent():
    card = read("query_next_boot")
    assert isinstance(card.settings, Known)
    vlan = card.settings.value["BOOT_VLAN"]
    assert vlan.next_boot == Known("1", SOURCE)
    assert isinstance(vlan.current, Absent) and isinstance(vlan.default, Absent)


def test_an_older_card_that_tells_what_is_in_force_alone_is_read():
    text = "Configurations:                 Current\n   SRIOV_EN          True(1)\n"
    card = firmware(settings(text)).of("0000:03:00.0")
    assert isinstance(card.settings, Known)
    sriov = card.settings.value["SRIOV_EN"]
    assert sriov.current == Known("True(1)", SOURCE) and isinstance(sriov.next_boot, Absent)


def test_settings_are_those_of_the_whole_card():
    found = firmware(settings((SAMPLES / "query_connectx5.txt").read_text()))
    second = found.of("0000:03:00.1")
    assert isinstance(second.settings, Known)
    assert second.settings_read_at == "0000:03:00.0"


@pytest.mark.parametrize(
    ("output", "code"),
    [("\n-E- Failed to open the device\n", 3), ("", 0), ("Device #1:\n", 0), ("x" * 9999, 0)],
)
def test_what_is_no_table_is_unreadable(output: str, code: int):
    assert isinstance(firmware(settings(output, code)).of("0000:03:00.0").settings, Unreadable)


def test_settings_stand_where_some_groups_could_not_be_asked_for():
    text = (SAMPLES / "query_connectx5.txt").read_text() + "-E- Failed to query some of the TLVs:\n"
    assert isinstance(firmware(settings(text, 1)).of("0000:03:00.0").settings, Known)


def test_the_tool_that_the_host_has_is_the_one_that_is_named():
    text = (SAMPLES / "query_wide.txt").read_text()
    card = firmware(Section("mlxconfig", "0000:03:00.0", text, "", 0)).of("0000:03:00.1")
    assert card.settings_tool == "mlxconfig"
    assert card.settings.source == "mlxconfig -d 0000:03:00.0 -e q"


def test_firmware_that_runs_and_that_is_stored_are_read():
    versions = {
        "fixed": {"fw.psid": "MT_0000000009"},
        "running": {"fw.version": "16.26.0100"},
        "stored": {"fw.version": "16.26.1200"},
    }
    info = {"info": {"pci/0000:03:00.0": {"driver": "mlx5_core", "versions": versions}}}
    card = firmware(Section("devlink-info", "", json.dumps(info), "", 0)).of("0000:03:00.0")
    source = "devlink dev info pci/0000:03:00.0"
    assert card.board_id == Known("MT_0000000009", source)
    assert (card.running, card.stored) == (
        Known("16.26.0100", source), Known("16.26.1200", source),
    )  # fmt: skip


def test_a_function_that_devlink_does_not_list_has_no_version():
    card = firmware(Section("devlink-info", "", '{"info":{}}', "", 0)).of("0000:03:00.1")
    assert isinstance(card.running, Absent)


def test_a_function_that_was_not_asked_about_cannot_be_told():
    with pytest.raises(CannotTellError):
        firmware().of(None)


def test_where_the_whole_table_takes_too_long_the_number_of_vfs_is_asked_for_alone():
    few = Section(
        "firmware-vfs", "0000:03:00.0", (SAMPLES / "query_connectx5.txt").read_text(), "", 0
    )
    cut = Capture([settings("", 124), few], complete=True)
    whole = Firmware.parse(cut).cards["0000:03:00.0"].settings
    assert isinstance(whole, Known) and whole.source == f"{SOURCE} SRIOV_EN NUM_OF_VFS"
    alone = (
        Firmware.parse(Capture([settings("", 124)], complete=True)).cards["0000:03:00.0"].settings
    )
    assert isinstance(alone, Unreadable)
