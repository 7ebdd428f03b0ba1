"""The doctor on hosts described from documents: at each stage, that stage's fault comes first."""

from functools import cache
from pathlib import Path

import pytest

from described import doc_wsl2
from described.__main__ import every_host, write
from described.documents import DOCUMENTS
from described.healthy import kinds
from described.host import DescriptionError, Host, capture_of
from described.stage import Stage, staged
from wirespeed.doctor.anonymous import anonymous
from wirespeed.doctor.diagnose import diagnose
from wirespeed.model.capture import parse_capture
from wirespeed.model.ceiling import Direction
from wirespeed.model.fact import HostFacts
from wirespeed.model.finding import ByHand, Diagnosis, Finding, Severity
from wirespeed.model.question import Question

HOSTS = [host for name, stages in DOCUMENTS.items() for host in staged(name, stages)]
BY_NAME = {f"{host.document}-{host.number}-{host.stage.name}": host for host in HOSTS}


@cache
def captured(name: str) -> str:
    return capture_of(BY_NAME[name].host)


@cache
def diagnosed(name: str) -> Diagnosis:
    facts = HostFacts(name, parse_capture(captured(name), name))
    return diagnose(facts, BY_NAME[name].stage.question)


def faults(diagnosis: Diagnosis, stage: Stage | None = None) -> list[Finding]:
    """Findings above a note, without the ceilings that the stage states."""
    ceilings = stage.ceilings if stage else ()
    return [
        finding
        for finding in diagnosis.findings
        if finding.severity is not Severity.NOTE
        and not (finding.severity is Severity.CEILING and finding.rule in ceilings)
    ]


@pytest.mark.parametrize("name", BY_NAME)
class TestAStage:
    def test_its_fault_comes_first(self, name: str):
        stage = BY_NAME[name].stage
        found = faults(diagnosed(name), stage)
        assert (found[0].rule if found else None) == stage.first, [f.rule for f in found]

    def test_its_notes_and_ceilings_are_named(self, name: str):
        stage, findings = BY_NAME[name].stage, diagnosed(name).findings
        named = {f.rule for f in findings if f.severity in (Severity.NOTE, Severity.CEILING)}
        assert {*stage.notes, *stage.ceilings} <= named

    def test_no_fault_that_was_mended_is_named_again(self, name: str):
        now = BY_NAME[name].stage
        before = {stage.first for stage in BY_NAME[name].before} | {
            note for stage in BY_NAME[name].before for note in stage.notes
        }
        mended = before - {None, now.first, *now.notes}
        assert not mended & {finding.rule for finding in diagnosed(name).findings}

    def test_no_rule_fails_on_it(self, name: str):
        assert not diagnosed(name).faults
        assert not diagnosed(name).warnings


@pytest.mark.parametrize("document", DOCUMENTS)
def test_an_anonymous_capture_gives_the_same_findings(document: str):
    name, one = next((n, h) for n, h in BY_NAME.items() if h.document == document)
    question = one.stage.question
    if question.peer or question.ports:
        question = Question(purpose=question.purpose)
    text = captured(name)
    said = [
        [(f.rule, f.severity, f.prices) for f in diagnose(facts, question).findings]
        for facts in (
            HostFacts(name, parse_capture(text, name)),
            HostFacts(name, parse_capture(anonymous(text, name, b"k" * 32), name)),
        )
    ]
    assert sorted(said[0], key=str) == sorted(said[1], key=str)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_a_document_ends_with_nothing_wrong(document: str):
    assert DOCUMENTS[document][-1].first is None


@pytest.mark.parametrize(
    ("name", "port", "element", "most_bps"),
    [
        ("wsl2_slot-0-slot_of_x4", "enp33s0np0", "pcie 0000:21:00.0", 64e9),
        ("sriov_legacy-5-legacy_vlan", "enp3s0f0np0", "ethernet", 100e9),
        ("10g_switch-1-switch_negotiates", "ens1f0np0", "ethernet", 1e9),
    ],
)
def test_what_bounds_the_path_is_named(name: str, port: str, element: str, most_bps: float):
    facts = HostFacts(name, parse_capture(captured(name), name))
    ledgers = {ledger.port: ledger for ledger in diagnose(facts, Question()).ledgers}
    for direction in Direction:
        bound = ledgers[port].bound(direction)
        assert bound is not None
        assert bound.element == element
        assert 0.75 * most_bps < bound.load_bps_l1.low <= most_bps


@pytest.mark.parametrize("stage", ["wsl2-0-as_found", "wsl2-1-external_switch"])
def test_what_wsl_alone_is_told_of_its_adapter_bounds_nothing(stage: str):
    facts = HostFacts(stage, parse_capture(captured(stage), stage))
    for ledger in diagnose(facts, Question()).ledgers:
        assert [ledger.bound(direction) for direction in Direction] == [None, None]
        assert ledger.reported(Direction.RECEIVE) is not None


def test_a_figure_above_the_cable_is_doubted():
    host = Host()
    doc_wsl2.server(host)
    facts = HostFacts("server", parse_capture(capture_of(host), "server"))
    (found,) = faults(diagnose(facts, Question(measured_bps=doc_wsl2.CLAIMED_BPS)))
    assert found.rule == "measured.above_ceiling"


def test_what_the_far_end_holds_back_is_not_explained_by_this_host():
    # 53.6 Gb/s is what the client's slot of four lanes carries; the server has nothing wrong.
    host = Host()
    doc_wsl2.server(host)
    facts = HostFacts("server", parse_capture(capture_of(host), "server"))
    (found,) = faults(diagnose(facts, Question(measured_bps=53.6e9)))
    assert found.so == (
        "the measured figure is 54 % of what the path carries, and nothing that was found here "
        "explains it"
    )
    assert any(remedy.by_hand is ByHand.FAR_END for remedy in found.remedies)
    assert not faults(diagnose(facts, Question(measured_bps=94e9)))


def test_captures_for_the_benchmark_are_of_every_host(tmp_path: Path):
    hosts = every_host()
    assert len(hosts) == len(HOSTS) + len(kinds())
    write(tmp_path, {"container": hosts["container"]})
    assert parse_capture((tmp_path / "container.txt").read_text(), "container").complete


def test_a_step_that_changes_nothing_is_refused():
    stage = Stage("idle", "nothing is done", lambda _host: None, None)
    with pytest.raises(DescriptionError, match="changes nothing"):
        list(staged("document", [stage]))


def test_an_edit_of_what_does_not_stand_there_once_is_refused():
    host = Host(files={"/etc/x": "one one"})
    with pytest.raises(DescriptionError, match="stands 2 times"):
        host.replace("/etc/x", "one", "two")


def test_a_command_line_that_the_description_does_not_know_is_refused():
    host = Host(files={"/proc/sys/kernel/random/uuid": "case"})
    host.answer("ip -j addr show", "[]")
    with pytest.raises(DescriptionError, match="no answer to: ip -j -d link show"):
        capture_of(host)
