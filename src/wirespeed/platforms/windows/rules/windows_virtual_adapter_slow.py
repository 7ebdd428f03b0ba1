"""An adapter of the host on a switch of Hyper-V that reports less than the machine's fast card."""

from collections.abc import Iterator

from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import known
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule, of_each
from wirespeed.model.shown import shown
from wirespeed.model.symptom import Symptom
from wirespeed.platforms.windows.facts.windows_adapters import (
    SOURCE,
    WindowsAdapter,
    WindowsAdapters,
)
from wirespeed.platforms.windows.facts.windows_behind import NOMINAL_BPS, fast_cards
from wirespeed.platforms.windows.facts.windows_host import require_windows


def _check(exam: HostExam) -> Iterator[Finding]:
    require_windows(exam.host)
    if not fast_cards(exam.host):
        raise DoesNotApplyError("no card that is up is faster than such an adapter")
    mine = [one for one in exam.host[WindowsAdapters].known() if one.is_of_switch and one.is_up]
    yield from of_each(mine, lambda adapter: _adapter(exam, adapter))


def _adapter(exam: HostExam, adapter: WindowsAdapter) -> Iterator[Finding]:
    link_bps = known(adapter.link_bps, f"the speed of {adapter.name}")
    if link_bps > NOMINAL_BPS:
        return
    yield exam.finding(
        Severity.NOTE,
        (Evidence(found=f"it reports {link_bps / 1e9:g} Gb/s", source=SOURCE),),
        so="what Windows, WSL or a guest sends through this adapter goes through software alone, "
        "or by a slower card than the fastest of this machine",
        where=shown(adapter.name, 60),
        remedies=(
            Remedy(
                text="send through the card itself, or through a switch that is bound to it; "
                "the existence of this adapter is not a fault",
                by_hand=ByHand.WORKLOAD,
            ),
        ),
        unpriced="it costs nothing if no fast traffic uses it",
    )


RULE = HostRule(
    slug="windows.virtual_adapter_slow",
    title="Virtual adapter with a ceiling of its own (Windows)",
    why="A vEthernet adapter on an internal switch reports 10 Gb/s and has no wire behind it. In "
    "the WSL2 document it limited the path of a host with a 100 Gb/s card.",
    source="`From 10 to 40Gbps - Getting a Mellanox ConnectX-5 Working in WSL2`, Step 1",
    shows=(Symptom.CARD_BYPASSED,),
    explains=(Symptom.LOW_FIGURE,),
    check=_check,
)
