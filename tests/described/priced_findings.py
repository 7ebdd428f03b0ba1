"""Prints how many findings of the described documents' stages have a price, and which rules do not.

Run: PYTHONPATH=src:tests .venv/bin/python -m described.priced_findings
"""

import sys
from collections import Counter

from described.documents import DOCUMENTS
from described.host import capture_of
from described.stage import staged
from wirespeed.doctor.diagnose import diagnose
from wirespeed.model.capture import parse_capture
from wirespeed.model.fact import HostFacts
from wirespeed.model.finding import Severity


def main() -> None:
    """Count what is above a note."""
    priced: Counter[str] = Counter()
    unpriced: Counter[str] = Counter()
    for document, stages in DOCUMENTS.items():
        for one in staged(document, stages):
            capture = parse_capture(capture_of(one.host), document)
            answer = diagnose(HostFacts(document, capture), one.stage.question)
            for finding in answer.findings:
                if finding.severity is not Severity.NOTE:
                    (priced if finding.prices else unpriced)[finding.rule] += 1
    count = priced.total() + unpriced.total()
    sys.stdout.write(f"{priced.total()} of {count} findings above a note have a price\n")
    for rule, times in unpriced.most_common():
        sys.stdout.write(f"{times:4d} without: {rule}\n")


if __name__ == "__main__":
    main()
