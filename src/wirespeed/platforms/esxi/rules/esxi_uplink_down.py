"""An uplink of an ESXi host that is set up and has no link."""

from collections.abc import Iterator

from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Absent, Known, known
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule
from wirespeed.model.shown import shown
from wirespeed.platforms.esxi.facts.esxi_ports import EsxiPort, EsxiPorts
from wirespeed.platforms.esxi.facts.esxi_uplinks import EsxiUplink, EsxiUplinks
from wirespeed.platforms.esxi.facts.vsphere import is_esxi

FEC_FROM_MB = 25_000
"""From here on a link has FEC, which both ends must agree on (IEEE 802.3by, clause 108)."""

AUTO = "Auto-FEC"
SOCKET = ("Twisted", "TP")


def _check(exam: HostExam) -> Iterator[Finding]:
    if not is_esxi(exam.host.capture):
        raise DoesNotApplyError("it is not an ESXi host")
    ports = known(exam.host[EsxiPorts].ports, "the uplinks")
    uplinks = exam.host[EsxiUplinks].uplinks
    for port in ports.values():
        admin = port.admin.value if isinstance(port.admin, Known) else "Up"
        if known(port.link, f"whether {port.name} has a link") == "Down" and admin != "Down":
            yield _finding(exam, port, uplinks.get(port.name))


def _finding(exam: HostExam, port: EsxiPort, uplink: EsxiUplink | None) -> Finding:
    negotiates = uplink.negotiates if uplink else Absent(port.link.source)
    is_forced = isinstance(negotiates, Known) and not negotiates.value
    most = _most_mb(uplink)
    return exam.finding(
        Severity.RISK if _is_plugged(uplink) else Severity.NOTE,
        (
            Evidence(found=f"{port.name}: up, but without a link", source=port.link.source),
            *_evidence(uplink),
        ),
        so="this uplink carries no traffic"
        + (
            "; it does not negotiate, so the far end must be set to the same speed"
            if is_forced
            else ""
        )
        + (
            f". At {FEC_FROM_MB // 1000} Gb/s and above both ends also need the same FEC"
            f"{_by(uplink)}"
            if most >= FEC_FROM_MB
            else ""
        ),
        where=port.name,
        remedies=tuple(_remedies(port, uplink, is_forced, most)),
        unpriced="it is not known whether the uplink is in use",
    )


def _by(uplink: EsxiUplink | None) -> str:
    """Say what this end's FEC is: a port that is set to one does not follow the far end."""
    fec = uplink.fec if uplink else None
    if not isinstance(fec, Known):
        return ", which esxcli does not print without a plug-in of the card's vendor"
    if fec.value[0] == AUTO:
        return f": this end tries each ({AUTO})"
    return f": here {shown(fec.value[0], 20)} is set"


def _is_plugged(uplink: EsxiUplink | None) -> bool:
    """Whether a module or cable is named, which an empty cage has none of; a socket always does."""
    cable = uplink.cable if uplink else None
    return isinstance(cable, Known) and not cable.value.startswith(SOCKET)


def _most_mb(uplink: EsxiUplink | None) -> int:
    speeds = uplink.advertised_mb if uplink else None
    return max(speeds.value) if isinstance(speeds, Known) else 0


def _evidence(uplink: EsxiUplink | None) -> Iterator[Evidence]:
    if uplink is None:
        return
    if isinstance(uplink.negotiates, Known):
        word = "on" if uplink.negotiates.value else "off"
        yield Evidence.of(uplink.negotiates, f"autonegotiation {word}")
    if isinstance(uplink.advertised_mb, Known):
        speeds = ", ".join(f"{mb / 1000:g}" for mb in uplink.advertised_mb.value)
        yield Evidence.of(uplink.advertised_mb, f"may run at {speeds} Gb/s")
    if isinstance(uplink.fec, Known):
        requested, runs = uplink.fec.value
        yield Evidence.of(uplink.fec, f"FEC set to {shown(requested, 20)}, now {shown(runs, 20)}")
    cable = uplink.cable.value if isinstance(uplink.cable, Known) else "none is named"
    yield Evidence(found=f"cable: {cable}", source=uplink.cable.source)


def _remedies(
    port: EsxiPort, uplink: EsxiUplink | None, is_forced: bool, most: int
) -> Iterator[Remedy]:
    fec = uplink.fec if uplink else None
    if isinstance(fec, Known) and fec.value[0] != AUTO and most >= FEC_FROM_MB:
        yield Remedy(
            text=f"give both ends the same FEC: esxcli intnet fec set -n {port.name} -m {AUTO} "
            "here, or at the far end the one that is set here",
            by_hand=ByHand.FAR_END,
        )
    if is_forced:
        yield Remedy(
            text=f"let it negotiate if the far end does (esxcli network nic set -n {port.name} "
            "--auto); otherwise set the far end to this speed",
            by_hand=ByHand.FAR_END,
        )
    text = "check the cable, the module and the port at the far end"
    if most >= FEC_FROM_MB:
        text += ": its speed, autonegotiation and FEC (RS or Firecode, as the cable needs)"
    yield Remedy(text=text, by_hand=ByHand.FAR_END)


RULE = HostRule(
    slug="esxi.uplink_down",
    title="Uplink has no link (ESXi)",
    why="An uplink without a link carries no traffic, and a team with such an uplink has less "
    "capacity than it seems. Both ends need the same speed, and from 25 Gb/s on the same "
    "FEC. If one end negotiates and the other does not, many links do not come up.",
    source="NVIDIA, ConnectX-4 and newer native ESXi driver user manual, Ethernet network "
    "(`esxcli network nic get`); IEEE 802.3by, clause 108 (RS-FEC at 25 Gb/s); "
    "https://knowledge.broadcom.com/external/article/324544 (both ends alike); Intel, esxcli "
    "plug-in for Ethernet 700 and 800, 1.14.1.0 (`esxcli intnet fec`); output: tests of "
    "https://github.com/intel/mfd-network-adapter",
    check=_check,
)
