"""The Windows side of a host in an answer: its cards' ledgers, and which rules are not about it."""

from collections.abc import Iterator
from typing import TypeGuard, TypeVar

from wirespeed.ceilings.devices import device_for
from wirespeed.ceilings.ethernet import ethernet_ceiling
from wirespeed.ceilings.pcie import pcie_ceiling
from wirespeed.model.ceiling import Ceiling, Direction, Ledger
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import CannotTellError, Known, Observed, known
from wirespeed.model.port import Port
from wirespeed.model.question import Question
from wirespeed.platforms.windows.facts.windows_adapters import SOURCE as ADAPTERS_SOURCE
from wirespeed.platforms.windows.facts.windows_adapters import WindowsAdapter, WindowsAdapters
from wirespeed.platforms.windows.facts.windows_behind import card_behind
from wirespeed.platforms.windows.facts.windows_firmware import WindowsFirmware
from wirespeed.platforms.windows.facts.windows_hardware import SOURCE as HARDWARE_SOURCE
from wirespeed.platforms.windows.facts.windows_hardware import WindowsHardwares
from wirespeed.platforms.windows.facts.windows_host import WindowsHost, has_windows_side

T = TypeVar("T")
MAX_CARDS = 16


def windows_adapters(host: HostFacts) -> tuple[WindowsAdapter, ...]:
    """Give the adapters of the Windows side; none where there is none or none could be read."""
    if not has_windows_side(host.capture):
        return ()
    try:
        return host[WindowsAdapters].known()
    except CannotTellError:
        return ()


def adapter_names(host: HostFacts) -> Iterator[str]:
    """Give the names of the adapters: a question may be about one of them."""
    return (adapter.name for adapter in windows_adapters(host))


def card_addresses(host: HostFacts) -> Iterator[str]:
    """Give the PCI addresses of its cards, as far as they are known. Raises CannotTellError."""
    slots = [host[WindowsHardwares].of(card.guid) for card in host[WindowsAdapters].cards()]
    found = [slot.value.pci_address for slot in slots if isinstance(slot, Known)]
    return (address for address in dict.fromkeys(found) if address)


def windows_lines(host: HostFacts, _question: Question) -> Iterator[tuple[str, str]]:
    """Give which Windows it is, and name and state of each card: link, slot, driver, firmware."""
    if not has_windows_side(host.capture):
        return
    yield "Windows", _release(host)
    cards = [card for card in windows_adapters(host) if card.is_card]
    for card in cards[:MAX_CARDS]:
        slot = host[WindowsHardwares].of(card.guid)
        link = slot.value.link if isinstance(slot, Known) else slot
        firmware = host[WindowsFirmware].of(card.guid)
        driver = [one.value for one in (card.driver_file, card.driver_version) if _told(one)]
        parts = [
            card.description,
            f"{(card.shown_bps or 0) / 1e9:g} Gb/s" if card.is_up else "no link",
            f"at {slot.value.pci_address}" if isinstance(slot, Known) else "",
            f"x{link.value.lanes} of {link.value.gt_per_s:g} GT/s" if _told(link) else "",
            f"driver {' '.join(driver)}" if driver else "",
            f"firmware {firmware.value}" if _told(firmware) else "",
        ]
        yield card.name, ", ".join(filter(None, parts))
    if len(cards) > MAX_CARDS:
        yield "cards", f"{len(cards) - MAX_CARDS} more"


def _release(host: HostFacts) -> str:
    windows = host[WindowsHost]
    parts = [windows.caption.value if isinstance(windows.caption, Known) else "cannot tell"]
    if isinstance(windows.build, Known):
        parts[0] += f", build {windows.build.value}"
    if isinstance(windows.processors, Known):
        count = windows.processors.value
        parts.append(f"{count} CPU{'s' if count != 1 else ''}")
    if isinstance(windows.is_administrator, Known) and not windows.is_administrator.value:
        parts.append("not read as administrator")
    return ", ".join(parts)


def _told(observed: Observed[T]) -> TypeGuard[Known[T]]:
    return isinstance(observed, Known)


def windows_ledgers(host: HostFacts, question: Question) -> Iterator[Ledger]:
    """Give the ledger of each card of Windows that is up."""
    for card in windows_adapters(host):
        if card.is_card and card.is_up:
            ceilings: list[Ceiling] = []
            unknown: list[str] = []
            for what, element in (("ethernet", card_ethernet), ("pcie", card_slot)):
                try:
                    ceilings += element(host, card, question)
                except CannotTellError as error:
                    unknown.append(f"{what}: {error.reason}")
            yield Ledger(
                port=card.name,
                frame_bytes=question.frame_bytes,
                ceilings=tuple(ceilings),
                unknown=tuple(unknown),
                bidirectional=question.bidirectional,
            )


def card_ethernet(
    host: HostFacts,  # noqa: ARG001
    card: WindowsAdapter,
    question: Question,
) -> list[Ceiling]:
    """Give what the wire of a card carries, in each direction."""
    link_bps = known(card.link_bps, f"speed of {card.name}")
    return [
        ethernet_ceiling(link_bps, question.frame_bytes, direction, ADAPTERS_SOURCE)
        for direction in Direction
    ]


def card_slot(host: HostFacts, card: WindowsAdapter, question: Question) -> list[Ceiling]:
    """Give what the slot of a card carries, in each direction."""
    hardware = known(host[WindowsHardwares].of(card.guid), f"slot of {card.name}")
    link = known(hardware.link, f"PCIe link of {card.name}")
    return [
        pcie_ceiling(
            link,
            question.frame_bytes,
            direction,
            f"pcie {hardware.pci_address or 'slot'}",
            HARDWARE_SOURCE,
            device=device_for(question.purpose),
            bidirectional=question.bidirectional,
        )
        for direction in Direction
    ]


def card_beneath(host: HostFacts, port: Port, question: Question) -> Iterator[Ceiling]:
    """Where WSL's adapter goes by a card of Windows that is known: its wire and its slot."""
    card = card_behind(host, port.netdev or "")
    if card is not None:
        yield from card_ethernet(host, card, question)
        yield from card_slot(host, card, question)
