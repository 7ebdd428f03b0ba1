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
            found=f"CPUs {cpu_list_text(asked)} are to poll, {cpu_list_text(online)} are online",
            so="a CPU that is not there polls nothing",
            next="name CPUs that are online, of the card's own node: wirespeed doctor --for dpdk",
        )
    return tuple(sorted(asked))


def _isolated(spec: Dpdk, name: str, host: HostFacts) -> tuple[int, ...]:
    wanted, ports = spec.hosts[name], len(spec.hosts[name].ports)
    found = value_or_none(isolated_near(host, port_of(host, name, wanted.ports[0])))
    if found is None:
        raise InputError(
            "spec.cores",
            where=f"hosts.{name}.cores",
            found="none are named, and no CPU of the card's node is isolated",
            so="what polls would share its CPU with all else",
            next="name `cores` of the card's own node: wirespeed doctor --for dpdk",
        )
    if wanted.role is Role.TESTER:
        return found[: 2 * ports * spec.dpdk.tester.queues]
    return found[: ports * spec.dpdk.queues]
