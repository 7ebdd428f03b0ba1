"""Uplinks and hardware of an ESXi host, on outputs of real ones (samples/esxcli/README)."""

from pathlib import Path

import pytest

from wirespeed.model.capture import Capture, Section
from wirespeed.model.observed import Absent, Known, Observed, Unreadable
from wirespeed.platforms.esxi.facts.esxi_hardware import EsxiHardware
from wirespeed.platforms.esxi.facts.esxi_uplinks import EsxiUplink, EsxiUplinks

SAMPLES = Path(__file__).parent / "samples/esxcli"


def sample(name: str) -> str:
    return (SAMPLES / f"{name}.txt").read_text()


def uplink_of(said: str, counters: str = "", code: int = 0) -> EsxiUplink:
    sections = [
        Section("esxi-uplink", "vmnic5", said, "", code),
        Section("esxi-counters", "vmnic5", counters, "", code),
    ]
    return EsxiUplinks.parse(Capture(sections, complete=True)).uplinks["vmnic5"]


def value(observed: Observed[object]) -> object:
    assert isinstance(observed, Known), observed
    return observed.value


def test_an_esxi_uplinks_driver_and_firmware():
    uplink = uplink_of(sample("nic_get_nmlx5"), sample("nic_stats"))
    assert value(uplink.driver_version) == "4.15.10.3"
    assert value(uplink.firmware) == "12.20.1010"
    assert value(uplink.negotiates) is False and value(uplink.sends_pause) is False
    counters = value(uplink.counters)
    assert isinstance(counters, dict)
    assert (counters["Bytes received"], counters["Receive missed errors"]) == (5271156, 0)
    assert len(counters) == 23


def test_what_an_esxi_uplink_lost():
    counters = value(uplink_of(sample("nic_get_nmlx5"), sample("nic_stats_lossy")).counters)
    assert isinstance(counters, dict)
    assert counters["Receive over errors"] == 50571
    assert counters["Receive FIFO errors"] == 748049


def test_an_esxi_uplink_without_a_version_says_so():
    said = sample("nic_get_nmlx5").replace("         Version: 4.15.10.3\n", "")
    assert isinstance(uplink_of(said).driver_version, Absent)


@pytest.mark.parametrize("said", ["", "NIC vmnic5 not found", "Pause RX: maybe\nPause TX: x"])
def test_what_esxi_does_not_say_of_an_uplink_is_not_known(said: str):
    uplink = uplink_of(said, said)
    assert not isinstance(uplink.sends_pause, Known)
    assert isinstance(uplink.counters, Unreadable)
    assert isinstance(uplink_of(said, said, 1).firmware, Unreadable)


def hardware_of(**sections: str) -> EsxiHardware:
    rows = [Section(f"esxi-{name}", "", text, "", 0) for name, text in sections.items()]
    return EsxiHardware.parse(Capture(rows, complete=True))


def test_an_esxi_hosts_cpus_nodes_and_functions():
    hardware = hardware_of(
        cpu=sample("cpu_global"), memory=sample("memory"), passthrough=sample("pcipassthru")
    )
    assert value(hardware.cores) == 24 and value(hardware.threads) == 48
    assert value(hardware.numa_nodes) == 2
    functions = value(hardware.passthrough)
    assert isinstance(functions, dict)
    assert functions["0000:04:00.1"] is False and len(functions) == 4


def test_an_esxi_host_before_7_has_no_list_of_functions():
    refused = Section("esxi-passthrough", "", "", "Error: Unknown command or namespace", 1)
    hardware = EsxiHardware.parse(Capture([refused], complete=True))
    assert isinstance(hardware.passthrough, Unreadable)
    assert not isinstance(hardware.threads, Known)
