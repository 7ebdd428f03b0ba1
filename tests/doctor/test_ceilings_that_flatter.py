"""A ceiling never says more than what a report measured or a maker published of the same thing."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from wirespeed.commands.doctor import doctor
from wirespeed.doctor.ledger import build_ledger
from wirespeed.facts.ports import Ports
from wirespeed.model.capture import parse_capture
from wirespeed.model.ceiling import Ceiling, Direction
from wirespeed.model.fact import HostFacts
from wirespeed.model.question import Purpose, Question

CASES = Path(__file__).parents[1] / "rules/cases"
X4 = (CASES / "measured.above_ceiling/absent_53_6_through_pcie_4_x4/capture.txt").read_text()


def with_more(text: str, **sections: str) -> str:
    more = "".join(
        f"case begin {name.replace('_', '-')} {subject}\n{body}\n\ncase end 0\n"
        for name, told in sections.items()
        for subject, body in [told.split("|", 1)]
    )
    return text.replace("case done\n", f"{more}case done\n")


def with_sections(text: str, **sections: str) -> HostFacts:
    return HostFacts("host", parse_capture(with_more(text, **sections), "host"))


def netdev() -> str:
    found = re.search(r"^(\S+) driver=", X4, re.M)
    assert found is not None
    return found[1]


def ceilings(host: HostFacts, question: Question) -> list[Ceiling]:
    (port,) = host[Ports].ports
    found = build_ledger(host, port, question).ceilings
    return [one for one in found if one.direction is Direction.RECEIVE]


def link(speed: int) -> str:
    return f"{netdev()}|Settings for {netdev()}:\n\tSpeed: {speed}Mb/s\n\tLink detected: yes"


@pytest.mark.parametrize("device", ["0x1572", "0x1583", "0x158b"])
def test_no_card_of_the_700_series_takes_a_full_line_of_64_bytes(device: str):
    """Intel, document 683749: below 160 bytes about 37 Mpps for the entire device."""
    text = X4.replace("/vendor:0x15b3", "/vendor:0x8086")
    text = re.sub(r"(/0000:3b:00\.0/device:)0x\w+", rf"\g<1>{device}", text)
    found = ceilings(with_sections(text, ethtool=link(40_000)), Question(frame_bytes=64))
    assert min(one.load_pps.low for one in found) <= 37e6


def test_a_card_with_dpdks_defaults_reads_four_descriptors_at_once_and_not_64():
    """doc.dpdk.org, mlx5: `mprq_en`, default 0; 102.4 bytes a frame upwards, not 96.75: of
    63.01 Gb/s less 8.14 % they are 70.7 million frames, not 74.8.
    """
    question = Question(frame_bytes=64, purpose=Purpose.DPDK)
    host = with_sections(X4, ethtool=link(100_000))
    (pcie,) = [one for one in ceilings(host, question) if one.element.startswith("pcie")]
    assert pcie.load_pps.low <= 71e6


def test_frames_are_as_long_as_the_mtu_that_was_read(tmp_path: Path):
    links = json.dumps([{"ifindex": 2, "ifname": netdev(), "mtu": 9000, "flags": ["UP"]}])
    capture = tmp_path / "host.txt"
    capture.write_text(with_more(X4, ethtool=link(100_000), ip_link=f"-|{links}"))
    said = CliRunner().invoke(doctor, ["--json", str(capture)], standalone_mode=False)
    assert json.loads(said.output)["question"]["frame_bytes"] == 9018


def test_a_link_of_infiniband_has_no_ceiling_called_ethernet():
    links = json.dumps([{"ifindex": 2, "ifname": netdev(), "mtu": 2044, "flags": ["UP"],
                         "link_type": "infiniband"}])  # fmt: skip
    host = with_sections(X4, ethtool=link(100_000), ip_link=f"-|{links}")
    assert "ethernet" not in [one.element for one in ceilings(host, Question())]
