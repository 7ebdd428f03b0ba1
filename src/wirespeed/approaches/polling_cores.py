"""CPUs on which a host of the approach dpdk polls: named, or isolated near its card. Pure."""

from wirespeed.approaches.host_ports import port_of
from wirespeed.facts.cpu import Cpus
from wirespeed.facts.cpu_list import cpu_list_text
from wirespeed.facts.isolated_near import isolated_near
from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import known, value_or_none
from wirespeed.model.spec.dpdk import Role
from wirespeed.model.spec.members import Dpdk


def polling_cores(spec: Dpdk, name: str, host: HostFacts) -> tuple[int, ...]:
    """Give them, lowest first.

    Raises InputError `spec.cores` where one is not online, or none is named and none isolated.
    """
    named = spec.hosts[name].cores
    online = known(host[Cpus].online, f"CPUs of {name}")
    if named is None:
        return _isolated(spec, name, host)
    asked = frozenset(map(int, named.split(",")))
    if asked - online:
        raise InputError(
            "spec.cores",
            where=f"hosts.{name}.cores",
            found=f"the spec lists CPUs {cpu_list_text(asked)}; CPUs {cpu_list_text(online)} are "
            "online",
            so="an offline CPU cannot poll",
            next="list online CPUs of the card's node; `wirespeed doctor --for dpdk` shows them",
        )
    return tuple(sorted(asked))


def _isolated(spec: Dpdk, name: str, host: HostFacts) -> tuple[int, ...]:
    wanted, ports = spec.hosts[name], len(spec.hosts[name].ports)
    found = value_or_none(isolated_near(host, port_of(host, name, wanted.ports[0])))
    if found is None:
        raise InputError(
            "spec.cores",
            where=f"hosts.{name}.cores",
            found="the spec lists no cores, and no CPU of the card's node is isolated",
            so="polling threads would share their CPUs with all other programs",
            next="list `cores` of the card's node; `wirespeed doctor --for dpdk` shows them",
        )
    if wanted.role is Role.TESTER:
        return found[: 2 * ports * spec.dpdk.tester.queues]
    return found[: ports * spec.dpdk.queues]
