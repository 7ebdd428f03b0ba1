"""Which CPUs poll for Open vSwitch with DPDK, and how many queues they are given. Pure."""

from collections.abc import Collection

from wirespeed.approaches.host_ports import port_of
from wirespeed.facts.cpu import Cpus
from wirespeed.facts.locality import local_cpus
from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import Known, known
from wirespeed.model.spec.spec import Spec


def polling_cpus(spec: Spec, name: str, host: HostFacts) -> frozenset[int]:
    """Give the CPUs that the spec names, or the last one near the card.

    Raises InputError `spec.pmd_cpus` where the host has no such CPU, or none is left beside them.
    """
    asked = spec.hosts[name].polling
    if not asked:
        port = port_of(host, name, spec.hosts[name].ports[0])
        # The kernel's own work is mostly on the first CPUs.
        return frozenset([max(known(local_cpus(host, port), f"CPUs near {port.name}"))])
    online = known(host[Cpus].online, f"CPUs of {name}")
    if asked - online or not online - asked:
        raise InputError(
            "spec.pmd_cpus",
            where=f"hosts.{name}.pmd_cpus",
            found=f"the spec lists CPUs {_list(asked)}; CPUs {_list(online)} are online",
            so="an offline CPU cannot poll, and if all CPUs poll, no other program can run",
            next="list online CPUs, and leave some for other programs",
        )
    return asked


def with_siblings(host: HostFacts, polling: Collection[int]) -> frozenset[int]:
    """Give CPUs with all that share a core with one of them, as far as that is known."""
    found = set(polling)
    for number in polling:
        cpu = host[Cpus].by_number.get(number)
        if cpu is not None and isinstance(cpu.smt_siblings, Known):
            found |= cpu.smt_siblings.value
    return frozenset(found)


def receive_queues(spec: Spec, name: str) -> dict[str, str]:
    """Give the option of a port that DPDK drives; none where one queue is what it has anyway."""
    host = spec.hosts[name]
    queues = host.n_rxq or max(1, len(host.polling))
    return {"n_rxq": str(queues)} if queues > 1 else {}


def _list(cpus: Collection[int]) -> str:
    return ",".join(map(str, sorted(cpus)))
