"""A debugger's analysis of a crash, as text.

`wsl2-document.txt` is the one of the WSL2 document; `addresses.txt` has the columns that WinDbg
prints (as in https://github.com/nmap/nmap/issues/1642), shortened, with another last frame.
"""

from pathlib import Path

from wirespeed.model.capture import Capture, Section
from wirespeed.model.observed import Absent, Known, Unreadable
from wirespeed.platforms.windows.facts.windows_crashes import WindowsCrashes, analysis_of

SAMPLES = Path(__file__).parent / "samples/windbg"


def test_the_document_s_analysis_blames_the_filter():
    analysis = analysis_of((SAMPLES / "wsl2-document.txt").read_text())
    assert isinstance(analysis, Known)
    assert analysis.value.blamed == "rtf64x64.sys"
    assert analysis.value.symbol == "rtf64x64+51b5"
    assert analysis.value.stack == (
        ("ndis", "ndisFInvokeDetach"), ("ndis", "ndisDetachFilterInner"), ("rtf64x64", ""),
    )  # fmt: skip
    assert not analysis.value.is_of_windows


def test_a_stack_of_addresses_gives_its_modules():
    analysis = analysis_of((SAMPLES / "addresses.txt").read_text())
    assert isinstance(analysis, Known)
    assert analysis.value.blamed == "ntkrnlmp.exe"
    assert analysis.value.is_of_windows
    assert [module for module, _ in analysis.value.stack] == ["nt", "nt", "nt", "ndis", "mlx5"]


def test_without_an_image_the_module_is_named():
    analysis = analysis_of("MODULE_NAME: rtf64x64\n")
    assert isinstance(analysis, Known)
    assert analysis.value.blamed == "rtf64x64.sys"


def test_another_text_is_no_analysis():
    assert isinstance(analysis_of("STACK_TEXT:\n  ndis!x\n"), Unreadable)
    assert isinstance(analysis_of(""), Unreadable)


def test_a_capture_holds_it_as_a_section():
    assert isinstance(WindowsCrashes.parse(Capture([], complete=True)).analysis, Absent)
    section = Section("crash-analysis", "", "IMAGE_NAME:  a.sys\n", "", 0)
    found = WindowsCrashes.parse(Capture([section], complete=True)).analysis
    assert isinstance(found, Known)
    assert found.value.blamed == "a.sys"


def test_the_log_s_stop_codes():
    rows = '[{"Time": "2025-06-01T10:00:00", "Code": "0x000000d1 (0x0000000000000000, 0x2)"}]'
    capture = Capture([Section("windows-bugchecks", "", rows, "", 0)], complete=True)
    found = WindowsCrashes.parse(capture).bugchecks
    assert isinstance(found, Known)
    assert found.value == (("2025-06-01T10:00:00", "0x000000d1"),)
