"""A figure that the user gives is held against the path that it is of, or it is said why not."""

import re

import pytest

from described import clouds
from described.healthy import dual_xeon_100g
from described.host import Host, capture_of
from described.port import IP_LINK, netdev
from described.windows import Windows, machine
from wirespeed.doctor.diagnose import diagnose
from wirespeed.model.capture import parse_capture
from wirespeed.model.fact import HostFacts
from wirespeed.model.finding import Diagnosis, Finding, Severity
from wirespeed.model.question import MeasuredBy, Question
from wirespeed.report.diagnosis_view import verdict_text

ABOVE, FAR = "measured.above_ceiling", "measured.far_below_ceiling"
ONE_FLOW = "measured.one_flow_of_cloud"


def asked(host: Host | Windows, gbps: float, **question: object) -> Diagnosis:
    text = capture_of(host) if isinstance(host, Host) else host.capture()
    facts = HostFacts("host", parse_capture(text, "host"))
    answer = diagnose(facts, Question.model_validate({"measured_bps": gbps * 1e9, **question}))
    assert not answer.faults
    return answer


def about(answer: Diagnosis) -> list[tuple[str, str, Severity]]:
    return [(f.rule, f.where, f.severity) for f in answer.findings if f.rule in (ABOVE, FAR)]


def only(answer: Diagnosis) -> Finding:
    (found,) = (f for f in answer.findings if f.rule.startswith("measured"))
    return found


def windows() -> Windows:
    host = Windows()
    machine(host)
    host.card(10, "Ethernet 3")
    return host


@pytest.mark.parametrize(("gbps", "rule"), [(9.0, FAR), (300.0, ABOVE)])
def test_a_figure_is_used_on_windows(gbps: float, rule: str):
    assert about(asked(windows(), gbps)) == [(rule, "Ethernet 3", Severity.FAULT)]


def test_a_figure_is_used_on_windows_and_a_good_one_is_silent():
    answer = asked(windows(), 93.0)
    assert about(answer) == []
    assert answer.warnings == ()


def without_link(netdev: str) -> Host:
    """Two ports of which only the other one has a cable."""
    host = dual_xeon_100g()
    for answers in (host.answers, host.answers_later):
        for line in (f"ethtool {netdev}",):
            if line in answers:
                said = answers[line].output
                said = re.sub(r"Speed: .*", "Speed: Unknown!", said)
                said = said.replace("Link detected: yes", "Link detected: no")
                answers[line] = type(answers[line])(said)
    host.put(f"/sys/class/net/{netdev}", carrier=0)
    return host


def test_a_figure_is_used_where_only_one_of_two_ports_has_a_link():
    answer = asked(without_link("ens6f1np1"), 20)
    assert about(answer) == [(FAR, "ens6f0np0", Severity.FAULT)]


def test_a_figure_is_used_where_it_is_far_below_what_either_of_two_ports_carries():
    found = only(asked(dual_xeon_100g(), 20))
    assert (found.rule, found.where) == (FAR, "ens6f0np0")
    assert "ens6f0np0, ens6f1np1" in found.evidence[1].found


def test_a_figure_is_used_against_the_sum_of_ports_where_none_was_named():
    """Traffic of several connections may go by both."""
    assert about(asked(dual_xeon_100g(), 150)) == []
    answer = asked(dual_xeon_100g(), 250)
    assert about(answer) == [(ABOVE, "host", Severity.FAULT)]
    assert about(asked(dual_xeon_100g(), 150, ports=("ens6f0np0",))) == [
        (ABOVE, "ens6f0np0", Severity.FAULT)
    ]


def test_a_figure_is_used_against_the_port_by_which_the_peer_is_reached():
    assert only(asked(dual_xeon_100g(), 20, peer="198.51.100.77")).where == "ens6f1np1"


def run(*addresses: str) -> MeasuredBy:
    return MeasuredBy(tool="iperf 3.12", measured_bps=20e9, addresses=addresses)


def test_a_figure_is_used_against_the_port_that_has_the_address_of_the_run():
    answer = asked(dual_xeon_100g(), 20, measured_by=run("198.51.100.10", "198.51.100.77"))
    assert only(answer).where == "ens6f1np1"


def test_a_figure_is_used_against_the_port_of_the_run_also_where_the_peer_kept_it():
    answer = asked(dual_xeon_100g(), 20, measured_by=run("198.51.100.77", "198.51.100.10"))
    assert only(answer).where == "ens6f1np1"


def test_a_run_through_another_port_than_the_one_asked_about_is_said():
    answer = asked(
        dual_xeon_100g(), 20, ports=("ens6f0np0",), measured_by=run("198.51.100.10", "198.51.100.7")
    )
    assert about(answer) == []
    (said,) = answer.warnings
    assert "--measured-by was not used" in said
    assert "ens6f1np1" in said


def test_a_run_over_loopback_is_said():
    answer = asked(dual_xeon_100g(), 20, measured_by=run("127.0.0.1", "127.0.0.1"))
    assert about(answer) == []
    (said,) = answer.warnings
    assert "loopback" in said


def test_a_run_between_two_addresses_of_one_host_went_by_no_port():
    answer = asked(dual_xeon_100g(), 20, measured_by=run("198.51.100.10", "198.51.100.10"))
    assert about(answer) == []
    (said,) = answer.warnings
    assert "it went through no port" in said and "--measured-by" in said


def test_two_addresses_in_vrfs_of_their_own_are_joined_by_a_cable():
    host = dual_xeon_100g()
    for link in host.data[IP_LINK]:
        if link["ifname"] == "ens6f1np1":
            link["master"] = "blue"
    netdev(host, "blue", mtu=1500, flags=["UP"], operstate="UP", link_type="ether",
           linkinfo={"info_kind": "vrf", "info_data": {"table": 10}})  # fmt: skip
    answer = asked(host, 20, measured_by=run("198.51.100.10", "198.51.100.10"))
    assert only(answer).where == "ens6f1np1"


def slower_second_port() -> Host:
    host = dual_xeon_100g()
    host.replace_answer("ethtool ens6f1np1", "Speed: 100000Mb/s", "Speed: 1000Mb/s")
    return host


def test_a_figure_that_one_port_explains_and_the_other_does_not_is_said_to_be_ambiguous():
    answer = asked(slower_second_port(), 0.94)
    assert about(answer) == []
    (said,) = answer.warnings
    assert "it is what ens6f1np1 carries" in said
    assert "--port" in said


def test_a_figure_is_used_against_the_only_port_that_can_have_carried_it():
    assert only(asked(slower_second_port(), 9.4)).where == "ens6f0np0"


def test_a_figure_of_a_virtual_adapter_is_used_against_what_it_reports():
    found = only(asked(clouds.vmware(), 1.0))
    assert (found.rule, found.where, found.severity) == (FAR, "ens192", Severity.RISK)
    assert "which bounds nothing" in found.so
    assert found.unpriced
    assert not found.changes
    assert "the host that this guest runs on" in found.remedies[0].text


@pytest.mark.parametrize("gbps", [9.4, 14.0])
def test_a_figure_of_a_virtual_adapter_that_is_near_or_above_what_it_reports_is_silent(gbps: float):
    answer = asked(clouds.vmware(), gbps)
    assert about(answer) == []
    assert answer.warnings == ()


def test_a_figure_of_a_port_without_a_known_speed_is_held_against_nothing_and_that_is_said():
    answer = asked(clouds.ec2(), 3.0)
    assert about(answer) == []
    (said,) = answer.warnings
    assert (
        said
        == "the measured figure was compared with no ceiling: the speed of the link is not known: "
        "ethernet: speed of ens5: `Speed: Unknown!`"
    )


@pytest.mark.parametrize(
    ("gbps", "link"),
    # RFC 7323's time stamps leave 1448 of 1538 bytes: 0.9415; 8948 of 9038 with jumbo frames.
    [(0.941, "1 Gb/s"), (0.936, "1 Gb/s"), (2.354, "2.5 Gb/s"), (9.41, "10 Gb/s"),
     (9.90, "10 Gb/s"), (23.5, "25 Gb/s"), (37.6, "40 Gb/s")],
)  # fmt: skip
def test_a_figure_that_fills_a_slower_link_names_it(gbps: float, link: str):
    found = only(asked(dual_xeon_100g(), gbps))
    assert found.evidence[0].found.endswith(f": what TCP gets of a link of {link}")
    assert f"find the port of {link} on the way" in found.remedies[0].text


@pytest.mark.parametrize("gbps", [0.80, 0.92, 5.5, 7.0, 9.1, 20.0, 30.0, 70.0])
def test_a_figure_between_the_speeds_of_links_names_none(gbps: float):
    found = only(asked(dual_xeon_100g(), gbps))
    assert "a link of" not in found.evidence[0].found


def streams(count: int) -> MeasuredBy:
    return MeasuredBy(tool="iperf 3.16", measured_bps=4.9e9, streams=count)


@pytest.mark.parametrize("gbps", [4.6, 4.97, 9.53, 24.0])
def test_a_figure_that_a_cloud_grants_one_flow_is_named(gbps: float):
    (found,) = (f for f in asked(clouds.ec2(), gbps).findings if f.rule == ONE_FLOW)
    assert found.severity is Severity.CEILING
    assert "if it was one" in found.so


def test_a_figure_of_one_stream_is_no_longer_doubted_to_be_one():
    (found,) = (
        f for f in asked(clouds.ec2(), 4.9, measured_by=streams(1)).findings if f.rule == ONE_FLOW
    )
    assert "if it was one" not in found.so


def test_a_figure_of_several_streams_is_not_what_one_flow_is_granted():
    answer = asked(clouds.ec2(), 4.9, measured_by=streams(8))
    assert [f.rule for f in answer.findings if f.rule == ONE_FLOW] == []


@pytest.mark.parametrize("gbps", [3.0, 5.1, 7.0, 12.0])
def test_a_figure_between_what_clouds_grant_is_named_after_none(gbps: float):
    assert [f.rule for f in asked(clouds.ec2(), gbps).findings if f.rule == ONE_FLOW] == []


def test_a_low_figure_of_a_cloud_s_instance_is_no_fault_of_its_link():
    found = only(asked(clouds.azure(), 9.0, ports=("enP41394s1",)))
    assert (found.severity, found.prices) == (Severity.RISK, ())
    assert "what Azure grants this instance is not shown to it" in found.so
    assert "look up what Azure grants" in found.remedies[0].text


def test_a_figure_that_the_path_explains_is_the_verdict():
    answer = asked(dual_xeon_100g(), 90, ports=("ens6f0np0",))
    assert verdict_text(answer) == "the measured 90 Gb/s are 90 % of what ens6f0np0 carries at most"


def test_a_figure_is_no_verdict_where_a_fault_is_found_or_nothing_was_compared():
    assert "90 %" not in verdict_text(asked(clouds.ec2(), 3.0))
    assert verdict_text(asked(dual_xeon_100g(), 20)).startswith(
        "ens6f0np0 reaches at most 20.0 of 100.0 Gb/s"
    )
