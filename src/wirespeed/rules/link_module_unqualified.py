"""A module or cable that the card's firmware or driver objects to."""

from collections.abc import Iterator

from wirespeed.facts.link import Links
from wirespeed.facts.module import Modules
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Absent, Known, known
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.shown import shown


def _check(exam: PortExam) -> Iterator[Finding]:
    port = exam.port
    if port.netdev is None:
        raise DoesNotApplyError("without a netdev its module cannot be read")
    modules = exam.host[Modules]
    module = modules.by_netdev[port.netdev]
    complaint = modules.complaint(port.netdev, port.pci_address)
    if isinstance(complaint, Absent):
        return
    if not isinstance(complaint, Known) and isinstance(module.identifier, Absent):
        raise DoesNotApplyError("it has no module")
    words = known(complaint, "what the kernel says of modules")
    evidence = [Evidence(found=f"the kernel says: {shown(words)}", source="dmesg")]
    for observed, what in ((module.vendor, "made by"), (module.part, "part")):
        if isinstance(observed, Known):
            evidence.append(Evidence.of(observed, f"{what} {shown(observed.value)}"))
    up = exam.host[Links].by_netdev[port.netdev].is_up
    works = isinstance(up, Known) and up.value
    yield exam.finding(
        Severity.RISK if works else Severity.FAULT,
        tuple(evidence),
        so="it works, and was never tried with this card"
        if works
        else "the card does not use the module, and the port has no link",
        where=port.name,
        remedies=(
            Remedy(
                text="use a module or cable from the list of the card's maker, at both ends",
                by_hand=ByHand.HARDWARE,
            ),
        ),
        unpriced="what it should carry is not known",
    )


RULE = PortRule(
    slug="link.module_unqualified",
    title="Transceiver module rejected by the card",
    why="Cards read what a module says it is, and some take only what their maker has tried, or "
    "what the slot has power for. One that is refused gives no link; one that is tolerated may run "
    "with settings that do not fit it.",
    source="drivers/net/ethernet/mellanox/mlx5/core/events.c, intel/ixgbe/ixgbe_main.c, "
    "broadcom/bnxt/bnxt.c in the kernel (what is printed and when)",
    check=_check,
)
