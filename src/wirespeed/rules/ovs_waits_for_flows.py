"""Open vSwitch that waits for flows to be restored, and so takes no packet of a new flow."""

from collections.abc import Iterator

from wirespeed.facts.ovs import Ovs
from wirespeed.model.command import Command
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Absent, known
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule

KEY = "flow-restore-wait"


def _check(exam: HostExam) -> Iterator[Finding]:
    ovs = exam.host[Ovs]
    if isinstance(ovs.other_config, Absent):
        raise DoesNotApplyError(ovs.other_config.reason)
    if known(ovs.other_config, "Open vSwitch's settings").get(KEY) != "true":
        return
    yield exam.finding(
        Severity.FAULT,
        (
            Evidence(
                found=f"{KEY} is true in the database",
                source="ovs-vsctl get Open_vSwitch . other_config",
            ),
        ),
        so="a daemon that was started with it hears of no new flow: `ovs-appctl dpctl/show` counts "
        "as many packets lost as missed, and only flows from before go on",
        remedies=(
            Remedy(
                text="where no restart of Open vSwitch is going on just now, take it away: the "
                "daemon takes packets again at once",
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
        unpriced="all that is not a flow already is lost",
    )


RULE = HostRule(
    slug="ovs.waits_for_flows",
    title="Open vSwitch left in flow-restore-wait",
    why="`ovs-ctl restart` sets flow-restore-wait before it starts the daemon and takes it away "
    "when the flows of before are restored. A restart that fails or is killed between the two "
    "leaves it there, in the database on disk: every later start waits as well.",
    source="https://www.openvswitch.org/support/dist-docs/ovs-vswitchd.conf.db.5.txt "
    "(other_config:flow-restore-wait); openvswitch utilities/ovs-lib.in (restart)",
    check=_check,
)
