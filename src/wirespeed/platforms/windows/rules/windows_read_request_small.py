"""A card of Windows of 100 Gb/s or more that may ask for little at a time."""

from collections.abc import Iterator

from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import known
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule, of_each
from wirespeed.model.symptom import Symptom
from wirespeed.platforms.windows.facts.windows_adapters import WindowsAdapter, WindowsAdapters
from wirespeed.platforms.windows.facts.windows_hardware import SOURCE, WindowsHardwares
from wirespeed.platforms.windows.facts.windows_host import require_windows

FAST_BPS = 100 * 10**9
USUAL_BYTES = 512
"""After a reset: PCI Express Base Specification, section 7.5.3.4."""


def _check(exam: HostExam) -> Iterator[Finding]:
    host = exam.host
    require_windows(host)
    adapters = host[WindowsAdapters].cards()
    cards = [c for c in adapters if c.is_up and c.shown_bps and c.shown_bps >= FAST_BPS]
    if not cards:
        raise DoesNotApplyError("no card of 100 Gb/s or more is up")
    yield from of_each(cards, lambda card: _card(exam, card))


def _card(exam: HostExam, card: WindowsAdapter) -> Iterator[Finding]:
    hardware = known(exam.host[WindowsHardwares].of(card.guid), f"the slot of {card.name}")
    most = known(hardware.read_request_bytes, f"the read request size of {card.name}")
    if most >= USUAL_BYTES:
        return
    yield exam.finding(
        Severity.RISK,
        (
            Evidence(
                found=f"reads of at most {most} bytes, {USUAL_BYTES} after a reset",
                source=SOURCE,
            ),
        ),
        so="to send, the card needs more requests for the same data, and the number of "
        "requests in flight is limited",
        where=card.name,
        remedies=(
            Remedy(
                text="set the maximum read request size to 512 bytes or more, or to "
                "automatic, in the BIOS or in the card's own BIOS setup page; Windows has "
                "no setting for it",
                by_hand=ByHand.BIOS,
            ),
        ),
        unpriced="it depends on how many reads the card keeps in flight, which Windows does not "
        "report: measure what it sends before and after, with `wirespeed measure command`",
    )


RULE = HostRule(
    slug="windows.read_request_small",
    title="PCIe read request size small for the card (Windows)",
    why="To send, a card reads memory in requests of 128 to 4096 bytes. The number of "
    "requests in flight is limited, so at 100 Gb/s and more small requests limit the rate. A "
    "BIOS that is set for compatibility lowers the size for all slots.",
    source="https://learn.microsoft.com/powershell/module/netadapter/get-netadapterhardwareinfo "
    "(PciExpressMaxReadRequestSize); PCI Express Base Specification, section 7.5.3.4",
    explains=(Symptom.LOW_FIGURE,),
    check=_check,
)
