"""SMB of Windows, from the rows that its cmdlets give."""

import json

from wirespeed.model.capture import Capture, Section
from wirespeed.model.observed import Absent, Known, Unreadable
from wirespeed.platforms.windows.facts.windows_smb import WindowsSmb

# learn.microsoft.com, Get-SmbMultichannelConnection, example 3, first object.
OF_THE_PAGE = {
    "ClientIndex": 15, "ClientBps": 32000000000, "ClientRdma": True,
    "ClientRss": False, "Channels": 2, "Failed": False, "FailureCount": 0, "Selected": True,
    "ServerAddress": "192.168.102.11", "ServerBps": 32000000000, "Server": "Contoso-SO",
    "ServerRdma": True, "ServerRss": False, "Instance": "Default",
}  # fmt: skip


def smb(**rows: object) -> WindowsSmb:
    sections = [
        Section(f"windows-smb-{name.replace('_', '-')}", "", json.dumps(told), "", 0)
        for name, told in rows.items()
    ]
    return WindowsSmb.parse(Capture(sections, complete=True))


def test_a_pair_has_what_the_page_shows_of_it():
    pairs = smb(connections=[OF_THE_PAGE]).pairs
    assert isinstance(pairs, Known)
    (pair,) = pairs.value
    assert (pair.server, pair.address) == ("Contoso-SO", "192.168.102.11")
    assert pair.client_index == 15
    values = {
        name: value.value
        for name in ("is_selected", "client_rdma", "server_rdma", "client_rss", "server_rss",
                     "client_bps", "server_bps", "channels", "has_failed", "failures")
        if isinstance(value := getattr(pair, name), Known)
    }  # fmt: skip
    assert values == {
        "is_selected": True, "client_rdma": True, "server_rdma": True, "client_rss": False,
        "server_rss": False, "client_bps": 32 * 10**9, "server_bps": 32 * 10**9, "channels": 2,
        "has_failed": False, "failures": 0,
    }  # fmt: skip


def test_what_is_null_or_of_another_type_is_never_a_no():
    row = OF_THE_PAGE | {"Selected": None, "ClientRdma": "True", "FailureCount": -1}
    pairs = smb(connections=[row]).pairs
    assert isinstance(pairs, Known)
    (pair,) = pairs.value
    assert not isinstance(pair.is_selected, Known)
    assert isinstance(pair.client_rdma, Unreadable) and isinstance(pair.failures, Unreadable)


def test_a_row_without_server_or_index_is_none():
    rows = [OF_THE_PAGE | {"Server": None}, OF_THE_PAGE | {"ClientIndex": None}]
    assert smb(connections=rows).pairs == smb(connections=[]).pairs


def test_an_interface_is_capable_if_one_of_its_addresses_is():
    """As the page of Get-SmbServerNetworkInterface: a row for each address and scope."""
    rows = [{"Index": 12, "Rdma": True}, {"Index": 12, "Rdma": False}, {"Index": 14, "Rdma": False},
            {"Index": 15, "Rdma": False}, {"Index": 15, "Rdma": True}]  # fmt: skip
    found = smb(server_interfaces=rows).server_rdma
    assert isinstance(found, Known)
    assert {i: one.value for i, one in found.value.items() if isinstance(one, Known)} == {
        12: True, 14: False, 15: True,
    }  # fmt: skip


def test_what_was_not_read_is_not_off():
    told = smb(client=[{"Multichannel": False}], server=[])
    assert isinstance(told.client_multichannel, Known) and not told.client_multichannel.value
    assert isinstance(told.server_multichannel, Absent)
    assert isinstance(smb().client_multichannel, Unreadable)
