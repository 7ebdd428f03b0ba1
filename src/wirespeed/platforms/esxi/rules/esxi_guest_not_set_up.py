"""A guest of ESXi that has a card or a VF of its own, and not the settings that go with it."""

from collections.abc import Iterator

from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import CannotTellError, known
from wirespeed.model.question import Purpose
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule
from wirespeed.platforms.esxi.facts.esxi_guests import LIST, EsxiGuest, EsxiGuests, has_device
from wirespeed.platforms.esxi.facts.vsphere import is_esxi

AFFINITY, NODE, LATENCY = "sched.cpu.affinity", "numa.nodeaffinity", "sched.cpu.latencysensitivity"


def _check(exam: HostExam) -> Iterator[Finding]:
    if not is_esxi(exam.host.capture):
        raise DoesNotApplyError("it is not an ESXi host")
    fact = exam.host[EsxiGuests]
    listed = known(fact.listed, "the guests of the host")
    for guest in fact.guests:
        settings = known(guest.settings, f"the settings of guest {guest.number}")
        if has_device(settings):
            yield from _judged(exam, guest, settings)
    if listed > len(fact.guests):
        raise CannotTellError(f"{listed - len(fact.guests)} guests' settings were not found", LIST)


def _judged(exam: HostExam, guest: EsxiGuest, settings: dict[str, str]) -> Iterator[Finding]:
    missing = list(_missing(settings))
    if not missing:
        return
    yield exam.finding(
        Severity.RISK,
        tuple(Evidence(found=found, source=guest.source) for found, _ in missing),
        so="ESXi may run other work on its cores, or place them on another node than its memory "
        "and card: frames are lost in the pauses",
        where=f"{exam.host.name} guest {guest.number}",
        remedies=(
            Remedy(
                text=f"with the guest off: {'; '.join(how for _, how in missing)}. With "
                "`approach: esxi` in a spec and the host reached by vsphere://, `wirespeed "
                "apply` does this and can undo it",
                by_hand=ByHand.WORKLOAD,
            ),
        ),
        unpriced="the cost of a pause depends on load and buffers: measure it",
    )


def _missing(settings: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Give what is not as in the report, and how it is set."""
    memory, reserved = settings.get("memsize", ""), settings.get("sched.mem.min", "")
    is_pinned = settings.get("sched.mem.pin", "").upper() == "TRUE"
    if not is_pinned and (not memory or memory != reserved):
        yield (
            f"memory of {memory or 'a size that is not known'} MB, {reserved or 'none'} reserved",
            "reserve all guest memory (all locked)",
        )
    if settings.get(AFFINITY, "all").lower() in ("", "all"):
        yield "no scheduling affinity", "scheduling affinity: cores of the card's node"
    if not settings.get(NODE):
        yield "no numa.nodeAffinity", "numa.nodeAffinity = the card's node"
    if settings.get(LATENCY, "normal").lower() != "high":
        found = settings.get(LATENCY, "normal")
        yield f"latency sensitivity {found}", "latency sensitivity: high"


RULE = HostRule(
    slug="esxi.guest_not_set_up",
    title="Guest not set up for its passthrough card (ESXi)",
    why="A guest that polls a card needs fixed resources: ESXi must keep its memory in place, "
    "and give it cores of its own on the card's node. The report reserved all of its memory, "
    "gave it cores 25 to 47 by scheduling affinity and its NUMA node by numa.nodeAffinity; "
    "latency sensitivity is VMware's setting for exclusive cores.",
    source="DPDK 19.08 Mellanox NIC performance report, test 5; VMware, Deploying Extremely "
    "Latency-Sensitive Applications in vSphere",
    purposes=frozenset({Purpose.GUESTS, Purpose.DPDK}),
    check=_check,
)
