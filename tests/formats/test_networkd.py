"""What is written for systemd, held against the keys of its manual (systemd 252)."""

import re

import pytest
from described_ports import CABLE, GUESTS, ONE_EACH, SPACES, written

from wirespeed.approaches.guest_network import guest_mac
from wirespeed.formats.every import FORMATS
from wirespeed.formats.form import exported
from wirespeed.formats.wanted import Key, Setting, WantedHost, WantedPort

NUMBER, YES_NO = r"[1-9]\d*", r"yes|no"
MAC = r"[0-9a-f]{2}(:[0-9a-f]{2}){5}"
SRIOV = {
    "VirtualFunction": r"0|[1-9]\d*", "VLANId": NUMBER, "MACAddress": MAC,
    "MACSpoofCheck": YES_NO, "Trust": YES_NO,
}  # fmt: skip
LINK_POLICIES = (
    r"(keep|kernel|database|onboard|slot|path|mac)( (keep|kernel|database|onboard|slot|path|mac))*"
)
MANUAL = {
    ".link": {
        "Match": {"Path": r"pci-[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]"},
        "Link": {
            "NamePolicy": LINK_POLICIES, "AlternativeNamesPolicy": LINK_POLICIES,
            "MACAddressPolicy": "persistent|random|none", "MTUBytes": NUMBER,
            "RxBufferSize": NUMBER, "TxBufferSize": NUMBER, "CombinedChannels": NUMBER,
            "RxFlowControl": YES_NO, "TxFlowControl": YES_NO,
            "AutoNegotiationFlowControl": YES_NO, "SR-IOVVirtualFunctions": r"\d+",
        },
        "SR-IOV": SRIOV,
    },
    ".network": {
        "Match": {"Path": r"pci-[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]", "Name": r"\S+"},
        "Link": {"ActivationPolicy": "up|always-up|manual|always-down|down|bound"},
        "Network": {"Address": r"[0-9a-f.:]+/\d+", "VLAN": r"\S{1,15}"},
    },
    ".netdev": {
        "NetDev": {"Name": r"\S{1,15}", "Kind": "vlan", "MTUBytes": NUMBER},
        "VLAN": {"Id": NUMBER},
    },
}  # fmt: skip
"""By the ending of the file: sections, keys, and the values that the manual allows."""


def read(name: str, text: str) -> list[tuple[str, dict[str, str]]]:
    """Read a file as systemd.syntax(7) says; a section may come again."""
    allowed = MANUAL["." + name.rpartition(".")[2]]
    sections: list[tuple[str, dict[str, str]]] = []
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        if line.startswith("["):
            sections.append((line[1:-1], {}))
            assert line.endswith("]") and sections[-1][0] in allowed, line
            continue
        key, _, value = line.partition("=")
        section, keys = sections[-1]
        assert re.fullmatch(allowed[section].get(key, "(?!)"), value), f"[{section}] {line}"
        assert key not in keys, line
        keys[key] = value
    return sections


def files_of(text: str) -> dict[str, list[tuple[str, dict[str, str]]]]:
    return {name: read(name, body) for name, body in written("networkd", text).files.items()}


@pytest.mark.parametrize("text", [GUESTS, ONE_EACH, SPACES, CABLE])
def test_every_key_is_one_of_the_manual(text: str):
    for name, sections in files_of(text).items():
        assert sections[0][0] == "Match", name


def test_each_vf_has_its_vlan_and_mac():
    files = files_of(GUESTS)
    for netdev, address in (("enp3s0f0np0", "0000:03:00.0"), ("enp3s0f1np1", "0000:03:00.1")):
        match, link, *vfs = files[f"10-wirespeed-{netdev}.link"]
        assert match == ("Match", {"Path": f"pci-{address}"})
        assert (link[1]["MTUBytes"], link[1]["SR-IOVVirtualFunctions"]) == ("9080", "2")
        ceph, web = guest_mac("ceph-1", "storage"), guest_mac("web-1", "public")
        assert vfs == [
            ("SR-IOV", {"VirtualFunction": "0", "VLANId": "42", "MACAddress": ceph}),
            ("SR-IOV", {"VirtualFunction": "1", "VLANId": "40", "MACAddress": web}),
        ]
        assert files[f"10-wirespeed-{netdev}.network"][1] == ("Link", {"ActivationPolicy": "up"})


def test_an_address_is_the_ports_alone_and_not_its_representors():
    """Linux 5.8 on (123f0f53dd64): a representor's parent is the PF, and so its ID_PATH is too."""
    match = files_of(CABLE)["10-wirespeed-enp3s0f0np0.network"][0]
    assert match == ("Match", {"Path": "pci-0000:03:00.0", "Name": "enp3s0f0np0"})


def test_a_tuned_port_without_guests_is_said_whole():
    files = files_of(CABLE)
    assert files["10-wirespeed-enp3s0f0np0.network"][2] == (
        "Network",
        {"Address": "192.168.9.1/24"},
    )
    assert files["10-wirespeed-enp3s0f0np0.link"][1][1].items() >= {
        "MTUBytes": "9000", "RxBufferSize": "8192", "TxBufferSize": "4096",
        "CombinedChannels": "4", "RxFlowControl": "no", "TxFlowControl": "no",
        "AutoNegotiationFlowControl": "no",
    }.items()  # fmt: skip
    assert written("networkd", CABLE).unsaid == ()


def test_a_vlan_on_a_port_has_a_netdev_with_the_address_and_the_port_names_it():
    files = files_of(CABLE.replace("mtu: 9000", "mtu: 9000, vlan: 40"))
    name = "enp3s0f0np0.40"
    assert files[f"10-wirespeed-{name}.netdev"] == [
        ("NetDev", {"Name": name, "Kind": "vlan", "MTUBytes": "9000"}),
        ("VLAN", {"Id": "40"}),
    ]
    assert files[f"10-wirespeed-{name}.network"] == [
        ("Match", {"Name": name}),
        ("Network", {"Address": "192.168.9.1/24"}),
    ]
    assert files["10-wirespeed-enp3s0f0np0.network"][2] == ("Network", {"VLAN": name})


def test_flags_are_yes_or_no_and_no_tag_is_listed():
    port = WantedPort("0000:03:00.0", "eth0")
    settings = (
        Setting(port, Key.TRUST, False, 3), Setting(port, Key.SPOOF_CHECK, True, 3),
        Setting(port, Key.VLAN, 0, 3), Setting(port, Key.MAX_RATE, 100, 3),
    )  # fmt: skip
    made = exported(FORMATS["networkd"], WantedHost("alpha", (port,), settings, ()))
    ((name, text),) = made.files.items()
    assert read(name, text)[2:] == [
        ("SR-IOV", {"VirtualFunction": "3", "MACSpoofCheck": "yes", "Trust": "no"})
    ]
    assert made.unsaid == (
        "VF 3 of eth0: VLAN 0 (VLANId= is 1 to 4095: no tag cannot be asked for)",
        "VF 3 of eth0: largest rate, Mbit/s 100",
    )
