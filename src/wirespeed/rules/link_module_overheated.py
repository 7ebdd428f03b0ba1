"""A module that is hotter than its maker allows."""

from collections.abc import Iterator

from wirespeed.facts.module import TOO_HOT, Modules
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Absent, Known, known, value_or_none
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.shown import shown
from wirespeed.model.symptom import Symptom

COOLER = Remedy(
    text="give the card more airflow, leave the next slot free, or use a module that needs less "
    "power; optical modules of 100 Gb/s and more need an airflow that desktop cases lack",
    by_hand=ByHand.HARDWARE,
)
COSTS = "it costs nothing until bit errors occur or the module turns itself off"


def _check(exam: PortExam) -> Iterator[Finding]:
    port = exam.port
    if port.netdev is None:
        raise DoesNotApplyError("without a netdev its module cannot be read")
    modules = exam.host[Modules]
    module = modules.by_netdev[port.netdev]
    complaint = modules.complaint(port.netdev, port.pci_address)
    if isinstance(complaint, Known) and TOO_HOT.search(complaint.value):
        yield exam.finding(
            Severity.FAULT,
            (Evidence(found=f"the kernel says: {shown(complaint.value)}", source="dmesg"),),
            so="the card says that the module is too hot: it may turn the module off",
            where=port.name,
            remedies=(COOLER,),
            unpriced=COSTS,
        )
        return
    if isinstance(module.celsius, Absent):
        raise DoesNotApplyError("it has no module, or one that reports no temperature")
    celsius = known(module.celsius, f"temperature of the module in {port.netdev}")
    warning, alarm = module.high_warning_celsius, module.high_alarm_celsius
    # Modules that have no thresholds leave them 0.
    limits = [limit for limit in (warning, alarm) if isinstance(limit, Known) and limit.value > 0]
    if not limits:
        value_or_none(warning)
        raise DoesNotApplyError("the module reports no temperature limit")
    passed = [limit for limit in limits if celsius >= limit.value]
    if not passed:
        return
    is_alarm = isinstance(alarm, Known) and alarm in passed
    yield exam.finding(
        Severity.FAULT if is_alarm else Severity.RISK,
        (
            Evidence(found=f"{celsius:g} °C", source=passed[-1].source),
            Evidence.of(
                passed[-1],
                f"{'alarm' if is_alarm else 'warning'} from {passed[-1].value:g} °C",
            ),
        ),
        so="the module is outside its temperature range: expect bit errors, then a link that "
        "goes down",
        where=port.name,
        remedies=(COOLER,),
        unpriced=COSTS,
    )


RULE = PortRule(
    slug="link.module_overheated",
    title="Transceiver module too hot",
    why="An overheated laser loses power and drifts off its wavelength: bit errors rise, and at "
    "the alarm threshold cards turn the module off to protect it. The thresholds are the "
    "module's own.",
    source="SFF-8472 and SFF-8636 (alarm and warning thresholds of a module); "
    "drivers/net/ethernet/mellanox/mlx5/core/events.c (High Temperature)",
    explains=(Symptom.NO_LINK, Symptom.DAMAGED_FRAMES, Symptom.LINK_FLAPS),
    check=_check,
)
