"""Open vSwitch with DPDK as the DUT: one port, one polling thread, frames go back as they came.

    ovs-dpdk         tester's port -> bridge -> tester's port
    ovs-dpdk-vxlan   tester's port -> tenant's bridge at one end -> VXLAN over the underlay's two
                     bridges -> tenant's bridge at the other end -> tester's port

Through the tunnel, each frame is given its outer headers once and loses them once, on the same
core, with two lookups. It polls from its start to its end: nothing is to be started for a trial.
"""

from typing import Literal

from wirespeed.host.closing import Closing
from wirespeed.measure.bench.dut import DutCounters, DutDescription
from wirespeed.measure.bench.eal_side import EalSide
from wirespeed.measure.bench.ovs_pmd_stats import PmdStats, parse_pmd_stats
from wirespeed.measure.bench.ovs_private import DATAPATH, PrivateOvs
from wirespeed.measure.bench.ovs_programs import find_ovs
from wirespeed.model.error import InputError, MeasurementError

Mode = Literal["l2", "vxlan"]
OVS_DUTS: dict[str, Mode] = {"ovs-dpdk": "l2", "ovs-dpdk-vxlan": "vxlan"}
"""Name of the DUT to the path through it."""
PORT = "tester"
VNI = 100
ENDS = {
    "a": ("203.0.113.1", "02:00:00:00:0a:01"),
    "b": ("203.0.113.2", "02:00:00:00:0b:01"),
}
"""Underlay of the switch alone: RFC 5737's documentation addresses, which no frame carries out."""
_LINK_S = 10.0
_STATS = "dpif-netdev/pmd-stats-show"
_HEADERS_BYTES = 18
"""Ethernet's header and FCS, which an MTU does not count."""
_MIN_MTU = 1500


class OvsDpdk(Closing):
    """See `Dut`. Starts when made; use `close` or the `with` statement."""

    def __init__(self, side: EalSide, mode: Mode, *, frame_bytes_max: int = 1518) -> None:
        (device,) = side.devices
        if device.startswith("net_memif"):
            raise InputError(
                "dut.device",
                where=device,
                found="Open vSwitch needs a transmit queue per core, and the tester's memif has "
                "one",
                so="the two ends of the memif would not agree, and its link would stay down",
                next="use the wire vhost",
            )
        self._side = side
        self._ovs = PrivateOvs(find_ovs(), side)
        self._process = self._ovs.process
        try:
            self._add_port(device, max(_MIN_MTU, frame_bytes_max - _HEADERS_BYTES))
            if mode == "l2":
                self._ovs.add_flow("br-a", f"in_port={PORT},actions=IN_PORT")
            else:
                self._add_tunnel()
            self._description = self._describe(mode)
        except BaseException:
            self.close()
            raise

    @property
    def description(self) -> DutDescription:
        """Give name, version and command line."""
        return self._description

    def start_trial(self) -> None:
        """Wait until its link is up; it forwards from then on."""
        self._process.await_link(_LINK_S)

    def end_trial(self) -> None:
        """Do nothing but see that it is still there: it cannot be stopped."""
        self._process.require_alive()

    def read(self) -> DutCounters:
        """Read the port, the polling thread's cycles and its CPU time."""
        counters = self._process.read()
        stats = self.polling()
        return counters.model_copy(
            update={"busy_cycles": stats.processing_cycles, "busy_packets": stats.packets}
        )

    def polling(self) -> PmdStats:
        """Read what the polling thread did, cumulative."""
        text = self._ovs.appctl(_STATS)
        try:
            return parse_pmd_stats(text, self._side.worker_cpus[0])
        except ValueError as error:
            raise MeasurementError(
                "dut.refused",
                where=_STATS,
                found=str(error),
                next="measure with the Open vSwitch of Debian 12, 3.1: wirespeed was tested with "
                "it",
            ) from None

    def alive(self) -> bool:
        """Tell whether the switch runs."""
        return self._process.child.alive()

    def death(self) -> MeasurementError:
        """Make the error that says how it ended."""
        return self._process.child.death()

    def close(self) -> None:
        """End the switch and its database; again: a no-op."""
        self._ovs.close()

    def _add_bridge(self, name: str, *more: str) -> None:
        self._ovs.vsctl(
            *("add-br", name, "--", "set", "Bridge", name, f"datapath_type={DATAPATH}"),
            # It forwards by the flows that it is given, and asks nobody else.
            *("fail_mode=secure", *more),
        )

    def _add_port(self, device: str, mtu: int) -> None:
        self._add_bridge("br-a")
        self._ovs.vsctl(
            *("add-port", "br-a", PORT, "--", "set", "Interface", PORT, "type=dpdk"),
            *(f'options:dpdk-devargs="{device}"', f"mtu_request={mtu}"),
        )
        self._ovs.require_port(PORT)

    def _add_tunnel(self) -> None:
        self._add_bridge("br-b")
        for end, (_, mac) in ENDS.items():
            self._add_bridge(f"under-{end}", f'other_config:hwaddr="{mac}"')
        for one, other in (("a", "b"), ("b", "a")):
            self._join(f"under-{one}", f"wire-{one}", f"wire-{other}")
            self._join(f"br-{one}", f"back-{one}", f"back-{other}")
            self._ovs.vsctl(
                *("add-port", f"br-{one}", f"vxlan-{one}", "--"),
                *("set", "Interface", f"vxlan-{one}", "type=vxlan", f"options:key={VNI}"),
                f"options:remote_ip={ENDS[other][0]}",
            )
        for one, other in (("a", "b"), ("b", "a")):
            bridge, (address, mac) = f"under-{one}", ENDS[other]
            self._ovs.appctl("netdev-dummy/ip4addr", bridge, f"{ENDS[one][0]}/24")
            self._ovs.appctl("ovs/route/add", f"{address}/32", bridge)
            self._ovs.appctl("tnl/arp/set", bridge, address, mac)
            # Outer frames pass between the bridge's own port, where tunnels begin and end, and
            # the other bridge.
            self._ovs.add_flow(f"under-{one}", f"in_port=LOCAL,actions=output:wire-{one}")
            self._ovs.add_flow(f"under-{one}", f"in_port=wire-{one},actions=LOCAL")
        self._ovs.add_flow("br-a", f"in_port={PORT},actions=output:vxlan-a")
        self._ovs.add_flow("br-b", "in_port=vxlan-b,actions=output:back-b")
        self._ovs.add_flow("br-a", f"in_port=back-a,actions=output:{PORT}")

    def _join(self, bridge: str, port: str, peer: str) -> None:
        self._ovs.vsctl(
            *("add-port", bridge, port, "--", "set", "Interface", port),
            *("type=patch", f"options:peer={peer}"),
        )

    def _describe(self, mode: Mode) -> DutDescription:
        side = self._side
        switch = self._ovs.appctl("version").splitlines()[0].rpartition(" ")[2]
        through = {
            "l2": "one bridge, one flow",
            "vxlan": f"VXLAN {VNI}: outer headers added once and taken off once",
        }
        return DutDescription(
            name="ovs-dpdk" if mode == "l2" else f"ovs-dpdk-{mode}",
            version=f"Open vSwitch {switch}, {self._process.telemetry.greeting().version}",
            command_line=self._process.command_line,
            expect="as-sent",
            cpu=side.worker_cpus[0],
            details=(
                ("device", ", ".join(side.devices)),
                ("queues", "1 rx, 1 tx"),
                ("polls on CPU", str(side.worker_cpus[0])),
                ("memory", "hugepages" if side.hugepages else "no hugepages"),
                ("priority", self._process.priority),
                ("path", through[mode]),
                ("bridges' own ports", "stand-ins: no frame of a trial passes one"),
            ),
        )
