"""The answer on a terminal: what it says, in which order, within 80 columns, and harmless."""

import pytest

from wirespeed.model.bound import Bound, BoundUnit, Limit
from wirespeed.model.ceiling import Direction, Ledger
from wirespeed.model.command import Command
from wirespeed.model.finding import ByHand, Danger, Evidence, Finding, Remedy, Severity
from wirespeed.model.question import Question
from wirespeed.report.diagnosis_text import Line, diagnosis_lines
from wirespeed.report.shared_findings import shared_findings
from wirespeed.report.text_lines import columns_of

from .diagnoses import HOSTILE, ceilings, diagnosis, filled_with, finding, ledger, pps, verdict

FAULT = """\
alpha: enp59s0 reaches at most 52.0 of 98.1 Gb/s: PCIe link narrower than the
card supports (x4 now)
  1 fault (1518-byte frames, for dpdk)
  enp59s0 carries at most 52.0 to 58.0 Gb/s, bound by pcie 0000:3b:00.0

1 FAULT pcie.width_below_capability enp59s0
    found   x4 now; the slot can do x16
              (cat /sys/bus/pci/devices/0000:3b:00.0/current_link_width)
            0 errors  (ethtool -S enp59s0)
    so      the link moves 4/16 of what the card could
    price   costs 46.1 Gb/s (52.0 -> 98.1, then bound by ethernet)
    next    reseat the card
    next    train the link anew (DROPS THE LINK)
              setpci -s 0000:3a:00.0 CAP_EXP+10.w=20:20
              echo 1 | tee /sys/bus/pci/rescan

enp59s0: most that each element carries of 1518-byte frames, Gb/s
  both directions
    ethernet           ██████████████████████████████████         100.0
    pcie 0000:3b:00.0  ██████████████████░░                52.0 to 58.0  < bound

why: wirespeed doctor --explain pcie.width_below_capability"""

GOOD = """\
alpha: nothing wrong was found, but ethtool is not installed: 3 conditions could
not be determined
  no finding above a note (1518-byte frames)
  nothing holds enp59s0 below 100.0 Gb/s, bound by ethernet

enp59s0: most that each element carries of 1518-byte frames, Gb/s
  both directions
    ethernet  ██████████████████████████████████████████████████  100.0  < bound

3 conditions could not be determined
  ethtool is not installed: 2 conditions
    would tell: ethtool -g enp59s0
    would tell: ethtool -l enp59s0
  irq.all_on_one_cpu enp59s0: affinity: Permission denied
    would tell: cat /proc/irq/77/smp_affinity_list
    run it as root, or with --sudo

all that was checked: --verbose"""


def text(lines: list[Line]) -> str:
    return "\n".join(line.text for line in lines)


def healthy():
    return diagnosis(
        question=Question(),
        ledgers=(
            Ledger(port="enp59s0", frame_bytes=1518, ceilings=ceilings("ethernet", 100, 100)),
        ),
        verdicts=(
            verdict(),
            verdict(rule="queues.channels", would_tell="ethtool -l enp59s0"),
            verdict(
                rule="irq.all_on_one_cpu",
                reason="affinity: Permission denied",
                would_tell="cat /proc/irq/77/smp_affinity_list",
            ),
            verdict(rule="pcie.read_request", outcome="absent", reason="", would_tell=""),
            verdict(rule="wsl.nat", outcome="does not apply", reason="no WSL", would_tell=""),
        ),
    )


def test_a_fault_is_said_with_its_evidence_price_and_remedy():
    assert text(list(diagnosis_lines(diagnosis(finding())))) == FAULT


def test_a_good_answer_is_short_and_says_what_it_does_not_know():
    assert text(list(diagnosis_lines(healthy()))) == GOOD


def test_verbose_names_every_condition_and_every_command():
    shown = text(list(diagnosis_lines(healthy(), verbose=True)))
    for words in (
        "would tell: ethtool -g enp59s0", "would tell: ethtool -l enp59s0",
        "checked, and fine: 1 condition", "pcie.read_request enp59s0",
        "does not apply: 1 condition", "wsl.nat enp59s0: no WSL",
        "ethernet = lanes x speed", "lanes: x4, from cat",
    ):  # fmt: skip
        assert words in shown
    assert "--verbose" not in shown


@pytest.mark.parametrize(
    ("receive", "transmit", "expected"),
    [
        (
            (52, 98.1),
            (50, 98.1),
            [
                "price   receive: costs 46.1 Gb/s (52.0 -> 98.1, then bound by ethernet)",
                "transmit: costs 48.1 Gb/s (50.0 -> 98.1, then bound by ethernet)",
            ],
        ),
        ((52, 98.1), None, ["price   receive: costs 46.1 Gb/s"]),
        ((52, 52), (52, 52), ["price   costs nothing while ethernet bounds at 52.0 Gb/s"]),
        ((52, 40), (52, 40), ["price   costs nothing while ethernet bounds at 40.0 Gb/s"]),
    ],
)
def test_a_price_is_said_once_or_for_each_direction(
    receive: tuple[float, float],
    transmit: tuple[float, float] | None,
    expected: list[str],
):
    prices = tuple(
        price.model_copy(update={"now_pps": pps(way[0]), "after_pps": pps(way[1])})
        for price, way in zip(finding().prices, (receive, transmit), strict=True)
        if way is not None
    )
    lines = [line.text.strip() for line in diagnosis_lines(diagnosis(finding(prices=prices)))]
    start = next(n for n, line in enumerate(lines) if line.startswith("price"))
    for line, words in zip(lines[start:], expected, strict=False):
        assert line.startswith(words)


def test_a_finding_without_price_says_why():
    shown = text(list(diagnosis_lines(diagnosis(finding(prices=(), unpriced="it is rare")))))
    assert "    price   not known: it is rare\n" in shown


def test_short_frames_are_priced_in_mpps():
    question = Question(frame_bytes=64)
    prices = tuple(
        p.model_copy(update={"now_pps": 30e6, "after_pps": 148.8e6}) for p in finding().prices
    )
    shown = text(list(diagnosis_lines(diagnosis(finding(prices=prices), question=question))))
    assert "costs 118.8 Mpps (30.0 -> 148.8, then bound by ethernet)" in shown


def test_the_same_finding_on_several_ports_is_said_once():
    ports = [finding(where=f"enp59s0f{n}") for n in range(6)]
    shown = text(list(diagnosis_lines(diagnosis(*ports))))
    assert "1 FAULT pcie.width_below_capability enp59s0f0, enp59s0f1, enp59s0f2, enp59s0f3" in shown
    assert "and 2 more" in shown
    assert "\n2 " not in shown


def test_bounds_that_differ_by_direction_are_told_apart():
    one_way = Ledger(
        port="eth0",
        frame_bytes=1518,
        ceilings=(
            *ceilings("cores", 40, 40, 1518, Direction.RECEIVE),
            *ceilings("ethernet", 100, 100, 1518, Direction.TRANSMIT),
        ),
    )
    shown = " ".join(text(list(diagnosis_lines(diagnosis(finding(), ledgers=(one_way,))))).split())
    assert (
        "eth0 carries at most 40.0 Gb/s received (bound by cores) and 100.0 Gb/s sent "
        "(bound by ethernet)" in shown
    )


def test_where_bands_overlap_the_path_is_said_to_be_bound_by_either():
    overlap = Ledger(
        port="eth0",
        frame_bytes=1518,
        ceilings=(*ceilings("pcie", 52, 75), *ceilings("ethernet", 60, 60)),
    )
    shown = text(list(diagnosis_lines(diagnosis(ledgers=(overlap,)))))
    assert "nothing holds eth0 below 52.0 to 60.0 Gb/s, bound by pcie or ethernet" in shown


def test_of_many_ports_the_first_are_drawn_unless_all_are_asked_for():
    different = tuple(
        Ledger(port=f"eth{n}", frame_bytes=1518, ceilings=ceilings("ethernet", n + 1, n + 1))
        for n in range(40)
    )
    many = diagnosis(ledgers=different)
    brief, full = (text(list(diagnosis_lines(many, verbose=v))) for v in (False, True))
    assert ("eth3: most" in brief, "eth4: most" in brief, "eth39: most" in full) == (
        True, False, True,
    )  # fmt: skip
    assert "36 more ports: --port PORT or --verbose shows them" in brief


def test_ports_of_the_same_ceilings_are_drawn_once():
    twins = [
        Ledger(
            port=f"eth{n}",
            frame_bytes=1518,
            ceilings=ceilings(f"pcie 0000:3b:00.{n}", 52, 58),
            unknown=(f"ethernet: speed of eth{n}: not read",),
        )
        for n in range(3)
    ]
    other = ledger("eth9")
    brief, full = (
        text(list(diagnosis_lines(diagnosis(ledgers=(*twins, other)), verbose=v)))
        for v in (False, True)
    )
    assert brief.count("most that each element carries") == 2
    assert "\n  alike: eth1, eth2\n" in brief
    assert full.count("most that each element carries") == 4


def test_a_mistake_of_ours_and_a_capture_that_was_cut_off_are_never_left_out():
    answer = diagnosis(warnings=("the capture was cut off",), faults=("a.b on eth0: KeyError",))
    lines = [line for line in diagnosis_lines(answer) if line.tone == "warning"]
    assert [line.text for line in lines] == [
        "! the capture was cut off",
        "! wirespeed's own mistake, please report it: a.b on eth0: KeyError",
    ]


def test_a_note_has_its_meaning_and_its_remedy_and_no_evidence_until_more_is_asked_for():
    notes = [finding(severity=Severity.NOTE, where=f"eth{n}") for n in range(6)]
    brief, full = (text(list(diagnosis_lines(diagnosis(*notes), verbose=v))) for v in (False, True))
    assert "alpha: nothing wrong was found\n" in brief
    assert "\n6 notes: --verbose shows the evidence\n" in brief
    assert (
        "\n  pcie.width_below_capability eth0, eth1, eth2, eth3 and 2 more: the link moves\n"
        "  4/16 of what the card could\n    next: reseat the card\n"
    ) in brief
    assert ("x4 now" in brief, "x4 now" in full) == (False, True)
    assert "\n1 note: --verbose shows the evidence\n" in text(
        list(diagnosis_lines(diagnosis(*notes[:1])))
    )


def test_of_many_notes_the_last_ones_are_named_alone():
    notes = [finding(severity=Severity.NOTE, rule=f"a.note{n}") for n in range(8)]
    brief = text(list(diagnosis_lines(diagnosis(*notes))))
    assert "\n  a.note5 enp59s0: the link moves" in brief
    assert "\n  a.note6 enp59s0\n  a.note7 enp59s0\n" in brief


def test_what_the_remedy_of_a_note_may_break_is_said_beside_it():
    danger = Remedy(text="train it", danger=Danger.DROPS_LINK, by_hand=ByHand.NO_UNDO)
    note = finding(severity=Severity.NOTE, remedies=(danger,))
    assert "    next: train it (DROPS THE LINK)\n" in text(list(diagnosis_lines(diagnosis(note))))


def test_a_host_is_described_in_one_line_and_its_first_ports_in_one_each():
    about = (("system", "Debian 12"), ("runs on", "cannot tell"), ("CPU", "2 cores"))
    about += tuple((f"eth{n}", "mlx5_core") for n in range(6))
    shown = text(list(diagnosis_lines(diagnosis(about=about))))
    assert "  Debian 12 · 2 cores\n  eth0: mlx5_core\n" in shown
    assert "eth4" not in shown


def test_what_could_not_be_told_is_grouped_by_all_that_the_reason_says():
    verdicts = tuple(
        verdict(rule=f"ovs.{n}", reason=f"setting {n}: ovs-vsctl: /run/db: failed") for n in "abc"
    )
    shown = text(list(diagnosis_lines(diagnosis(verdicts=verdicts))))
    assert "  ovs-vsctl: /run/db: failed: 3 conditions\n" in shown


def test_what_is_about_the_host_does_not_repeat_its_name():
    of_host = finding(rule="memory.no_hugepages", where="alpha")
    lines = [line.text for line in diagnosis_lines(diagnosis(of_host))]
    assert "1 FAULT memory.no_hugepages this host" in lines


def test_commands_beyond_the_first_are_counted():
    many = tuple(verdict(would_tell=f"ethtool -S eth{n}") for n in range(5))
    shown = text(list(diagnosis_lines(diagnosis(verdicts=many))))
    assert "ethtool -S eth2\n    and 2 more commands" in shown


def test_a_severity_is_the_tone_of_its_line():
    found = [finding(severity=s, rule=f"a.{s.name.lower()}") for s in Severity]
    lines = diagnosis_lines(diagnosis(*found), verbose=True)
    tones = [line.tone for line in lines if line.text[:1].isdigit()]
    assert tones == ["fault", "ceiling", "risk", "note"]


@pytest.mark.parametrize("verbose", [False, True])
@pytest.mark.parametrize("hostile", HOSTILE, ids=range(len(HOSTILE)))
def test_whatever_a_host_printed_every_line_is_harmless_and_fits(hostile: str, verbose: bool):
    for line in diagnosis_lines(filled_with(hostile), verbose=verbose):
        assert line.text.isprintable()
        # Only a command may be longer: a word of it that was cut could not be pasted.
        assert columns_of(line.text) <= (2100 if line.tone == "command" else 80)


BOUND = Bound(
    limit=Limit.AT_MOST,
    value=6.88e-6,
    unit=BoundUnit.SECONDS,
    of="away from a ring of 1024",
    formula="descriptors / line rate",
)


@pytest.mark.parametrize(
    ("unit", "value", "figure"),
    [
        (BoundUnit.SECONDS, 6.88e-6, "6.88 us"),
        (BoundUnit.SECONDS, 0.002, "2.00 ms"),
        (BoundUnit.SHARE, 0.05, "5 %"),
        (BoundUnit.SHARE, 0, "0 %"),
        (BoundUnit.CORES, 11.47, "11.5 cores"),
        (BoundUnit.LOAD_PPS, 8_127_438.23, "100.0 Gb/s"),
    ],
)
def test_a_bound_is_told_from_a_price_with_its_unit_and_formula(
    unit: BoundUnit, value: float, figure: str
):
    bound = BOUND.model_copy(update={"unit": unit, "value": value})
    found = finding(prices=(), bounds=(bound,), unpriced="")
    words = " ".join(text(list(diagnosis_lines(diagnosis(found)))).split())
    said = f"price bound: at most {figure} away from a ring of 1024 (descriptors / line rate)"
    assert said in words
    both = text(list(diagnosis_lines(diagnosis(finding(bounds=(bound,))))))
    assert both.index("costs 46.1") < both.index("bound: at most")


def test_what_is_the_same_at_several_places_is_said_once_with_what_differs_there():
    def of(address: str, netdev: str, width: str) -> Finding:
        source = f"lspci -vv -s {address}"
        evidence = (Evidence(found=f"{address}: {width} now", source=source),)
        command = Command(argv=("ethtool", "-G", netdev))
        remedy = Remedy(text="set it", commands=(command,), by_hand=ByHand.NO_STEP)
        return finding(where=netdev, evidence=evidence, remedies=(remedy,), prices=())

    found = (
        of("0000:03:00.0", "p0", "x4"),
        of("0000:03:00.1", "p1", "x4"),
        of("0000:04:00.0", "q0", "x2"),
    )  # fmt: skip
    shared = shared_findings(found)
    assert [one.places for one in shared] == [("p0", "p1", "q0")]
    assert shared[0].besides == ("q0: 0000:04:00.0: x2 now",)
    (remedy,) = shared[0].finding.remedies
    assert [command.argv[-1] for command in remedy.commands] == ["p0", "p1", "q0"]
    assert shared[0].finding.evidence == found[0].evidence
