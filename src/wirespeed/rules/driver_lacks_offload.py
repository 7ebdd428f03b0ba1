"""A driver of a ConnectX without a feature that Open vSwitch needs to be offloaded."""

from collections.abc import Iterator
from dataclasses import dataclass

from wirespeed.facts.eswitch import Eswitch
from wirespeed.facts.firmware_driver import DriverOrigin
from wirespeed.facts.kernel import Kernel
from wirespeed.facts.offloads import Feature, Offloads
from wirespeed.facts.ovs import Ovs
from wirespeed.facts.sriov import physical_function
from wirespeed.model.command import Command
from wirespeed.model.finding import ByHand, Danger, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Absent, Known, Observed, known, value_or_none
from wirespeed.model.question import Purpose
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.symptom import Symptom

LAG_STATE_SINCE = (5, 19)
"""Linux with `lag/state` in mlx5's debugfs."""


@dataclass(frozen=True, slots=True)
class _Need:
    """What offload needs of the driver, and whether it was seen there."""

    what: str
    seen: Observed[bool]


def _check(exam: PortExam) -> Iterator[Finding]:
    pf = physical_function(exam.host, exam.port)
    if exam.port.driver != "mlx5_core" or not pf.is_mellanox:
        raise DoesNotApplyError("no driver of this port has an embedded switch")
    needs = list(_needs(exam, pf.pci_address))
    lacks = [need for need in needs if not isinstance(need.seen, Known) or not need.seen.value]
    lacks = [need for need in lacks if isinstance(need.seen, Known | Absent)]
    if not lacks:
        for need in needs:
            known(need.seen, need.what)
        return
    origin = exam.host[DriverOrigin]
    ovs = exam.host[Ovs]
    is_vendors = "of the vendor" in origin.runs
    yield exam.finding(
        Severity.RISK if isinstance(ovs.other_config, Known) else Severity.NOTE,
        (
            Evidence(
                found=f"{origin.runs or 'mlx5_core, built in,'} runs",
                source="modinfo mlx5_core; ofed_info -s; cat /sys/module/mlx5_core/taint",
            ),
            *(Evidence(found=f"lacks {need.what}", source=need.seen.source) for need in lacks),
        ),
        so="the host's cores forward the Open vSwitch flows that need it",
        remedies=(
            Remedy(
                text=(
                    "a newer release of the vendor's package, or the kernel's own driver"
                    if is_vendors
                    else "a newer kernel, or the vendor's driver (DOCA-OFED), and a reboot"
                ),
                commands=(Command(argv=("modinfo", "mlx5_core")),),
                danger=Danger.REBOOT,
                by_hand=ByHand.SOFTWARE,
            ),
        ),
        unpriced="the rate that software forwards is not known: measure before and after",
    )


def _needs(exam: PortExam, address: str) -> Iterator[_Need]:
    eswitch = exam.host[Eswitch].pfs[address]
    yield _Need("switchdev mode (no representors)", _is_there(eswitch.mode))
    yield _Need("encapsulation by the eswitch (no tunnels)", _is_there(eswitch.encap_mode))
    if exam.port.netdev in exam.host[Offloads].netdevs:
        feature = exam.host[Offloads].netdevs[exam.port.netdev].feature("hw-tc-offload")
        if isinstance(feature, Known):
            can = feature.value.is_on or not feature.value.is_fixed
            yield _Need("hw-tc-offload (no filters of tc)", Known(can, feature.source))
        else:
            yield _Need("hw-tc-offload (no filters of tc)", _is_there(feature))
    if isinstance(eswitch.lag_state, Absent) and _is_before_lag_state(exam):
        yield _Need(
            "VF-LAG state (whether VF-LAG is active cannot be read)", _is_there(eswitch.lag_state)
        )


def _is_there(found: Observed[str] | Observed[Feature]) -> Observed[bool]:
    return Known(True, found.source) if isinstance(found, Known) else found


def _is_before_lag_state(exam: PortExam) -> bool:
    """Where the kernel is newer, debugfs may not be mounted: nothing follows from that."""
    version = value_or_none(exam.host[Kernel].version())
    return version is not None and version < LAG_STATE_SINCE


RULE = PortRule(
    slug="driver.lacks_offload",
    title="Driver without support for switch offload",
    why="The kernel includes mlx5_core, and NVIDIA's packages (MLNX_OFED, DOCA-OFED) replace it "
    "with a newer one. An older kernel, or one built without CONFIG_MLX5_ESWITCH or "
    "CONFIG_MLX5_CLS_ACT, lacks switchdev mode, tunnel offload or tc filter offload.",
    source="https://docs.kernel.org/networking/device_drivers/ethernet/mellanox/mlx5/kconfig.html; "
    "https://docs.kernel.org/networking/devlink/devlink-eswitch-attr.html",
    purposes=frozenset({Purpose.GUESTS}),
    explains=(Symptom.NOT_OFFLOADED,),
    check=_check,
)
