"""From what the doctor found to a plan: in order, without contradictions, and saying the rest."""

import pytest

from wirespeed.apply.remedies import Skipped, chosen, plan_remedies
from wirespeed.catalog import read_step, step_types
from wirespeed.model.command import Shell
from wirespeed.model.finding import ByHand, Danger, Finding, Remedy, Severity, StepCall
from wirespeed.model.observed import Known, Observed, Unreadable
from wirespeed.model.step import Phase, State
from wirespeed.steps.channels import Channels
from wirespeed.steps.rings import Rings
from wirespeed.steps.rss import Rss

RX = StepCall.of("rings", netdev="eth0", rx=4096)
MORE_RX = StepCall.of("rings", netdev="eth0", rx=8192)
TX = StepCall.of("rings", netdev="eth0", tx=4096)
RSS = StepCall.of("rss", netdev="eth0", queues=4)
CHANNELS = StepCall.of("channels", netdev="eth0", combined=4)
BY_HAND = Remedy(text="look at the cable", by_hand=ByHand.HARDWARE)


def finding(rule: str, *remedies: Remedy) -> Finding:
    return Finding(
        rule=rule, where="eth0", severity=Severity.FAULT, evidence=(), so="x", remedies=remedies
    )


def steps(*calls: StepCall) -> Remedy:
    return Remedy(text="set it", steps=calls, danger=Danger.DROPS_LINK)


def known(**state: str | int) -> Observed[State]:
    return Known(dict(state), "ethtool")


def test_what_makes_queues_anew_comes_before_what_is_set_on_them():
    found, left = chosen([finding("a.a", steps(RSS)), finding("b.b", steps(CHANNELS, RX))])
    assert [type(one.step) for one in found] == [Channels, Rings, Rss]
    assert [one.rule for one in found] == ["b.b", "b.b", "a.a"]
    assert not left


def test_two_findings_that_name_one_step_have_it_once():
    found, _ = chosen([finding("a.a", steps(RX)), finding("b.b", steps(RX))])
    assert [one.rule for one in found] == ["a.a"]


def test_where_the_best_is_by_hand_a_person_chooses():
    both = finding("link.slow", BY_HAND, steps(RX))
    found, left = chosen([both])
    assert not found
    assert left == [Skipped("link.slow", "by hand first: look at the cable")]
    named, _ = chosen([both], ["link.slow"])
    assert [one.rule for one in named] == ["link.slow"]


def test_what_is_by_hand_besides_is_told():
    _, left = chosen([finding("a.a", steps(RX), BY_HAND)])
    assert left == [Skipped("a.a", "by hand: look at the cable")]


def test_only_the_rules_that_are_named():
    found, left = chosen([finding("a.a", steps(RX)), finding("b.b", BY_HAND)], ["a.a"])
    assert [one.rule for one in found] == ["a.a"] and not left


def test_of_two_that_contradict_the_dearer_stays():
    found, _ = chosen([finding("a.a", steps(RX)), finding("b.b", steps(MORE_RX, TX))])
    states = [known(rx=512), known(rx=512), known(tx=512)]
    plan, left = plan_remedies("alpha", found, states)
    assert [p.goal for p in plan.steps] == [{"rx": 4096}, {"tx": 4096}]
    assert left == [Skipped("b.b", "eth0: another finding wants rx 4096")]


def test_what_is_not_known_is_left_and_the_others_are_planned():
    found, _ = chosen([finding("a.a", steps(RX)), finding("b.b", steps(RSS))])
    plan, left = plan_remedies("alpha", found, [known(rx=512), Unreadable("no words", "ethtool")])
    assert [p.step["step"] for p in plan.steps] == ["rings"]
    assert left == [Skipped("b.b", "eth0: no words")]


def test_a_name_that_no_command_should_be_given_is_left():
    strange = StepCall.of("rings", netdev="-G", rx=4096)
    found, left = chosen([finding("a.a", steps(strange, TX))])
    assert [one.step for one in found] == [Rings(netdev="eth0", tx=4096)]
    assert [one.rule for one in left] == ["a.a"] and "is not a netdev" in left[0].why


def test_what_is_so_already_is_no_step():
    found, _ = chosen([finding("a.a", steps(RX))])
    assert plan_remedies("alpha", found, [known(rx=4096)])[0].steps == ()


def test_every_kind_of_step_that_a_rule_names_has_its_place():
    from remedies import remedies

    named = {call.kind: call for told in remedies() for call in told.remedy.steps}
    shells = {kind: read_step(call.data).read().shell for kind, call in named.items()}
    assert set(shells) == {kind for kind, step in step_types().items() if step.phase}
    windows = {kind for kind, shell in shells.items() if shell is Shell.POWERSHELL}
    assert windows and all(kind.startswith("windows_") for kind in windows)


def test_what_is_of_the_windows_side_is_named_and_not_run_in_a_posix_shell():
    from remedies import remedies

    told = [one for one in remedies() if any(c.kind == "windows_filter" for c in one.remedy.steps)]
    found = [finding("windows.foreign_filter_bound", one.remedy) for one in told]
    assert found
    steps, left = chosen(found, ["windows.foreign_filter_bound"])
    assert steps == []
    assert "of the Windows side" in " ".join(one.why for one in left)


def test_what_is_of_linux_is_not_run_on_windows():
    found, left = chosen([finding("a.a", steps(RX))], shell=Shell.POWERSHELL)
    assert found == []
    assert "of a Linux" in left[0].why


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("windows_filter", "windows_switch"),
        ("windows_switch", "windows_property"),
        ("windows_property", "windows_rss"),
        ("link_mode", "mtu"),
        ("mtu", "channels"),
        ("channels", "rings"),
        ("channels", "rss"),
        ("channels", "irq_affinity"),
        ("irqbalance", "irq_affinity"),
        ("vf_count", "bond_monitoring"),
        ("hugepages", "hugepage_mount"),
        ("firmware_settings", "firmware_reset"),
        ("vf_count", "vf_settings"),
    ],
)
def test_the_order_of_what_is_made_and_what_is_set(first: str, then: str):
    phases = {kind: step.phase for kind, step in step_types().items() if step.phase}
    assert phases[first] < phases[then]
    assert [kind for kind, phase in phases.items() if phase == max(Phase)] == ["firmware_reset"]
