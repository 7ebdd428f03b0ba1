"""Modules of the kernel and of the card's vendor loaded together."""

from collections.abc import Iterator

from wirespeed.facts.firmware_driver import DriverOrigin
from wirespeed.model.command import Command
from wirespeed.model.finding import ByHand, Danger, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Known, known
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule


def _check(exam: HostExam) -> Iterator[Finding]:
    origin = exam.host[DriverOrigin]
    if not origin.loaded:
        raise DoesNotApplyError("no module of the mlx stack is loaded")
    vendors: list[str] = []
    stock: list[str] = []
    for module in origin.loaded.values():
        is_vendors = known(module.is_out_of_tree, f"where {module.name} comes from")
        (vendors if is_vendors else stock).append(module.name)
    errors = origin.symbol_errors
    lines = errors.value if isinstance(errors, Known) else ()
    is_mixed = bool(vendors and stock)
    if not is_mixed and not lines:
        known(errors, "errors of symbols in the kernel log")
        return
    evidence = [
        Evidence(
            found=f"{whose}: {', '.join(names)}",
            source=f"grep -H '' {' '.join(f'/sys/module/{name}/taint' for name in names)}",
        )
        for whose, names in (("out of tree", vendors), ("the kernel's own", stock))
        if names and is_mixed
    ]
    yield exam.finding(
        Severity.FAULT if lines and is_mixed else Severity.RISK,
        (
            *evidence,
            *(Evidence(found=line.strip()[:200], source=errors.source) for line in lines[-3:]),
        ),
        so="modules from one set lack symbols of the other: RDMA, offloads or the whole driver "
        "are missing"
        if lines
        else "they happen to fit now, but may fail when one of them is loaded again",
        remedies=(
            Remedy(
                text="reboot, so that one set is loaded from the start; if both are still mixed, "
                "uninstall one set completely (the vendor's has an uninstall script) and "
                "rebuild the initramfs",
                commands=(
                    Command(argv=("modinfo", "mlx5_core")),
                    Command(argv=("reboot",)),
                ),
                danger=Danger.REBOOT,
                by_hand=ByHand.REBOOT,
            ),
        ),
        unpriced="what is missing depends on which module could not be loaded",
    )


RULE = HostRule(
    slug="driver.mixed",
    title="Kernel and vendor driver modules mixed",
    why="MLNX_OFED and DOCA replace a dozen kernel modules. Modules of one set do not load on "
    "top of the other: the kernel log then has `Unknown symbol` or `disagrees about version "
    "of symbol`.",
    source="https://docs.nvidia.com/networking/display/mlnxofedv24103250lts/"
    "Installation+Related+Issues (Unknown symbol)",
    check=_check,
)
