"""The kernel's own bridge as the DUT, plain or through its VXLAN: two hosts that are namespaces.

    near                                          far
    t0 -- p0 [bridge] vx ~~ u0 -- (underlay) -- u1 ~~ vx [bridge] p1 -- t1

The tester sends into t0 and hears at t1, both in `near`, by AF_PACKET. All that lies between runs
in soft interrupts, which receive packet steering puts on one CPU: a core that does nothing else at
overload. It is what Open vSwitch's `ovs-tc` costs a host whose card takes no flows, but for the
lookup: a bridge's own is in its place.

The namespaces belong to children of ours that do nothing, and go with them. It takes root: the
kernel lets nobody else steer packets.
"""

import re
from typing import Literal

from wirespeed.host.closing import Closing
from wirespeed.host.local import LocalRunner
from wirespeed.host.process import Child
from wirespeed.host.procfs import kernel_release
from wirespeed.measure.bench.dut import DutCounters, DutDescription
from wirespeed.model.error import InputError, MeasurementError
from wirespeed.model.spec.guest_networks import TUNNEL_BYTES
from wirespeed.model.trial import PortCounters

Mode = Literal["bridge", "vxlan"]
KERNEL_DUTS: dict[str, Mode] = {"kernel-bridge": "bridge", "kernel-vxlan": "vxlan"}
"""Name of the DUT to the path through it."""
PORTS = ("t0", "t1")
"""The tester's ends, in the namespace that `inside` enters."""
MAX_FRAME_BYTES = 1518
"""As much as a slot of DPDK's af_packet ring holds."""
VNI = 100
NEAR, FAR = "203.0.113.1", "203.0.113.2"
"""RFC 5737's documentation addresses, which no frame carries out."""
HOLD = """\
mount -t sysfs sysfs /sys
test ! -w /proc/sys/net/ipv6/conf/default/disable_ipv6 ||
    echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6
echo ready
exec cat
"""
"""IPv6 would send frames of its own."""
HEXADECIMAL = re.compile(r"[0-9a-f]{1,16}")
_START_S = 10.0
_DROPPED, _CPU = 1, 12
"""Fields of /proc/net/softnet_stat: dropped as the backlog was full, and the CPU (from 5.10 on)."""


class KernelPath(Closing):
    """See `Dut`. Starts when made; use `close` or the `with` statement."""

    def __init__(self, mode: Mode, *, cpu: int, frame_bytes_max: int = MAX_FRAME_BYTES) -> None:
        if frame_bytes_max > MAX_FRAME_BYTES:
            raise InputError(
                "dut.device",
                where=f"kernel-{mode}",
                found=f"frames of {frame_bytes_max} bytes",
                so=f"the tester's port there takes frames of up to {MAX_FRAME_BYTES} bytes",
                next="give --frame-bytes of 1518 at most",
            )
        self._cpu, self._runner = cpu, LocalRunner()
        self._holders: list[Child] = []
        try:
            self._near, self._far = self._hold(), self._hold()
            self._build(mode)
        except BaseException:
            self.close()
            raise
        through = {
            "bridge": "two bridges",
            "vxlan": f"two bridges and VXLAN {VNI}: outer headers added once and taken off once",
        }
        self._description = DutDescription(
            name=f"kernel-{mode}",
            version=f"Linux {kernel_release()}",
            command_line="",
            expect="as-sent",
            cpu=cpu,
            details=(("path", through[mode]), ("packets steered to CPU", str(cpu))),
        )

    @property
    def description(self) -> DutDescription:
        """Give name, version and path."""
        return self._description

    @property
    def inside(self) -> tuple[str, ...]:
        """Words that a command begins with to run where the tester's ends are."""
        return _enter(self._near)

    def start_trial(self) -> None:
        """Do nothing: it forwards from its start to its end."""

    def end_trial(self) -> None:
        """Do nothing: it cannot be stopped."""

    def read(self) -> DutCounters:
        """Read both ports, and what its CPU dropped as its backlog was full."""
        text = self._run(self._near, "cat", "/proc/net/softnet_stat")
        return DutCounters(
            ports=(
                self._port(0, self._near, "p0", backlog_dropped(text, self._cpu)),
                self._port(1, self._far, "p1", 0),
            )
        )

    def alive(self) -> bool:
        """Tell whether the namespaces are held."""
        return all(holder.alive() for holder in self._holders)

    def death(self) -> MeasurementError:
        """Make the error that says how a holder ended."""
        return next(holder for holder in self._holders if not holder.alive()).death()

    def close(self) -> None:
        """Let the namespaces go, with all that is in them; again: a no-op."""
        while self._holders:
            self._holders.pop().close()

    def _hold(self) -> Child:
        child = Child(["unshare", "--net", "--mount", "sh", "-ec", HOLD], role="dut")
        self._holders.append(child)
        try:
            child.read_line(_START_S)
        except MeasurementError as error:
            raise InputError(
                "dut.needs_root",
                where="unshare --net --mount",
                found=child.errors_tail() or error.found,
                so="wirespeed cannot build the path in its own namespaces",
                next="run it as root",
            ) from None
        return child

    def _build(self, mode: Mode) -> None:
        mtu = 1500 + (TUNNEL_BYTES[4] if mode == "vxlan" else 0)
        far = self._far.pid
        near_lines = [
            "link add t0 type veth peer name p0",
            f"link add t1 type veth peer name p1 netns {far}",
            f"link add u0 type veth peer name u1 netns {far}",
            *_end("p0", "u0", NEAR, FAR, mode, mtu),
            *(f"link set {port} up" for port in PORTS),
        ]
        for holder, lines in (
            (self._near, near_lines),
            (self._far, list(_end("p1", "u1", FAR, NEAR, mode, mtu))),
        ):
            self._run(holder, "ip", "-batch", "-", stdin="\n".join(lines) + "\n")
        for holder, netdev in ((self._near, "p0"), (self._far, "u1")):
            path = f"/sys/class/net/{netdev}/queues/rx-0/rps_cpus"
            self._run(holder, "tee", path, stdin=f"{cpu_mask(self._cpu)}\n")

    def _port(self, number: int, holder: Child, netdev: str, missed: int) -> PortCounters:
        names = ("rx_packets", "tx_packets", "rx_bytes", "tx_bytes", "rx_errors", "tx_errors")
        paths = [f"/sys/class/net/{netdev}/statistics/{name}" for name in names]
        text = self._run(holder, "cat", *paths)
        counts = [int(word) for word in text.split()]
        return PortCounters(
            port=number,
            ipackets=counts[0],
            opackets=counts[1],
            ibytes=counts[2],
            obytes=counts[3],
            imissed=missed,
            ierrors=counts[4],
            oerrors=counts[5],
            rx_nombuf=0,
        )

    def _run(self, holder: Child, *argv: str, stdin: str | None = None) -> str:
        done = self._runner.run((*_enter(holder), *argv), timeout_s=30.0, stdin=stdin)
        if done.returncode != 0:
            raise MeasurementError(
                "dut.refused",
                where=" ".join(argv),
                found=done.errors.strip() or f"exit code {done.returncode}",
                next="if the kind of device is unknown, run `modprobe vxlan` and `modprobe bridge`",
            )
        return done.output


def backlog_dropped(text: str, cpu: int) -> int:
    """Read how many packets a CPU dropped. Raises MeasurementError `dut.refused` without its line.

    The format is the kernel's own, of softnet_seq_show(): words in hexadecimal, a line for each CPU
    that is there, its number among them.
    """
    for line in text.splitlines():
        words = line.split()
        if all(HEXADECIMAL.fullmatch(word) for word in words) and len(words) > _CPU:
            numbers = [int(word, 16) for word in words]
            if numbers[_CPU] == cpu:
                return numbers[_DROPPED]
    raise MeasurementError(
        "dut.refused",
        where="/proc/net/softnet_stat",
        found=f"no line of CPU {cpu}",
        so="the frames that the kernel drops there cannot be counted",
        next="give the DUT another CPU, one that is online",
    )


def cpu_mask(cpu: int) -> str:
    """Write a mask of one CPU as sysfs takes it: groups of 32 bits, a comma between them."""
    groups = ["00000000"] * (cpu // 32)
    return ",".join([f"{1 << cpu % 32:x}", *groups])


def _end(port: str, wire: str, own: str, other: str, mode: Mode, mtu: int) -> tuple[str, ...]:
    """Give one end of the path, in lines of `ip -batch`."""
    uplink = "vx" if mode == "vxlan" else wire
    tunnel = (
        f"address add {own}/24 dev {wire}",
        f"link add vx type vxlan id {VNI} dstport 4789 local {own} remote {other} dev {wire}",
    )
    return (
        "link set lo up",
        # The tester's own stay as they are.
        "link add name bridge0 type bridge mcast_snooping 0",
        f"link set {wire} mtu {mtu} up",
        *(tunnel if mode == "vxlan" else ()),
        f"link set {port} master bridge0 up",
        f"link set {uplink} master bridge0 up",
        "link set bridge0 up",
    )


def _enter(holder: Child) -> tuple[str, ...]:
    return ("nsenter", f"--target={holder.pid}", "--net", "--mount")
