"""Error counts. samples/aer/correctable.txt is in the format of a kernel of today, with the names
of drivers/pci/pcie/aer.c; Documentation/ABI/testing/sysfs-bus-pci-devices-aer_stats has others."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from wirespeed.facts.pci_aer import Aer, PciAer
from wirespeed.model.capture import Capture, Section
from wirespeed.model.observed import Absent, Known, Unreadable

SAMPLE = (Path(__file__).parent / "samples/aer/correctable.txt").read_text()
DOCUMENTED = """\
Receiver Error 2
Bad TLP 0
Bad DLLP 0
RELAY_NUM Rollover 0
Replay Timer Timeout 0
Advisory Non-Fatal 5
Corrected Internal Error 0
Header Log Overflow 0
TOTAL_ERR_COR 7
"""
PORT = "0000:3a:00.0"


def printed(**attributes: str) -> str:
    return "\n".join(
        f"/sys/bus/pci/devices/{PORT}/{name}:{line}"
        for name, text in attributes.items()
        for line in text.splitlines()
    )


def aer(first: str, again: str | None = None, errors: str = "") -> Aer:
    sections = [Section("pci-aer", "", first, errors, 0)]
    if again is not None:
        sections.append(Section("pci-aer-again", "", again, "", 0))
    return PciAer.parse(Capture(sections, complete=True)).by_address[PORT]


def test_only_errors_of_the_link_are_counted():
    found = aer(printed(aer_dev_correctable=SAMPLE)).link_errors
    assert isinstance(found, Known)
    assert found.value == 2


def test_names_of_the_documentation_are_read_too():
    found = aer(printed(aer_dev_correctable=DOCUMENTED)).link_errors
    assert isinstance(found, Known)
    assert found.value == 2


def test_a_rise_is_the_difference_of_two_readings():
    later = SAMPLE.replace("RxErr 1", "RxErr 4")
    found = aer(printed(aer_dev_correctable=SAMPLE), printed(aer_dev_correctable=later))
    assert found.link_errors_rise == Known(
        3, f"cat /sys/bus/pci/devices/{PORT}/aer_dev_correctable"
    )


def test_without_a_second_reading_a_rise_is_not_known():
    assert isinstance(aer(printed(aer_dev_correctable=SAMPLE)).link_errors_rise, Unreadable)


def test_a_counter_that_fell_gives_no_rise():
    later = SAMPLE.replace("RxErr 1", "RxErr 0")
    found = aer(printed(aer_dev_correctable=SAMPLE), printed(aer_dev_correctable=later))
    assert isinstance(found.link_errors_rise, Unreadable)


def test_uncorrectable_errors_are_summed_without_the_total():
    text = "Undefined 0\nDLP 1\nSDES 0\nTLP 2\nTOTAL_ERR_FATAL 3\n"
    found = aer(printed(aer_dev_correctable=SAMPLE, aer_dev_fatal=text))
    assert isinstance(found.fatal, Known)
    assert found.fatal.value == 3


def test_a_function_without_error_reporting_has_none():
    missing = f"grep: /sys/bus/pci/devices/{PORT}/aer_dev_fatal: No such file or directory"
    found = aer(printed(aer_dev_correctable=SAMPLE), errors=missing)
    assert isinstance(found.fatal, Absent)


@given(st.text(), st.text())
def test_any_text_is_read_without_an_error(first: str, again: str):
    PciAer.parse(
        Capture(
            [
                Section("pci-aer", "", printed(aer_dev_correctable=first), "", 0),
                Section("pci-aer-again", "", again, "", 0),
            ],
            complete=True,
        )
    )
