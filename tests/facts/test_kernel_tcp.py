"""TCP's own counts: RFC 4022 names them, /proc/net/snmp prints them below a line of names."""

from wirespeed.facts.kernel_tcp import TcpCounts
from wirespeed.model.capture import Capture, Section
from wirespeed.model.observed import Known, Unreadable

NAMES = (
    "Tcp: RtoAlgorithm RtoMin RtoMax MaxConn ActiveOpens PassiveOpens AttemptFails EstabResets "
    "CurrEstab InSegs OutSegs RetransSegs InErrs OutRsts InCsumErrors"
)


def counts(sent: int, resent: int) -> str:
    return f"{NAMES}\nTcp: 1 200 120000 -1 93 4 1 0 0 24387 {sent} {resent} 0 96 0"


def tcp(before: str, after: str, module: str = "", code: int = 1) -> TcpCounts:
    return TcpCounts.parse(
        Capture(
            [
                Section("tcp-counts", "", before, "", 0),
                Section("tcp-counts-again", "", after, "", 0),
                Section("bbr-module", "", module, "", code),
            ],
            complete=True,
        )
    )


def test_sent_and_resent_are_differences():
    found = tcp(counts(15139, 3), counts(25139, 13))
    assert found.sent_segments == Known(10000, "grep Tcp: /proc/net/snmp")
    assert found.resent_segments == Known(10, "grep Tcp: /proc/net/snmp")


def test_a_count_that_went_back_is_not_known():
    assert isinstance(tcp(counts(9, 9), counts(9, 3)).resent_segments, Unreadable)


def test_names_and_numbers_that_do_not_match_are_not_read():
    assert isinstance(tcp(NAMES, NAMES).sent_segments, Unreadable)
    assert isinstance(tcp("Tcp: A\nTcp: 1 2", "Tcp: A\nTcp: 1 2").sent_segments, Unreadable)


def test_bbr_is_there_as_a_module_in_any_compression():
    source = "modinfo tcp_bbr"
    found = tcp("", "", "kernel/net/ipv4/tcp_bbr.ko.zst: kernel/net/x.ko.zst", 0)
    assert found.bbr_module == Known(True, source)
    assert tcp("", "", "kernel/net/ipv4/tcp_bbr.ko", 2).bbr_module == Known(True, source)
    assert tcp("", "", "", 1).bbr_module == Known(False, source)
    assert isinstance(tcp("", "", "", 2).bbr_module, Unreadable)
