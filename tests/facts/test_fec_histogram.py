"""The kernel's histogram of code words, as netlink/fec.c of ethtool prints it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wirespeed.facts.fec_histogram import FecHistogram, FecHistograms
from wirespeed.model.capture import Capture, Section
from wirespeed.model.observed import Absent, Known, Observed, Unreadable

PORTS = "p0 driver=mlx5_core physfn= port=p0 device=/sys/devices/pci0000:00/0000:01:00.0\n"
HEAD = """\
FEC parameters for p0:
Supported/Configured FEC encodings: Auto RS
Active FEC encoding: RS
Statistics:
  corrected_blocks: 123
  uncorrectable_blocks: 4
"""
EXAMPLE = """\
  fec_symbol_err_0: 445 [ per_lane:  125, 120, 100, 100 ]
  fec_symbol_err_1_to_3: 12
  fec_symbol_err_4_to_7: 2
"""
"""Of https://lore.kernel.org/netdev/20251014212018.7933-1-vadim.fedorenko@linux.dev/"""
REAL = (22858119037881, 65755507, 7970, 177, 64, 2, 1, 1, 3, 0, 0, 0, 0, 0, 0, 0)
"""Of https://github.com/yuuki/mlxlink_exporter: the maker's own tool says 5E-10 beside it."""


def read(text: str, errors: str = "", code: int = 0) -> Observed[FecHistogram]:
    sections = [
        Section("ports", "", PORTS, "", 0),
        Section("ethtool-fec-statistics", "p0", text, errors, code),
    ]
    return FecHistograms.parse(Capture(sections, complete=True)).by_netdev["p0"]


def bins_of(text: str) -> FecHistogram:
    found = read(HEAD + text)
    assert isinstance(found, Known)
    return found.value


def test_the_documented_example_is_read_under_each_of_its_names():
    expected = ((0, 0, 445), (1, 3, 12), (4, 7, 2))
    for name in ("fec_symbol_err", "fec_symbols_err", "fec_bit_err"):
        assert bins_of(EXAMPLE.replace("fec_symbol_err", name)).bins == expected
    assert bins_of(EXAMPLE).words() == 459
    assert bins_of(EXAMPLE).worst == 4


def test_the_rate_of_a_real_link_is_that_of_the_makers_tool():
    text = "".join(f"  fec_symbols_err_{n}: {count}\n" for n, count in enumerate(REAL))
    found = bins_of(text)
    assert found.most == 15 and found.worst == 8
    assert found.least_ber(544) == pytest.approx(5e-10, rel=0.1)


def test_hidden_counts_are_no_zeros():
    text = "  fec_symbols_err_0: <long_1>\n  fec_symbols_err_1: 3\n  fec_symbols_err_2: 0\n"
    found = bins_of(text)
    assert found.words() is None and found.least_ber(544) is None
    assert found.worst == 1


def test_no_histogram_and_no_answer_are_told_apart():
    assert isinstance(read(HEAD), Absent)
    assert isinstance(read("", "netlink error: Operation not supported", 1), Absent)
    assert isinstance(read("", "ethtool: bad command line argument(s)", 1), Unreadable)
    missing = FecHistograms.parse(
        Capture([Section("ports", "", PORTS, "", 0)], complete=True)
    ).by_netdev["p0"]
    assert isinstance(missing, Unreadable)


@given(st.text(alphabet="fec_symbols_err_0123456789to: []\n-", max_size=200))
def test_hostile_lines_never_raise(text: str):
    found = read(HEAD + text)
    if isinstance(found, Known):
        assert found.value.worst <= max(low for low, _, _ in found.value.bins)
        found.value.least_ber(544)
