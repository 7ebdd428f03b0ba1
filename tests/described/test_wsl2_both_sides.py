"""The WSL2 document's host with both sides in one capture, from as found to bridged mode."""

from functools import cache
from pathlib import Path

import pytest

from described import doc_wsl2
from described.host import Host, capture_of
from described.windows import Windows, as_found, bridged, external_switch, unbound
from wirespeed.doctor.anonymous import anonymous
from wirespeed.doctor.diagnose import diagnose
from wirespeed.model.capture import parse_capture, with_section
from wirespeed.model.ceiling import Direction, Quantity
from wirespeed.model.fact import HostFacts
from wirespeed.model.finding import Diagnosis, Severity
from wirespeed.model.question import Question

ANALYSIS = Path(__file__).parent.parent / "facts/samples/windbg/wsl2-document.txt"
CARD = "이더넷 10"


@cache
def captured(stage: str) -> str:
    """Give the capture of both sides at a stage."""
    linux, windows = Host(), Windows()
    doc_wsl2.workstation(linux)
    as_found(windows)
    stages = ("as_found", "unbound", "mirrored", "external_switch", "tuned", "bridged")
    at = stages.index(stage)
    if at >= 1:
        unbound(windows)
    if at >= 2:
        # Its address is the card's: the adapter is the card's mirror, and says its speed.
        doc_wsl2.external_switch(linux)
    if at >= 3:
        external_switch(windows)
    if at >= 4:
        for step in (doc_wsl2.kernel_tuning, doc_wsl2.spread_xps, doc_wsl2.full_rings,
                     doc_wsl2.jumbo):  # fmt: skip
            step(linux)
        windows.change("adapters", 10, Mtu=9000)
    if at >= 5:
        doc_wsl2.bridged(linux)
        bridged(windows)
    text = capture_of(linux)
    mark = text.split("\n", 1)[0].split()[2]
    assert mark == "case"
    return windows.capture(text)


def answer(stage: str, question: Question | None = None, text: str | None = None) -> Diagnosis:
    text = text if text is not None else captured(stage)
    diagnosis = diagnose(HostFacts(stage, parse_capture(text, stage)), question or Question())
    assert not diagnosis.faults
    return diagnosis


def named(diagnosis: Diagnosis) -> set[str]:
    return {f.rule for f in diagnosis.findings if f.severity is not Severity.NOTE}


def test_as_found_wsl2_names_the_internal_switch_and_the_foreign_filter():
    diagnosis = answer("as_found", doc_wsl2.question())
    assert {"windows.switch_without_card", "windows.foreign_filter", "vswitch.internal"} <= named(
        diagnosis
    )
    assert "windows.virtual_adapter_slow" in {f.rule for f in diagnosis.findings}
    switch = next(f for f in diagnosis.findings if f.rule == "windows.switch_without_card")
    assert "nt_rtf64" in switch.remedies[0].text
    assert not switch.remedies[0].commands, "no switch is made while a foreign filter is bound"
    (foreign,) = (f for f in diagnosis.findings if f.rule == "windows.foreign_filter")
    lines = [command.line() for command in foreign.remedies[0].commands]
    assert lines == [
        f"Disable-NetAdapterBinding -InterfaceDescription '{name}' -ComponentID 'nt_rtf64' "
        "-IncludeHidden:$true -Confirm:$false"
        for name in (
            "Mellanox ConnectX-5 Ex Adapter #10",
            "Hyper-V Virtual Ethernet Adapter",
            "Hyper-V Virtual Ethernet Container",
        )
    ], "from every adapter but its own"


def test_what_an_internal_switch_reports_bounds_and_prices_nothing():
    """Windows shows 10 Gb/s for it, and software without a wire forwards its frames."""
    diagnosis = answer("as_found", doc_wsl2.question())
    (internal,) = (f for f in diagnosis.findings if f.rule == "vswitch.internal")
    assert not internal.prices
    (ledger,) = (one for one in diagnosis.ledgers if one.port == "eth2")
    for direction in Direction:
        reported = ledger.reported(direction)
        assert reported is not None
        assert reported.kind is Quantity.NOMINAL
        assert reported not in ledger.may_bound(direction)


def test_as_found_wsl2_is_one_cause_with_the_filter_before_the_switch():
    diagnosis = answer("as_found", doc_wsl2.question())
    first = diagnosis.causes[0]
    rules = [finding.rule for finding in diagnosis.findings]
    assert [rules[n] for n in first.before] == ["windows.foreign_filter"]
    assert [rules[n] for n in first.findings] == ["windows.switch_without_card"]
    assert {"wsl.mirrored_without_switch", "vswitch.internal"} <= {rules[n] for n in first.effects}


def test_the_crash_of_wsl2_is_explained_by_its_dump():
    asked = answer("as_found")
    (verdict,) = (v for v in asked.verdicts if v.rule == "windows.crash_blames_driver")
    assert verdict.outcome == "cannot tell"
    assert "--crash-analysis" in verdict.would_tell
    text = with_section(captured("as_found"), "x", "crash-analysis", ANALYSIS.read_text())
    (crash,) = (
        f for f in answer("", text=text).findings if f.rule == "windows.crash_blames_driver"
    )
    found = [evidence.found for evidence in crash.evidence]
    assert found[0] == "the debugger blames rtf64x64.sys (rtf64x64+51b5)"
    assert f"nt_rtf64 is bound to {CARD}" in found


def test_unbound_wsl2_may_make_the_switch():
    diagnosis = answer("unbound")
    assert "windows.foreign_filter" not in named(diagnosis)
    (switch,) = (f for f in diagnosis.findings if f.rule == "windows.switch_without_card")
    assert [command.line() for command in switch.remedies[0].commands] == [
        "New-VMSwitch -Name 'wirespeed-external' -NetAdapterInterfaceDescription "
        "'Mellanox ConnectX-5 Ex Adapter #10' -AllowManagementOS:$true -EnableIov:$true",
        "Disable-NetAdapterBinding -Name 'vEthernet (wirespeed-external)' -ComponentID 'nt_rtf64' "
        "-IncludeHidden:$true -Confirm:$false -ErrorAction 'SilentlyContinue'",
    ]


def test_wsl2_with_a_switch_on_the_card_has_neither():
    assert not named(answer("external_switch")) & {
        "windows.switch_without_card", "windows.foreign_filter", "vswitch.internal",
        "wsl.mirrored_without_switch", "wsl.bridged_point_to_point",
    }  # fmt: skip
    assert "wsl.mirrored_without_switch" in named(answer("mirrored"))


def test_at_the_end_of_the_wsl2_document_only_the_slot_is_left():
    assert named(answer("tuned", doc_wsl2.question())) == {"windows.slot_below_card"}
    assert named(answer("bridged", doc_wsl2.question())) == {
        "windows.slot_below_card",
        "wsl.bridged_point_to_point",
    }


def test_bridged_wsl2_is_told_what_it_loses():
    assert "wsl.bridged_point_to_point" in named(answer("bridged"))


@pytest.mark.parametrize(
    ("stage", "measured_bps", "element"),
    [
        ("as_found", 10e9, "pcie 0000:0a:00.0"),
        ("mirrored", 23e9, "pcie 0000:0a:00.0"),
        ("external_switch", 40e9, "pcie 0000:0a:00.0"),
        ("bridged", 53.6e9, "pcie 0000:0a:00.0"),
    ],
)
def test_no_figure_of_the_wsl2_document_is_above_its_band(
    stage: str, measured_bps: float, element: str
):
    """The slot of x4 is what bounds it once the switch does not; the frames are of 1518 bytes."""
    asked = Question(ports=("eth2",), frame_bytes=1518, measured_bps=measured_bps)
    diagnosis = answer(stage, asked)
    (ledger,) = (ledger for ledger in diagnosis.ledgers if ledger.port == "eth2")
    for direction in Direction:
        most = ledger.most(direction)
        assert most is not None
        assert most.element == element
        assert measured_bps <= most.load_bps_l1.high
    assert "measured.above_ceiling" not in named(diagnosis)
    above = asked.model_copy(update={"measured_bps": 70e9})
    if stage != "as_found":
        assert "measured.above_ceiling" in named(answer(stage, above))


def test_the_slot_of_the_wsl2_card_is_a_ceiling_and_not_named_as_a_fault():
    (slot,) = (f for f in answer("bridged").findings if f.rule == "windows.slot_below_card")
    assert (slot.where, slot.severity) == (CARD, Severity.CEILING)
    assert slot.prices
    assert slot.prices[0].cost_pps > 0


@pytest.mark.parametrize("stage", ["as_found", "external_switch", "bridged"])
def test_an_anonymous_capture_of_wsl2_gives_the_same_findings_and_ledgers(stage: str):
    """Whose adapter is whose is told by addresses, which stay the same two wherever they stand."""
    text = captured(stage)
    told = [
        sorted((f.rule, f.severity, len(f.evidence)) for f in answer("", text=one).findings)
        for one in (text, anonymous(text, "x", b"k" * 32))
    ]
    assert told[0] == told[1]
    ledgers = [
        [
            (ledger.port, [c.element for c in ledger.ceilings])
            for ledger in answer("", text=one).ledgers
        ]
        for one in (text, anonymous(text, "x", b"k" * 32))
    ]
    assert ledgers[0] == ledgers[1]


def test_windows_alone_is_asked_nothing_about_linux():
    windows = Windows()
    as_found(windows)
    diagnosis = answer("", text=windows.capture())
    assert "windows.foreign_filter" in named(diagnosis)
    linux = {v for v in diagnosis.verdicts if not v.rule.startswith(("windows.", "wsl."))}
    others = {v.outcome for v in linux if v.rule.split(".")[0] not in ("switchport", "esxi")}
    assert others == {"does not apply"}
    assert not diagnosis.ports_unknown
    assert [ledger.port for ledger in diagnosis.ledgers] == [CARD, "이더넷 7"]
