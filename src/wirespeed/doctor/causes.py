"""Findings to causes: what explains what, what comes first, and what the whole costs. Pure.

Each rule sees its own condition alone. It says by symptoms what its findings are to others, what
they bring about at the same place, and what has to end before its remedy; here they are joined.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from wirespeed.doctor.places import Places, alike
from wirespeed.doctor.rank import is_symptom, rank
from wirespeed.model.finding import Cause, Finding, Severity
from wirespeed.model.rule import Rule
from wirespeed.model.symptom import Symptom

Entry = tuple[int, ...]
"""Findings that are told once."""
ORDER = list(Severity)
SEEN_CHARACTERS = 70
"""A sentence with more within it is no longer read at once."""


@dataclass
class _Tree:
    """A root, and what belongs to it."""

    root: Entry
    before: list[Entry] = field(default_factory=list)
    effects: list[tuple[Entry, Symptom]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Joined:
    """The findings of one host, those of a cause together and in the order of work, and causes."""

    findings: tuple[Finding, ...]
    causes: tuple[Cause, ...]


def join(findings: Sequence[Finding], rules: Mapping[str, Rule], places: Places) -> Joined:
    """Join the findings of one host to causes, in the order in which they are to be worked on.

    Notes that explain nothing come after all causes. A note whose effect is above a note is raised
    to a risk: it would be named without its remedy otherwise.
    """
    ranked = sorted(findings, key=rank)
    links = _Links(ranked, rules, places)
    trees = [tree for tree in links.trees() if _worst(ranked, tree) is not Severity.NOTE]
    trees.sort(key=lambda tree: _rank_of(ranked, tree))
    raised = {number for tree in trees for number in tree.root}
    ranked = [
        one.model_copy(update={"severity": Severity.RISK})
        if number in raised and one.severity is Severity.NOTE
        else one
        for number, one in enumerate(ranked)
    ]
    order = [number for tree in trees for entry in _entries(tree) for number in entry]
    order += [number for number in range(len(ranked)) if number not in set(order)]
    place_of = {number: place for place, number in enumerate(order)}
    return Joined(
        findings=tuple(ranked[number] for number in order),
        causes=tuple(_cause(tree, ranked, place_of, rules) for tree in trees),
    )


def shown_by_roots(joined: Joined, rules: Mapping[str, Rule]) -> set[Symptom]:
    """Give what the first finding of each cause shows: what no other explains."""
    roots = [joined.findings[cause.findings[0]] for cause in joined.causes]
    return {symptom for one in roots for symptom in rules[one.rule].shows}


class _Links:
    """Which entry brings about which, and which comes before which."""

    def __init__(
        self, findings: Sequence[Finding], rules: Mapping[str, Rule], places: Places
    ) -> None:
        self.findings, self.rules, self.places = findings, rules, places
        self.entries = alike(findings)

    def trees(self) -> Iterator[_Tree]:
        """Give a tree for each root. Every entry is in one of them, in the first that has it."""
        left = list(self.entries)
        while left:
            root = next((e for e in left if not self._is_explained(e, left)), left[0])
            tree = _Tree(root)
            left.remove(root)
            self._take_effects(tree, root, left)
            for entry in [e for e in left if self._comes_before(e, root)]:
                tree.before.append(entry)
                left.remove(entry)
                self._take_effects(tree, entry, left)
            yield tree

    def _take_effects(self, tree: _Tree, origin: Entry, left: list[Entry]) -> None:
        todo = [origin]
        while todo:
            cause = todo.pop(0)
            for entry in list(left):
                symptom = self._brings_about(cause, entry)
                if symptom is not None:
                    tree.effects.append((entry, symptom))
                    left.remove(entry)
                    todo.append(entry)

    def _is_explained(self, entry: Entry, others: Iterable[Entry]) -> bool:
        """By another that it does not explain in turn, or has to be worked on before another."""
        return any(
            other != entry
            and (
                (self._brings_about(other, entry) and not self._brings_about(entry, other))
                or self._comes_before(entry, other)
            )
            for other in others
        )

    def _brings_about(self, cause: Entry, effect: Entry) -> Symptom | None:
        """Give what it is that the one brings about; None where it does not."""
        explains = self._rule(cause).explains
        shown = [symptom for symptom in self._rule(effect).shows if symptom in explains]
        if not shown or self._rule(cause) is self._rule(effect):
            return None
        is_low = shown == [Symptom.LOW_FIGURE]
        if not any(
            self.places.concern(self.findings[one].where, self.findings[other].where)
            for one in cause
            for other in effect
            if _can_explain(self.findings[one], is_low=is_low)
        ):
            return None
        return shown[0]

    def _comes_before(self, entry: Entry, other: Entry) -> bool:
        """Whether the one is a step on the way to the other, and not the worse of both."""
        if self._order(entry) < self._order(other):
            return False
        if not set(self._rule(entry).shows) & set(self._rule(other).first):
            return False
        return any(
            self.places.concern(self.findings[one].where, self.findings[two].where)
            for one in entry
            for two in other
        )

    def _order(self, entry: Entry) -> int:
        return ORDER.index(self.findings[entry[0]].severity)

    def _rule(self, entry: Entry) -> Rule:
        return self.rules[self.findings[entry[0]].rule]


def _can_explain(finding: Finding, *, is_low: bool) -> bool:
    """Tell whether a finding can be the reason of others, or of a low figure.

    A note is no reason of a low figure, and one about a ceiling that bounds nothing is none at all.
    What lowers a ceiling of the path is in the ceiling that the figure lies far below.
    """
    if is_low:
        is_in_ceiling = bool(finding.changes) and not is_symptom(finding)
        return finding.severity is not Severity.NOTE and not is_in_ceiling
    return finding.severity is not Severity.NOTE or not finding.changes


def _entries(tree: _Tree) -> Iterator[Entry]:
    yield from tree.before
    yield tree.root
    yield from (entry for entry, _ in tree.effects)


def _worst(findings: Sequence[Finding], tree: _Tree) -> Severity:
    numbers = [number for entry in _entries(tree) for number in entry]
    return min((findings[number].severity for number in numbers), key=ORDER.index)


def _rank_of(findings: Sequence[Finding], tree: _Tree) -> tuple[bool, bool, int, float, int, int]:
    """As a single finding is ranked, by the worst and the highest price of the whole."""
    root = findings[tree.root[0]]
    severity = _worst(findings, tree)
    whole = root.model_copy(update={"severity": severity, "prices": _priced(findings, tree).prices})
    is_note, is_usual, tier, cost, order, *_ = rank(whole)
    return is_note, is_usual, tier, cost, order, tree.root[0]


def _priced(findings: Sequence[Finding], tree: _Tree) -> Finding:
    """Give the finding whose price is that of the whole: its own, or else the highest it causes."""
    own = [findings[number] for number in tree.root]
    caused = [findings[number] for entry, _ in tree.effects for number in entry]
    for some in (own, caused):
        dearest = max(some, key=_cost, default=own[0])
        if _cost(dearest) > 0:
            return dearest
    return own[0]


def _cost(finding: Finding) -> float:
    return max((price.cost_pps for price in finding.prices), default=0.0)


def _cause(
    tree: _Tree, findings: Sequence[Finding], place_of: Mapping[int, int], rules: Mapping[str, Rule]
) -> Cause:
    def numbers(entries: Iterable[Entry]) -> tuple[int, ...]:
        return tuple(place_of[number] for entry in entries for number in entry)

    root, priced = findings[tree.root[0]], _priced(findings, tree)
    return Cause(
        says=rules[root.rule].title,
        seen=_seen([findings[number] for number in tree.root]),
        severity=_worst(findings, tree),
        places=tuple(dict.fromkeys(findings[number].where for number in tree.root)),
        findings=numbers([tree.root]),
        before=numbers(tree.before),
        effects=numbers(entry for entry, _ in tree.effects),
        prices=priced.prices,
        priced_at=priced.where,
        confirm=_confirm(tree, findings),
    )


def _seen(alike: Sequence[Finding]) -> str:
    """Give the first thing that was seen, for a sentence; empty where it is long, or differs."""
    texts = {one.evidence[0].found for one in alike if one.evidence}
    text = texts.pop() if len(texts) == 1 else ""
    return text if len(text) <= SEEN_CHARACTERS else ""


def _confirm(tree: _Tree, findings: Sequence[Finding]) -> str:
    """Name the first effect, and the command that shows whether it has ended."""
    for entry, symptom in tree.effects:
        for evidence in findings[entry[0]].evidence[:1]:
            return f"if it is the reason, this ends with it: {symptom} ({evidence.source})"
    return ""
