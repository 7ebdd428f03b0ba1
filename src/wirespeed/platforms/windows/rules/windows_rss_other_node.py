"""A card of Windows that receives on cores of another NUMA node than its own."""

from collections.abc import Iterator

from wirespeed.model.bound import Bound, Limit
from wirespeed.model.finding import ByHand, Danger, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Known, known
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule, of_each
from wirespeed.model.shown import shown
from wirespeed.model.symptom import Symptom
from wirespeed.platforms.windows.facts.windows_adapters import WindowsAdapter
from wirespeed.platforms.windows.facts.windows_behind import receiving_cards
from wirespeed.platforms.windows.facts.windows_hardware import SOURCE as HARDWARE_SOURCE
from wirespeed.platforms.windows.facts.windows_hardware import WindowsHardwares
from wirespeed.platforms.windows.facts.windows_host import WindowsHost, require_windows
from wirespeed.platforms.windows.facts.windows_queues import RSS_SOURCE, WindowsQueues

MOST_SHOWN = 8
MOST_SHARE = 0.5
FORMULA = "published: TCP at 40 and 100 Gb/s was up to 2 times slower"


def _check(exam: HostExam) -> Iterator[Finding]:
    host = exam.host
    require_windows(host)
    cards = receiving_cards(host)
    if not cards:
        raise DoesNotApplyError("no card of 10 Gb/s or more is up")
    if known(host[WindowsHost].numa_nodes, "how many NUMA nodes Windows has") < 2:
        raise DoesNotApplyError("this host has one NUMA node")
    yield from of_each(cards, lambda card: _card(exam, card))


def _card(exam: HostExam, card: WindowsAdapter) -> Iterator[Finding]:
    rss = known(exam.host[WindowsQueues].rss_of(card.guid), f"RSS of {card.name}")
    if not known(rss.is_enabled, f"whether RSS of {card.name} is on"):
        return
    hardware = known(exam.host[WindowsHardwares].of(card.guid), f"the slot of {card.name}")
    base = known(rss.base_processor, f"base processor of {card.name}")
    last = known(rss.max_processor, f"last processor of {card.name}")
    used = [(number, far) for number, far in rss.processors if base <= number <= last]
    if not used:
        known(rss.numa_node, f"which processors RSS of {card.name} uses")
        return
    queues = known(rss.queues, f"queues of {card.name}")
    if isinstance(rss.max_processors, Known):
        queues = min(queues, rss.max_processors.value)
    chosen = sorted(used, key=lambda one: one[1])[:queues]
    far_off = sorted(number for number, far in chosen if far)
    if not far_off:
        return
    more = ", …" if len(far_off) > MOST_SHOWN else ""
    node = known(hardware.numa_node, f"NUMA node of {card.name}")
    yield exam.finding(
        Severity.RISK,
        (
            Evidence(found=f"the card is at NUMA node {node}", source=HARDWARE_SOURCE),
            Evidence(
                found=f"of {len(chosen)} processors for RSS, {len(far_off)} are on other "
                "nodes: " + ", ".join(map(str, far_off[:MOST_SHOWN])) + more,
                source=RSS_SOURCE,
            ),
        ),
        so="these cores reach the card and its buffers over the link between the NUMA nodes",
        where=shown(card.name, 60),
        remedies=(
            Remedy(
                text="set -BaseProcessorNumber and -MaxProcessorNumber of Set-NetAdapterRss to "
                f"processors of node {node}, and no more queues than these; the link drops",
                danger=Danger.DROPS_LINK,
                by_hand=ByHand.FIND_FIRST,
            ),
        ),
        bounds=(
            Bound.of_share(
                Limit.AT_MOST, MOST_SHARE, "of what cores of the card's node receive", FORMULA
            ),
        ),
    )


RULE = HostRule(
    slug="windows.rss_other_node",
    title="RSS uses CPUs of a remote NUMA node (Windows)",
    why="Every frame received on another node crosses the link between the nodes, and "
    "crosses it twice if the program runs on the card's node. Windows reports the NUMA "
    "distance of each RSS processor from the card.",
    source="https://learn.microsoft.com/windows-hardware/drivers/ddi/ntddndis/"
    "ns-ntddndis-_ndis_rss_processor (PreferenceIndex); https://fasterdata.es.net/host-tuning/linux/"
    "100g-tuning/interrupt-binding/ (2 times slower)",
    price=f"Bound: half; {FORMULA}.",
    explains=(Symptom.LOW_FIGURE,),
    check=_check,
)
