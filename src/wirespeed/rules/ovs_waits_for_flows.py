"""Open vSwitch that waits for flows to be restored, and so takes no packet of a new flow."""

from collections.abc import Iterator

from wirespeed.facts.ovs import Ovs
from wirespeed.model.command import Command
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Absent
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule
from wirespeed.model.symptom import Symptom

KEY = "flow-restore-wait"


def _check(exam: HostExam) -> Iterator[Finding]:
    ovs = exam.host[Ovs]
    if isinstance(ovs.other_config, Absent):
        raise DoesNotApplyError(ovs.other_config.reason)
    if ovs.setting(KEY) != "true":
        return
    yield exam.finding(
        Severity.FAULT,
        (
            Evidence(
                found=f"{KEY} is true in the database",
                source="ovs-vsctl get Open_vSwitch . other_config",
            ),
        ),
        so="a daemon started with it sets up no new flows: only flows from before the start work, "
        "and `ovs-appctl dpctl/show` counts every other packet as lost",
        remedies=(
            Remedy(
                text="if no restart of Open vSwitch is in progress, remove the setting: the "
                "daemon handles packets again at once",
                commands=(
                    Command(
                        argv=(
                            *("ovs-vsctl", "--if-exists", "remove", "Open_vSwitch", "."),
                            *("other_config", KEY),
                        )
                    ),
                ),
                by_hand=ByHand.FIND_FIRST,
            ),
        ),
        unpriced="all packets of new flows, where the daemon was started with it: `ovs-appctl "
        "dpctl/show` counts them",
    )


RULE = HostRule(
    slug="ovs.waits_for_flows",
    title="Open vSwitch left in flow-restore-wait",
    why="`ovs-ctl restart` sets flow-restore-wait before it starts the daemon and removes it "
    "once the previous flows are restored. A restart that fails or is killed in between "
    "leaves the setting in the database on disk, so every later start waits too.",
    source="https://www.openvswitch.org/support/dist-docs/ovs-vswitchd.conf.db.5.txt "
    "(other_config:flow-restore-wait); openvswitch utilities/ovs-lib.in (restart)",
    explains=(Symptom.LOW_FIGURE,),
    check=_check,
)
