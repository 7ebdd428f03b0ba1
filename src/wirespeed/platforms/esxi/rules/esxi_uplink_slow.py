"""An uplink of an ESXi host whose link is slower than it offers."""

from collections.abc import Iterator

from wirespeed.model.bound import Bound, Limit
from wirespeed.model.ceiling import Input
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Absent, CannotTellError, Known, known
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule, of_each
from wirespeed.model.symptom import Symptom
from wirespeed.platforms.esxi.facts.esxi_ports import EsxiPort, EsxiPorts
from wirespeed.platforms.esxi.facts.esxi_uplinks import EsxiUplinks
from wirespeed.platforms.esxi.facts.vsphere import by_vsphere, is_esxi

FORMULA = "1 - speed of the link / fastest speed that the uplink offers"


def _check(exam: HostExam) -> Iterator[Finding]:
    if not is_esxi(exam.host.capture):
        raise DoesNotApplyError("it is not an ESXi host")
    ports = known(exam.host[EsxiPorts].ports, "the uplinks").values()
    # `vusb0` leads to the server's own controller: it is not asked for the speeds that it offers.
    asked = [port for port in ports if port.name.startswith("vmnic")]
    yield from of_each(asked, lambda port: _port(exam, port))


def _port(exam: HostExam, port: EsxiPort) -> Iterator[Finding]:
    now = known(port.link_mb, f"speed of {port.name}")
    uplink = exam.host[EsxiUplinks].uplinks.get(port.name)
    if uplink is None and by_vsphere(exam.host.capture) is None:
        raise CannotTellError(
            f"{port.name} was not asked", f"esxcli network nic get -n {port.name}"
        )
    speeds = uplink.advertised_mb if uplink else port.valid_mb
    offered = known(speeds, f"speeds that {port.name} offers")
    most = max(offered)
    if not 0 < now < most:
        return
    negotiates = uplink.negotiates if uplink else Absent(speeds.source)
    forced = [one for one in (negotiates,) if isinstance(one, Known) and not one.value]
    yield exam.finding(
        Severity.NOTE,
        (
            Evidence(found=f"{port.name}: {now / 1000:g} Gb/s", source=port.link_mb.source),
            Evidence.of(
                Known(offered, speeds.source),
                f"it offers up to {most / 1000:g} Gb/s",
            ),
            *(Evidence.of(one, "autonegotiation off: the speed is set") for one in forced),
        ),
        so=f"the link runs at {now / most:.0%} of the speed that this end supports: it is set "
        "to that speed here, or the far end, the cable or the module supports no more"
        if forced
        else (
            f"the link runs at {now / most:.0%} of the speed that this end supports: the far "
            "end, the cable or the module supports no more"
        ),
        where=port.name,
        remedies=(
            Remedy(
                text="check which speeds the far end's port and the module support; then set "
                "both ends to the faster speed",
                by_hand=ByHand.FAR_END,
            ),
        ),
        bounds=(
            Bound.of_share(
                Limit.AT_MOST,
                1 - now / most,
                "of the fastest speed that it offers",
                FORMULA,
                Input(
                    name="fastest speed",
                    shown=f"{most / 1000:g} Gb/s",
                    source=speeds.source,
                ),
            ),
        ),
    )


RULE = HostRule(
    slug="esxi.uplink_slow",
    title="Uplink slower than it offers (ESXi)",
    why="A link runs at the fastest speed that both ends, the cable and the module support, or "
    "at the speed that one end is set to. esxcli shows what this end offers, but not what "
    "the far end offers.",
    source="NVIDIA, ConnectX-4 and newer native ESXi driver user manual, Ethernet network "
    "(`esxcli network nic get`)",
    price=f"at most: {FORMULA}",
    explains=(Symptom.LOW_FIGURE,),
    check=_check,
)
