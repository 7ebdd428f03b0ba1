"""The collector for ESXi: one shell script made of every ESXi fact's part."""

from functools import cache

from wirespeed.catalog import facts
from wirespeed.host.sections import sections_script
from wirespeed.model.fact import EsxiFact

ABOUT = """
# wirespeed's collector for ESXi: it changes nothing, installs nothing, writes no file.

"""
PRELUDE = """
# esxcli takes some seconds on a busy host. Before ESXi 7 its timeout wants the seconds behind -t.
limit='timeout 20'
$limit true 2>/dev/null || limit='timeout -t 20'
$limit true 2>/dev/null || limit=
"""


@cache
def esxi_collector_script() -> str:
    """Give the whole script."""
    parts = [
        f"\n# {fact.__module__.rpartition('.')[2]}\n{fact.esxi}"
        for fact in facts()
        if issubclass(fact, EsxiFact)
    ]
    return sections_script(ABOUT, PRELUDE, *parts)
