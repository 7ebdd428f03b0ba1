"""Both ends of a cable as they are read, before a port of a switch is changed."""

import pytest
from test_switchport import text_of

from described.windows import Windows, as_found
from wirespeed.host.capture_request import Captured, Unreachable
from wirespeed.host.reach_destination import SwitchHost, parse_destination
from wirespeed.model.capture import Capture, Section, parse_capture
from wirespeed.model.error import HostError, InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import Known
from wirespeed.model.switch_kind import SwitchKind
from wirespeed.platforms.switch.cable_proof import Match
from wirespeed.platforms.switch.card_end import card_end_of
from wirespeed.platforms.switch.facts.switchport import COMMANDS
from wirespeed.platforms.windows.facts.windows_adapters import WindowsAdapters
from wirespeed.runs import link_run as module
from wirespeed.runs.link_run import port_proof

KEYS = {"status": "os6_status", "lldp": "os6_lldp"}


def linux(netdev: str = "enp59s0f0") -> HostFacts:
    slot = "/sys/devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0"
    device = f"{netdev} driver=mlx5_core physfn= port=p0 device={slot}\n"
    link = f"/sys/class/net/{netdev}/carrier:1\n/sys/class/net/{netdev}/speed:10000\n"
    names = Section("names", "", "hostname node-1\nuser root\n", "", 0)
    sections = [Section("ports", "", device, "", 0), Section("link", "", link, "", 0), names]
    return HostFacts("alpha", Capture(sections, complete=True))


def place(port: str) -> SwitchHost:
    found = parse_destination(f"switch+dell_os6://admin@sw1/{port}")
    assert isinstance(found, SwitchHost)
    return found


@pytest.fixture
def sw1(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "wirespeed-capture 1 case\ncase begin switch-kind sw1\ndell_os6\n\ncase end 0\n"
    for key in COMMANDS[SwitchKind.DELL_OS6]:
        text += f"case begin switch-{key} sw1\n{text_of(KEYS[key])}\ncase end 0\n"
    text += "case done\n"
    monkeypatch.setattr(module, "collect", lambda places: iter([Captured(places[0], text, 0.1)]))


@pytest.mark.usefixtures("sw1")
@pytest.mark.parametrize(
    ("netdev", "port", "match"),
    [
        ("enp59s0f0", "Te1/0/1", Match.PROVEN),
        ("enp59s0f0", "Te1/0/2", Match.CONTRADICTED),
        ("enp59s0f1", "Te1/0/1", Match.CONTRADICTED),
        ("enp59s0f0", "Te1/0/99", Match.UNKNOWN),
    ],
)
def test_the_switchport_that_hears_the_card_is_proven_to_be_its_own(
    netdev: str, port: str, match: Match
):
    assert port_proof(linux(netdev), netdev, place(port)).match is match


def test_a_switch_that_is_not_reached_proves_no_switchport(monkeypatch: pytest.MonkeyPatch):
    error = HostError("switch.unreachable", where="sw1", found="no route")
    monkeypatch.setattr(module, "collect", lambda at: iter([Unreachable(at[0], error)]))
    with pytest.raises(HostError, match=r"switch\.unreachable"):
        port_proof(linux(), "enp59s0f0", place("Te1/0/1"))


def test_an_adapter_of_windows_is_known_by_its_address_to_the_switchport():
    windows = Windows()
    as_found(windows)
    facts = HostFacts("desk", parse_capture(windows.capture(), "desk"))
    card = next(one for one in facts[WindowsAdapters].cards() if one.is_up)
    end = card_end_of(facts, card.name)
    assert end.macs == (card.mac,) and len(card.mac) == 12
    assert isinstance(end.is_up, Known) and end.is_up.value
    assert end.link_bps == card.link_bps


@pytest.mark.usefixtures("sw1")
def test_a_netdev_that_is_not_there_is_in_no_switchport():
    assert card_end_of(linux(), "eth77") is None
    with pytest.raises(InputError, match=r"link\.netdev"):
        port_proof(linux(), "eth77", place("Te1/0/1"))
