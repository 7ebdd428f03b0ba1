"""Open vSwitch that keeps every flow in software, on a card whose eswitch could take them."""

from collections.abc import Iterator

from wirespeed.ceilings.bounds import SOFTWARE_SWITCH_FORMULA, software_switch_bounds
from wirespeed.facts.link import best_bps
from wirespeed.facts.netstack import NetStack
from wirespeed.facts.ovs import Ovs
from wirespeed.model.command import Command
from wirespeed.model.finding import ByHand, Danger, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Absent
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule
from wirespeed.model.symptom import Symptom

POLICY, SKIP = "tc-policy", "skip_hw"


def _check(exam: HostExam) -> Iterator[Finding]:
    ovs = exam.host[Ovs]
    if isinstance(ovs.other_config, Absent):
        raise DoesNotApplyError(ovs.other_config.reason)
    is_asked = ovs.is_offload_asked
    representors = ovs.representors(exam.host[NetStack])
    if not representors:
        raise DoesNotApplyError("no VF representor is in a bridge")
    is_skipped = ovs.setting(POLICY) == SKIP and any(map(ovs.is_in_kernel, representors))
    if is_asked and not is_skipped:
        return
    names = ", ".join(one.name for one in representors[:4])
    more = f" and {len(representors) - 4} more" if len(representors) > 4 else ""
    yield exam.finding(
        Severity.FAULT,
        (
            Evidence(
                found=f"{POLICY} is {SKIP}" if is_asked else "hw-offload is not true",
                source="ovs-vsctl get Open_vSwitch . other_config",
            ),
            Evidence(
                found=f"VF representors in bridges: {names}{more}",
                source="ovs-vsctl show",
            ),
        ),
        so="the host's cores forward every packet of these VFs; the eswitch forwards none",
        remedies=(_remedy_of_policy() if is_asked else _remedy(),),
        bounds=software_switch_bounds(best_bps(exam.host, exam.ports), exam.question.frame_bytes),
        unpriced="the rate that the host's cores forward depends on the flows: measure before "
        "and after",
    )


def _remedy() -> Remedy:
    return Remedy(
        text="enable offload; if the flows are not offloaded within seconds, restart "
        "Open vSwitch (versions before 2.17 may need it)",
        commands=(
            Command(argv=("ovs-vsctl", "set", "Open_vSwitch", ".", "other_config:hw-offload=true")),
        ),
        by_hand=ByHand.NO_STEP,
    )


def _remedy_of_policy() -> Remedy:
    return Remedy(
        text="let filters go to the card, then restart Open vSwitch, which reads the policy only "
        "when it enables offload; traffic stops for a moment",
        commands=(
            Command(argv=("ovs-vsctl", "remove", "Open_vSwitch", ".", "other_config", POLICY)),
        ),
        danger=Danger.DROPS_LINK,
        by_hand=ByHand.NO_STEP,
    )


RULE = HostRule(
    slug="ovs.offload_off",
    title="Open vSwitch hardware offload off",
    why="In switchdev mode a VF's packets go to its representor, that is, to the host's cores, "
    "until Open vSwitch offloads the flow to the card. It does so only if hw-offload is true, and "
    "with the kernel's datapath only if tc-policy is not skip_hw.",
    source="https://docs.openvswitch.org/en/latest/howto/tc-offload/; "
    "https://www.openvswitch.org/support/dist-docs/ovs-vswitchd.conf.db.5.txt "
    "(other_config:hw-offload, tc-policy)",
    price=SOFTWARE_SWITCH_FORMULA,
    explains=(Symptom.NOT_OFFLOADED, Symptom.LOW_FIGURE),
    check=_check,
)
