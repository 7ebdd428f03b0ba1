"""An InfiniBand port whose link is up, and that no subnet manager has set up."""

from collections.abc import Iterator

from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Known
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.symptom import Symptom
from wirespeed.rules.rdma_packets_lost import rdma_ports


def _check(exam: PortExam) -> Iterator[Finding]:
    ports = [one for one in rdma_ports(exam) if one.is_infiniband]
    if not ports:
        raise DoesNotApplyError("it has no port of InfiniBand")
    for one in ports:
        if not one.waits_for_subnet_manager:
            continue
        yield exam.finding(
            Severity.FAULT,
            tuple(
                Evidence.of(said, f"{one.device}, port {one.number}: {said.value}")
                for said in (one.state, one.phys_state)
                if isinstance(said, Known)
            ),
            so="the cable and both its ends work, and the port has no address: it carries the "
            "subnet manager's packets and no others",
            remedies=(
                Remedy(
                    text="start a subnet manager in this fabric, on a host (opensm) or on a "
                    "managed switch; if one runs, see whether it finds this port (`sminfo` on a "
                    "host whose port is active) and what its log says of it",
                    by_hand=ByHand.FAR_END,
                ),
            ),
            unpriced="nothing of the load goes through the port now",
        )


RULE = PortRule(
    slug="rdma.port_in_init",
    title="No subnet manager has set up the InfiniBand port",
    why="An InfiniBand link trains by itself. Addresses, routes and the state ACTIVE come from the "
    "subnet manager, of which each fabric needs one. A port that stays in INIT with its physical "
    "state LinkUp has a good cable.",
    source="InfiniBand Architecture Specification volume 1, section 14 (subnet management); "
    "drivers/infiniband/core/sysfs.c (state, phys_state); "
    "https://docs.nvidia.com/networking/display/mlnxofedv23070512/opensm",
    explains=(Symptom.NO_LINK, Symptom.LOW_FIGURE),
    check=_check,
)
