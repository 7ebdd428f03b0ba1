"""An eswitch that sees too few headers of a VF's packets for flows that are to be offloaded."""

from collections.abc import Iterator

from wirespeed.facts.eswitch import Eswitch
from wirespeed.facts.netstack import NetStack
from wirespeed.facts.ovs import Ovs
from wirespeed.facts.sriov import physical_function
from wirespeed.model.command import Command
from wirespeed.model.finding import ByHand, Danger, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Absent, Known, known
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.symptom import Symptom

UNSEEN = {"link": "IP addresses, protocols or ports", "network": "protocols or ports"}
"""What a VF need not put into its descriptors, by inline-mode; `none`: the card reads packets."""


def _check(exam: PortExam) -> Iterator[Finding]:
    pf = physical_function(exam.host, exam.port)
    ovs = exam.host[Ovs]
    if isinstance(ovs.other_config, Absent):
        raise DoesNotApplyError(ovs.other_config.reason)
    representors = ovs.representors(exam.host[NetStack])
    if not ovs.is_offload_asked or not any(map(ovs.is_in_kernel, representors)):
        raise DoesNotApplyError("Open vSwitch offloads no flow of a VF by tc")
    eswitch = exam.host[Eswitch].pfs[pf.pci_address]
    if isinstance(eswitch.mode, Absent) or isinstance(eswitch.inline_mode, Absent):
        raise DoesNotApplyError("the driver has no inline mode")
    if known(eswitch.mode, "eswitch mode") != "switchdev":
        raise DoesNotApplyError("the eswitch is not in switchdev mode")
    inline = known(eswitch.inline_mode, "inline mode of the eswitch")
    if inline not in UNSEEN or not isinstance(eswitch.inline_mode, Known):
        return
    handle = f"pci/{pf.pci_address}"
    yield exam.finding(
        Severity.RISK,
        (Evidence.of(eswitch.inline_mode, f"inline-mode {inline}"),),
        so=f"the driver refuses flows of VFs that match {UNSEEN[inline]}: the host's cores forward "
        "their packets",
        remedies=(
            Remedy(
                text="unbind the VFs and let the card hold no flows, set the mode, then bind the "
                "VFs again, whose driver reads it as it starts. If the answer is `Inline mode "
                "can't be set`, this card can match on the Ethernet header only",
                commands=(
                    Command(
                        argv=(
                            "devlink",
                            "dev",
                            "eswitch",
                            "set",
                            handle,
                            "inline-mode",
                            "transport",
                        ),
                    ),
                ),
                danger=Danger.DROPS_LINK,
                by_hand=ByHand.NO_STEP,
            ),
        ),
        unpriced="it depends on the flows: a bridge that forwards by MAC addresses has none of "
        "these, OVN and security groups have them",
    )


RULE = PortRule(
    slug="eswitch.inline_too_small",
    title="Eswitch inline mode too small for offloaded flows",
    why="A ConnectX-4 or 4 Lx matches those headers of a VF's packet that the VF's driver copies "
    "into the descriptor; by default that is the Ethernet header. The driver refuses flows "
    "that need more (`Flow is not offloaded due to min inline setting`). Later cards read the "
    "packet itself (inline-mode none).",
    source="Linux drivers/net/ethernet/mellanox/mlx5/core/en_tc.c (parse_cls_flower), "
    "eswitch_offloads.c (mlx5_devlink_eswitch_inline_mode_set); "
    "https://docs.kernel.org/networking/devlink/devlink-eswitch-attr.html (inline-mode)",
    explains=(Symptom.NOT_OFFLOADED,),
    check=_check,
)
