"""Change each rule's texts, figures and remedies, one at a time, and count which its cases notice.

PYTHONPATH=src:tests/rules .venv/bin/python tools/mutate_rules.py [--survivors] [SLUG …]
"""

import argparse
import importlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

from rule_cases import Case, cases_of

from rule_mutations import Mutation, mutations
from wirespeed.catalog import rules
from wirespeed.doctor.diagnose import FAULTS_OF_OURS
from wirespeed.model.finding import Finding, Remedy
from wirespeed.model.rule import Rule


@dataclass(frozen=True)
class Tried:
    """One mutation, and whether a case of its rule failed."""

    slug: str
    mutation: Mutation
    is_killed: bool


def tried(slugs: list[str]) -> Iterator[Tried]:
    """Make every mutation of the named rules, or of all."""
    for rule in rules():
        if slugs and rule.slug not in slugs:
            continue
        module = importlib.import_module(rule.check.__module__)
        cases = sorted(cases_of(rule.slug), key=lambda case: not case.expected["findings"])
        if not all(case.is_met_by(case.answer(rule)) for case in cases):
            raise SystemExit(f"{rule.slug}: a case fails before anything is changed")
        for mutation in mutations(module):
            yield Tried(rule.slug, mutation, _is_killed(mutation, module, cases))


def _is_killed(mutation: Mutation, module: ModuleType, cases: list[Case]) -> bool:
    try:
        changed = mutation.rule(module)
        return not all(case.is_met_by(case.answer(changed)) for case in cases)
    except (*FAULTS_OF_OURS, NameError):  # a change may raise, and a test fails by it
        return True


EVERY: dict[str, Callable[[Finding], Finding]] = {
    "consequence X": lambda one: one.model_copy(update={"so": "X"}),
    "no price": lambda one: one.model_copy(update={"changes": (), "bounds": ()}),
    "unpriced X": lambda one: one.model_copy(update={"unpriced": "X"}) if one.unpriced else one,
    "command cat X": lambda one: one.model_copy(
        update={"evidence": tuple(e.model_copy(update={"source": "cat X"}) for e in one.evidence)}
    ),
    "remedy X": lambda one: one.model_copy(
        update={"remedies": tuple(r.model_copy(update={"text": "X"}) for r in one.remedies)}
    ),
    "remedy's values": lambda one: one.model_copy(
        update={"remedies": tuple(_with_other_values(r) for r in one.remedies)}
    ),
}
"""What is done to every finding of a rule at once."""


def _with_other_values(remedy: Remedy) -> Remedy:
    steps = tuple(
        call.model_copy(update={"parameters": dict.fromkeys(call.parameters, "X")})
        for call in remedy.steps
    )
    return remedy.model_copy(update={"steps": steps, "commands": ()})


def noticed(change: Callable[[Finding], Finding], slugs: list[str]) -> tuple[int, int]:
    """Count the rules whose cases fail when all their findings are changed, of those it changes."""
    failed = changed = 0
    for rule in rules():
        if slugs and rule.slug not in slugs:
            continue
        cases = [case for case in cases_of(rule.slug) if case.expected["findings"]]
        if not any(change(one) != one for case in cases for one in case.answer(rule).findings):
            continue
        other = replace(rule, check=_changed(rule, change))
        changed += 1
        failed += not all(case.is_met_by(case.answer(other)) for case in cases)
    return failed, changed


def _changed(
    rule: Rule, change: Callable[[Finding], Finding]
) -> Callable[[Any], Iterator[Finding]]:
    def check(exam: Any) -> Iterator[Finding]:
        yield from map(change, rule.check(exam))

    check.__module__ = rule.check.__module__  # by it the doctor knows the rule's platform
    return check


def main() -> None:
    """Print the table, and on request what survived."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("slugs", nargs="*")
    parser.add_argument("--survivors", action="store_true")
    options = parser.parse_args()
    made: Counter[str] = Counter()
    killed: Counter[str] = Counter()
    for one in tried(options.slugs):
        made[one.mutation.kind] += 1
        killed[one.mutation.kind] += one.is_killed
        if options.survivors and not one.is_killed:
            print(f"{one.slug}:{one.mutation.line}: {one.mutation.kind}: {one.mutation.what[:150]}")
    for what, change in EVERY.items():
        failed, changed = noticed(change, options.slugs)
        print(f"every finding, {what:16} {failed:4} of {changed:4} rules notice")
    for kind in sorted(made):
        share = killed[kind] / made[kind]
        print(f"{kind:9} {killed[kind]:5} of {made[kind]:5} killed, {share:6.1%}")
    print(f"{killed.total()} of {made.total()} mutations killed")


if __name__ == "__main__":
    main()
