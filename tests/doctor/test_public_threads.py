"""Public threads whose cause its authors found: the doctor names that cause first.

Each capture holds what the thread shows, in the collector's sections; names and addresses of hosts
are others. What a thread does not show is not there, and stays *cannot tell*.
"""

from dataclasses import dataclass, field

import pytest

from wirespeed.doctor.diagnose import diagnose
from wirespeed.model.capture import parse_capture
from wirespeed.model.fact import HostFacts
from wirespeed.model.finding import Severity
from wirespeed.model.question import Question

GITHUB = "https://github.com"
LOG = "wirespeed: drivers too\nwirespeed: VFs too\nwirespeed: resets too\n"
FILES = "/sys/bus/pci/devices"


@dataclass(frozen=True, slots=True)
class Thread:
    """What was shown, and what turned out to be the cause."""

    url: str
    cause: str
    rule: str
    driver: str
    sections: tuple[tuple[str, str], ...]
    question: Question = field(default_factory=Question)
    advice: str = ""
    """Words of what helped there."""


def log(*lines: str) -> tuple[str, str]:
    return "module-messages -", LOG + "\n".join(lines)


def counted(
    before: dict[str, int], after: dict[str, int], received: int = 1_000_000
) -> tuple[tuple[str, str], ...]:
    """Two readings, a second apart."""
    found = []
    for suffix, uptime, values, frames in (
        ("", "100.00", before, 5000), ("-again", "101.00", after, 5000 + received)
    ):  # fmt: skip
        counters = "".join(f"     {name}: {value}\n" for name, value in values.items())
        found += [
            (
                f"statistics{suffix} p0",
                f"uptime {uptime}\nrx_packets {frames}\ntx_packets {frames}\ntx_dropped 0\n"
                "rx_missed_errors 0\nrx_crc_errors 0",
            ),
            (f"ethtool-S{suffix} p0", f"NIC statistics:\n{counters}"),
        ]
    return tuple(found)


def rings(now: int, most: int) -> tuple[str, str]:
    return (
        "ethtool-rings p0",
        f"Ring parameters for p0:\nPre-set maximums:\nRX:\t\t{most}\nTX:\t\t{most}\n"
        f"Current hardware settings:\nRX:\t\t{now}\nTX:\t\t{now}",
    )


def link(speed: str, ours: str, theirs: str = "", up: str = "yes") -> tuple[str, str]:
    partner = f"\tLink partner advertised link modes:  {theirs}\n" if theirs else ""
    return (
        "ethtool p0",
        f"Settings for p0:\n\tSupported link modes:   {ours}\n\tAdvertised link modes:  {ours}\n"
        f"{partner}\tSpeed: {speed}\n\tDuplex: Full\n\tAuto-negotiation: on\n\tLink detected: {up}",
    )


def slot(
    speed: str, width: int, most: tuple[str, int], above: tuple[str, int]
) -> tuple[tuple[str, str], ...]:
    """A card at 3b:00.0 below a port at 3a:00.0."""
    lines = []
    for address, (max_speed, max_width) in (("0000:3b:00.0", most), ("0000:3a:00.0", above)):
        lines += [
            f"{FILES}/{address}/current_link_speed:{speed} PCIe",
            f"{FILES}/{address}/current_link_width:{width}",
            f"{FILES}/{address}/max_link_speed:{max_speed} PCIe",
            f"{FILES}/{address}/max_link_width:{max_width}",
        ]
    way = "/sys/devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0"
    return (("pci-hops -", way), ("pci -", "\n".join(lines)))


THREADS = (
    Thread(
        f"{GITHUB}/LibreQoE/LibreQoS/issues/417",
        "rings of 512 of 4096; the switch counted pause frames of the card",
        "queues.rings_below_maximum",
        "ixgbe",
        (
            rings(512, 4096),
            *counted(
                {"tx_flow_control_xoff": 10, "rx_missed_errors": 0, "rx_no_dma_resources": 0},
                {"tx_flow_control_xoff": 900, "rx_missed_errors": 0, "rx_no_dma_resources": 0},
            ),
        ),
        advice="-G p0 rx 4096",
    ),
    Thread(
        f"{GITHUB}/NVIDIA/daqiri/issues/250",
        "pause frames of the peer took 21.7 % of 400 Gb/s, with every counter of drops at 0",
        "pause.received",
        "mlx5_core",
        (
            link("400000Mb/s", "400000baseSR8/Full"),
            *counted(
                {"tx_packets_phy": 5000, "rx_pause_ctrl_phy": 0, "rx_global_pause_duration": 0},
                {
                    "tx_packets_phy": 1005000,
                    "rx_pause_ctrl_phy": 80000,
                    "rx_global_pause_duration": 217000,
                },
            ),
        ),
    ),
    Thread(
        f"{GITHUB}/geerlingguy/raspberry-pi-pcie-devices/issues/330",
        "82599 with one lane of 5 GT/s, where it could do eight",
        "pcie.width_below_capability",
        "ixgbe",
        (
            link("10000Mb/s", "10000baseT/Full"),
            *slot("5.0 GT/s", 1, ("5.0 GT/s", 8), ("5.0 GT/s", 1)),
        ),
    ),
    Thread(
        f"{GITHUB}/geerlingguy/raspberry-pi-pcie-devices/issues/143",
        "ConnectX-3 for 8 GT/s x4, at 5 GT/s x1",
        "pcie.width_below_capability",
        "mlx4_en",
        (
            link("10000Mb/s", "10000baseT/Full"),
            *slot("5.0 GT/s", 1, ("8.0 GT/s", 4), ("5.0 GT/s", 1)),
        ),
    ),
    Thread(
        f"{GITHUB}/geerlingguy/raspberry-pi-pcie-devices/issues/21",
        "ConnectX-2 whose queue hangs on this host",
        "driver.reset_card",
        "mlx4_core",
        (log("[   43.9] NETDEV WATCHDOG: p0 (mlx4_core): transmit queue 0 timed out"),),
    ),
    Thread(
        f"{GITHUB}/intel/ethernet-linux-ixgbe/issues/21",
        "82599ES hangs under iperf3 on an Arm board",
        "driver.reset_card",
        "ixgbe",
        (log("[   57.585951] ixgbe 0000:3b:00.0 p0: Detected Tx Unit Hang"),),
    ),
    Thread(
        f"{GITHUB}/gislab-npo/gislab/issues/407",
        "e1000e hangs with segmentation on",
        "driver.reset_card",
        "e1000e",
        (log("[ 9327.470501] e1000e 0000:3b:00.0 p0: Detected Hardware Unit Hang:"),),
        advice="tso off",
    ),
    Thread(
        f"{GITHUB}/open-power/op-build/issues/3274",
        "XL710 takes no more frames under load and is reset",
        "driver.reset_card",
        "i40e",
        (
            log(
                "[ 100.1] i40e 0000:3b:00.0 p0: tx_timeout: VSI_seid: 396, Q 31, NTC: 0x1cb, "
                "HWB: 0x1cb, NTU: 0x1f5, TAIL: 0x1f5, INT: 0x1",
                "[ 100.2] i40e 0000:3b:00.0 p0: tx_timeout recovery level 2, hung_queue 31",
            ),
        ),
    ),
    Thread(
        f"{GITHUB}/appneta/tcpreplay/issues/169",
        "the link went down while frames waited",
        "driver.reset_card",
        "ixgbe",
        (
            log(
                "[72334.8] ixgbe 0000:3b:00.0 p0: initiating reset to clear Tx work after link loss"
            ),
        ),
        advice="cable",
    ),
    Thread(
        f"{GITHUB}/quantum/esos/issues/266",
        "X710-T2L newer than the kernel's i40e",
        "driver.refused",
        "",
        (log("[    1.985083] i40e: probe of 0000:3b:00.0 failed with error -11"),),
        advice="newer kernel",
    ),
    Thread(
        f"{GITHUB}/PeterSuh-Q3/tinycore-redpill/issues/9",
        "ConnectX-4 Lx whose firmware is newer than mlx5 of this kernel",
        "driver.refused",
        "",
        (
            log(
                "[   13.672173] mlx5_core 0000:3b:00.0: handle_hca_cap failed",
                "[   14.059052] mlx5_core 0000:3b:00.0: mlx5_load_one failed with error code -22",
                "[   14.059582] mlx5_core: probe of 0000:3b:00.0 failed with error -22",
            ),
        ),
        advice="newer kernel",
    ),
    Thread(
        f"{GITHUB}/ublue-os/bazzite/issues/5094",
        "a cable that carries 100 Mb/s where both ends do 1000",
        "link.slower_than_both_ends",
        "r8169",
        (
            link(
                "100Mb/s",
                "100baseT/Full\n\t                        1000baseT/Full",
                "100baseT/Full\n\t                                     1000baseT/Full",
            ),
        ),
        advice="cable",
    ),
    Thread(
        f"{GITHUB}/Xilinx-CNS/solarcapture/issues/47",
        "receive rings of a Solarflare are full",
        "queues.rings_below_maximum",
        "sfc",
        (
            rings(512, 4096),
            *counted({"port_rx_nodesc_drops": 7}, {"port_rx_nodesc_drops": 5007}),
        ),
    ),
    Thread(
        "https://github.com/alauda/knowledge (packets dropped, ring full and pkts rx OOB)",
        "rings of a guest's vmxnet3 are too small for its bursts",
        "queues.rings_below_maximum",
        "vmxnet3",
        (rings(256, 4096), *counted({"pkts rx OOB": 0}, {"pkts rx OOB": 632})),
        advice="-G p0 rx 4096",
    ),
    Thread(
        f"{GITHUB}/luigirizzo/netmap/issues/649",
        "no descriptor was posted: rx_out_of_buffer is what ifconfig calls dropped",
        "errors.no_receive_buffer",
        "mlx5_core",
        counted(
            {"rx_packets_phy": 0, "rx_out_of_buffer": 0},
            {"rx_packets_phy": 492, "rx_out_of_buffer": 48},
            444,
        ),
    ),
    Thread(
        f"{GITHUB}/openwrt/openwrt/issues/24750",
        "frames arrive damaged while the cable carries 100 Mb/s",
        "errors.physical",
        "igb",
        counted({"rx_crc_errors": 114}, {"rx_crc_errors": 119}, 0),
    ),
)


def capture(thread: Thread) -> str:
    netdev = "p0" if thread.driver else "-"
    port = (
        f"{netdev} driver={thread.driver} physfn= port= "
        "device=/sys/devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0"
    )
    sections = (("ports -", port), *thread.sections)
    body = "".join(f"case begin {head}\n{text}\n\ncase end 0\n" for head, text in sections)
    return f"wirespeed-capture 1 case\n{body}case done\n"


@pytest.mark.parametrize("thread", THREADS, ids=lambda one: one.url.removeprefix(f"{GITHUB}/"))
def test_the_cause_that_was_found_is_named_first(thread: Thread):
    host = HostFacts("host", parse_capture(capture(thread), "case"))
    answer = diagnose(host, thread.question)
    assert not answer.faults
    named = [(finding.rule, finding.severity) for finding in answer.findings]
    assert named
    assert named[0][0] == thread.rule, named
    assert named[0][1] is not Severity.NOTE
    helps = " ".join(
        " ".join([remedy.text, *(command.line() for command in remedy.commands)])
        for remedy in answer.findings[0].remedies
    )
    assert thread.advice in helps
