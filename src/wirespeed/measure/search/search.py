"""One search by name. Pure over an injected measurer: no clock, no file, no output.

`rfc2544` bisects from the ceiling; `mlrsearch` is the MLRsearch library; `informed` starts at what
an overload probe and the DUT's own cycles per packet predict.
"""

from wirespeed.measure.search.goal import (
    Goal,
    Method,
    Observer,
    Progress,
    SearchResult,
    Tolerance,
    Verdict,
)
from wirespeed.measure.search.informed import search_informed
from wirespeed.measure.search.measurer import Measurer
from wirespeed.measure.search.rfc2544 import search_rfc2544

__all__ = [
    "Goal",
    "Method",
    "Observer",
    "Progress",
    "SearchResult",
    "Tolerance",
    "Verdict",
    "search",
]


def search(
    method: Method, measurer: Measurer, goal: Goal, observe: Observer | None = None
) -> SearchResult:
    """Search for the highest load without loss, and prove it by a trial of the full duration.

    `observe` is called before each trial. MeasurementError comes through from the
    measurer when it cannot have a valid trial; what it had measured by then is its own to keep.
    """
    match method:
        case "rfc2544":
            return search_rfc2544(measurer, goal, observe)
        case "mlrsearch":
            # Its library walks the stack and all loaded modules as it is loaded: 0.6 s of the
            # 1.4 s that `wirespeed measure --help` took.
            from wirespeed.measure.search.mlr import search_mlr

            return search_mlr(measurer, goal, observe)
        case "informed":
            return search_informed(measurer, goal, observe)
