"""A full completion for every frame, on a path that PCI Express bounds."""

from collections.abc import Iterator
from dataclasses import replace

from wirespeed.ceilings.devices import MLX5_DPDK, MLX5_KERNEL
from wirespeed.ceilings.pcie import pcie_ceiling
from wirespeed.facts.ethtool import safe_netdev
from wirespeed.facts.offloads import Offloads
from wirespeed.facts.pci import Pci
from wirespeed.facts.pci_config import PciConfig
from wirespeed.facts.pci_links import has_state, link_state
from wirespeed.model.ceiling import Direction
from wirespeed.model.command import Command
from wirespeed.model.finding import Change, Danger, Evidence, Finding, Remedy, Severity, StepCall
from wirespeed.model.observed import Absent, CannotTellError, known
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.symptom import Symptom

FLAG = "rx_cqe_compress"
COMPRESSED = replace(
    MLX5_KERNEL,
    name="the mlx5 kernel driver with compressed completions",
    receive_completion_bytes=MLX5_DPDK.receive_completion_bytes,
    receive_completions_per_write=MLX5_DPDK.receive_completions_per_write,
)


def _check(exam: PortExam) -> Iterator[Finding]:
    netdev = exam.kernel_netdev
    flag = exam.host[Offloads].of(netdev).private_flag(FLAG)
    if isinstance(flag, Absent):
        raise DoesNotApplyError("the driver cannot compress completions")
    if known(flag, "compression of completions"):
        return
    bound = exam.ledger.most(Direction.RECEIVE)
    if bound is None:
        raise CannotTellError(
            "the lowest ceiling of the path is not known", f"wirespeed ceiling {netdev}"
        )
    # Even at the best of its band: compression costs the CPU, and elsewhere brings nothing.
    if not bound.element.startswith("pcie "):
        return
    config = exam.host[PciConfig]
    address = exam.port.pci_address or ""
    yield exam.finding(
        Severity.NOTE,  # as the driver comes: it is on every card that its slot bounds
        (Evidence(found=f"{FLAG}: off", source=flag.source),),
        so=f"each received frame costs an extra 64-byte write on {bound.element}, which is the "
        "path's lowest ceiling",
        remedies=(
            Remedy(
                text="let the card combine several completions into one write. The CPU unpacks "
                "them. This excludes hardware time stamps of received frames",
                commands=(
                    Command(argv=("ethtool", "--set-priv-flags", safe_netdev(netdev), FLAG, "on")),
                ),
                danger=Danger.DROPS_LINK,
                steps=(StepCall.of("completion_compression", netdev=netdev, is_on=True),),
            ),
        ),
        changes=tuple(
            Change(
                after=pcie_ceiling(
                    link_state(link, config, address),
                    exam.question.frame_bytes,
                    Direction.RECEIVE,
                    link.element,
                    "after the remedy",
                    device=COMPRESSED,
                    bidirectional=exam.question.bidirectional,
                )
            )
            for link in exam.host[Pci].links(address)
            if has_state(link)
        ),
    )


RULE = PortRule(
    slug="offloads.completions_not_compressed",
    title="Completion (CQE) compression off on a PCIe-bound path",
    why="The card writes a completion of 64 bytes for each received frame. With compression, a "
    "frame similar to the one before takes 8 bytes, and 8 of them fit in one write. mlx5 "
    "turns this on by itself only if the link is more than twice as fast as the slot; time "
    "stamping turns it off.",
    source="https://docs.nvidia.com/networking/display/rdmacore50/CQE+Compression; "
    "slow_pci_heuristic() in https://github.com/torvalds/linux/blob/master/drivers/net/ethernet/"
    "mellanox/mlx5/core/en_main.c",
    price="the lowest ceiling of the path now and with completions of 8 bytes instead of 64",
    explains=(Symptom.LOW_FIGURE,),
    check=_check,
)
