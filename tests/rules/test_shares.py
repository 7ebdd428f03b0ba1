"""Loss and pause as shares: of the right sum, per driver, and with their price.

What `rx_packets_phy` holds: drivers/net/ethernet/mellanox/mlx5/core/en_stats.c takes it from
a_frames_received_ok of the port's 802.3 counters (IEEE 802.3, 30.3.1.1.5), which count what the
wire brought whole, whatever the card does with it afterwards. Of a VF the queues' own
counters remain.
"""

import pytest

from wirespeed.catalog import rules
from wirespeed.doctor.diagnose import diagnose
from wirespeed.model.capture import parse_capture
from wirespeed.model.fact import HostFacts
from wirespeed.model.finding import Finding, Severity
from wirespeed.model.question import Question

NETDEV = "p0"
BY_SLUG = {rule.slug: rule for rule in rules()}
LINK = """Settings for p0:
	Supported link modes:   100000baseCR4/Full
	Speed: 100000Mb/s
	Duplex: Full
	Auto-negotiation: on
	Link detected: yes
"""
NO_LINK = LINK.replace("100000Mb/s", "Unknown!").replace("detected: yes", "detected: no")
PCI = "".join(
    f"/sys/bus/pci/devices/{address}/{name}:{text}\n"
    for address in ("0000:3b:00.0", "0000:3a:00.0")
    for name, text in (
        ("current_link_speed", "16.0 GT/s PCIe"), ("current_link_width", "16"),
        ("max_link_speed", "16.0 GT/s PCIe"), ("max_link_width", "16"),
    )
)  # fmt: skip


def capture(driver: str, grown: dict[str, int], received: int, link: str = LINK) -> str:
    """A port that received and sent as many in a second, with what grew beside it."""

    def counted(again: int) -> str:
        names = {name: count * again for name, count in grown.items()}
        return "NIC statistics:\n" + "".join(f"     {n}: {c}\n" for n, c in names.items())

    def shared(again: int) -> str:
        return f"uptime {100 + again}.00\nrx_packets {received * again}\n" + (
            f"tx_packets {received * again}\ntx_dropped 0\nrx_missed_errors 0\nrx_crc_errors 0\n"
        )

    way = "/sys/devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0"
    sections = [
        ("ports -", f"{NETDEV} driver={driver} physfn= port=p0 device={way}\n"),
        ("link -", f"/sys/class/net/{NETDEV}/flags:0x1003\n/sys/class/net/{NETDEV}/carrier:1\n"),
        ("pci-hops -", f"{way}\n"),
        ("pci -", PCI),
        (f"ethtool {NETDEV}", link),
        (f"statistics {NETDEV}", shared(0)),
        (f"ethtool-S {NETDEV}", counted(0)),
        (f"statistics-again {NETDEV}", shared(1)),
        (f"ethtool-S-again {NETDEV}", counted(1)),
    ]
    body = "".join(f"case begin {name}\n{text}\ncase end 0\n" for name, text in sections)
    return f"wirespeed-capture 1 case\n{body}case done\n"


def found(slug: str, text: str) -> Finding:
    host = HostFacts("host", parse_capture(text, "host"))
    answer = diagnose(host, Question(), [BY_SLUG[slug]])
    assert not answer.faults
    (finding,) = answer.findings
    return finding


@pytest.mark.parametrize(
    ("slug", "driver", "grown", "received", "share"),
    [
        # 28.6 % of what the wire brought, not 22 %.
        ("errors.port_buffer", "mlx5_core",
         {"rx_packets_phy": 1_000_000, "rx_discards_phy": 286_000}, 714_000, "29 %"),
        ("errors.no_receive_buffer", "mlx5_core",
         {"rx_packets_phy": 1_000_000, "rx_out_of_buffer": 250_000}, 750_000, "25 %"),
        ("errors.pcie_back_pressure", "mlx5_core",
         {"rx_packets_phy": 1_000_000, "outbound_pci_buffer_overflow": 500_000}, 500_000, "50 %"),
        # A VF has no counters of the port: what its queues took holds nothing that was lost.
        ("errors.no_receive_buffer", "mlx5_core", {"rx_out_of_buffer": 250_000}, 750_000, "25 %"),
        # A frame with a wrong check sum is not a frame received OK.
        ("errors.physical", "mlx5_core",
         {"rx_packets_phy": 750_000, "rx_crc_errors_phy": 250_000}, 750_000, "25 %"),
        ("errors.port_buffer", "ice", {"rx_dropped.nic": 250_000}, 750_000, "25 %"),
        ("errors.port_buffer", "i40e", {"port.rx_discards": 100_000}, 900_000, "10 %"),
    ],
)  # fmt: skip
def test_a_loss_is_a_share_of_all_that_came(
    slug: str, driver: str, grown: dict[str, int], received: int, share: str
):
    first = found(slug, capture(driver, grown, received)).evidence[0].found
    assert f" {share} of the frames" in first


def test_a_counter_above_what_holds_it_is_all_of_it_and_not_more():
    text = capture("mlx5_core", {"rx_packets_phy": 10, "rx_discards_phy": 1000}, 0)
    assert "1e+02 % of the frames" in found("errors.port_buffer", text).evidence[0].found


STALLS = {"outbound_pci_stalled_rd_events": 0, "outbound_pci_stalled_wr_events": 0}


@pytest.mark.parametrize(
    ("more", "acquitted"),
    [
        ({"rx_out_of_buffer": 0, **STALLS},
         ("no queue lacked descriptors", "never waited for PCIe")),
        ({"rx_out_of_buffer": 7, **STALLS}, ("never waited for PCIe",)),
        ({"rx_out_of_buffer": 0, "outbound_pci_stalled_wr_events": 1},
         ("no queue lacked descriptors",)),
        ({}, ()),
    ],
)  # fmt: skip
def test_a_full_buffer_says_what_it_is_not(more: dict[str, int], acquitted: tuple[str, ...]):
    grown = {"rx_packets_phy": 1_000_000, "rx_discards_phy": 286_000, **more}
    finding = found("errors.port_buffer", capture("mlx5_core", grown, 714_000))
    words = "; ".join(evidence.found for evidence in finding.evidence)
    for text in ("no queue lacked descriptors", "never waited for PCIe"):
        assert (text in words) == (text in acquitted)
    advice = finding.remedies[0].text
    assert ("queue without descriptors" in advice) == ("no queue lacked descriptors" not in words)
    assert ("PCIe link that is narrow" in advice) == ("never waited for PCIe" not in words)


@pytest.mark.parametrize(
    ("slug", "grown", "cost_share"),
    [
        ("errors.port_buffer", {"rx_packets_phy": 1_000_000, "rx_discards_phy": 286_000}, 0.286),
        ("errors.physical", {"rx_packets_phy": 900_000, "rx_crc_errors_phy": 100_000}, 0.1),
        ("pause.sent", {"tx_pause_ctrl_phy": 9, "tx_global_pause_duration": 250_000}, 0.25),
        ("pause.received", {"rx_pause_ctrl_phy": 9, "rx_global_pause_duration": 123_000}, 0.123),
    ],
)
def test_a_share_that_was_counted_has_a_price(slug: str, grown: dict[str, int], cost_share: float):
    finding = found(slug, capture("mlx5_core", grown, 1_000_000))
    assert finding.severity is Severity.FAULT
    (price,) = finding.prices
    assert price.cost_pps / price.after_pps == pytest.approx(cost_share)
    line_rate_pps = 100e9 / 8 / (1518 + 20)
    assert price.after_pps == pytest.approx(line_rate_pps)


@pytest.mark.parametrize(
    ("grown", "link"),
    [
        ({"tx_pause_ctrl_phy": 9}, LINK),
        ({"tx_pause_ctrl_phy": 9, "tx_global_pause_duration": 250_000}, NO_LINK),
        ({"tx_pause_ctrl_phy": 9, "tx_global_pause_duration": 900}, LINK),
    ],
)
def test_no_price_is_made_up(grown: dict[str, int], link: str):
    finding = found("pause.sent", capture("mlx5_core", grown, 1_000_000, link))
    assert not finding.prices
    assert finding.unpriced
