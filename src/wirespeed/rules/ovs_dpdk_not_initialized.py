"""Open vSwitch that was to use DPDK, and could not start it."""

from collections.abc import Iterator

from wirespeed.facts.distribution import build_shown, switch_restart
from wirespeed.facts.ovs import Ovs
from wirespeed.model.bound import Bound, Limit
from wirespeed.model.command import Command
from wirespeed.model.finding import ByHand, Danger, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Absent, known
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule
from wirespeed.model.symptom import Symptom


def _check(exam: HostExam) -> Iterator[Finding]:
    ovs = exam.host[Ovs]
    if isinstance(ovs.other_config, Absent):
        raise DoesNotApplyError(ovs.other_config.reason)
    asked = ovs.setting("dpdk-init")
    if asked not in ("true", "try"):
        raise DoesNotApplyError("DPDK is not enabled in Open vSwitch")
    if known(ovs.dpdk_initialized, "whether DPDK was started"):
        return
    yield exam.finding(
        Severity.FAULT,
        (
            Evidence(
                found=f"dpdk-init is {asked}",
                source="ovs-vsctl get Open_vSwitch . other_config",
            ),
            Evidence(
                found="DPDK is not initialized",
                source="ovs-vsctl get Open_vSwitch . dpdk_initialized",
            ),
        ),
        so="no DPDK port of any bridge carries a packet",
        remedies=(
            Remedy(
                text="read the daemon's log of its start: look for hugepages, the PCI addresses "
                "in dpdk-extra, or a build without DPDK; then restart it: traffic of all its "
                "bridges stops for a moment",
                commands=(
                    Command(argv=("grep", "-i", "dpdk", "/var/log/openvswitch/ovs-vswitchd.log")),
                    *build_shown(exam.host),
                    *switch_restart(exam.host),
                ),
                danger=Danger.DROPS_LINK,
                by_hand=ByHand.FIND_FIRST,
            ),
        ),
        bounds=(
            Bound.of_share(
                Limit.EXACTLY, 1, "of what its DPDK ports would forward", "0 packets pass them"
            ),
        ),
    )


RULE = HostRule(
    slug="ovs.dpdk_not_initialized",
    title="Open vSwitch failed to initialize DPDK",
    why="The daemon initializes DPDK once, at its start. If that fails, it ends with "
    "dpdk-init=true and continues without DPDK with dpdk-init=try; a build without DPDK continues "
    "in both cases. Ports of type dpdk then carry no traffic.",
    source="https://www.openvswitch.org/support/dist-docs/ovs-vswitchd.conf.db.5.txt (dpdk-init, "
    "dpdk_initialized); https://docs.openvswitch.org/en/latest/intro/install/dpdk/",
    price="all that its DPDK ports would forward",
    shows=(Symptom.SWITCH_WITHOUT_DPDK,),
    explains=(Symptom.LOW_FIGURE,),
    check=_check,
)
