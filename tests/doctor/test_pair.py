"""Two described hosts on one cable: planted faults between them, a healthy pair, what is unread.

Meanings of counters: https://docs.kernel.org/networking/device_drivers/ethernet/mellanox/mlx5/
counters.html (rx_crc_errors_phy: dropped for a bad FCS, on the wire; rx_out_of_buffer: no receive
buffer of the host). Speeds and FEC of a cable: IEEE 802.3 clauses 73, 91 and 108.
"""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from described.healthy import dual_xeon_100g
from described.host import Host, capture_of
from described.port import SFP28_MODES, Ethernet, Port
from wirespeed.cli import cli
from wirespeed.doctor.pair import RULES, judge_pair
from wirespeed.doctor.pair_end import End
from wirespeed.facts.ports import Ports
from wirespeed.model.capture import parse_capture
from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.finding import Severity
from wirespeed.model.pair import PairAnswer, PairVerdict
from wirespeed.model.question import Question
from wirespeed.report.diagnosis_document import diagnosis_document
from wirespeed.report.document_html import render_html
from wirespeed.report.pair_text import pair_lines
from wirespeed.report.text_lines import columns_of
from wirespeed.runs.between import answer_between, parse_between

P0 = "ens6f0np0"
STEADY = {"rx_packets_phy": 20_000, "tx_packets_phy": 20_000}
"""As many frames leave one as come to the other."""
SNMP = "/proc/net/snmp"


def host(**port: Any) -> Host:
    """A healthy server of 100 Gb/s; its first port is as told."""
    described = dual_xeon_100g()
    grown = {**STEADY, **port.pop("grown", {})}
    Port(P0, "0000:af:00.0", channels=48, grown=grown, **port).place(described)
    return described


def end(name: str, described: Host, text: str | None = None) -> End:
    facts = HostFacts(name, parse_capture(text or capture_of(described), name))
    (port,) = (one for one in facts[Ports].ports if one.netdev == P0)
    return End(name, facts, port)


def judged(alpha: Host, beta: Host) -> PairAnswer:
    return judge_pair((end("alpha", alpha), end("beta", beta)), Question())


def verdict(answer: PairAnswer, rule: str) -> PairVerdict:
    return next(one for one in answer.verdicts if one.rule == rule)


def lines(answer: PairAnswer) -> str:
    printed = [line.text for line in pair_lines(answer)]
    assert all(columns_of(line) <= 80 for line in printed)
    return "\n".join(printed)


def test_a_healthy_pair_has_no_finding_and_all_that_was_compared_is_named():
    answer = judged(host(), host())
    assert answer.findings == ()
    assert {one.outcome for one in answer.verdicts} == {"absent"}
    text = lines(answer)
    assert text.startswith(f"between alpha:{P0} and beta:{P0}: nothing found\n")
    for said in ("100 Gb/s at both ends", "FEC rs at both ends", "MTU 1500 at both ends",
                 "autonegotiation on at both ends"):  # fmt: skip
        assert said in " ".join(text.split())


def test_check_sums_that_fail_at_beta_are_of_the_cable_from_alpha_and_explain_its_resends():
    alpha, beta = host(), host(grown={"rx_crc_errors_phy": 40})
    columns = str(alpha.files[SNMP]).splitlines()
    place = next(line for line in columns if line.startswith("Tcp: ")).split().index("RetransSegs")
    later = str(alpha.later.get(SNMP, alpha.files[SNMP])).splitlines()
    (row,) = (n for n, line in enumerate(later) if line.startswith("Tcp: ") and "R" not in line)
    counts = later[row].split()
    counts[place] = str(int(counts[place]) + 5000)
    alpha.later[SNMP] = "\n".join([*later[:row], " ".join(counts), *later[row + 1 :]])
    (finding,) = judged(alpha, beta).findings
    assert (finding.rule, finding.severity) == ("pair.loss", Severity.FAULT)
    assert [one.host for one in finding.evidence] == ["beta", "alpha"]
    assert "rx_crc_errors_phy grew by 40" in finding.evidence[0].found
    assert "segments sent again" in finding.evidence[1].found
    assert "frames of alpha are damaged on the cable to beta" in finding.so
    assert finding.so.endswith("and is why alpha sends segments again")


def test_what_beta_takes_too_slowly_acquits_the_cable_and_alpha():
    (finding,) = judged(host(), host(grown={"rx_out_of_buffer": 900})).findings
    assert finding.severity is Severity.FAULT
    assert "the cable and alpha are ruled out" in finding.so
    assert finding.evidence[0].host == "beta"


def test_the_other_way_the_ends_change_places():
    (finding,) = judged(host(grown={"rx_crc_errors_phy": 40}), host()).findings
    assert "frames of beta are damaged on the cable to alpha" in finding.so


def test_what_alpha_drops_before_the_cable_is_alpha_s():
    (finding,) = judged(host(grown={"tx_queue_dropped": 70}), host()).findings
    assert finding.so.startswith("alpha itself drops before the cable")


def test_settings_that_differ_are_found_with_the_end_that_has_each():
    beta = host(mtu=9000, pause=("off", "off", "on"),
                ethernet=Ethernet(fec="BaseR", autonegotiation=False))  # fmt: skip
    answer = judged(host(), beta)
    found = {one.rule: one for one in answer.findings}
    assert set(found) == {"pair.fec", "pair.mtu", "pair.autonegotiation", "pair.pause"}
    assert [(o.host, o.found) for o in found["pair.mtu"].evidence] == [
        ("alpha", "MTU 1500"), ("beta", "MTU 9000"),
    ]  # fmt: skip
    assert "alpha need not take what beta sends above 1500 bytes" in found["pair.mtu"].so
    assert [o.found for o in found["pair.fec"].evidence] == ["FEC rs", "FEC baser"]
    (command,) = found["pair.autonegotiation"].commands
    assert (command.host, command.command.line()) == ("beta", f"ethtool -s {P0} autoneg on")
    assert found["pair.pause"].so.startswith(
        "alpha sends pause frames, but beta does not obey them"
    )
    lines(answer)


def test_two_speeds_are_no_one_cable_and_the_slower_end_bounds_the_path():
    answer = judged(host(), host(ethernet=Ethernet(10_000)))
    (finding,) = answer.findings
    assert finding.rule == "pair.speed"
    assert "no one cable runs at two speeds" in finding.so
    for rule in ("pair.fec", "pair.autonegotiation", "pair.pause"):
        assert verdict(answer, rule).outcome == "cannot tell"
    for path in answer.ceilings:
        # 10 Gb/s of wire time, in frames of 1518 bytes and 20 around each.
        assert path.load_pps is not None
        assert path.load_pps.high == pytest.approx(10e9 / 8 / 1538)
        assert [(one.host, one.element) for one in path.bound_by] == [("beta", "ethernet")]
    assert "alpha to beta: 10.0 Gb/s, bound by ethernet of beta" in lines(answer)


def test_the_ceiling_is_the_sender_s_or_the_receiver_s_by_the_way():
    slow = dual_xeon_100g()
    Port(P0, "0000:af:00.0", channels=48, grown=STEADY).place(slow)
    for path in (p for p in slow.files if p.endswith("0000:af:00.0/current_link_width")):
        slow.files[path] = "4"
    answer = judged(slow, host())
    assert [(p.sender, p.receiver) for p in answer.ceilings] == [
        ("alpha", "beta"), ("beta", "alpha"),
    ]  # fmt: skip
    for path in answer.ceilings:
        assert {one.host for one in path.bound_by} == {"alpha"}
        assert path.bound_by[0].element.startswith("pcie ")


def test_without_a_link_what_both_could_do_is_compared_and_no_ceiling_is_given():
    down = Ethernet(None)
    only_10g = replace(down, advertised=("10000baseKR/Full",), configured_fec="Off")
    only_25g = replace(down, supported=SFP28_MODES, advertised=("25000baseCR/Full",),
                       configured_fec="RS")  # fmt: skip
    answer = judged(host(ethernet=only_10g), host(ethernet=only_25g))
    found = {one.rule: one for one in answer.findings}
    assert set(found) == {"pair.link", "pair.speed", "pair.fec"}
    assert "no speed in common" in found["pair.speed"].so
    assert [o.found for o in found["pair.fec"].evidence] == ["FEC none", "FEC rs"]
    assert all(path.load_pps is None and "no link" in path.reason for path in answer.ceilings)
    assert "not known: " in lines(answer)


def test_one_that_chooses_its_fec_against_one_that_does_not_is_a_risk_without_a_link():
    down = Ethernet(None)
    answer = judged(host(ethernet=down), host(ethernet=replace(down, configured_fec="RS")))
    assert {one.rule: one.severity for one in answer.findings}["pair.fec"] is Severity.RISK


def test_counters_that_cannot_be_read_are_told_and_no_loss_is_ruled_out():
    beta = host()
    for answers in (beta.answers, beta.answers_later):
        line = f"ethtool -S {P0}"
        answers[line] = replace(answers[line], output="", errors="Operation not permitted\n",
                                returncode=1)  # fmt: skip
    answer = judged(host(), beta)
    assert answer.findings == ()
    told = [one for one in answer.verdicts if one.outcome == "cannot tell"]
    assert [one.reason.split(":")[0] for one in told if one.rule == "pair.loss"] == [
        "alpha to beta", "beta to alpha",
    ]  # fmt: skip
    assert any(f"ethtool -S {P0} (on beta)" in one.would_tell for one in told)
    assert "cannot tell pair.loss" in lines(answer)


def test_frames_that_did_not_come_are_a_fault_only_over_readings_that_are_long():
    few = {"rx_packets_phy": 5_000}
    answer = judged(host(), host(grown=few))
    assert answer.findings == ()
    assert "not at one moment" in verdict(answer, "pair.frames").reason
    alpha, beta = host(), host(grown=few)
    for one in (alpha, beta):
        first = float(str(one.files["/proc/uptime"]).split()[0])
        one.later["/proc/uptime"] = f"{first + 12:.2f} 1.00"
    (finding,) = judged(alpha, beta).findings
    assert finding.rule == "pair.frames"
    assert finding.so.startswith("75% of what alpha sends is not received")


@pytest.mark.parametrize(
    ("text", "hosts", "found"),
    [
        ("alpha:p0,beta:p0", ("alpha", "beta"), (("alpha", "p0"), ("beta", "p0"))),
        ("beta:p1,alpha:0000:3b:00.0", ("alpha", "beta"),
         (("beta", "p1"), ("alpha", "0000:3b:00.0"))),
        ("ssh://root@a:22:p0,b,c.txt:p0", ("ssh://root@a:22", "b,c.txt"),
         (("ssh://root@a:22", "p0"), ("b,c.txt", "p0"))),
    ],
)  # fmt: skip
def test_ends_are_named_by_the_hosts_own_words(
    text: str, hosts: tuple[str, ...], found: tuple[tuple[str, str], ...]
):
    assert parse_between(text, hosts) == found


@pytest.mark.parametrize("text", ["", "alpha:p0", "alpha:p0,gamma:p0", "alpha:p0,alpha:p1",
                                  "alpha:,beta:p0", "alpha:p0,beta:"])  # fmt: skip
def test_what_names_no_two_ends_is_refused(text: str):
    with pytest.raises(InputError) as caught:
        parse_between(text, ("alpha", "beta"))
    assert (caught.value.what, caught.value.where) == ("options.invalid", "--between")


def test_an_end_that_gave_no_answer_leaves_nothing_to_compare():
    between = parse_between("alpha:p0,beta:p0", ("alpha", "beta"))
    answer = answer_between(between, {"alpha": "x", "beta": ""}, Question())
    assert (answer.verdicts[0].outcome, answer.verdicts[0].reason) == (
        "cannot tell", "no answer from beta",
    )  # fmt: skip


def test_the_command_prints_its_section_its_line_of_json_and_its_code(tmp_path: Path):
    files = []
    for name, described in (("alpha", host()), ("beta", host(mtu=9000))):
        path = tmp_path / f"{name}.txt"
        path.write_text(capture_of(described))
        files.append(str(path))
    between = f"{files[0]}:{P0},{files[1]}:0000:af:00.0"
    argv = ["doctor", *files, "--between", between]
    done = CliRunner().invoke(cli, argv, standalone_mode=False)
    assert done.return_value == 1
    assert "FAULT pair.mtu" in done.output
    assert "most that the whole path carries" in done.output
    printed = CliRunner().invoke(cli, [*argv, "--json", "--out", str(tmp_path / "out")]).output
    *hosts, pair = map(json.loads, printed.splitlines())
    assert len(hosts) == 2 and all("findings" in one and "host" in one for one in hosts)
    assert [one["rule"] for one in pair["findings"]] == ["pair.mtu"]
    assert json.loads((tmp_path / "out" / "between.json").read_text()) == pair
    page = tmp_path / "page.html"
    CliRunner().invoke(cli, [*argv, "--html", str(page)])
    html = page.read_text()
    assert html.index('id="between"') < html.index('id="h1"')
    section = html[html.index('id="between"') : html.index('id="h1"')]
    for text in ("pair.mtu", f"{files[0]}: ", "alike", "carries at most"):
        assert text.lower() in section.lower(), text
    absent = CliRunner().invoke(cli, ["doctor", *files, "--between", between.replace("f0np0", "x")])
    assert isinstance(absent.exception, InputError) and absent.exception.what == "port.unknown"


def test_conditions_of_two_ends_are_listed_and_explained():
    listed = CliRunner().invoke(cli, ["doctor", "--rules"]).output
    for rule in RULES:
        assert f"{rule.slug} " in listed
        told = CliRunner().invoke(cli, ["doctor", "--explain", rule.slug]).output
        assert told.startswith(f"{rule.slug}\n  is      {rule.title}\n")
        assert ("each way" in told) == rule.each_way
        assert all(len(line) <= 80 for line in told.splitlines())
        why, source = (told.partition(f"\n  {word}")[2] for word in ("why     ", "source  "))
        assert len(why.split("\n  price")[0]) > 80
        assert re.match(r"https://|IEEE 802\.3 |RFC \d{4} ", source)


def test_names_of_ends_are_harmless_on_the_page():
    answer = PairAnswer(between=("<img src=x>:p0", "beta:p0"), findings=(), verdicts=())
    html = render_html(diagnosis_document([], answer))
    assert "<img" not in html
    assert "&lt;img src=x&gt;:p0" in html
