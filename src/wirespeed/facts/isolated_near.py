"""CPUs to poll on where none are named: isolated ones of the card's own node. Pure."""

from wirespeed.facts.cpu import Cpus
from wirespeed.facts.locality import local_cpus
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import Absent, Known, Observed, Unreadable
from wirespeed.model.port import Port


def isolated_near(host: HostFacts, port: Port) -> Observed[tuple[int, ...]]:
    """Give the isolated CPUs of the card's own node, one thread of each core, lowest first.

    Absent: none is isolated there. Two threads of one core share what a polling loop takes all of.
    """
    near, isolated = local_cpus(host, port), host[Cpus].isolated
    if not isinstance(near, Known):
        return near
    if not isinstance(isolated, Known):
        return isolated
    found: list[int] = []
    for number in sorted(near.value & isolated.value):
        cpu = host[Cpus].by_number.get(number)
        siblings = cpu.smt_siblings if cpu else Unreadable("it was not read", "lscpu -e")
        if not isinstance(siblings, Known):
            what = f"which CPUs share a core with CPU {number}: {siblings.reason}"
            return Unreadable(what, siblings.source)
        if not siblings.value & set(found):
            found.append(number)
    if not found:
        return Absent(isolated.source, "no CPU of the card's node is isolated")
    return Known(tuple(found), isolated.source)
