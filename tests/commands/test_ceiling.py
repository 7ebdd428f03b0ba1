"""`wirespeed ceiling`, called as a user does."""

import json
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from wirespeed.commands.ceiling import ceiling
from wirespeed.model.error import InputError

CASES = Path(__file__).parents[1] / "rules/cases"
X4 = CASES / "measured.above_ceiling/absent_53_6_through_pcie_4_x4/capture.txt"


def ran(*arguments: str) -> str:
    result = CliRunner().invoke(ceiling, arguments, catch_exceptions=False, standalone_mode=False)
    assert not isinstance(result.exception, click.ClickException), result.exception
    return result.output


def refused(*arguments: str) -> InputError:
    with pytest.raises(InputError) as caught:
        ran(*arguments)
    return caught.value


def path(*arguments: str) -> dict:
    (found,) = json.loads(ran(*arguments, "--json"))["paths"]
    return found


def test_a_slot_that_is_too_narrow_for_its_port_is_named():
    text = ran("--pcie", "4.0x4", "--link", "100", "--frame", "1518")
    assert "receive: bounded by pcie" in text
    assert "< bound" in text
    assert "Gb/s of TCP goodput" in text
    assert max(map(len, text.splitlines())) <= 80


def test_a_slot_that_is_wide_enough_leaves_the_port():
    text = ran("--pcie", "4.0x16", "--link", "100")
    assert "receive: bounded by ethernet\n" in text
    assert "transmit: bounded by ethernet\n" in text


def test_overlapping_bands_are_said_to_overlap():
    text = ran("--pcie", "3.0x16", "--link", "100", "--frame", "64", "--for", "dpdk",
               "--bidirectional")  # fmt: skip
    assert "bounded by pcie or ethernet" in text
    assert "both directions at once" in " ".join(text.split())


def test_what_was_assumed_is_marked():
    text = ran("--pcie", "4.0x4", "--payload", "512", "--explain")
    assert "payload: 512 bytes (as you gave it)" in text
    assert "read request: 512 bytes (assumed, what most servers" in text


def test_the_figures_are_in_the_json():
    found = path("--link", "10")
    bounds = found["bounds"]["receive"]
    assert bounds["load_bps_l1"]["high"] == pytest.approx(10e9)
    assert bounds["goodput_bps"]["high"] == pytest.approx(9.415e9, rel=1e-3)
    assert bounds["load_pps"]["high"] == pytest.approx(812_744, rel=1e-5)
    assert bounds["may_be_bound_by"] == ["ethernet"]


@pytest.mark.parametrize(
    ("arguments", "element"),
    [
        (("--link", "100", "--vxlan"), "encapsulation"),
        (("--link", "100", "--geneve"), "encapsulation"),
        (("--link", "100", "--vlan"), "encapsulation"),
        (("--link", "100", "--vswitch", "10"), "virtual switch"),
        (("--link", "100", "--window", "16M", "--rtt", "10ms"), "tcp window"),
        (("--link", "100", "--cores", "1", "--core-ghz", "3.4", "--cycles", "3400"), "cores"),
        (("--link", "100", "--cores", "1", "--core-ghz", "3.4", "--for", "dpdk", "--frame", "64"),
         "cores"),
        (("--link", "100", "--ports", "2", "--pcie", "3.0x16"), "pcie"),
    ],
)  # fmt: skip
def test_each_element_can_bound(arguments: tuple[str, ...], element: str):
    assert path(*arguments)["bounds"]["receive"]["may_be_bound_by"] == [element]


def test_16m_over_10_ms_is_13_4_gbit():
    # 16 MiB x 8 / 0.01 s.
    found = path("--window", "16M", "--rtt", "10ms")["bounds"]["receive"]
    assert found["goodput_bps"]["high"] == pytest.approx(13.42e9, rel=1e-3)


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (("--pcie", "4.0y4"), "ceiling.pcie"),
        (("--pcie", "7.0x4"), "ceiling.pcie"),
        (("--pcie", "4.0x3"), "ceiling.pcie"),
        (("--pcie", "4.0x4", "--payload", "300"), "ceiling.payload"),
        (("--pcie", "4.0x4", "--read-request", "0"), "ceiling.read-request"),
        (("--link", "fast"), "ceiling.link"),
        (("--link", "0"), "ceiling.link"),
        (("--link", "1e999"), "ceiling.link"),
        (("--link", "nan"), "ceiling.link"),
        (("--link", "100", "--ports", "0"), "ceiling.ports"),
        (("--link", "100", "--ports", "1.5"), "ceiling.ports"),
        (("--ports", "2"), "ceiling.link"),
        (("--vxlan",), "ceiling.link"),
        # The last one was computed, and nothing said of the other.
        (("--link", "100", "--vlan", "--vxlan"), "ceiling.encapsulation"),
        (("--payload", "256"), "ceiling.pcie"),
        (("--frame", "63", "--link", "1"), "ceiling.frame"),
        (("--frame", "99999", "--link", "1"), "ceiling.frame"),
        (("--frame", "64", "--window", "1M", "--rtt", "1ms"), "ceiling.frame"),
        (("--window", "16M"), "ceiling.rtt"),
        (("--window", "16X", "--rtt", "1ms"), "ceiling.window"),
        (("--link", "10", "--rtt", "1ms"), "ceiling.window"),
        (("--rtt", "10", "--window", "1M"), "ceiling.rtt"),
        (("--cores", "4"), "ceiling.core-ghz"),
        (("--cores", "4", "--core-ghz", "3.4"), "ceiling.cycles"),
        (("--cores", "4", "--core-ghz", "3400", "--cycles", "33"), "ceiling.core-ghz"),
        (("--cores", "4", "--core-ghz", "3.4", "--cycles", "0"), "ceiling.cycles"),
        (("--cycles", "33"), "ceiling.cores"),
        (("--vswitch", "-1"), "ceiling.vswitch"),
        (("somehost", "--pcie", "4.0x4"), "ceiling.two_paths"),
        (("--port", "eth0", "--link", "10"), "ceiling.two_paths"),
    ],
)  # fmt: skip
def test_a_bad_value_is_refused_with_what_a_good_one_is(arguments: tuple[str, ...], what: str):
    error = refused(*arguments)
    assert error.what == what
    assert error.found
    assert error.so
    assert error.next
    assert error.exit_code == 2


def test_a_capture_without_a_list_of_ports_is_an_error_of_the_input():
    error = refused(str(CASES / "cpu.turbo_off/present_intel_pstate/capture.txt"))
    assert error.what == "ceiling.no_ports"
    assert "no list of ports" in error.found and "ls -l /sys/class/net" in error.next


def test_adapters_of_windows_are_ports_here_too():
    """The doctor has their ceilings, and this command says the same."""
    windows = str(
        CASES / "windows.crash_blames_driver/present_already_unbound_elsewhere/capture.txt"
    )
    # Get-NetAdapter of the capture: ConnectX-5 Ex of 100 Gb/s, Realtek of 10 Gb/s.
    text = ran(windows)
    assert "이더넷 10: most" in text and "이더넷 7: most" in text
    only = ran(windows, "--port", "이더넷 7")
    assert "이더넷 10" not in only and "  10.0  Gb/s on the wire (L1)" in only


def test_a_host_and_a_tunnel_are_refused_by_the_options_own_name():
    with pytest.raises(InputError) as caught:
        ran("somehost", "--vxlan")
    assert "--vxlan describes a path" in caught.value.found


def test_the_sixth_generation_is_in_flits():
    text = ran("--pcie", "6.0x16", "--link", "800", "--explain")
    assert "bounded by ethernet" in text
    assert "GT/s x 236/256 x lanes" in text and "x16 at 64 GT/s" in text


@pytest.mark.parametrize("text", ["4.0x4", "4x4", "gen4x4", "PCIe 4.0 x4", "pcie4x4"])
def test_a_slot_is_read_as_people_write_it(text: str):
    assert path("--pcie", text)["bounds"] == path("--pcie", "4.0x4")["bounds"]


def test_a_captured_host_is_read_as_it_is():
    found = path(str(X4))
    assert found["port"] == "enp59s0f0np0"
    assert {c["element"] for c in found["ceilings"]} == {"ethernet", "pcie 0000:3b:00.0"}
    assert found["bounds"]["transmit"]["may_be_bound_by"] == ["pcie 0000:3b:00.0"]
    assert found["unknown"] == [
        "cores: what a frame costs the kernel of this host was not measured"
    ]


def test_what_is_not_known_of_a_host_is_listed():
    text = ran(str(CASES / "measured.above_ceiling/cannot_tell_no_ceiling_is_known/capture.txt"))
    assert "not known: ethernet" in text
    assert "not known: pcie" in text


def test_this_machine_can_be_asked():
    assert "most that each element carries" in ran() or "no port" in ran()
