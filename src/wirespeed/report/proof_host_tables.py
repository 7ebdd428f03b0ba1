"""The tables of a proof that are about the hosts: findings, plan, before and after, undo."""

from collections.abc import Iterator

from wirespeed.apply.planner import described
from wirespeed.doctor.host_state import NOT_THERE, Values, differences
from wirespeed.doctor.rank import rank
from wirespeed.model.finding import Danger, Diagnosis, Finding, Unanswered
from wirespeed.model.journal import Result, Undone, Verified
from wirespeed.model.plan import PlannedStep
from wirespeed.model.proof import Difference, When
from wirespeed.model.question import Purpose
from wirespeed.model.shown import shown
from wirespeed.report import format as fmt
from wirespeed.report.cause_view import THIS_HOST
from wirespeed.report.diagnosis_hosts import Answer
from wirespeed.report.diagnosis_view import above_note, price_texts
from wirespeed.report.grid import Cell as Box
from wirespeed.report.grid import Grid, columns, text
from wirespeed.report.load_text import LoadUnit
from wirespeed.report.proof_page import Proof
from wirespeed.report.shared_findings import shared_findings

PLANNED = (" mtu", " num vfs", " combined channels", " vf ", "Namespaces names")
"""What an approach is about, in the words of a comparison; the rest follows from it."""
PURPOSES = (Purpose.GUESTS, Purpose.TCP)
"""What the ports are for here: the doctor is asked for each, and what both say counts once."""


def findings(answers: tuple[Answer, ...]) -> tuple[Finding, ...]:
    """All that was found, in the doctor's order, each place named with its host."""
    found: dict[tuple[str, str], Finding] = {}
    for answer in answers:
        if isinstance(answer, Diagnosis):
            for one in answer.findings:
                place = answer.host if one.where in (answer.host, THIS_HOST) else one.where
                where = place if place == answer.host else f"{answer.host} {place}"
                found.setdefault((one.rule, where), one.model_copy(update={"where": where}))
    return tuple(sorted(found.values(), key=rank))


def unanswered(answers: tuple[Answer, ...]) -> tuple[Unanswered, ...]:
    """Hosts that the doctor had no answer for."""
    return tuple(answer for answer in answers if isinstance(answer, Unanswered))


def frame_bytes(answers: tuple[Answer, ...]) -> int:
    """Frame size that prices are computed for."""
    return next((a.question.frame_bytes for a in answers if isinstance(a, Diagnosis)), 1518)


def findings_grid(proof: Proof) -> Grid:
    """What was found, what it costs, and whether it is still there when the plan is done."""
    unit = LoadUnit(frame_bytes(proof.found))
    after = {(one.rule, one.where) for one in findings(proof.found_after)}
    before = above_note(findings(proof.found))
    rows = []
    for shared in shared_findings(before):
        one = shared.finding
        gone = [place for place in shared.places if (one.rule, place) not in after]
        if not proof.found_after:
            became = "—"
        elif len(gone) == len(shared.places):
            became = "gone"
        else:
            left = [place for place in shared.places if place not in gone]
            became = "still there" + (f": {', '.join(left)}" if gone else "")
        price = "; ".join(price_texts(one, unit)) or "not known"
        words = [one.severity, one.rule, ", ".join(shared.places), price, became]
        rows.append(text(*(shown(word) for word in words)))
    known = {(one.rule, one.where) for one in findings(proof.found)}
    for one in above_note(findings(proof.found_after)):
        if (one.rule, one.where) not in known:
            price = "; ".join(price_texts(one, unit)) or "not known"
            words = [one.severity, one.rule, one.where, price, "new with the plan"]
            rows.append(text(*(shown(word) for word in words)))
    names = ("", "Finding", "Where", "What it costs", "With the plan")
    return Grid(
        title="Findings",
        caption="Faults before ceilings of the hardware, then by what they cost. The last column "
        "is what the doctor says when the plan is carried out.",
        columns=columns(*names, words=names, wraps=["Where", "What it costs"]),
        rows=tuple(rows),
        empty="The doctor found nothing above a note."
        if proof.found
        else "The doctor was not asked.",
    )


def plan_grid(proof: Proof) -> Grid:
    """Every step, from what to what, its danger, and how it went."""
    results: dict[int, Verified] = {}
    undone: dict[int, Verified] = {}
    for entry in proof.entries:
        if isinstance(entry, Result):
            results[entry.number] = entry.verdict
        elif isinstance(entry, Undone):
            undone[entry.number] = entry.verdict
    rows = []
    for number, planned in enumerate(proof.plan.steps if proof.plan else ()):
        went = "nothing to do" if planned.no_op else results.get(number, "not done")
        if number in undone:
            went += (
                ", restored" if undone[number] is Verified.VERIFIED else f", undo {undone[number]}"
            )
        good = planned.no_op or results.get(number) is Verified.VERIFIED
        tone = "plain" if good and undone.get(number) in (None, Verified.VERIFIED) else "alarm"
        rows.append(
            (
                *text(str(number + 1), shown(planned.host), shown(planned.kind)),
                *text(shown(planned.subject), _way(planned)),
                Box(text=planned.danger.value if planned.danger is not Danger.NONE else ""),
                Box(text=went, tone="plain" if tone == "plain" else "alarm"),
            )
        )
    names = ("Host", "Step", "About", "Change", "Danger", "How it went")
    return Grid(
        title="The plan",
        caption="In this order, and back in the other one.",
        columns=columns("#", *names, words=names, wraps=["Change"]),
        rows=tuple(rows),
        empty="There is no plan.",
    )


def _way(planned: PlannedStep) -> str:
    if planned.no_op:
        return shown(planned.no_op, 200)
    before = planned.before or {}
    changed = {k: v for k, v in planned.goal.items() if before.get(k) != v}
    if planned.before is None:
        return f"made by an earlier step → {shown(described(changed), 200)}"
    was = {key: before.get(key) for key in changed}
    return f"{shown(described(was), 160)} → {shown(described(changed), 160)}"


def changes(proof: Proof) -> Iterator[tuple[Difference, str]]:
    """What the plan changed on each host, and what it is after undo."""
    before, applied = proof.values.get(When.BEFORE, {}), proof.values.get(When.APPLIED, {})
    undone = proof.values.get(When.UNDONE, {})
    for host in before:
        if host in applied:
            for change in differences(host, before[host], applied[host]):
                yield change, _now(change, undone.get(host))


def _now(change: Difference, values: Values | None) -> str:
    if values is None:
        return "—"
    of_it = {what: value for (subject, what), value in values.items() if subject == change.subject}
    if change.what or "" in of_it:
        return of_it.get(change.what, NOT_THERE)
    return (
        change.before if of_it and change.before != NOT_THERE else "there" if of_it else NOT_THERE
    )


def changes_grid(proof: Proof, *, by_plan: bool) -> Grid:
    """Before, with the plan, after undo: what the plan is about, or what else changed with it."""
    rows = []
    for change, undone in changes(proof):
        what = f"{change.subject} {change.what}".strip()
        if any(word in what for word in PLANNED) != by_plan:
            continue
        back = undone in ("—", change.before)
        rows.append(
            (
                *text(shown(change.host), shown(what, 120)),
                *text(shown(change.before, 80), shown(change.now, 160)),
                Box(text=shown(undone, 80), tone="plain" if back else "alarm"),
            )
        )
    names = ("Host", "What", "As found", "With the plan", "After undo")
    return Grid(
        title="What the plan changed" if by_plan else "What else changed with it",
        caption="From new readings of the hosts, not from what was written.",
        columns=columns(*names, words=names, wraps=["What", "With the plan"]),
        rows=tuple(rows),
        empty="The hosts were not read twice, or nothing changed." if by_plan else "",
        look="plain" if by_plan else "quiet",
    )


def standing_grid(title: str, first: str, found: tuple[Difference, ...]) -> Grid:
    """What is not as it is to be; `first` heads what it is to be."""
    names = ("Host", "What", first, "Now")
    return Grid(
        title=title,
        caption="",
        columns=columns(*names, words=names, wraps=["What", first, "Now"]),
        rows=tuple(
            (
                *text(shown(d.host), shown(f"{d.subject} {d.what}".strip(), 120)),
                *text(shown(d.before, 160)),
                Box(text=shown(d.now, 160), tone="alarm"),
            )
            for d in found
        ),
    )


def stages_grid(proof: Proof) -> Grid:
    """How each stage went, and how long it took."""
    return Grid(
        title="Stages",
        caption="",
        columns=columns(
            "Stage",
            "Seconds",
            "",
            "What came of it",
            words=["Stage", ""],
            wraps=["What came of it"],
        ),
        look="quiet",
        rows=tuple(
            (
                *text(end.stage, fmt.significant(end.seconds, 3)),
                Box(text=end.outcome, tone="alarm" if end.outcome == "failed" else "plain"),
                *text(shown(f"{end.error}: {end.said}" if end.error else end.said)),
            )
            for end in proof.stages
        ),
    )
