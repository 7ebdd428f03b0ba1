"""A capture of Windows made anonymous: what names a person or machine is gone, the rest stays."""

from described.windows import Windows, as_found, external_switch, guid
from wirespeed.doctor.anonymous import anonymous
from wirespeed.model.capture import parse_capture, with_section
from wirespeed.model.observed import Known
from wirespeed.platforms.windows.facts.windows_adapters import WindowsAdapters
from wirespeed.platforms.windows.facts.windows_host import WindowsHost
from wirespeed.platforms.windows.facts.windows_switches import WindowsSwitches

NAMES = "hostname DESKTOP-QK7\nuser Eleonore\n"
CRASH = "IMAGE_NAME: x.sys\nPROCESS_NAME: C:\\Users\\Eleonore\\run.exe on DESKTOP-QK7\n"


def captured() -> str:
    windows = Windows()
    as_found(windows)
    external_switch(windows)
    windows.add("vm-adapters", VMName="payroll-db", SwitchId=guid(3), SwitchName="X",
                Mac="00155D00AB01", IovWeight=0, VmqWeight=100, Status=["Ok"],
                IsManagementOs=False)  # fmt: skip
    text = with_section(windows.capture(), "x", "windows-names", NAMES)
    return with_section(text, "x", "crash-analysis", CRASH)


def test_names_addresses_and_numbers_of_one_machine_are_gone():
    text = anonymous(captured(), "x", b"k" * 32)
    for told in (
        "DESKTOP-QK7", "Eleonore", "payroll-db", "0000000A-3B5C-4D64", "98-03-9B-00-00-0A",
        "00155D00AB01", "192.168.1.20", "10.10.10.1\"",
    ):  # fmt: skip
        assert told.lower() not in text.lower(), told


def test_a_host_that_is_called_by_a_common_word_is_not_named_either():
    text = with_section(Windows().capture(), "x", "windows-names", "hostname server\nuser host\n")
    assert "server" not in anonymous(text, "x", b"k" * 32)


def test_what_the_doctor_reads_stays():
    old, new = (parse_capture(t, "x") for t in (captured(), anonymous(captured(), "x", b"k" * 32)))
    before, after = (WindowsAdapters.parse(capture).known() for capture in (old, new))
    kept = [
        [(a.index, a.name, a.description, a.component_id, a.shown_bps, a.mac[:6]) for a in adapters]
        for adapters in (before, after)
    ]
    assert kept[0] == kept[1]
    switch = WindowsSwitches.parse(new).known()[-1]
    assert switch.name == "ConnectX-External"
    assert switch.card_guids == (next(a.guid for a in after if a.index == 10),)
    assert WindowsHost.parse(new).build == WindowsHost.parse(old).build
    assert isinstance(WindowsHost.parse(new).build, Known)
