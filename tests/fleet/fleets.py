"""Hosts of a fleet, made for tests: each with the traits and findings that a test gives it."""

from collections.abc import Iterable, Mapping

from wirespeed.fleet.records import FleetFinding, FleetHost, HostLinkDown, HostState
from wirespeed.model.finding import Evidence, Severity

TITLES = {"link.fec_off": "FEC off", "link.down": "Link down", "mtu.larger_above": "MTU"}


def finding(
    rule: str = "link.fec_off", found: str = "FEC is off on eth0", cost_pps: float = 0.0
) -> FleetFinding:
    return FleetFinding(
        rule=rule,
        where="eth0",
        severity=Severity.FAULT,
        evidence=(Evidence(found=found, source="ethtool --show-fec eth0"),),
        so="frames are lost",
        cost_pps=cost_pps,
        remedy="turn it on",
        commands=("ethtool --set-fec eth0 encoding rs",),
    )


def host(
    name: str,
    findings: Iterable[FleetFinding] = (),
    traits: Mapping[str, str] | None = None,
    profile: str = "",
    state: HostState | None = None,
    downs: Iterable[float] = (),
    log_s: float = 0.0,
) -> FleetHost:
    found = tuple(findings)
    return FleetHost(
        name=name,
        reach=f"ssh://{name}",
        state=state or (HostState.FINDINGS if found else HostState.WELL),
        findings=found,
        traits={key: (value,) for key, value in (traits or {}).items()},
        profile=profile,
        link_downs=tuple(HostLinkDown(netdev="eth0", at=at, within_s=0.5) for at in downs),
        log_s=log_s,
    )


def rack_of(number: int, size: int = 20) -> str:
    return f"r{number // size:02}"
