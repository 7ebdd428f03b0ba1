r"""Ask the doctor about every public case, and count how often it is right.

PYTHONPATH=src:tests .venv/bin/python tools/corpus_score.py [--misses] [--page] [--without SLUG] \
    [NAME …]
"""

import argparse
import sys
from collections import Counter
from datetime import UTC, datetime

from corpus.public_cases import FALSE, MISSED, PARTLY, RIGHT, Case, cases, judged
from wirespeed.report.diagnosis_text import diagnosis_lines
from wirespeed.report.diagnosis_view import verdict_text

OUTCOMES = (RIGHT, PARTLY, MISSED, FALSE)


def rows(told: dict[Case, str], field: str) -> list[tuple[str, Counter[str]]]:
    """Count the outcomes by one field of the cases."""
    found: dict[str, Counter[str]] = {}
    for case, outcome in told.items():
        found.setdefault(str(case.told.get(field) or "-"), Counter())[outcome] += 1
    return sorted(found.items())


def table(told: dict[Case, str]) -> list[str]:
    """Give the counts by kind, platform, vendor and trap, as Markdown."""
    lines = []
    for field in ("kind", "platform", "vendor", "trap", "certainty"):
        lines += ["", f"| {field} | {' | '.join(OUTCOMES)} |", "|---|" + "---|" * len(OUTCOMES)]
        for name, counts in rows(told, field):
            lines.append(f"| {name} | {' | '.join(str(counts[one]) for one in OUTCOMES)} |")
    return lines


def not_right(told: dict[Case, str]) -> list[str]:
    """Give a line for each case that is not right, as Markdown."""
    return [
        f"- {outcome}: [{case.told['title']}]({case.told['found_at']})"
        for case, outcome in told.items()
        if outcome != RIGHT
    ]


def main() -> None:
    """Print the score; its last line is `N of M right, F false`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument(
        "--misses", action="store_true", help="what was said of each that is not right"
    )
    parser.add_argument("--page", action="store_true", help="the page docs/corpus.md")
    parser.add_argument(
        "--without", action="append", default=[], metavar="SLUG", help="a rule that is not asked"
    )
    options = parser.parse_args()
    chosen = [one for one in cases() if not options.names or one.name in options.names]
    told = {}
    for case in chosen:
        answer = case.answer(options.without)
        told[case] = judged(case, answer)
        if options.names:
            print("\n".join(line.text for line in diagnosis_lines(answer)))
        if options.misses and told[case] != RIGHT:
            above = [f"{f.rule} {f.severity}" for f in answer.findings]
            print(f"{told[case]:7} {case.name}: {verdict_text(answer)[:150]}")
            print(f"        expected {case.told.get('cause') or case.told['trap']}; found {above}")
    counts = Counter(told.values())
    if options.page:
        first = Counter(case.told["first"] for case in told)
        print(
            PAGE.format(
                date=datetime.now(UTC).date(),
                count=len(told),
                first=first[RIGHT],
                first_false=first[FALSE],
            )
        )
        print("\n".join([*table(told), "", "Not right yet:", "", *not_right(told), ""]))
    elif not options.names:
        print("\n".join(table(told)))
    sys.stdout.flush()
    print(f"{counts[RIGHT]} of {len(told)} right, {counts[FALSE]} false")


PAGE = """\
# How often the doctor is right

{count} cases that people asked about in public. Each is a described host with the answer of a
seasoned engineer, written before the doctor was asked: `tests/corpus/cases/`. *Right*: the first
cause is the one of the report, or of a trap that nothing is wrong. *Partly*: it was found, and
stands below another. *Missed*: it was not found. *False*: something was said that must not be
said, or anything above a note where nothing is wrong. As of {date}, by

    PYTHONPATH=src:tests .venv/bin/python tools/corpus_score.py --page >docs/corpus.md

**On the code from before these cases were written, {first} of {count} were right, and
{first_false} said something false: expect that of a case that is new to the doctor.** Some of
the code was corrected since; what is not right yet is listed at the end. The tables show that what
is right stays right, and nothing more. Each host is described from a report; none is a capture of
the machine itself."""

if __name__ == "__main__":
    main()
