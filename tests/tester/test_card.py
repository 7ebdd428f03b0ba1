"""What a card tells beside its counters: a described one with drivers' names, over a ring."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tester_programs
from tester_programs import Tester

WATCHED = [
    "rx_phy_crc_errors",
    "tx_phy_discard_packets",
    "rx_phy_discard_packets",
    "rx_prio3_buf_discard_packets",
    "tx_phy_errors",
    "rx_wqe_errors",
    "outbound_pci_buffer_overflow",
    "bw_in_allowance_exceeded",
    "tx_drops",
    "rx_q0_drop_total",
    "rx_fcs_err_frames",
    "rx_drop_pkts",
    "rx_align_errors",
    "vf_rx_phy_discard_packets",
]
"""Of what tester/tests/described_card.c names: frames that a card threw away, by the drivers'
sources in DPDK and, for mlx5, the kernel's page of its counters."""


def described(
    start_tester: Callable[..., Tester], monkeypatch: pytest.MonkeyPatch, rises: str
) -> Tester:
    shim = tester_programs.build_folder() / "tests/described_card.so"
    assert shim.exists()
    monkeypatch.setenv("LD_PRELOAD", str(shim))
    monkeypatch.setenv("DESCRIBED_CARD", rises)
    return start_tester()


def trials(
    start_tester: Callable[..., Tester],
    monkeypatch: pytest.MonkeyPatch,
    rises: str,
    device: str = "net_ring0",
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    tester = described(start_tester, monkeypatch, rises)
    opened = tester.open(device)
    each = [
        tester.trial(number=n, load={"pps": 10_000}, seconds=0.02, gap_limit_ms=1000,
                     stalled_share=1)
        for n in (1, 2)
    ]  # fmt: skip
    return opened, each


def test_what_the_card_threw_away_voids_the_trial_and_is_in_its_record(
    start_tester: Callable[..., Tester], monkeypatch: pytest.MonkeyPatch
):
    opened, (first, second) = trials(start_tester, monkeypatch, "rx_prio3_buf_discard_packets")
    (port,) = opened["ports"]
    assert port["discards_read"] == WATCHED
    assert (port["firmware"], port["pause"]) == ("16.35.2000 (MT_0000000008)", "full")
    assert first["counters"][0]["discards"] == {}
    assert not [r for r in first["invalid_reasons"] if "card_discarded" in r]
    assert second["counters"][0]["discards"] == {"rx_prio3_buf_discard_packets": 7}
    (reason,) = [r for r in second["invalid_reasons"] if "card_discarded" in r]
    assert reason == "tester.card_discarded: port 0 rx_prio3_buf_discard_packets 7"
    assert not second["valid"]


@pytest.mark.parametrize(
    "rises", ["rx_good_packets", "hairpin_out_of_buffer", "rx_mac_filter_discards"]
)
def test_what_is_no_discard_voids_nothing(
    start_tester: Callable[..., Tester], monkeypatch: pytest.MonkeyPatch, rises: str
):
    _, (_, second) = trials(start_tester, monkeypatch, rises)
    assert not [r for r in second["invalid_reasons"] if "card_discarded" in r]


def test_discards_that_cannot_be_read_void_the_trial_and_are_no_zero(
    start_tester: Callable[..., Tester], monkeypatch: pytest.MonkeyPatch
):
    _, (first, second) = trials(start_tester, monkeypatch, "unreadable")
    assert not [r for r in first["invalid_reasons"] if "unreadable" in r]
    assert [r for r in second["invalid_reasons"] if r.startswith("tester.counters_unreadable")]
    assert second["counters"] == []
    assert not second["valid"]


@pytest.mark.parametrize(
    ("device", "reasons"),
    # The bus before its name: to the tester it is no vdev then.
    [("vdev:net_ring0", ["tester.tx_failed: port 0 oerrors 3"]), ("net_ring0", [])],
)
def test_frames_that_a_card_took_and_failed_to_send_void_the_trial(
    start_tester: Callable[..., Tester],
    monkeypatch: pytest.MonkeyPatch,
    device: str,
    reasons: list[str],
):
    """rte_ethdev.h: oerrors is the number of failed transmitted packets. A ring counts there what
    it did not take, which is the DUT's."""
    _, (first, second) = trials(start_tester, monkeypatch, "oerrors", device)
    assert not [r for r in first["invalid_reasons"] if "tx_failed" in r]
    assert [r for r in second["invalid_reasons"] if "tx_failed" in r] == reasons


def test_an_mtu_that_the_kernel_refuses_a_connectx_ends_the_opening(
    start_tester: Callable[..., Tester], monkeypatch: pytest.MonkeyPatch
):
    tester = described(start_tester, monkeypatch, "mtu")
    assert tester.open("net_ring0", frame_bytes_max=1518)["event"] == "opened"
    refused = tester.open("net_ring0", frame_bytes_max=9018)
    assert (refused["what"], refused["found"]) == ("port.mtu", "MTU 9000: Operation not permitted")


@pytest.mark.parametrize(
    ("rises", "advice"),
    [("untrusted", "trust the VF"), ("rx_good_packets", "see that the DUT forwards")],
)
def test_a_vf_that_may_not_hear_others_frames_says_so_where_none_comes_back(
    start_tester: Callable[..., Tester], monkeypatch: pytest.MonkeyPatch, rises: str, advice: str
):
    tester = described(start_tester, monkeypatch, rises)
    assert tester.open("vdev:net_ring0", "vdev:net_ring1")["event"] == "opened"
    # What a ring is sent comes back at itself, and never at the other.
    failed = tester.trial(streams=[{"tx_port": 0, "rx_port": 1}], prime=True)
    assert failed["what"] == "trial.nothing_comes_back"
    assert advice in failed["next"]
    assert ("refuses promiscuous mode" in failed["found"]) == (rises == "untrusted")


def test_a_port_that_tells_nothing_has_none(start_tester: Callable[..., Tester], built: Path):
    assert built
    (port,) = start_tester().open("net_ring0")["ports"]
    assert (port["discards_read"], port["firmware"], port["pause"]) == ([], None, None)
