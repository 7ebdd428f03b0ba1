"""Findings joined to causes: what explains what, what comes first, what a low figure comes from."""

from pathlib import Path

import pytest

from wirespeed.catalog import rules
from wirespeed.doctor.causes import join
from wirespeed.doctor.diagnose import diagnose
from wirespeed.doctor.low_figure import (
    PERHAPS,
    UNEXPLAINED,
    with_reason,
    without_idle_ceilings,
)
from wirespeed.doctor.places import Places, places_of
from wirespeed.model.capture import parse_capture
from wirespeed.model.fact import HostFacts
from wirespeed.model.finding import Cause, Diagnosis, Evidence, Finding, Severity
from wirespeed.model.port import Port, PortKind
from wirespeed.model.question import MeasuredBy, Question
from wirespeed.model.symptom import Symptom

RULES = {rule.slug: rule for rule in rules()}
CASES = Path(__file__).parents[1] / "rules/cases"
CASE = CASES / "measured.far_below_ceiling/present_a_tenth_of_25_gbit/capture.txt"
APART = Places({"p0": frozenset({"p0"}), "p1": frozenset({"p1"}), "bond0": frozenset({"p0"})})


def finding(rule: str, where: str = "p0", severity: Severity = Severity.FAULT) -> Finding:
    seen = Evidence(found="seen", source=f"cat {rule}")
    return Finding(rule=rule, where=where, severity=severity, evidence=(seen,), so="9 %")


FAR = finding("measured.far_below_ceiling")


def causes(*findings: Finding, places: Places = APART) -> tuple[list[Finding], list[Cause]]:
    joined = join(findings, RULES, places)
    return list(joined.findings), list(joined.causes)


def named(findings: list[Finding], numbers: tuple[int, ...]) -> list[str]:
    return [f"{findings[number].rule} {findings[number].where}" for number in numbers]


CHAINS = [
    # SFF-8636: a module that is too hot turns its laser off.
    ("link.module_overheated", "link.down"),
    # IEEE 802.3 clause 91: without FEC, what it would correct arrives damaged.
    ("link.fec_off", "errors.physical"),
    # mlx5's rx_discards_phy: the card's buffer overflows when the bus takes frames too slowly.
    ("pcie.width_below_capability", "errors.port_buffer"),
    ("errors.no_receive_buffer", "pause.sent"),
    ("link.down", "bond.member_down"),
    ("windows.foreign_filter", "windows.crash_blames_driver"),
    ("memory.no_hugepages", "ovs.dpdk_not_initialized"),
    ("errors.physical", "tcp.segments_resent"),
    # A frame that the eswitch does not forward costs a core of the host.
    ("ovs.offload_off", "measured.far_below_ceiling"),
    ("ovs.offload_not_in_force", "measured.far_below_ceiling"),
    ("route.two_ports_in_one_subnet", "measured.far_below_ceiling"),
    ("ovs.ports_differ_in_mtu", "tcp.segments_resent"),
]


@pytest.mark.parametrize(("cause", "effect"), CHAINS)
def test_causes_have_their_effects_and_are_told_before_them(cause: str, effect: str):
    found, made = causes(finding(effect), finding(cause))
    (one,) = made
    assert named(found, one.findings) == [f"{cause} p0"]
    assert named(found, one.effects) == [f"{effect} p0"]
    assert one.says == RULES[cause].title
    assert f"cat {effect}" in one.confirm


@pytest.mark.parametrize(("cause", "effect"), CHAINS)
def test_causes_of_another_port_explain_nothing(cause: str, effect: str):
    _, made = causes(finding(effect, "p0"), finding(cause, "p1"))
    assert [one.effects for one in made] == [(), ()]


def test_causes_at_a_member_explain_what_is_found_of_the_bond():
    found, made = causes(
        finding("bond.member_down", "bond0"), finding("link.module_alarm"), finding("link.down")
    )
    (one,) = made
    assert named(found, one.findings) == ["link.module_alarm p0"]
    assert named(found, one.effects) == ["link.down p0", "bond.member_down bond0"]
    _, apart = causes(finding("bond.member_down", "bond0"), finding("link.down", "p1"))
    assert len(apart) == 2


def test_causes_of_the_host_explain_what_is_found_of_any_port():
    _, made = causes(FAR, finding("memory.swapping", "alpha"))
    assert [len(one.effects) for one in made] == [1]


def test_causes_join_what_is_the_same_at_several_places():
    down = [finding("link.down", name).model_copy(update={"so": f"{name}: 3 of 4"}) for name in
            ("p0", "p1")]  # fmt: skip
    found, made = causes(*down)
    (one,) = made
    assert one.places == ("p0", "p1")
    assert named(found, one.findings) == ["link.down p0", "link.down p1"]


def test_causes_with_different_words_are_not_joined():
    down = [finding("link.down", "p0"), finding("link.down", "p1").model_copy(
        update={"so": "another sentence"})]  # fmt: skip
    _, made = causes(*down)
    assert [one.places for one in made] == [("p0",), ("p1",)]


def test_causes_are_told_with_what_has_to_come_first():
    # Step 3 of the WSL2 document: with Realtek's filter bound, New-VMSwitch crashed Windows.
    risk = finding("windows.foreign_filter", "alpha", Severity.RISK)
    found, made = causes(
        finding("vswitch.internal"), finding("windows.switch_without_card", "alpha"), risk
    )
    (one,) = made
    assert named(found, one.before) == ["windows.foreign_filter alpha"]
    assert named(found, one.findings) == ["windows.switch_without_card alpha"]
    assert named(found, one.effects) == ["vswitch.internal p0"]
    assert found[0] == risk, "the order of findings is the order of work"


def test_causes_that_are_notes_with_an_effect_above_a_note_are_risks():
    note = finding("link.fec_off", severity=Severity.NOTE)
    found, made = causes(note, finding("errors.physical"))
    assert [one.severity for one in found] == [Severity.RISK, Severity.FAULT]
    assert made[0].severity is Severity.FAULT
    found, made = causes(note, finding("errors.physical", severity=Severity.NOTE))
    assert [one.severity for one in found] == [Severity.NOTE] * 2
    assert not made
    power = finding("pcie.slot_power_low", severity=Severity.NOTE)
    found, made = causes(power, finding("link.down"))
    assert named(found, made[0].findings) == ["pcie.slot_power_low p0"]
    assert found[0].severity is Severity.RISK


def test_causes_leave_no_finding_out_and_tell_none_twice():
    some = [
        finding(slug, where, severity)
        for slug in RULES
        for where in ("p0", "bond0")
        for severity in (Severity.FAULT, Severity.NOTE)
    ]
    found, made = causes(*some)
    told = [n for one in made for n in (*one.before, *one.findings, *one.effects)]
    assert told == list(range(len(told))), "causes come first, one after the other"
    assert all(one.severity is Severity.NOTE for one in found[len(told) :])
    assert len(found) == len(some)


def test_causes_that_explain_each_other_are_one():
    first, second = finding("link.flaps"), finding("bond.link_flaps")
    assert Symptom.BOND_DEGRADED in RULES["link.flaps"].explains
    found, made = causes(first, second)
    assert [len(one.effects) for one in made] == [1]
    assert len(found) == 2


@pytest.mark.parametrize("symptom", Symptom)
def test_each_symptom_is_shown_by_a_rule_and_used_by_another(symptom: Symptom):
    assert any(symptom in rule.shows for rule in RULES.values())
    assert any(symptom in (*rule.explains, *rule.first) for rule in RULES.values())


def reason(*others: Finding, question: Question | None = None) -> str:
    joined = join((FAR, *others), RULES, APART)
    said = with_reason(joined, RULES, question or Question()).findings
    (far,) = (one for one in said if one.rule == FAR.rule)
    return far.so.removeprefix(FAR.so)


def test_a_low_figure_that_nothing_explains_says_so():
    assert reason() == UNEXPLAINED
    assert reason(finding("pcie.width_below_capability", "p1")) == UNEXPLAINED
    assert reason(finding("sriov.vf_restricted", severity=Severity.NOTE)) == UNEXPLAINED
    assert reason(finding("sriov.vf_restricted")) == UNEXPLAINED, "VFs are not in the way"


def test_a_low_figure_with_a_cause_is_its_effect():
    assert reason(finding("pcie.width_below_capability")) == ""


def test_a_low_figure_names_the_notes_that_may_explain_it():
    note = finding("iommu.translated", severity=Severity.NOTE)
    assert reason(note) == f"{PERHAPS}{RULES['iommu.translated'].title} (p0)"


def test_a_low_figure_is_not_called_unexplained_where_the_tool_itself_may_be_the_limit():
    run = MeasuredBy(tool="iperf 3.9", measured_bps=1e9, limits=("one thread",))
    assert reason(question=Question(measured_bps=1e9, measured_by=run)) == ""


def far(question: Question, text: str) -> Diagnosis:
    return diagnose(HostFacts("alpha", parse_capture(text, "alpha")), question)


def test_on_a_clean_host_the_share_is_said_with_where_to_look_and_its_price():
    (found,) = far(Question(measured_bps=2.35e9), CASE.read_text()).findings
    assert found.so == f"the measured figure is 9 % of what the path carries{UNEXPLAINED}"
    words = " ".join(remedy.text for remedy in found.remedies)
    for part in ("iperf3 before 3.16", "far end", "cold start"):
        assert part in words
    assert {round(p.now_pps / p.after_pps, 3) for p in found.prices} == {0.094}


SLOT = CASES / "pcie.width_below_capability/present_slot_of_x4_is_a_ceiling/capture.txt"
"""Four lanes of PCIe 4: they carry 47.0 Gb/s at least, and 0.8 of that is 37.6."""


@pytest.mark.parametrize(
    ("gbps", "severity"),
    [(37.5, Severity.NOTE), (37.7, Severity.CEILING), (None, Severity.CEILING)],
)
def test_a_slot_that_carries_far_more_than_the_figure_is_no_ceiling_of_it(
    gbps: float | None, severity: Severity
):
    answer = far(Question(measured_bps=gbps and gbps * 1e9), SLOT.read_text())
    (slot,) = (one for one in answer.findings if one.rule.startswith("pcie."))
    assert slot.severity is severity
    assert ("of what it carries" in slot.so) == (severity is Severity.NOTE)


def test_a_slot_stays_a_ceiling_where_frames_were_lost_that_it_may_have_held_back():
    answer = far(Question(), SLOT.read_text())
    (slot,) = (one for one in answer.findings if one.rule.startswith("pcie."))
    lost, unlike = finding("errors.port_buffer"), finding("rdma.no_routable_gid")
    question = Question(measured_bps=1e9)
    for others, severity in (
        ([lost], Severity.CEILING),
        ([lost.model_copy(update={"severity": Severity.NOTE})], Severity.NOTE),
        ([unlike], Severity.NOTE),
        ([FAR], Severity.NOTE),
    ):
        (first, *_) = without_idle_ceilings([slot, *others], RULES, question, answer.ledgers)
        assert first.severity is severity
    (elsewhere,) = without_idle_ceilings([slot], RULES, question, [])
    assert elsewhere.severity is Severity.CEILING, "the figure is of another port"


def test_of_several_ports_the_one_that_is_named_was_measured():
    port = "enp59s0f0np0"
    text = CASE.read_text().replace(
        f"\n{port} driver", f"\nother driver=igb physfn= port= device=/sys/devices/x\n{port} driver"
    )
    for ports, count in (((), 0), ((port,), 1)):
        answer = far(Question(measured_bps=2.35e9, ports=ports), text)
        low = [f for f in answer.findings if f.rule == "measured.far_below_ceiling"]
        assert len(low) == count


def test_places_of_a_bond_are_those_of_its_members():
    text = next(CASES.glob("bond.member_down/present_*/capture.txt")).read_text()
    host = HostFacts("alpha", parse_capture(text, "alpha"))
    places = places_of(host, (Port("ens9", None, None, PortKind.OTHER),))
    bond = next(name for name, parts in places.parts.items() if len(parts) > 1)
    member = next(iter(places.parts[bond] - {bond}))
    assert places.concern(member, bond)
    assert places.concern(bond, "alpha")
    assert not places.concern("ens9", bond)


def test_places_of_the_system_below_concern_every_port_above_and_none_beside():
    places = Places(
        {name: frozenset({name}) for name in ("eth2", "eth3", "NIC", "NIC 2")},
        frozenset({"NIC", "NIC 2"}),
    )
    assert places.concern("eth2", "NIC")
    assert not places.concern("NIC", "NIC 2")
    assert not places.concern("eth2", "eth3")
    assert places.concern("eth2, eth3", "eth3")


def seen(text: str, where: str) -> Finding:
    evidence = Evidence(found=text, source="cat seen")
    return finding("link.down", where).model_copy(update={"evidence": (evidence,)})


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (("no link: No cable",), "no link: No cable"),
        (("no link: No cable", "no link: No cable"), "no link: No cable"),
        (("no link: No cable", "no link: No module"), ""),
        (("n" * 70,), "n" * 70),
        (("n" * 71,), ""),
    ],
)
def test_causes_say_what_was_seen_where_it_is_short_and_the_same_at_all_places(
    texts: tuple[str, ...], said: str
):
    _, (one,) = causes(*(seen(text, f"p{nth}") for nth, text in enumerate(texts)))
    assert one.seen == said
