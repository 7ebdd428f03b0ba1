"""Which transport moves guests or stores data over these ports, of a Windows host."""

from wirespeed.advice import published_transport as told
from wirespeed.advice.capacity import goodput_gbps
from wirespeed.model.advice import Advice, Certainty, Choice, Ground

LEAST_FOR_MULTICHANNEL = 2
GIGABIT = 1
LIVE_MIGRATION = "live migration"


def advise_transport(
    ports: int, port_gbps: float, *, has_rdma: bool, has_dcb: bool, guests: int | None, purpose: str
) -> Advice:
    """Answer for `ports` ports of `port_gbps`; `guests`: moved at once, None where not said."""
    line_gbps = ports * port_gbps
    is_published = (ports, port_gbps) == (told.PUBLISHED_PORTS, told.PUBLISHED_GBPS)
    direct = _choice("SMB Direct (RDMA), no team", told.SMB_DIRECT, line_gbps, is_published)
    multichannel = _choice("SMB Multichannel, no team", told.MULTICHANNEL, line_gbps, is_published)
    choices = [multichannel]
    if has_rdma:
        choices.insert(0 if has_dcb else 1, direct)
    if ports >= LEAST_FOR_MULTICHANNEL:
        choices += [
            _choice("SMB over an LACP team", told.LACP_SMB, line_gbps, is_published),
            _tcp_team(line_gbps, guests, is_published=is_published),
            _one_member(port_gbps, is_published=is_published),
        ]
    return Advice(
        question=f"{purpose} over {ports} x {port_gbps:g} Gb/s, "
        f"{'with' if has_rdma else 'without'} RDMA, {'with' if has_dcb else 'without'} DCB",
        answer=_answer(ports, port_gbps, has_rdma=has_rdma, has_dcb=has_dcb, purpose=purpose),
        choices=tuple(choices),
        todo=_todo(ports, port_gbps, is_direct=has_rdma and has_dcb, purpose=purpose),
        grounds=_grounds(line_gbps),
        unknown=_unknown(is_published=is_published, has_rdma=has_rdma, purpose=purpose),
    )


def _answer(ports: int, port_gbps: float, *, has_rdma: bool, has_dcb: bool, purpose: str) -> str:
    if has_rdma and has_dcb:
        return "SMB Direct: line rate at the least CPU, without a team."
    if ports < LEAST_FOR_MULTICHANNEL and port_gbps <= GIGABIT:
        if purpose != LIVE_MIGRATION:
            return "One port of 1 Gb/s: the port is the limit; no transport makes up for it."
        return "One port of 1 Gb/s: move guests with compression; no transport makes up for it."
    why = (
        "SMB Multichannel, without a team: as fast as the wires, and all ports without LACP."
        if ports >= LEAST_FOR_MULTICHANNEL
        else "SMB: several cores for one guest, where TCP has one."
        if purpose == LIVE_MIGRATION
        else "SMB: Multichannel makes use of several cores, also over one port."
    )
    if has_rdma:
        return f"{why} SMB Direct only once every switch on the path has DCB."
    return why


def _todo(ports: int, port_gbps: float, *, is_direct: bool, purpose: str) -> tuple[str, ...]:
    is_migration = purpose == LIVE_MIGRATION
    if is_migration and not is_direct and ports < LEAST_FOR_MULTICHANNEL and port_gbps <= GIGABIT:
        return ("> Set-VMHost -VirtualMachineMigrationPerformanceOption Compression",)
    acts = ["RSS: 8 queues for each port, each port's on other physical cores"]
    if is_migration:
        acts.append("> Set-VMHost -VirtualMachineMigrationPerformanceOption SMB")
    if is_direct:
        acts.append("PFC for SMB's priority, the same on both hosts and on every switch between")
    return tuple(acts)


def _choice(
    name: str, found: told.Measured, line_gbps: float, is_published: bool, note: str = ""
) -> Choice:
    """Give published figures for the published ports, else what was filled of the line there."""
    if is_published:
        return Choice(
            name=name,
            gbps_low=found.gbps[0],
            gbps_high=found.gbps[1],
            cpu_percent=found.cpu_percent,
            certainty=Certainty.PUBLISHED,
            note=note,
        )
    there = told.PUBLISHED_PORTS * told.PUBLISHED_GBPS
    return Choice(
        name=name,
        gbps_low=None,
        gbps_high=line_gbps,
        cpu_percent="",
        certainty=Certainty.COMPUTED,
        note=note or f"filled {100 * found.gbps[1] / there:g} % of 2 x 10 Gb/s where it was tried",
    )


def _tcp_team(line_gbps: float, guests: int | None, *, is_published: bool) -> Choice:
    choice = _choice("TCP over an LACP team", told.LACP_TCP, line_gbps, is_published)
    if guests is None:
        return choice
    least, most = (each * guests for each in told.TCP_PER_GUEST_GBPS)
    if most >= (choice.gbps_high or line_gbps):
        return choice
    return choice.model_copy(
        update={
            "gbps_low": least,
            "gbps_high": most,
            "cpu_percent": "",
            "note": f"{guests} guest{'s' if guests > 1 else ''}, one core each",
        }
    )


def _one_member(port_gbps: float, *, is_published: bool) -> Choice:
    return Choice(
        name="switch-independent team",
        gbps_low=told.SWITCH_INDEPENDENT.gbps[0] if is_published else None,
        gbps_high=port_gbps,
        cpu_percent="",
        certainty=Certainty.PUBLISHED if is_published else Certainty.COMPUTED,
        note="receives on one member alone",
    )


def _grounds(line_gbps: float) -> tuple[Ground, ...]:
    least, most = told.TCP_PER_GUEST_GBPS
    return (
        told.published(
            f"TCP moves a guest by one core, which reached {least:g} to {most:g} Gb/s: two guests "
            "over a team of 20 Gb/s had about 9. SMB moved one guest over the same team at 19."
        ),
        told.published(
            "A team by LACP fails over faster than Multichannel; for live migration that is of "
            "no concern."
        ),
        told.published("RDMA is to go over switches with DCB, and not without."),
        Ground(
            says=f"{line_gbps:g} Gb/s carry at most {goodput_gbps(line_gbps):.2f} Gb/s of TCP "
            "payload at MTU 1500. Published figures above that count more than payload, or are "
            "rounded.",
            certainty=Certainty.COMPUTED,
            source="wirespeed ceiling --link",
        ),
    )


def _unknown(*, is_published: bool, has_rdma: bool, purpose: str) -> tuple[str, ...]:
    found = []
    if not is_published:
        found.append(
            "The published figures are of 2 x 10 Gb/s: at other speeds the core is the limit "
            "sooner or later. Gb/s here are the line's, as the most."
        )
    if purpose != LIVE_MIGRATION:
        found.append("The figures are of live migration, not of storage.")
    if has_rdma:
        found.append("How little CPU SMB Direct takes: the publication gives a picture, no figure.")
    found.append("Your own: wirespeed measure command, before and after.")
    return tuple(found)
