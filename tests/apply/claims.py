"""Claims of runs on hosts, for tests: a run's id is made of one letter."""

from wirespeed.apply.claim import Claim
from wirespeed.model.owner import Owner


def owner(letter: str = "a", machine: str = "m1", process: str = "1.2.3.b") -> Owner:
    return Owner(
        run=letter * 32,
        machine=machine,
        process=process,
        user="ann",
        host="admin1",
        since="2026-01-01T00:00:00Z",
        folder=f"/srv/{letter}.yaml.run",
    )


def claim(letter: str = "a", *, breaks: bool = False, machine: str = "m1") -> Claim:
    return Claim(owner(letter, machine), breaks=breaks)
