"""WSL in mirrored mode, and no external switch on the fast card."""

from collections.abc import Iterator

from wirespeed.facts.virtualization_wsl import Wsl
from wirespeed.model.finding import ByHand, Danger, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Known, known
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule
from wirespeed.model.shown import shown
from wirespeed.model.symptom import Symptom
from wirespeed.platforms.windows.facts.windows_behind import cards_of_switch, fast_cards
from wirespeed.platforms.windows.facts.windows_host import require_windows
from wirespeed.platforms.windows.facts.windows_switches import SOURCE, WindowsSwitches

MIRRORED = "mirrored"


def _check(exam: HostExam) -> Iterator[Finding]:
    host = exam.host
    require_windows(host)
    wsl = host[Wsl]
    if not isinstance(wsl.version, Known):
        raise DoesNotApplyError("no Linux side of WSL was read: run it within WSL")
    mode = known(wsl.networking_mode, "the mode of WSL's network")
    if mode != MIRRORED:
        raise DoesNotApplyError(f"WSL's network is in {mode} mode")
    cards = fast_cards(host)
    if not cards:
        raise DoesNotApplyError("no card above 10 Gb/s is up")
    switches = host[WindowsSwitches].known()
    taken = {card.guid for switch in switches for card in cards_of_switch(host, switch)}
    for card in cards:
        if card.guid in taken:
            continue
        yield exam.finding(
            Severity.FAULT,
            (
                Evidence(found="WSL is in mirrored mode", source=wsl.networking_mode.source),
                Evidence(
                    found=f"no external switch is bound to {shown(card.name, 60)}", source=SOURCE
                ),
            ),
            so="mirrored mode reached 23 Gb/s without such a switch and 40 with one, although no "
            "setting of WSL refers to the switch",
            where=host.name,
            remedies=(
                Remedy(
                    text="bind an external switch to the card and leave WSL in mirrored mode "
                    "(windows.switch_without_card), after you unbind filters of other "
                    "makers from it (windows.foreign_filter)",
                    danger=Danger.DROPS_LINK,
                    by_hand=ByHand.FAR_END,
                ),
            ),
            unpriced="23 and 40 Gb/s were measured on one machine: measure yours",
        )


RULE = HostRule(
    slug="wsl.mirrored_without_switch",
    title="Mirrored WSL without an external virtual switch",
    why="An external switch on the card changes how Windows forwards WSL's frames, in mirrored "
    "mode too: 40 instead of 23 Gb/s on the machine of the WSL2 document. The reason is not "
    "published.",
    source="`From 10 to 40Gbps - Getting a Mellanox ConnectX-5 Working in WSL2`, Key Lessons",
    shows=(Symptom.CARD_BYPASSED,),
    explains=(Symptom.LOW_FIGURE,),
    first=(Symptom.FOREIGN_FILTER,),
    check=_check,
)
