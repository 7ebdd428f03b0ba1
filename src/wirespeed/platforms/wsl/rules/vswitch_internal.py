"""WSL whose adapter hangs on a switch of Windows that no card is bound to."""

from collections.abc import Iterator

from wirespeed.facts.link import Links
from wirespeed.facts.virtualization_wsl import Wsl
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import CannotTellError, Known, known, value_or_none
from wirespeed.model.port import PortKind
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.symptom import Symptom

INTERNAL_BPS = 10 * 10**9
"""What an adapter of an internal switch reports, whatever the cards of the machine can do."""


def _check(exam: PortExam) -> Iterator[Finding]:
    if exam.port.kind is not PortKind.HYPERV or exam.port.netdev is None:
        raise DoesNotApplyError("it is not an adapter of Hyper-V")
    wsl = exam.host[Wsl]
    if value_or_none(wsl.version) is None:
        raise DoesNotApplyError("this is not WSL: the host's administrator chooses the switch")
    link = exam.host[Links].by_netdev.get(exam.port.netdev)
    if link is None:
        raise CannotTellError("its speed was not read", f"ethtool {exam.port.netdev}")
    reported_bps = known(link.link_bps, "the speed that the adapter reports")
    if reported_bps != INTERNAL_BPS or not isinstance(link.link_bps, Known):
        return
    mode = wsl.networking_mode
    # Who asks for a port means it to be fast; of the others, 10 Gb/s may be what the card has.
    is_asked = exam.port.netdev in exam.question.ports
    yield exam.finding(
        Severity.CEILING if is_asked else Severity.NOTE,
        (
            Evidence.of(link.link_bps, "the adapter reports 10 Gb/s"),
            *(
                (Evidence.of(mode, f"networking mode {mode.value}"),)
                if isinstance(mode, Known)
                else ()
            ),
        ),
        so="the adapter may hang on an internal switch, which is software without a card: its "
        "10 Gb/s is what Windows reports, and bounds nothing; a 10 Gb/s card reports the same",
        remedies=(
            Remedy(
                text="if the card is faster, bind an external switch to it in Windows: "
                "`New-VMSwitch -Name NAME -NetAdapterName ADAPTER -AllowManagementOS "
                "$true`. In mirrored mode its presence is enough; in bridged mode "
                ".wslconfig names it (vmSwitch=NAME), and WSL then has that adapter alone. "
                "Filter drivers of other makers on the card may crash Windows while the "
                "switch is created: unbind them first",
                by_hand=ByHand.FAR_END,
            ),
        ),
        unpriced="10 Gb/s were measured through such a switch on one machine, 23 in mirrored mode, "
        "and 40 and 53.6 with an external switch on its card; `iperf3` before and after tells "
        "what it costs on yours",
    )


RULE = PortRule(
    slug="vswitch.internal",
    title="WSL behind an internal virtual switch",
    why="A Hyper-V internal switch is software without a card. On a machine with a 100 Gb/s "
    "card, 10 Gb/s were measured through it, 40 after an external switch was bound to the "
    "card, and 53.6 in bridged mode, where the card's slot was the limit.",
    source="`From 10 to 40Gbps - Getting a Mellanox ConnectX-5 Working in WSL2`, Steps 2 and 6; "
    "https://learn.microsoft.com/windows-server/virtualization/hyper-v/get-started/"
    "create-a-virtual-switch-for-hyper-v-virtual-machines (external, internal, private)",
    shows=(Symptom.CARD_BYPASSED,),
    explains=(Symptom.LOW_FIGURE,),
    first=(Symptom.FOREIGN_FILTER,),
    check=_check,
)
