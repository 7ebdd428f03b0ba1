"""NCCL that sends by TCP sockets through a port whose RDMA device is active."""

from collections.abc import Iterator

from wirespeed.facts.netstack import NetStack
from wirespeed.facts.ports import Ports
from wirespeed.facts.rdma import SYSFS, Rdma, RdmaPort
from wirespeed.facts.workload_collective import SOURCE
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import CannotTellError, Known, known
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule
from wirespeed.model.symptom import Symptom
from wirespeed.rules.collective_slower_interface import (
    NET,
    OFF,
    asked_processes,
    told_off,
    way_of,
)

MOST_SHOWN = 4


def _check(exam: HostExam) -> Iterator[Finding]:
    told = [(name, one, why) for name, one in asked_processes(exam) if (why := told_off(one))]
    if not told:
        raise DoesNotApplyError("no busy process is told not to use RDMA")
    known(exam.host[Rdma].by_address, "which RDMA devices there are")
    seen: dict[tuple[str, ...], list[Evidence]] = {}
    undetermined: CannotTellError | None = None
    for name, process, why in told:
        if process.rdma_devices:
            continue  # another library of the same process has them
        try:
            way = way_of(exam, name, process)
        except CannotTellError as error:
            undetermined = error
            continue
        own = Evidence(found=f"{name} ({process.pid}): {why}", source=SOURCE)
        seen.setdefault(way.names, []).extend((own, way.evidence))
    for names, evidence in seen.items():
        active = _active_below(exam, names)
        if active:
            yield _finding(exam, names, evidence, active)
    if undetermined is not None and not seen:
        raise undetermined


def _active_below(exam: HostExam, names: tuple[str, ...]) -> list[tuple[str, RdmaPort]]:
    """Give the ports that these netdevs send by, with their active RDMA devices."""
    stack = exam.host[NetStack]
    below = {one for name in names for one in (name, *stack.ports_below(name))}
    return [
        (port.netdev, rdma)
        for port in exam.host[Ports].ports
        if port.netdev is not None and port.netdev in below
        for rdma in exam.host[Rdma].of(port)
        if isinstance(rdma.state, Known) and "ACTIVE" in rdma.state.value
    ]


def _finding(
    exam: HostExam,
    names: tuple[str, ...],
    evidence: list[Evidence],
    active: list[tuple[str, RdmaPort]],
) -> Finding:
    devices = ", ".join(dict.fromkeys(rdma.device for _, rdma in active))
    return exam.finding(
        Severity.RISK,
        (
            *evidence[:MOST_SHOWN],
            *(
                Evidence(
                    found=f"{rdma.device} of {netdev}: state {rdma.state.value}",
                    source=f"cat {SYSFS}/{rdma.device}/ports/{rdma.number}/state",
                )
                for netdev, rdma in active[:MOST_SHOWN]
                if isinstance(rdma.state, Known)
            ),
        ),
        so=f"NCCL sends over {' and '.join(names)} by TCP: the cores of this host copy the data, "
        f"although {devices} could read it from the memory itself",
        remedies=(
            Remedy(
                text=f"start the program on every host without {OFF} and without {NET}=Socket. In "
                "a container it also needs /dev/infiniband and libibverbs (docker run --device "
                "/dev/infiniband --ulimit memlock=-1). With NCCL_DEBUG=INFO it prints NET/IB for "
                "RDMA and NET/Socket for TCP",
                by_hand=ByHand.WORKLOAD,
            ),
        ),
        unpriced="the cost depends on the messages: run nccl-tests, as all_reduce_perf -b 1G -e "
        "1G, with and without it",
    )


RULE = HostRule(
    slug="collective.sockets_beside_rdma",
    title="NCCL sends by TCP beside an active RDMA device",
    why="NCCL and RCCL use RDMA where they find a device. NCCL_IB_DISABLE=1 and NCCL_NET=Socket "
    "keep them from it, and they fall back to TCP sockets. It often stays set after a test, or "
    "stands in the image of a container.",
    source="https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html (NCCL_IB_DISABLE, "
    "NCCL_NET); https://github.com/areal-project/AReaL/issues/639",
    explains=(Symptom.LOW_FIGURE,),
    check=_check,
)
