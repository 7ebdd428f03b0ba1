"""An uplink of an ESXi host has lost frames since its driver was loaded."""

from collections.abc import Iterator

from wirespeed.facts.counters_loss import SILENT_SHARE
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import CannotTellError, Known
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule
from wirespeed.model.symptom import Symptom
from wirespeed.platforms.esxi.facts.esxi_uplinks import EsxiUplink, EsxiUplinks
from wirespeed.platforms.esxi.facts.vsphere import by_vsphere, is_esxi

RECEIVED = "Packets received"
NO_ROOM = (
    "Receive packets dropped",
    "Receive over errors",
    "Receive FIFO errors",
    "Receive missed errors",
)
"""They came whole, and found no room. Drivers count one frame in several of these: no sum."""
DAMAGED = ("Receive length errors", "Receive CRC errors", "Receive frame errors")


def _check(exam: HostExam) -> Iterator[Finding]:
    if not is_esxi(exam.host.capture):
        raise DoesNotApplyError("it is not an ESXi host")
    if by_vsphere(exam.host.capture) is not None:
        raise CannotTellError("the API has no such counters", "wirespeed doctor esxi://HOST")
    uplinks = exam.host[EsxiUplinks].uplinks
    if not uplinks:
        raise CannotTellError("no uplink was asked", "esxcli network nic stats get -n vmnic0")
    for uplink in uplinks.values():
        if isinstance(uplink.counters, Known):
            yield from _judged(exam, uplink, uplink.counters.value)
    for uplink in uplinks.values():
        if not isinstance(uplink.counters, Known):
            raise CannotTellError(
                f"{uplink.name}: {uplink.counters.reason}", uplink.counters_source
            )


def _judged(exam: HostExam, uplink: EsxiUplink, counters: dict[str, int]) -> Iterator[Finding]:
    for names, so, text, by_hand in (
        (
            NO_ROOM,
            "intact frames were dropped because no buffer was free: the receive queues are "
            "emptied too slowly, or are too short",
            "set longer receive rings, up to what `esxcli network nic ring preset get` says, and "
            "more queues in the driver (RSS, DRSS); then read the counters again under load",
            ByHand.FIND_FIRST,
        ),
        (
            DAMAGED,
            "damaged frames arrived and were dropped: suspect cable, module or a wrong FEC mode",
            "clean or replace cable and module, and set the same FEC at both ends",
            ByHand.HARDWARE,
        ),
    ):
        lost = {name: counters[name] for name in names if counters.get(name)}
        share = _share(max(lost.values(), default=0), counters.get(RECEIVED))
        if lost and (share is None or share >= SILENT_SHARE):
            found = [f"{name}: {count}" for name, count in lost.items()]
            if share is not None:
                found[0] += f", with {RECEIVED}: {counters[RECEIVED]}"
            yield exam.finding(
                Severity.RISK,
                (
                    *(Evidence(found=one, source=uplink.counters_source) for one in found),
                    *(_pause(uplink) if names is NO_ROOM else ()),
                ),
                so=so,
                where=uplink.name,
                remedies=(Remedy(text=text, by_hand=by_hand),),
                unpriced="the counters start when the driver is loaded: how fast they grow is "
                "not known",
            )


def _share(lost: int, received: int | None) -> float | None:
    """Give the lost ones as a share of all that came, 0 to 1; None: nothing else was counted."""
    return lost / (lost + received) if received else None


def _pause(uplink: EsxiUplink) -> Iterator[Evidence]:
    """What a full uplink may ask of the switch; a switch that waited would have lost nothing."""
    sends = uplink.sends_pause
    if isinstance(sends, Known):
        yield Evidence.of(
            sends,
            "it may send pause frames, and the switch does not wait for them"
            if sends.value
            else "it may not send pause frames: nothing holds the switch back",
        )


RULE = HostRule(
    slug="esxi.uplink_loses_frames",
    title="Uplink drops frames (ESXi)",
    why="The report gives throughput at zero loss. Guests behind the virtual switch never see "
    "frames that the uplink drops.",
    source="DPDK 19.08 Mellanox NIC performance report, test 5; counters of `esxcli network nic "
    "stats get`; IEEE 802.3 annex 31B (pause)",
    explains=(Symptom.LOW_FIGURE,),
    check=_check,
)
