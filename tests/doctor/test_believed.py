"""What a reading is worth: a tunnel's nominal speed is no ceiling, a real slot's is.

The hosts are those of a public thread (community.frame.work 76971): a 10 Gb/s card with an Aquantia
chip in a Thunderbolt box, whose root port reports 2.5 GT/s and one lane. On one laptop it carried
10 Gb/s.
"""

import pytest

from wirespeed.doctor.diagnose import diagnose
from wirespeed.model.capture import parse_capture
from wirespeed.model.ceiling import Direction
from wirespeed.model.fact import HostFacts
from wirespeed.model.finding import Diagnosis, Severity
from wirespeed.model.question import Question

ROOT, UPSTREAM, DOWNSTREAM, CARD = (
    "0000:00:01.1", "0000:04:00.0", "0000:05:00.0", "0000:06:00.0",
)  # fmt: skip
WAY = f"/sys/devices/pci0000:00/{ROOT}/{UPSTREAM}/{DOWNSTREAM}/{CARD}"
SETTINGS = """Settings for enp6s0:
	Supported link modes:   10000baseT/Full
	Speed: 10000Mb/s
	Duplex: Full
	Auto-negotiation: on
	Link detected: yes
"""


def hop(address: str, gt_per_s: str, lanes: int, most: str, most_lanes: int, out: str) -> str:
    files = {
        "current_link_speed": f"{gt_per_s} GT/s PCIe", "current_link_width": lanes,
        "max_link_speed": f"{most} GT/s PCIe", "max_link_width": most_lanes,
        "numa_node": -1, "vendor": "0x1022", "device": "0x150b", "subsystem_vendor": "0x1022",
        "removable": out,
    }  # fmt: skip
    return "".join(f"/sys/bus/pci/devices/{address}/{k}:{v}\n" for k, v in files.items())


def answer(out: str, measured_gbps: float) -> Diagnosis:
    pci = (
        hop(ROOT, "2.5", 1, "2.5", 1, "fixed")
        + hop(UPSTREAM, "2.5", 1, "8.0", 4, out)
        + hop(DOWNSTREAM, "8.0", 4, "8.0", 4, out)
        + hop(CARD, "8.0", 4, "8.0", 4, out)
    )
    sections = {
        "pci-hops -": WAY + "\n",
        "pci -": pci,
        "ports -": f"enp6s0 driver=atlantic physfn= port= device={WAY}\n",
        "link -": "/sys/class/net/enp6s0/flags:0x1003\n/sys/class/net/enp6s0/carrier:1\n",
        "ethtool enp6s0": SETTINGS,
    }
    text = "wirespeed-capture 1 case\n" + "".join(
        f"case begin {name}\n{body}\ncase end 0\n" for name, body in sections.items()
    )
    host = HostFacts("laptop", parse_capture(text + "case done\n", "laptop"))
    diagnosis = diagnose(host, Question(measured_bps=measured_gbps * 1e9))
    assert not diagnosis.faults
    return diagnosis


def named(diagnosis: Diagnosis) -> set[str]:
    return {f.rule for f in diagnosis.findings if f.severity is not Severity.NOTE}


def test_the_speed_of_a_tunnel_is_not_believed():
    diagnosis = answer("removable", 9.3)
    (ledger,) = diagnosis.ledgers
    for direction in Direction:
        bound = ledger.bound(direction)
        assert bound is not None
        assert bound.element == "ethernet"
    assert any("tunnel through Thunderbolt or USB4" in reason for reason in ledger.unknown)
    assert not {rule for rule in named(diagnosis) if rule.startswith(("pcie.", "measured."))}


def test_what_is_far_below_the_card_behind_a_tunnel_is_still_said():
    assert "measured.far_below_ceiling" in named(answer("removable", 1.9))


@pytest.mark.parametrize("out", ["fixed", "unknown"])
def test_the_speed_of_a_real_slot_is_believed(out: str):
    # 2.5 GT/s x 8/10 x 1 lane: 2 Gb/s. With segmentation offload the headers of 1,448 bytes of
    # payload do not cross the bus, but count on the wire: 2 x 1538 / 1448.
    diagnosis = answer(out, 9.3)
    (ledger,) = diagnosis.ledgers
    bound = ledger.most(Direction.RECEIVE)
    assert bound is not None
    assert bound.element == f"pcie {UPSTREAM}"
    assert bound.load_bps_l1.high < 2e9 * 1538 / 1448
    assert "measured.above_ceiling" in named(diagnosis)
