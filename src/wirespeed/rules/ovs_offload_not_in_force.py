"""Open vSwitch whose database asks for offload, while the daemon that runs does not do it."""

from collections.abc import Iterator

from wirespeed.ceilings.bounds import SOFTWARE_SWITCH_FORMULA, software_switch_bounds
from wirespeed.facts.distribution import switch_restart
from wirespeed.facts.link import best_bps
from wirespeed.facts.netstack import NetStack
from wirespeed.facts.ovs import UPCALL, Ovs
from wirespeed.model.finding import ByHand, Danger, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Absent, CannotTellError, Known, known
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule
from wirespeed.model.symptom import Symptom

TELLS = ((2, 17), (3, 6))
"""From and to which versions `upcall/show` has the line whenever a port can be offloaded; 3.7
leaves it out for 0 flows too."""


def _check(exam: HostExam) -> Iterator[Finding]:
    ovs = exam.host[Ovs]
    if isinstance(ovs.other_config, Absent):
        raise DoesNotApplyError(ovs.other_config.reason)
    if not ovs.is_offload_asked:
        raise DoesNotApplyError("hardware offload is not enabled")
    if not any(map(ovs.is_in_kernel, ovs.representors(exam.host[NetStack]))):
        raise DoesNotApplyError("no VF representor is in a bridge of the kernel's datapath")
    known(ovs.datapath_flows, "whether the running daemon offloads")
    if isinstance(ovs.offloaded_flows, Known):
        return
    version = known(ovs.version, "the version of Open vSwitch")
    if ovs.release is None or not TELLS[0] <= ovs.release <= TELLS[1]:
        raise CannotTellError(
            f"Open vSwitch {version} does not say whether it offloads",
            "grep 'Flow API' /var/log/openvswitch/ovs-vswitchd.log",
        )
    yield exam.finding(
        Severity.FAULT,
        (
            Evidence(
                found="hw-offload is true in the database",
                source="ovs-vsctl get Open_vSwitch . other_config",
            ),
            Evidence(
                found=f"the daemon ({version}) counts no offloaded flows for any port",
                source=UPCALL,
            ),
        ),
        so="the host's cores forward every packet of the VFs, although hw-offload is set",
        remedies=(
            Remedy(
                text="restart Open vSwitch; traffic stops for a moment",
                commands=switch_restart(exam.host),
                danger=Danger.DROPS_LINK,
                by_hand=ByHand.NO_STEP,
            ),
        ),
        bounds=software_switch_bounds(best_bps(exam.host, exam.ports), exam.question.frame_bytes),
        unpriced="the rate that the host's cores forward depends on the flows: measure before "
        "and after",
    )


RULE = HostRule(
    slug="ovs.offload_not_in_force",
    title="Open vSwitch not restarted since offload was enabled",
    why="The daemon reads hw-offload, not the kernel. It does not offload ports that it could "
    "not prepare when the setting changed, and setting it to false needs a restart. "
    "wirespeed cannot see when the setting changed, but it can see whether the daemon "
    "offloads now.",
    source="https://www.mail-archive.com/ovs-dev@openvswitch.org/msg51855.html (when a restart is "
    "needed); openvswitch lib/netdev-offload.c (netdev_ports_get_n_flows)",
    price=SOFTWARE_SWITCH_FORMULA,
    explains=(Symptom.NOT_OFFLOADED, Symptom.LOW_FIGURE),
    check=_check,
)
