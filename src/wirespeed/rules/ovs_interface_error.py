"""A port of Open vSwitch that could not be made."""

from collections.abc import Iterator

from wirespeed.facts.ovs import Ovs
from wirespeed.model.bound import Bound, Limit
from wirespeed.model.command import Command
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Absent, Known, known
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule
from wirespeed.model.symptom import Symptom


def _check(exam: HostExam) -> Iterator[Finding]:
    ovs = exam.host[Ovs]
    if isinstance(ovs.other_config, Absent):
        raise DoesNotApplyError(ovs.other_config.reason)
    known(ovs.other_config, "Open vSwitch's ports")
    for one in ovs.interfaces.values():
        if not isinstance(one.error, Known):
            continue
        # What a guest left behind when it was shut down: it costs nothing.
        is_stale = one.kind == "system" and "No such device" in one.error.value
        bridge = ovs.bridge_of(one.name)
        yield exam.finding(
            Severity.NOTE if is_stale else Severity.FAULT,
            (
                Evidence(
                    found=f"{one.kind} port of {bridge.name if bridge else 'a bridge'}: "
                    f"{one.error.value[:200]}",
                    source="ovs-vsctl --columns=name,error list Interface",
                ),
            ),
            so="the port carries no traffic",
            where=one.name,
            remedies=(
                Remedy(
                    text="if the guest that it was made for does not come back, remove the port "
                    "from its bridge"
                    if is_stale
                    else "fix what the message names, or remove the port from its bridge",
                    commands=(Command(argv=("ovs-vsctl", "--if-exists", "del-port", one.name)),)
                    if not one.name.startswith("-")
                    else (),
                    by_hand=ByHand.FIND_FIRST,
                ),
            ),
            bounds=()
            if is_stale
            else (
                Bound.of_share(
                    Limit.EXACTLY, 1, "of what this port would forward", "0 packets pass it"
                ),
            ),
            unpriced="a port that nothing uses costs nothing",
        )


RULE = HostRule(
    slug="ovs.interface_error",
    title="Open vSwitch port in error",
    why="A port that the daemon cannot open stays in the database and looks configured, but "
    "carries no traffic.",
    source="https://www.openvswitch.org/support/dist-docs/ovs-vswitchd.conf.db.5.txt "
    "(Interface: error)",
    price="all that the port would forward",
    shows=(Symptom.SWITCH_WITHOUT_DPDK,),
    explains=(Symptom.LOW_FIGURE,),
    check=_check,
)
