"""From rules to an answer: ranking, what a rule's own mistake does, and which ports are asked."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

import pytest

from wirespeed.ceilings.ethernet import ethernet_ceiling
from wirespeed.doctor import diagnose as module
from wirespeed.doctor.diagnose import diagnose
from wirespeed.doctor.price import priced
from wirespeed.model.capture import Capture, parse_capture
from wirespeed.model.ceiling import Band, Ceiling, Direction, Ledger
from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.finding import ByHand, Change, Finding, Remedy, Severity
from wirespeed.model.observed import CannotTellError
from wirespeed.model.question import Purpose, Question
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule, PortExam, PortRule
from wirespeed.model.symptom import Symptom
from wirespeed.report.diagnosis_text import diagnosis_lines
from wirespeed.report.diagnosis_view import bound_texts
from wirespeed.rules import route_leaves_by_another_port

PORTS = """\
wirespeed-capture 1 case
case begin ports -
enp59s0 driver=mlx5_core physfn= port=p0 device=/sys/devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0
- driver=vfio-pci physfn= port= device=/sys/devices/pci0000:3a/0000:3a:00.0/0000:3b:00.1

case end 0
case done
"""
LEDGER = Ledger(
    port="enp59s0",
    frame_bytes=1518,
    ceilings=tuple(ethernet_ceiling(10**11, 1518, d, "ethtool enp59s0") for d in Direction),
)


@pytest.fixture(autouse=True)
def _ledger(monkeypatch: pytest.MonkeyPatch) -> None:
    """A link of 100 Gb/s and nothing else on the way."""
    monkeypatch.setattr(
        module, "build_ledger", lambda _, port, __: LEDGER.model_copy(update={"port": port.name})
    )


def facts(text: str = PORTS) -> HostFacts:
    return HostFacts("alpha", parse_capture(text, "alpha"))


def rule(slug: str, check: Callable[[PortExam], Iterable[Finding]], *purposes: Purpose) -> PortRule:
    return PortRule(
        slug=slug, title="", why="", source="", check=check, purposes=frozenset(purposes) or None
    )


def finding(slug: str, severity: Severity, *after_pps: float, where: str = "enp59s0") -> Finding:
    """A condition whose remedy changes `slots` to so many frames per second in each direction."""
    changes = tuple(
        Change(
            after=Ceiling(
                element="ethernet",
                direction=direction,
                frame_bytes=1518,
                load_pps=Band(low=pps, high=pps),
                formula="",
                inputs=(),
            )
        )
        for direction, pps in zip(Direction, after_pps, strict=False)
    )
    return Finding(rule=slug, where=where, severity=severity, evidence=(), so="", changes=changes)


def says(*findings: Finding) -> Callable[[PortExam], Iterable[Finding]]:
    return lambda exam: [f for f in findings if f.where == exam.port.name]


def test_the_dearest_comes_first_then_by_severity_and_notes_come_last():
    now = LEDGER.ceilings[0].load_pps.low
    found = [
        finding("a.note_that_costs", Severity.NOTE, now * 9),
        finding("b.risk", Severity.RISK),
        finding("c.fault_without_price", Severity.FAULT),
        finding("d.ceiling", Severity.CEILING, now * 3),
        finding("e.fault", Severity.FAULT, now * 2),
        finding("f.fault_that_costs_one_way", Severity.FAULT, now, now * 4),
        finding("g.fault_that_costs_nothing", Severity.FAULT, now),
    ]
    answer = diagnose(facts(), Question(), [rule(one.rule, says(one)) for one in found])
    # The ceiling has no remedy on this host: it stands after what can be changed here.
    assert [f.rule[0] for f in answer.findings] == ["f", "e", "c", "g", "d", "b", "a"]


def test_a_measured_figure_that_cannot_be_comes_before_what_is_compared_with_it():
    now = LEDGER.ceilings[0].load_pps.low
    found = [
        finding("a.fault", Severity.FAULT, now * 9),
        finding("measured.above_ceiling", Severity.FAULT),
    ]
    answer = diagnose(facts(), Question(), [rule(one.rule, says(one)) for one in found])
    assert [f.rule for f in answer.findings] == ["measured.above_ceiling", "a.fault"]


@pytest.mark.parametrize(
    ("remedy", "order"),
    [
        (Remedy(text="buy one", by_hand=ByHand.HARDWARE), "fault ceiling"),
        (Remedy(text="set it", by_hand=ByHand.BIOS), "fault ceiling"),
        (Remedy(text="type it", by_hand=ByHand.NO_STEP), "ceiling fault"),
    ],
)
def test_a_ceiling_that_only_hardware_lifts_comes_after_a_fault_that_costs_less(
    remedy: Remedy, order: str
):
    now = LEDGER.ceilings[0].load_pps.low
    ceiling = finding("a.ceiling", Severity.CEILING, now * 3)
    found = [
        ceiling.model_copy(update={"remedies": (remedy,)}),
        finding("b.fault", Severity.FAULT, now * 2),
    ]
    answer = diagnose(facts(), Question(), [rule(one.rule, says(one)) for one in found])
    assert " ".join(f.rule[2:] for f in answer.findings) == order


def test_a_finding_without_change_says_why_it_has_no_price():
    bare = finding("a.b", Severity.FAULT)
    assert "measure before and after" in priced(bare, LEDGER).unpriced
    own = bare.model_copy(update={"unpriced": "frames are lost in bursts"})
    assert priced(own, LEDGER).unpriced == "frames are lost in bursts"
    unbounded = finding("a.b", Severity.FAULT, 1.0)
    assert "no ceiling" in priced(unbounded, None).unpriced


def _stumble(_: PortExam) -> Iterator[Finding]:
    yield finding("a.stumbles", Severity.RISK)
    raise KeyError("no such hop")


def test_the_mistake_of_one_rule_leaves_the_rest_of_the_answer_and_is_not_hidden():
    other = rule("b.other", says(finding("b.other", Severity.FAULT)))
    answer = diagnose(facts(), Question(ports=("enp59s0",)), [rule("a.stumbles", _stumble), other])
    assert [f.rule for f in answer.findings] == ["b.other", "a.stumbles"]
    [verdict] = answer.verdicts
    assert (verdict.rule, verdict.outcome) == ("a.stumbles", "cannot tell")
    assert "fault of this rule" in verdict.reason
    [fault] = answer.faults
    assert fault.startswith(
        "a.stumbles on enp59s0: KeyError: 'no such hop' (test_diagnose.py, line"
    )


def test_the_mistake_of_a_ceiling_leaves_the_rest_of_the_answer(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "build_ledger", lambda *_: 1 / 0)
    found = finding("a.b", Severity.FAULT, 1e9)
    answer = diagnose(facts(), Question(), [rule("a.b", says(found))])
    assert [f.unpriced for f in answer.findings] == ["no ceiling of this path is known"]
    assert len(answer.faults) == len(answer.ledgers) == 2
    assert all("ZeroDivisionError" in fault for fault in answer.faults)


def test_a_mistake_in_describing_the_host_leaves_the_answer(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "describe", lambda *_: 1 / 0)
    answer = diagnose(facts(), Question(), [])
    assert answer.about == ()
    assert answer.faults[0].startswith("what host it is: ZeroDivisionError")


def test_ctrl_c_within_a_rule_is_no_mistake_of_the_rule():
    def check(_: PortExam) -> Iterator[Finding]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        diagnose(facts(), Question(), [rule("a.b", check)])


def test_each_way_in_which_a_rule_finds_nothing_has_its_verdict():
    def cannot_tell(_: PortExam) -> Iterator[Finding]:
        raise CannotTellError("rings: ethtool is not installed", "ethtool -g enp59s0")

    def does_not_apply(_: PortExam) -> Iterator[Finding]:
        raise DoesNotApplyError("no card")

    chosen = [
        rule("a.absent", says()),
        rule("b.cannot_tell", cannot_tell),
        rule("c.does_not_apply", does_not_apply),
        rule("d.other_purpose", says(), Purpose.DPDK, Purpose.LATENCY),
    ]
    answer = diagnose(facts(), Question(ports=("enp59s0",), purpose=Purpose.TCP), chosen)
    assert [(v.rule[0], v.outcome, v.reason, v.would_tell) for v in answer.verdicts] == [
        ("a", "absent", "", ""),
        ("b", "cannot tell", "rings: ethtool is not installed", "ethtool -g enp59s0"),
        ("c", "does not apply", "no card", ""),
        ("d", "does not apply", "it matters for dpdk, latency: ask with --for", ""),
    ]


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        (Question(), set()),
        (Question(rtt_s=0.01), {"a.tcp"}),
        (Question(rtt_s=0.01, purpose=Purpose.DPDK), {"b.dpdk"}),
    ],
)
def test_who_gives_a_round_trip_asks_about_tcp(question: Question, asked: set[str]):
    chosen = [rule("a.tcp", says(), Purpose.TCP), rule("b.dpdk", says(), Purpose.DPDK)]
    answer = diagnose(facts(), question, chosen)
    assert {v.rule for v in answer.verdicts if v.outcome == "absent"} == asked


@pytest.mark.parametrize(
    ("severity", "question", "shows", "is_said"),
    [
        (Severity.RISK, Question(), Symptom.CARD_BUFFER_FULL, True),
        # A note of another purpose is no reason, and would be one line more.
        (Severity.NOTE, Question(), Symptom.CARD_BUFFER_FULL, False),
        (Severity.RISK, Question(purpose=Purpose.TCP), Symptom.CARD_BUFFER_FULL, False),
        (Severity.RISK, Question(), Symptom.NO_LINK, False),
    ],
)
def test_what_nothing_explains_is_sought_among_what_matters_for_other_purposes(
    severity: Severity, question: Question, shows: Symptom, is_said: bool
):
    lost = replace(rule("a.lost", says(finding("a.lost", Severity.FAULT))), shows=(shows,))
    sleeps = replace(
        rule("b.sleeps", says(finding("b.sleeps", severity)), Purpose.LATENCY),
        explains=(Symptom.CARD_BUFFER_FULL,),
    )
    answer = diagnose(facts(), question, [lost, sleeps])
    assert [f.rule for f in answer.findings] == ["b.sleeps"] * is_said + ["a.lost"]
    assert [c.effects for c in answer.causes] == [(1,) if is_said else ()]
    asked = [v.reason for v in answer.verdicts if v.rule == "b.sleeps" and v.reason]
    assert asked == ["it matters for latency: ask with --for"] * (not is_said)


def test_what_another_finding_explains_is_not_sought_further():
    lost = replace(
        rule("a.lost", says(finding("a.lost", Severity.FAULT))), shows=(Symptom.CARD_BUFFER_FULL,)
    )
    known, sleeps = (
        replace(
            rule(slug, says(finding(slug, Severity.RISK)), *purposes),
            explains=(Symptom.CARD_BUFFER_FULL,),
        )
        for slug, purposes in (("b.known", ()), ("c.sleeps", (Purpose.LATENCY,)))
    )
    answer = diagnose(facts(), Question(), [lost, known, sleeps])
    assert [f.rule for f in answer.findings] == ["b.known", "a.lost"]


@pytest.mark.parametrize(
    ("asked", "names"),
    [
        ((), ["enp59s0", "0000:3b:00.1"]),
        (("0000:3b:00.0",), ["enp59s0"]),
        (("0000:3b:00.1", "enp59s0"), ["enp59s0", "0000:3b:00.1"]),
    ],
)
def test_ports_are_asked_about_by_netdev_or_pci_address(asked: tuple[str, ...], names: list[str]):
    answer = diagnose(facts(), Question(ports=asked), [])
    assert [ledger.port for ledger in answer.ledgers] == names


def test_a_port_that_is_not_there_is_refused_and_those_that_are_there_are_named():
    with pytest.raises(InputError) as refused:
        diagnose(facts(), Question(ports=("enp59s0", "eth\x1b[31m")), [])
    assert refused.value.what == "port.unknown"
    assert refused.value.found == (
        r"no port eth\x1b[31m; it has enp59s0 (0000:3b:00.0), 0000:3b:00.1"
    )


def test_rules_about_the_host_are_asked_where_no_port_is_known():
    asked: list[HostExam] = []

    def check(exam: HostExam) -> Iterator[Finding]:
        asked.append(exam)
        return iter(())

    host = HostFacts("alpha", Capture([], complete=True))
    answer = diagnose(
        host, Question(), [HostRule(slug="a.b", title="", why="", source="", check=check)]
    )
    assert [exam.ports for exam in asked] == [()]
    assert [(v.where, v.outcome) for v in answer.verdicts] == [("alpha", "absent")]


def test_a_capture_that_was_cut_off_is_said_to_be_one():
    cut = PORTS.removesuffix("case done\n")
    assert diagnose(facts(cut), Question(), []).warnings == (
        "the capture was cut off: its end is missing",
    )


def test_an_option_that_needs_a_port_by_name_is_not_ignored_without_a_word():
    chosen = (route_leaves_by_another_port.RULE,)
    answer = diagnose(facts(), Question(peer="192.0.2.7"), chosen)
    (line,) = answer.warnings
    assert line.startswith("--peer was not used: ")
    assert line.endswith("name it with --port")
    shown = " ".join(line.text for line in diagnosis_lines(answer))
    assert "! --peer was not used: " in shown
    assert not diagnose(facts(), Question(), chosen).warnings


def test_a_capture_without_the_list_of_ports_is_no_host_without_a_port():
    capture = parse_capture("wirespeed-capture 1 case\ncase done\n", "file")
    answer = diagnose(HostFacts("file", capture), Question())
    assert answer.ports_unknown == "the capture has no list of ports"
    assert bound_texts(answer) == (
        "which ports this host has could not be determined: the capture has no list of ports",
    )
