"""Prints how many findings of the described documents' stages have a price or a bound.

Run: PYTHONPATH=src:tests .venv/bin/python -m described.priced_findings
"""

import sys
from collections import Counter
from collections.abc import Iterator

from described.documents import DOCUMENTS
from described.host import capture_of
from described.stage import staged
from wirespeed.doctor.diagnose import diagnose
from wirespeed.model.capture import parse_capture
from wirespeed.model.fact import HostFacts
from wirespeed.model.finding import Finding, Severity


def above_note() -> Iterator[Finding]:
    """Every finding above a note, stage by stage."""
    for document, stages in DOCUMENTS.items():
        for one in staged(document, stages):
            capture = parse_capture(capture_of(one.host), document)
            answer = diagnose(HostFacts(document, capture), one.stage.question)
            yield from (f for f in answer.findings if f.severity is not Severity.NOTE)


def main() -> None:
    """Count what is above a note."""
    found = list(above_note())
    priced = sum(bool(finding.prices) for finding in found)
    bounded = sum(bool(finding.bounds and not finding.prices) for finding in found)
    share = (priced + bounded) / len(found)
    sys.stdout.write(
        f"of {len(found)} findings above a note {priced} have a price and {bounded} a bound: "
        f"{share:.0%}\n"
    )
    without = Counter(f.rule for f in found if not f.prices and not f.bounds)
    for rule, times in without.most_common():
        sys.stdout.write(f"{times:4d} without: {rule}\n")


if __name__ == "__main__":
    main()
