"""An eswitch that may not put packets into tunnels, though tunnels are in use."""

from collections.abc import Iterator

from wirespeed.facts.eswitch import Eswitch
from wirespeed.facts.ovs import Ovs
from wirespeed.facts.sriov import physical_function
from wirespeed.model.command import Command
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Absent, Known, known
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.symptom import Symptom

TUNNELS = ("vxlan", "geneve", "gre")


def _check(exam: PortExam) -> Iterator[Finding]:
    pf = physical_function(exam.host, exam.port)
    tunnels = [one for one in exam.host[Ovs].interfaces.values() if one.kind in TUNNELS]
    if not tunnels or not exam.host[Ovs].is_offload_asked:
        raise DoesNotApplyError("Open vSwitch offloads no tunnel here")
    eswitch = exam.host[Eswitch].pfs[pf.pci_address]
    if isinstance(eswitch.mode, Absent):
        raise DoesNotApplyError("the driver has no eswitch")
    if known(eswitch.mode, "eswitch mode") != "switchdev":
        raise DoesNotApplyError("the eswitch is not in switchdev mode")
    if isinstance(eswitch.encap_mode, Absent):
        # Of mlx5 alone; ice has an eswitch mode and no more (ice_devlink_ops).
        raise DoesNotApplyError("the driver has no encapsulation mode")
    encap = known(eswitch.encap_mode, "encapsulation mode of the eswitch")
    if encap != "none" or not isinstance(eswitch.encap_mode, Known):
        return
    yield exam.finding(
        Severity.FAULT,
        (
            Evidence.of(eswitch.encap_mode, "encap-mode none"),
            Evidence(
                found=f"tunnels: {', '.join(one.name for one in tunnels)}"[:200],
                source="ovs-vsctl show",
            ),
        ),
        so="Open vSwitch forwards every tunnel packet in software",
        remedies=(
            Remedy(
                text="allow encapsulation; the card must hold no flows while this is set. devlink "
                "before iproute2 5.7 takes `encap enable` for `encap-mode basic`",
                commands=(
                    Command(
                        argv=(
                            "devlink",
                            "dev",
                            "eswitch",
                            "set",
                            f"pci/{pf.pci_address}",
                            "encap-mode",
                            "basic",
                        )
                    ),
                ),
                by_hand=ByHand.NO_STEP,
            ),
        ),
        unpriced="the rate at which software forwards these tunnels is not known: measure before "
        "and after",
    )


RULE = PortRule(
    slug="eswitch.encap_off",
    title="Eswitch encapsulation off",
    why="The card offloads tunnels only when the eswitch's encapsulation mode is basic; "
    "otherwise a CPU core processes each packet to or from a tunnel.",
    source="https://docs.kernel.org/networking/devlink/devlink-eswitch-attr.html",
    explains=(Symptom.NOT_OFFLOADED,),
    check=_check,
)
