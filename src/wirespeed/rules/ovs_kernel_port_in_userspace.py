"""A netdev of the kernel in a bridge of the userspace datapath of Open vSwitch."""

from collections.abc import Iterator

from wirespeed.facts.ovs import Ovs, OvsBridge
from wirespeed.facts.workload import SOURCE, Thread, Workload
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Absent, Known, known
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule
from wirespeed.model.symptom import Symptom

KERNEL_KINDS = frozenset({"", "system", "tap"})
"""Not `internal`: each bridge has one, and the host's own traffic alone goes by it."""
DAEMON = "ovs-vswitchd"
FULL = 0.9
"""Part of one CPU: what is left at that load is lost to bursts."""
MOST_SHOWN = 4


def userspace_bridges(ovs: Ovs) -> list[OvsBridge]:
    """Give the bridges of the userspace datapath.

    Raises DoesNotApplyError where there are none, CannotTellError.
    """
    if isinstance(ovs.other_config, Absent):
        raise DoesNotApplyError(ovs.other_config.reason)
    known(ovs.other_config, "Open vSwitch's ports")
    bridges = [one for one in ovs.bridges.values() if one.datapath_type == "netdev"]
    if not bridges:
        raise DoesNotApplyError("no bridge of Open vSwitch has the userspace datapath")
    return bridges


def _check(exam: HostExam) -> Iterator[Finding]:
    ovs = exam.host[Ovs]
    for bridge in userspace_bridges(ovs):
        if names := _kernel_ports(ovs, bridge):
            yield _found(exam, bridge, names)


def _found(exam: HostExam, bridge: OvsBridge, names: list[str]) -> Finding:
    main = _main_thread(exam)
    share = main.cpu_share if main is not None else None
    busy = isinstance(share, Known) and share.value >= FULL
    shown = ", ".join(names[:MOST_SHOWN])
    more = f" and {len(names) - MOST_SHOWN} more" if len(names) > MOST_SHOWN else ""
    evidence = [
        Evidence(
            found=f"{shown}{more}: of the kernel, in {bridge.name} with datapath_type netdev",
            source="ovs-vsctl --columns=name,type list Interface",
        )
    ]
    if isinstance(share, Known):
        text = f"the main thread of {DAEMON} ran {100 * share.value:.0f} % of the time"
        evidence.append(Evidence(found=text, source=SOURCE))
    return exam.finding(
        Severity.FAULT if busy else Severity.NOTE,
        tuple(evidence),
        so=f"the main thread of {DAEMON} copies each frame of these ports to and from the kernel, "
        "beside all its other work; more polling threads do not help them"
        + ("; it has no time left" if busy else ""),
        where=bridge.name,
        remedies=(
            Remedy(
                text="connect guests by vhost-user (dpdkvhostuserclient) and cards by DPDK "
                "(dpdk), a container by AF_XDP (afxdp); leave to the kernel's ports what is to "
                "carry little",
                by_hand=ByHand.FIND_FIRST,
            ),
        ),
        unpriced="what a frame costs that thread was not measured: see its load while traffic "
        "runs (`top -H -p $(pidof ovs-vswitchd)`)",
    )


def _kernel_ports(ovs: Ovs, bridge: OvsBridge) -> list[str]:
    return [
        one.name
        for one in ovs.interfaces_in(bridge)
        if one.name != bridge.name and one.kind in KERNEL_KINDS and not isinstance(one.error, Known)
    ]


def _main_thread(exam: HostExam) -> Thread | None:
    threads = exam.host[Workload].threads
    every = threads.value if isinstance(threads, Known) else ()
    return next((t for t in every if t.process == DAEMON and t.tid == t.pid), None)


RULE = HostRule(
    slug="ovs.kernel_port_in_userspace",
    title="Ports of the kernel in a userspace bridge of Open vSwitch",
    why="Polling threads serve ports of DPDK and AF_XDP. A tap, a veth or a card that the kernel "
    "drives has no queue that they could poll: Open vSwitch reads and writes it by system calls "
    "in its main thread, frame by frame, which also keeps flows, statistics and the database.",
    source="openvswitch lib/dpif-netdev.c (dpif_netdev_run, netdev_is_pmd); "
    "https://github.com/openvswitch/ovs-issues/issues/274",
    explains=(Symptom.THREAD_FULL, Symptom.LOW_FIGURE),
    check=_check,
)
