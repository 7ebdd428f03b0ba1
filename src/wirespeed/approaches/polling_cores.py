"""CPUs on which a host of the approach dpdk polls: named, or isolated near its card. Pure."""

from wirespeed.approaches.host_ports import port_of
from wirespeed.facts.cpu import Cpus
from wirespeed.facts.cpu_list import cpu_list_text
from wirespeed.facts.isolated_near import isolated_near
from wirespeed.facts.locality import local_cpus
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


def control_core(spec: Dpdk, name: str, host: HostFacts) -> int:
    """Give the CPU for all that is asked of a program beside its traffic.

    It is of the card's node where one is left: DPDK takes what all ports share from the node of the
    main lcore (`eth_dev_shared_data_prepare`), and testpmd makes a pool on the node of every lcore
    (`set_default_fwd_lcores_config`). A node without hugepages then ends the program.
    Raises as `polling_cores`.
    """
    workers = polling_cores(spec, name, host)
    free = known(host[Cpus].online, f"CPUs of {name}") - set(workers)
    port = port_of(host, name, spec.hosts[name].ports[0])
    near = value_or_none(local_cpus(host, port)) or frozenset()
    # It needs no CPU of its own, where there is none.
    return min(free & near, default=min(free, default=workers[0]))


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
