"""A module or cable that the card's firmware or driver objects to."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from wirespeed.facts.link import Links
from wirespeed.facts.module import TOO_HOT, Modules
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Absent, Known, known
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.shown import shown
from wirespeed.model.symptom import Symptom


@dataclass(frozen=True, slots=True)
class _Objection:
    """What the card has against the module."""

    so: str
    remedy: str


UNREADABLE = _Objection(
    "the card cannot read the module: a contact, the cable or the module itself is bad",
    "take the module out and put it in again; if that does not help, replace the module or cable",
)
NO_POWER = _Objection(
    "the module needs more power than the port or the slot may give it",
    "use a module of a lower power class, or a card or slot that gives more",
)
NOT_LISTED = _Objection(
    "it works, but the card's maker never tested it with this card",
    "use a module or cable from the card maker's list, at both ends",
)
OBJECTIONS = (
    (re.compile(r"Bus stuck|No EEPROM|Bad or shorted"), UNREADABLE),
    (re.compile(r"Power budget|insufficient/unadvertised power"), NO_POWER),
)
"""mlx5's words: mlx5_pme_error_to_string() in drivers/net/ethernet/mellanox/mlx5/core/events.c."""


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
    if TOO_HOT.search(words):
        raise DoesNotApplyError("the card objects to its heat: link.module_overheated")
    objection = next((one for form, one in OBJECTIONS if form.search(words)), NOT_LISTED)
    evidence = [Evidence(found=f"the kernel says: {shown(words)}", source="dmesg")]
    for observed, what in ((module.vendor, "made by"), (module.part, "part")):
        if isinstance(observed, Known):
            evidence.append(Evidence.of(observed, f"{what} {shown(observed.value)}"))
    up = exam.host[Links].by_netdev[port.netdev].is_up
    works = isinstance(up, Known) and up.value
    yield exam.finding(
        Severity.RISK if works else Severity.FAULT,
        tuple(evidence),
        so=objection.so
        if works or objection is not NOT_LISTED
        else "the card does not use the module, and the port has no link",
        where=port.name,
        remedies=(
            Remedy(
                text=objection.remedy,
                by_hand=ByHand.HARDWARE,
            ),
        ),
        unpriced="the speed that the link should have is not known",
    )


RULE = PortRule(
    slug="link.module_unqualified",
    title="Transceiver module rejected by the card",
    why="Cards read the module's identity, and some accept only modules that their maker has "
    "tested or that the slot can power. A refused module gives no link; a tolerated one may "
    "run with unsuitable settings.",
    source="drivers/net/ethernet/mellanox/mlx5/core/events.c, intel/ixgbe/ixgbe_main.c, "
    "broadcom/bnxt/bnxt.c in the kernel (what is printed and when)",
    explains=(Symptom.NO_LINK,),
    check=_check,
)
