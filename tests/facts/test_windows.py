"""Facts of Windows: rows as the collector prints them, and what is read of them."""

import json
from typing import Any

import pytest

from wirespeed.model.capture import Capture, Section
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import Absent, CannotTellError, Known, Unreadable
from wirespeed.model.pcie_link import PcieLink
from wirespeed.model.rule import DoesNotApplyError
from wirespeed.platforms.windows.facts.windows_adapters import WindowsAdapters
from wirespeed.platforms.windows.facts.windows_addresses import WindowsAddresses
from wirespeed.platforms.windows.facts.windows_advanced import WindowsAdvanced
from wirespeed.platforms.windows.facts.windows_bindings import WindowsBinding, WindowsBindings
from wirespeed.platforms.windows.facts.windows_dcb import WindowsDcb
from wirespeed.platforms.windows.facts.windows_firmware import SOURCE as FIRMWARE_SOURCE
from wirespeed.platforms.windows.facts.windows_firmware import WindowsFirmware
from wirespeed.platforms.windows.facts.windows_hardware import WindowsHardwares
from wirespeed.platforms.windows.facts.windows_host import WindowsHost, require_windows
from wirespeed.platforms.windows.facts.windows_mlx5cmd import WindowsMlx5cmd
from wirespeed.platforms.windows.facts.windows_queues import WindowsQueues
from wirespeed.platforms.windows.facts.windows_sessions import WindowsSessions
from wirespeed.platforms.windows.facts.windows_sriov import WindowsSriov
from wirespeed.platforms.windows.facts.windows_statistics import WindowsStatistics
from wirespeed.platforms.windows.facts.windows_switches import WindowsSwitches
from wirespeed.platforms.windows.facts.windows_tcp import TcpSetting, WindowsTcp
from wirespeed.platforms.windows.facts.windows_teams import WindowsTeams
from wirespeed.platforms.windows.facts.windows_wslconfig import WslConfig

CARD = "0b5e31f7-3b5c-4d64-9f0e-6a3d1c1f0010"
BRACED = "{" + CARD.upper() + "}"


def capture_of(**sections: Any) -> Capture:
    return Capture(
        (
            Section(f"windows-{name.replace('_', '-')}", "", json.dumps(rows), "", 0)
            for name, rows in sections.items()
        ),
        complete=True,
    )


def failed(name: str, errors: str, code: int) -> Capture:
    return Capture([Section(f"windows-{name}", "", "[]", errors, code)], complete=True)


def adapter(**changed: Any) -> dict[str, Any]:
    return {
        "Index": 10, "Guid": BRACED, "Name": "이더넷 10",
        "Description": "Mellanox ConnectX-5 Ex Adapter #3", "Status": "Up",
        "TransmitBps": 100_000_000_000, "ReceiveBps": 100_000_000_000, "Virtual": False,
        "Hidden": False, "Mac": "98-03-9B-00-00-0A", "Mtu": 1500, "Vlan": None,
        "DriverProvider": "Mellanox Technologies Ltd.", "DriverVersion": "24.10.26603.0",
        "DriverFile": "mlx5.sys", "ComponentId": "PCI\\VEN_15B3&DEV_1019&SUBSYS_000815B3",
        **changed,
    }  # fmt: skip


def test_an_adapter_has_numbers_and_its_name_in_any_script():
    (found,) = WindowsAdapters.parse(capture_of(adapters=[adapter()])).known()
    assert (found.index, found.guid, found.name) == (10, CARD, "이더넷 10")
    assert isinstance(found.link_bps, Known)
    assert found.link_bps.value == 100 * 10**9
    assert (found.pci_vendor, found.is_card, found.is_up) == (0x15B3, True, True)
    assert found.mac == "98039b00000a"
    assert isinstance(found.vlan, Absent)


@pytest.mark.parametrize("bits", [2**64 - 1, 2**63, None])
def test_a_speed_that_windows_does_not_know_is_absent(bits: int | None):
    row = adapter(TransmitBps=bits, ReceiveBps=bits)
    (found,) = WindowsAdapters.parse(capture_of(adapters=[row])).known()
    assert isinstance(found.link_bps, Absent)


@pytest.mark.parametrize("bits", ["100 Gbps", True, -1, 1.5, [1]])
def test_a_speed_that_makes_no_sense_is_unreadable(bits: object):
    row = adapter(TransmitBps=bits, ReceiveBps=bits)
    (found,) = WindowsAdapters.parse(capture_of(adapters=[row])).known()
    assert isinstance(found.link_bps, Unreadable)


def test_the_slower_direction_counts():
    row = adapter(TransmitBps=10**10, ReceiveBps=10**9)
    (found,) = WindowsAdapters.parse(capture_of(adapters=[row])).known()
    assert found.shown_bps == 10**9


@pytest.mark.parametrize("row", [{}, {"Index": 1}, {"Index": None, "Guid": BRACED}, {"Guid": 3}])
def test_a_row_that_names_no_adapter_is_none(row: dict[str, Any]):
    assert WindowsAdapters.parse(capture_of(adapters=[row])).known() == ()


def test_no_list_is_no_answer():
    for text in ("", "{}", "null", "[1", "Access denied"):
        section = Section("windows-adapters", "", text, "", 0)
        with pytest.raises(CannotTellError):
            WindowsAdapters.parse(Capture([section], complete=True)).known()


def test_a_list_that_powershell_5_1_wrapped_is_a_list():
    row = {"Guid": BRACED, "Keyword": "*RSS", "Value": {"value": ["1", "2"], "Count": 2}}
    text = json.dumps({"value": [row], "Count": 1})
    capture = Capture([Section("windows-advanced", "", text, "", 0)], complete=True)
    assert WindowsAdvanced.parse(capture).of(CARD)["*rss"].value == "1,2"


def test_a_cmdlet_that_this_windows_has_not_says_so():
    capture = failed("switches", "Get-VMSwitch: not found", 127)
    switches = WindowsSwitches.parse(capture).all
    assert isinstance(switches, Unreadable)
    assert "Get-VMSwitch is not installed" in switches.reason


def test_the_firmware_of_a_card_is_told_or_it_is_not():
    capture = capture_of(firmware=[{"Guid": BRACED, "Version": "16.25.1020"}])
    assert WindowsFirmware.parse(capture).of(CARD) == Known("16.25.1020", FIRMWARE_SOURCE)
    silent = WindowsFirmware.parse(capture_of(firmware=[{"Guid": BRACED, "Version": ""}]))
    assert isinstance(silent.of(CARD), Absent)
    assert isinstance(silent.of("another"), Absent)
    assert isinstance(WindowsFirmware.parse(failed("firmware", "denied", 1)).of(CARD), Unreadable)


def test_who_is_logged_in_is_told_by_the_addresses_of_this_host():
    rows = [
        {"Address": "10.0.0.1", "RemoteAddress": "10.0.0.9"},
        {"Address": "fe80::1%12", "RemoteAddress": "fe80::2%12"},
        {"Address": "127.0.0.1", "RemoteAddress": "127.0.0.1"},
        {"Address": 5},
    ]
    found = WindowsSessions.parse(capture_of(sessions=rows)).local_addresses
    assert isinstance(found, Known) and found.value == {"10.0.0.1", "fe80::1"}
    nobody = WindowsSessions.parse(capture_of(sessions=[])).local_addresses
    assert isinstance(nobody, Known) and nobody.value == frozenset()
    assert isinstance(WindowsSessions.parse(capture_of()).local_addresses, Unreadable)


def test_what_mlx5cmd_says_of_one_card_is_kept_apart_from_the_others():
    text = f"adapter {BRACED}\r\nSpeeds :  1, 10\r\n\r\nadapter {{0{CARD[1:]}x}}\nadapter x\n"
    other = "{" + "f" * 8 + CARD[8:] + "}"
    section = Section("windows-mlx5cmd-link", "", f"{text}adapter {other}\nother\n", "", 0)
    found = WindowsMlx5cmd.parse(Capture([section], complete=True))
    said = found.said_of(CARD)
    assert isinstance(said, Known) and said.value.startswith("Speeds : 1, 10")
    assert "other" not in said.value
    assert isinstance(found.said_of("0" * 36), Unreadable)
    assert isinstance(WindowsMlx5cmd.parse(capture_of()).said_of(CARD), Unreadable)


def test_a_slot_is_read_as_pcie_has_it():
    row = {"Guid": BRACED, "Segment": 0, "Bus": 4, "Device": 0, "Function": 1, "Slot": 3,
           "NumaNode": 0, "Lanes": 4, "Speed": 4, "MaxLanes": 16, "MaxSpeed": 4, "Payload": 256,
           "MaxReadRequest": 512}  # fmt: skip
    found = WindowsHardwares.parse(capture_of(hardware=[row])).by_guid[CARD]
    assert found.pci_address == "0000:04:00.1"
    assert found.link == Known(PcieLink(16.0, 4, 256), "Get-NetAdapterHardwareInfo")
    odd = WindowsHardwares.parse(capture_of(hardware=[{**row, "Speed": 9, "Bus": 999}]))
    assert isinstance(odd.by_guid[CARD].gt_per_s, Unreadable)
    assert odd.by_guid[CARD].pci_address == ""


def binding(**changed: Any) -> WindowsBinding:
    row = {"Guid": BRACED, "ComponentId": "nt_rtf64", "ComponentClass": "Service",
           "BindName": "RTF64", "DisplayName": "Realtek LightWeight Filter (NDIS6.40)",
           "Enabled": True, **changed}  # fmt: skip
    (found,) = WindowsBindings.parse(capture_of(bindings=[row])).known()
    return found


def test_a_filter_is_known_by_its_component_id_in_any_language():
    assert binding(DisplayName="경량 필터").card_vendor == ("Realtek", 0x10EC)
    assert binding(ComponentId="x_filter").card_vendor == ("Realtek", 0x10EC)
    other = binding(ComponentId="INSECURE_NPCAP", DisplayName="Npcap Packet Driver (NPCAP)")
    assert other.card_vendor is None
    assert not other.is_of_windows
    assert binding(ComponentId="ms_tcpip", DisplayName="TCP/IP").is_of_windows
    assert binding(ComponentId="vms_pp", DisplayName="Hyper-V").is_of_windows


@pytest.mark.parametrize(
    ("image", "is_its"),
    [("rtf64x64.sys", True), ("RTF64x64.sys", True), ("rtf64.sys", True), ("mlx5.sys", False),
     ("", False), ("ndis.sys", False), ("r.sys", False)],
)  # fmt: skip
def test_a_crashed_image_is_matched_to_its_filter(image: str, is_its: bool):
    assert binding().is_of_image(image) is is_its


def test_advanced_properties_are_found_by_keyword_whatever_its_case():
    rows = [{"Guid": BRACED, "Keyword": "*LsoV2IPv4", "Value": ["0"], "DisplayValue": "사용 안 함",
             "Default": "1", "Valid": ["0", "1"]}]  # fmt: skip
    found = WindowsAdvanced.parse(capture_of(advanced=rows)).of(CARD)["*lsov2ipv4"]
    assert (found.value, found.default, found.valid) == ("0", "1", ("0", "1"))


def test_processors_are_counted_through_their_groups():
    row = {"Guid": BRACED, "Enabled": True, "Queues": 8, "BaseGroup": 0, "Base": 2, "MaxGroup": 1,
           "Max": 3, "MaxProcessors": 8, "NumaNode": 0, "Profile": "NUMAStatic",
           "Processors": ["0:2/0", "1:3/32767", "x", "0:1"]}  # fmt: skip
    spread = WindowsQueues.parse(capture_of(rss=[row], vmq=[])).rss[CARD]
    assert (spread.base_processor, spread.max_processor) == (
        Known(2, "Get-NetAdapterRss"),
        Known(67, "Get-NetAdapterRss"),
    )
    assert spread.processors == ((2, 0), (67, 32767))


@pytest.mark.parametrize(("said", "means"), [("1", "Supported"), ("Supported", "Supported"),
                                             ("6", "NoVfBarSpace"), ("New", "New")])  # fmt: skip
def test_a_word_that_comes_as_its_number_is_the_same(said: str, means: str):
    rows = [{"Guid": BRACED, "Enabled": True, "Support": said, "Vfs": 8}]
    assert WindowsSriov.parse(capture_of(sriov=rows)).by_guid[CARD].support == Known(
        means, "Get-NetAdapterSriov"
    )


def test_why_there_is_no_sriov_is_kept_in_windows_words():
    found = WindowsSriov.parse(
        capture_of(
            sriov=[{"Guid": BRACED, "Enabled": False, "Support": "NoVfBarSpace", "Vfs": 0}],
            vmhost=[
                {"IovSupport": False, "IovSupportReasons": ["the system BIOS must be updated"]}
            ],
        )
    )
    assert found.by_guid[CARD].vfs == Known(0, "Get-NetAdapterSriov")
    assert found.host_reasons == ("the system BIOS must be updated",)


def test_a_filter_of_a_maker_with_several_pci_vendors_is_at_home_by_name():
    """QLogic's cards are of vendor 1077, Aquantia's of 1D6A, and Marvell owns both."""
    teaming = binding(ComponentId="qlnt", DisplayName="QLogic FastLinQ Teaming")
    cards = [
        adapter(
            Description=name,
            DriverProvider="",
            ComponentId=f"PCI\\VEN_{vendor}&DEV_1656&SUBSYS_00000000",
        )
        for name, vendor in (("QLogic FastLinQ QL45212H", "1077"), ("Mellanox ConnectX-5", "15B3"))
    ]
    found = [WindowsAdapters.parse(capture_of(adapters=[card])).known()[0] for card in cards]
    assert [teaming.is_own(card) for card in found] == [True, False]


@pytest.mark.parametrize(
    ("said", "priorities"),
    [("Priority 3 Enabled", {3}), ("Priorities 3,4 Enabled", {3, 4}), ("Priorities 0-2 Enabled",
     {0, 1, 2}), ("All Priorities Disabled", set()), ("", set()),
     ("All Priorities Enabled", set(range(8)))],
)  # fmt: skip
def test_flow_control_in_operation(said: str, priorities: set[int]):
    row = {"Guid": BRACED, "Enabled": True, "FlowControl": said}
    qos = WindowsDcb.parse(capture_of(qos=[row])).qos[CARD]
    assert qos.operational_pfc == Known(frozenset(priorities), "Get-NetAdapterQos")


def test_flow_control_in_words_of_another_language_is_unreadable():
    row = {"Guid": BRACED, "Enabled": True, "FlowControl": "우선 순위 3 사용"}
    qos = WindowsDcb.parse(capture_of(qos=[row])).qos[CARD]
    assert isinstance(qos.operational_pfc, Unreadable)


def test_what_the_host_wants_of_dcb():
    found = WindowsDcb.parse(
        capture_of(
            qos_flow_control=[{"Priority": p, "Enabled": p == 3} for p in range(8)],
            qos_policies=[{"NetDirectPort": 445, "Priority": 3}, {"NetDirectPort": 0}],
            dcbx=[{"Willing": False}],
        )
    )
    assert found.pfc == Known(frozenset({3}), "Get-NetQosFlowControl")
    assert found.smb_direct_priority == Known(3, "Get-NetQosPolicy")
    assert found.is_dcbx_willing == Known(False, "Get-NetQosDcbxSetting")


def test_a_switch_and_what_it_is_bound_to():
    rows = [
        {"Name": "Default Switch", "Id": BRACED, "Kind": "Internal", "CardGuids": [], "Cards": [],
         "Card": None, "IovEnabled": False, "EmbeddedTeam": False},
        {"Name": "ConnectX-External", "Id": BRACED, "Kind": "External", "CardGuids": [CARD],
         "Cards": ["Mellanox ConnectX-5 Ex Adapter #3"], "Card": None, "IovEnabled": True,
         "EmbeddedTeam": False},
    ]  # fmt: skip
    inner, outer = WindowsSwitches.parse(capture_of(switches=rows)).known()
    assert not inner.reaches_a_card
    assert outer.reaches_a_card
    assert outer.card_guids == (CARD,)


def test_teams_statistics_and_routes():
    capture = capture_of(
        teams=[{"Name": "Team1", "Members": ["eth1", "eth2"], "Mode": "Lacp"}],
        statistics=[{"Guid": BRACED, "ReceivedDiscardedPackets": 7}],
        addresses=[{"Index": 10, "Address": "10.10.10.1", "PrefixLength": 24}],
        default_routes=[{"Index": 7, "NextHop": "192.168.1.1"}],
    )
    teams = WindowsTeams.parse(capture).lbfo
    assert isinstance(teams, Known)
    assert teams.value[0].members == ("eth1", "eth2")
    counted = WindowsStatistics.parse(capture).by_guid[CARD]
    assert counted["ReceivedDiscardedPackets"] == Known(7, "Get-NetAdapterStatistics")
    assert isinstance(counted["SentBytes"], Unreadable)
    addresses = WindowsAddresses.parse(capture)
    assert addresses.default_routes == Known(frozenset({7}), "Get-NetRoute")
    assert isinstance(addresses.by_index, Known)
    assert addresses.by_index.value == {10: ("10.10.10.1",)}


CONFIG = """\
# mine
[wsl2]  # all distributions
networkingMode=bridged
vmSwitch = ConnectX-External  # the card
ipv6=true
ipv6=false
[ wsl2 ]
kernelCommandLine="a # b \\"c\\" "
swapFile=C:\\Users\\swap.vhdx
memory=8GB#half
[Experimental]
sparseVhd=true
networkingMode=nat
"""


def test_wslconfig_is_read_as_wsl_reads_it():
    """Warnings of configfile.cpp: a duplicate, a section that it does not know, a wrong escape."""
    assert WslConfig.parse(capture_of(wslconfig=[{"Text": CONFIG}])).settings == Known(
        {
            "wsl2.networkingmode": "bridged",
            "wsl2.vmswitch": "ConnectX-External",
            "wsl2.ipv6": "true",
            "wsl2.kernelcommandline": 'a # b "c" ',
            "wsl2.memory": "8GB",
            "experimental.sparsevhd": "true",
        },
        "Get-Content -LiteralPath $env:USERPROFILE\\.wslconfig",
    )
    old = WslConfig.parse(capture_of(wslconfig=[{"Text": "[experimental]\nnetworkingMode=nat"}]))
    assert old.setting("wsl2.networkingmode") == "nat"
    assert isinstance(WslConfig.parse(capture_of(wslconfig=[])).settings, Absent)
    assert WslConfig.parse(capture_of(wslconfig=[{"Text": ""}])).settings == Known(
        {}, "Get-Content -LiteralPath $env:USERPROFILE\\.wslconfig"
    )


def test_a_rule_about_windows_is_for_hosts_that_have_it():
    require_windows(HostFacts("h", capture_of(host=[])))
    with pytest.raises(DoesNotApplyError):
        require_windows(HostFacts("h", Capture([], complete=True)))
    release = "/proc/sys/kernel/osrelease:6.6.87.2-microsoft-standard-WSL2\n"
    wsl = Capture([Section("kernel", "", release, "", 0)], complete=True)
    with pytest.raises(CannotTellError, match="was not read"):
        require_windows(HostFacts("h", wsl))


def test_which_windows_it_is():
    row = {"Caption": "Microsoft Windows 11 Pro", "Build": 26100, "IsAdministrator": True,
           "Processors": 24, "Sockets": 1}  # fmt: skip
    host = WindowsHost.parse(capture_of(host=[row], numa=[{"Node": "0"}, {"Node": "1"}]))
    assert isinstance(host.numa_nodes, Known)
    assert host.numa_nodes.value == 2
    assert isinstance(WindowsHost.parse(capture_of(host=[row])).numa_nodes, Unreadable)
    assert isinstance(host.build, Known)
    assert host.build.value == 26100


@pytest.mark.parametrize(
    ("said", "packets"), [("", 10), ("10", 10), ("70", 70), ("4294967295", None), ("-1", None)]
)
def test_windows_throttles_ten_packets_unless_the_registry_says_otherwise(
    said: str, packets: int | None
):
    found = WindowsTcp.parse(capture_of(throttling=[{"Index": said}])).throttling
    assert isinstance(found, Known)
    assert found.value == packets


@pytest.mark.parametrize("said", ["0", "71", "ten", "-2", 10])
def test_a_number_of_packets_that_makes_no_sense_is_unreadable(said: object):
    found = WindowsTcp.parse(capture_of(throttling=[{"Index": said}])).throttling
    assert isinstance(found, Unreadable)


def test_the_level_of_a_group_policy_stands_where_it_is_in_effect():
    row = {
        "SettingName": "Internet", "AutoTuningLevelLocal": "Normal",
        "AutoTuningLevelGroupPolicy": "Disabled", "ScalingHeuristics": "Disabled",
    }  # fmt: skip
    rows = [{**row, "AutoTuningLevelEffective": of} for of in ("GroupPolicy", "Local")]
    assert WindowsTcp.parse(capture_of(tcp_settings=rows)).known_settings() == (
        TcpSetting("Internet", "Disabled", is_of_policy=True, heuristics="Disabled"),
        TcpSetting("Internet", "Normal", is_of_policy=False, heuristics="Disabled"),
    )


@pytest.mark.parametrize(
    ("valid", "most", "largest"),
    [(["512", "1024"], "", 1024), ([], "4096", 4096), ([], "", None), (["on", "off"], "", None)],
)
def test_the_largest_value_is_of_the_list_or_of_the_range(
    valid: list[str], most: str, largest: int | None
):
    row = {"Guid": BRACED, "Keyword": "*ReceiveBuffers", "Value": ["512"], "DisplayValue": "512",
           "Default": "512", "Valid": valid, "Most": most}  # fmt: skip
    (found,) = WindowsAdvanced.parse(capture_of(advanced=[row])).known()
    assert found.largest == largest
