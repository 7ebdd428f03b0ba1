"""VFs whose link the host holds down: by its setting, or for want of an InfiniBand GUID."""

from collections.abc import Iterator, Sequence

from wirespeed.facts.netstack import NetStack, VfSettings, named_plainly
from wirespeed.facts.sriov import physical_function
from wirespeed.model.command import Command
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import CannotTellError, Known
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule

MOST_SHOWN = 4
GUIDS = (
    "give each a node GUID and a port GUID of its own (`ip link set dev {} vf N node_guid …` and "
    "`port_guid …`), set its state to auto, and then unbind and bind the VF, which reads them when "
    "its driver starts"
)


def _check(exam: PortExam) -> Iterator[Finding]:
    physical_function(exam.host, exam.port)
    netdev = exam.port.netdev
    if netdev is None:
        raise DoesNotApplyError("it has no netdev of the host")
    link = exam.host[NetStack][netdev]
    if not link.vfs:
        raise DoesNotApplyError("it has no VFs")
    source = f"ip link show {netdev}"
    if not any(isinstance(vf.link_state, Known) for vf in link.vfs):
        raise CannotTellError("the driver does not report the link state of VFs", source)
    is_infiniband = link.link_type == Known("infiniband", link.link_type.source)
    down = [vf for vf in link.vfs if _is(vf, "disable")]
    nameless = [
        vf for vf in link.vfs if isinstance(vf.has_port_guid, Known) and not vf.has_port_guid.value
    ]
    nameless = nameless if is_infiniband else []
    found = (
        ("link state disable", down),
        ("port GUID 00:00:00:00:00:00:00:00", nameless),
    )
    if not (down or nameless):
        return
    yield exam.finding(
        Severity.RISK,
        tuple(
            Evidence(found=f"{what}: {_some(some)}", source=source) for what, some in found if some
        ),
        so=f"the host holds the link of {_some(down)} down, so a guest that owns one has no link"
        if down
        else f"the subnet manager gives {_some(nameless)} no address for want of a port GUID, so a "
        "guest that owns one reaches no other port",
        remedies=(_remedy(netdev, down, is_infiniband=is_infiniband),),
        unpriced="it costs all that the guests of these VFs would carry",
    )


def _remedy(netdev: str, down: Sequence[VfSettings], *, is_infiniband: bool) -> Remedy:
    is_plain = named_plainly(netdev)
    commands = tuple(
        Command(argv=("ip", "link", "set", "dev", netdev, "vf", str(vf.index), "state", "auto"))
        for vf in down[:MOST_SHOWN]
    )
    return Remedy(
        text=GUIDS.format(netdev)
        if is_infiniband
        else "let these VFs follow the port's link, unless they were disabled on purpose",
        commands=commands if is_plain else (),
        by_hand=ByHand.NO_STEP if is_plain else ByHand.NO_NAME,
    )


def _is(vf: VfSettings, state: str) -> bool:
    return isinstance(vf.link_state, Known) and vf.link_state.value == state


def _some(vfs: Sequence[VfSettings]) -> str:
    shown = ", ".join(str(vf.index) for vf in vfs[:MOST_SHOWN])
    more = f" and {len(vfs) - MOST_SHOWN} more" if len(vfs) > MOST_SHOWN else ""
    return f"VF {shown}{more}"


RULE = PortRule(
    slug="sriov.vf_without_link",
    title="VF whose link the host holds down",
    why="A host sets the link of each VF: it follows the port (auto), or is always up or down. Of "
    "InfiniBand the card starts each VF with its link down and without GUIDs: without a port "
    "GUID the subnet manager gives it no address. Ethernet's settings (trust, spoof check, VLAN) "
    "do not matter there.",
    source="https://docs.nvidia.com/networking/display/mlnxofedv24100700/"
    "Single+Root+IO+Virtualization+(SR-IOV) (InfiniBand: policy, node and port GUID); "
    "drivers/infiniband/hw/mlx5/ib_virt.c; ip-link(8), vf state, node_guid, port_guid",
    check=_check,
)
