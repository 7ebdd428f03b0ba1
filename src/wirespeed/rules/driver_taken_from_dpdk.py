"""A Mellanox function on vfio-pci: DPDK's driver works beside the kernel's, and finds no port."""

from collections.abc import Iterator

from wirespeed.facts.sriov import SYSFS, Sriov
from wirespeed.model.command import write_file
from wirespeed.model.finding import ByHand, Danger, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Known, known
from wirespeed.model.question import Purpose
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.symptom import Symptom

USERSPACE = ("vfio-pci", "uio_pci_generic", "igb_uio")
MOST_SHOWN = 4


def _check(exam: PortExam) -> Iterator[Finding]:
    pf = exam.host[Sriov].pfs.get(exam.port.pci_address or "")
    if pf is None:
        raise DoesNotApplyError("this host has no PF there")
    known(pf.vendor, "the card's vendor")
    if not pf.is_mellanox:
        raise DoesNotApplyError("DPDK's driver of this card takes the function from the kernel")
    drivers = {vf.pci_address: vf.driver.value for vf in pf.vfs if isinstance(vf.driver, Known)}
    if exam.port.driver:
        drivers = {pf.pci_address: exam.port.driver} | drivers
    taken = {address: name for address, name in drivers.items() if name in USERSPACE}
    if not taken:
        return
    is_vf = pf.pci_address not in taken
    which = " and ".join(list(taken)[:MOST_SHOWN])
    which += f" and {len(taken) - MOST_SHOWN} more" if len(taken) > MOST_SHOWN else ""
    address = next(iter(taken))
    yield exam.finding(
        Severity.RISK,
        tuple(
            Evidence(found=f"{one} is bound to {name}", source=f"readlink {SYSFS}/{one}/driver")
            for one, name in list(taken.items())[:MOST_SHOWN]
        ),
        so=f"a program of DPDK on this host finds no port at {which}"
        + (": only a guest that was lent the VF can use it" if is_vf else ""),
        remedies=(
            Remedy(
                text="give the function back to the kernel's mlx5_core, and start the program with "
                f"`-a {address}`" + ("; leave it where a guest owns it" if is_vf else ""),
                commands=(
                    write_file(f"{SYSFS}/{address}/driver_override", "mlx5_core"),
                    write_file(f"{SYSFS}/{address}/driver/unbind", address),
                    write_file("/sys/bus/pci/drivers_probe", address),
                ),
                danger=Danger.DROPS_LINK,
                by_hand=ByHand.NO_STEP,
            ),
        ),
        unpriced="DPDK gets nothing of this function: with mlx5_core, measure it",
    )


RULE = PortRule(
    slug="driver.taken_from_dpdk",
    title="Mellanox function on vfio-pci, where DPDK cannot use it",
    why="DPDK's mlx5 driver is bifurcated: it sets up its queues through the kernel's mlx5_core "
    "and libibverbs, and the port keeps its netdev. Most other cards have to be bound to "
    "vfio-pci instead. A Mellanox function that was bound to it has no RDMA device, so DPDK "
    "says that no port was found.",
    source="https://doc.dpdk.org/guides/linux_gsg/linux_drivers.html (Bifurcated Driver); "
    "https://doc.dpdk.org/guides/platform/mlx5.html",
    purposes=frozenset({Purpose.DPDK}),
    explains=(Symptom.LOW_FIGURE,),
    check=_check,
)
