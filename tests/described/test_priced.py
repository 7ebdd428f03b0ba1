"""Most of what the doctor finds on the described hosts has a price, or a limit of it."""

from pathlib import Path

from described.priced_findings import above_note
from wirespeed.catalog import rules

BY_SLUG = {rule.slug: rule for rule in rules()}
LEAST_SHARE = 0.7
PAGE = " ".join((Path(__file__).parents[2] / "docs/doctor.md").read_text().split())


def test_most_findings_above_a_note_have_a_price_or_a_bound():
    found = list(above_note())
    told = [finding for finding in found if finding.prices or finding.bounds]
    share = len(told) / len(found)
    assert share >= LEAST_SHARE
    assert f"{100 * share:.0f} % have one or the other" in PAGE
    for finding in found:
        assert BY_SLUG[finding.rule].price or not (finding.prices or finding.bounds)
        assert bool(finding.unpriced) == (not finding.prices and not finding.bounds)
