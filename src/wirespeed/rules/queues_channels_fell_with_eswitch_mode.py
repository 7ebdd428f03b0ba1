"""One channel on a PF in switchdev mode: the driver started its netdev anew, with one."""

from collections.abc import Iterator

from wirespeed.facts.eswitch import Eswitch
from wirespeed.facts.ethtool import ethtool_command
from wirespeed.facts.locality import local_cores
from wirespeed.facts.queues import Queues
from wirespeed.model.bound import Bound, Limit
from wirespeed.model.ceiling import Input
from wirespeed.model.finding import Danger, Evidence, Finding, Remedy, Severity, StepCall
from wirespeed.model.observed import Absent, Known, known
from wirespeed.model.port import PortKind
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.symptom import Symptom


def _check(exam: PortExam) -> Iterator[Finding]:
    netdev = exam.kernel_netdev
    if exam.port.kind is not PortKind.PHYSICAL:
        raise DoesNotApplyError("the port has no eswitch")
    queues = exam.host[Queues].of(netdev)
    if isinstance(queues.combined_channels_max, Absent):
        raise DoesNotApplyError("the driver has no combined channels that can be set")
    now = known(queues.combined_channels, "number of channels")
    most = known(queues.combined_channels_max, "number of channels that the card can have")
    if now != 1 or most == 1:
        return
    pf = exam.host[Eswitch].pfs.get(exam.port.pci_address or "")
    if pf is None or isinstance(pf.mode, Absent):
        raise DoesNotApplyError("the port has no eswitch")
    if known(pf.mode, "mode of the eswitch") != "switchdev":
        return
    cores = local_cores(exam.host, exam.port)
    wanted = min(most, cores.value) if isinstance(cores, Known) else most
    if wanted == 1:
        return
    yield exam.finding(
        Severity.FAULT,
        (
            Evidence(found="the eswitch is in switchdev mode", source=pf.mode.source),
            Evidence(
                found=f"1 channel now, {most} at most",
                source=queues.combined_channels.source,
            ),
        ),
        so="one core does the receive work of the whole port",
        remedies=(
            Remedy(
                text="set the channels again, now and after every mode change",
                commands=(ethtool_command("-L", netdev, "combined", str(wanted)),),
                danger=Danger.DROPS_LINK,
                steps=(StepCall.of("channels", netdev=netdev, combined=wanted),),
            ),
        ),
        bounds=(
            Bound.of_share(
                Limit.AT_MOST,
                1 - 1 / wanted,
                f"of what {wanted} channels carry; a ConnectX-5 at 100 Gb/s reached 30 Gb/s of "
                "TCP with 1 channel and 90 with 32",
                "1 - 1 / channels",
                Input(name="channels", shown=f"{wanted}", source=queues.combined_channels.source),
            ),
        ),
    )


RULE = PortRule(
    slug="queues.channels_fell_with_eswitch_mode",
    title="Channels reduced to one by the eswitch mode change",
    why="When the eswitch mode changes, the driver creates the uplink's netdev again, as a "
    "representor, and mlx5 gives a representor one channel. A number set with ethtool -L is "
    "lost without a message.",
    source="MLX5E_REP_PARAMS_DEF_NUM_CHANNELS in https://github.com/torvalds/linux/blob/master/"
    "drivers/net/ethernet/mellanox/mlx5/core/en_rep.c; `SR-IOV with a ConnectX-5`, Misc notes",
    price="at most: 1 - 1 / (channels that the card's node has cores for), of what those "
    "channels carry",
    explains=(Symptom.CPU_BEHIND, Symptom.NO_DESCRIPTOR, Symptom.LOW_FIGURE),
    check=_check,
)
