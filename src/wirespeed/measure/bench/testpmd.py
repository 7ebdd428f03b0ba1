"""DPDK's testpmd as the DUT: one port, one forwarding core, frames go back where they came from.

                           start_trial: `start`
    starting --> stopped ---------------------------> forwarding
                         <---------------------------
                           end_trial: `stop`

Its forwarding is stopped between trials: a memif end that still polls crashes now and then when
the other end goes away. testpmd zeroes its forwarding counters at each `start`, so what the stopped
runs counted is added up here.
"""

import re
from collections.abc import Sequence

from wirespeed.host.clock import Deadline
from wirespeed.measure.bench.dpdk_dut import DpdkDut
from wirespeed.measure.bench.dpdk_process import DpdkProcess, explain, require_program
from wirespeed.measure.bench.dut import DutCounters, DutDescription, Expect
from wirespeed.measure.bench.eal_side import EalSide
from wirespeed.measure.bench.telemetry import Telemetry
from wirespeed.measure.bench.testpmd_output import Forwarding, parse_forwarding
from wirespeed.model.error import InputError, MeasurementError
from wirespeed.model.frozen import Frozen

PROGRAM = "dpdk-testpmd"
PACKAGE = "dpdk-dev"
FORWARD_MODES: dict[str, Expect] = {
    "io": "as-sent",
    "mac": "mac",
    "macswap": "macswap",
    "5tswap": "5tswap",
}
"""Forward mode to what it does to a frame."""
USUAL_FRAME_BYTES = 1518
"""With FCS: what DPDK's ports take where no MTU is asked for."""
MBUFS = 32768
"""Bounds its memory: 4 KiB each without hugepages."""
_RING = 1024
"""Descriptors of testpmd's own (RX_DESC_DEFAULT, TX_DESC_DEFAULT of its testpmd.h)."""
_OF_CORE = 512
"""Mbufs that lie in the cache of a core: 250 and half as many again."""
_SPARE = 8192
_HEADROOM, _OF_DRIVER, _BUFFER_STEP = 128, 64, 1024
"""Bytes of an mbuf before the frame; what drivers count beside it; what igb and ixgbe round a
buffer down to (SRRCTL.BSIZEPACKET), as i40e and ice do to 128: less, and a frame takes two."""
_START_S = 30.0
_COMMAND_S = 10.0
_MARK_S = 1.0
_LINK_S = 10.0


class Ports(Frozen):
    """How many ports it has, and what each of them is made of."""

    count: int = 1
    queues: int = 1
    """Both ways."""
    rx_descriptors: int | None = None
    tx_descriptors: int | None = None
    """Of each queue; None: testpmd's own."""
    same: bool = False
    """Frames go back out of the port that they came in by, however many there are."""
    peer_macs: tuple[str, ...] = ()
    """What mode `mac` writes as destination, by port; none: testpmd's own."""
    frame_bytes_max: int = USUAL_FRAME_BYTES
    """With FCS. A port drops what is longer than it was set up for."""

    def mbufs(self, cores: int) -> int:
        """Give how many its pool must hold, so that rings which are all full leave some over."""
        rings = (self.rx_descriptors or _RING) + (self.tx_descriptors or _RING)
        return max(MBUFS, self.count * self.queues * rings + cores * _OF_CORE + _SPARE)

    def options(self) -> list[str]:
        """Give them as testpmd takes them."""
        found = [f"--eth-peer={port},{mac}" for port, mac in enumerate(self.peer_macs)]
        if self.queues > 1:
            found += [f"--rxq={self.queues}", f"--txq={self.queues}"]
        if self.rx_descriptors is not None:
            found.append(f"--rxd={self.rx_descriptors}")
        if self.tx_descriptors is not None:
            found.append(f"--txd={self.tx_descriptors}")
        if self.same and self.count > 1:
            found.append("--port-topology=loop")
        if self.frame_bytes_max > USUAL_FRAME_BYTES:
            buffer = -(-(self.frame_bytes_max + _OF_DRIVER) // _BUFFER_STEP) * _BUFFER_STEP
            found.append(f"--max-pkt-len={self.frame_bytes_max}")
            found.append(f"--mbuf-size={buffer + _HEADROOM}")
        return found


class Totals(Frozen):
    """What its forwarding counted since it was started, over all runs from `start` to `stop`."""

    tx_dropped: int = 0
    busy_cycles: int = 0
    busy_packets: int = 0

    def plus(self, run: Forwarding) -> "Totals":
        """Add one run. No packets, no cycles: testpmd then prints no line of them."""
        return Totals(
            tx_dropped=self.tx_dropped + run.tx_dropped,
            busy_cycles=self.busy_cycles + (run.busy_cycles or 0),
            busy_packets=self.busy_packets + (run.busy_packets or 0),
        )


def argv(
    side: EalSide,
    forward_mode: str,
    *,
    ports: Ports,
    mbufs: int,
    burst: int,
    program: str = PROGRAM,
) -> list[str]:
    """Its command line, without what runs it."""
    options = [
        "-i",
        f"--nb-cores={len(side.worker_cpus)}",
        f"--forward-mode={forward_mode}",
        f"--total-num-mbufs={mbufs}",
        f"--burst={burst}",
        # The other end may come later than testpmd's own patience; `start_trial` waits for it.
        "--disable-link-check",
        # Locking would touch all of the tester's memory as well, which vhost maps: 1.5 s, 1.2 GB.
        "--no-mlockall",
    ]
    options += ports.options()
    return [program, *side.arguments(), f"--lcores={side.lcores()}", "--", *options]


class Testpmd(DpdkDut):
    """See `Dut`. Starts when made; use `close` or the `with` statement.

    `ports` has what mode `mac` writes as destination: the tester's own address. `program` and
    `telemetry` are those of another host, where `side` goes to one.
    """

    __test__ = False  # pytest takes every Test… for a test

    def __init__(
        self,
        side: EalSide,
        forward_mode: str,
        *,
        ports: Ports | None = None,
        burst: int = 32,
        program: str | None = None,
        telemetry: Telemetry | None = None,
    ) -> None:
        if forward_mode not in FORWARD_MODES:
            raise InputError(
                "dut.unknown_mode",
                where=f"testpmd {forward_mode}",
                found="no such forward mode",
                next=f"one of {', '.join(FORWARD_MODES)}",
            )
        if program is None:
            require_program(PROGRAM, PACKAGE)
        self._ports = ports or Ports()
        command = argv(
            side,
            forward_mode,
            ports=self._ports,
            mbufs=self._ports.mbufs(len(side.worker_cpus) + 1),
            burst=burst,
            program=program or PROGRAM,
        )
        super().__init__(DpdkProcess(command, side, quit_line="quit", telemetry=telemetry))
        self._started = re.compile(rf"packet forwarding - ports={self._ports.count} - ")
        self._marks = 0
        self._forwarding = False
        self._done = Totals()
        try:
            self._command("set record-core-cycles on", _START_S)
            self._require_ports()
            self._description = self._describe(forward_mode)
        except BaseException:
            self.close()
            raise

    def start_trial(self) -> None:
        """Throw away what lies in the port's queue and forward from now on."""
        for port in range(self._ports.count):
            self._process.await_link(_LINK_S, port)
        if self._forwarding:
            return
        lines = self._command("start")
        if not any(self._started.search(line) for line in lines):
            raise self._contradiction("start", lines)
        self._forwarding = True

    def end_trial(self) -> None:
        """Stop forwarding and add up what was counted since `start_trial`."""
        self._process.require_alive()
        if not self._forwarding:
            return
        run = self._parsed("stop")
        self._forwarding = False
        self._done = self._done.plus(run)

    def read(self) -> DutCounters:
        """Read the port, the forwarding engine's counts and its thread's CPU time."""
        counters = self._process.read()
        total = self._done
        if self._forwarding:
            total = total.plus(self._parsed("show fwd stats all"))
        return counters.model_copy(
            update={
                "forward_tx_dropped": total.tx_dropped,
                "busy_cycles": total.busy_cycles,
                "busy_packets": total.busy_packets,
            }
        )

    def _require_ports(self) -> None:
        """Raise InputError `dut.device` where no driver took a port: testpmd starts without it."""
        wanted, have = self._ports.count, len(self._process.telemetry.ports())
        if have < wanted:
            raise InputError(
                "dut.device",
                where=", ".join(self._process.side.devices),
                found=f"testpmd has {have} of {wanted} ports; it last said:\n"
                f"{self._process.child.errors_tail()}",
                so="frames would have no way through",
                next="see that a driver of DPDK has each port: vfio-pci for most cards, the "
                "kernel's own for a ConnectX",
            )

    def _command(self, line: str, timeout_s: float = _COMMAND_S) -> list[str]:
        """Send a command and give what it printed.

        testpmd takes one command after another and echoes what it reads, so the echo of a comment
        marks the end of what stands before it. Another thread of it (a link event) may print into
        that echo, so it is asked for again every second.
        """
        child = self._process.child
        self._marks += 1
        mark = f"# wirespeed {self._marks}"
        deadline = Deadline(timeout_s)
        child.write_line(line)
        lines: list[str] = []
        while True:
            child.write_line(mark)
            patience = Deadline(min(_MARK_S, deadline.remaining_s))
            try:
                while not (lines and lines[-1].endswith(mark)):
                    lines.append(child.read_line(patience.remaining_s))
            except MeasurementError as error:
                if error.what != "dut.silent" or deadline.expired:
                    raise explain(error) from None
            else:
                return lines

    def _parsed(self, line: str) -> Forwarding:
        lines = self._command(line)
        try:
            return parse_forwarding(lines)
        except ValueError as error:
            raise self._contradiction(line, lines, str(error)) from None

    def _contradiction(self, line: str, lines: Sequence[str], why: str = "") -> MeasurementError:
        return MeasurementError(
            "dut.refused",
            where=f"testpmd `{line}`",
            found="\n".join([*([why] if why else []), *lines[-8:]]),
            so="whether testpmd forwards is not known",
            next="fix what these lines of testpmd name, then run the same command again",
        )

    def _rings(self) -> tuple[tuple[str, str], ...]:
        rx, tx = self._ports.rx_descriptors, self._ports.tx_descriptors
        return () if rx is None else (("descriptors", f"{rx} rx, {tx} tx"),)

    def _describe(self, forward_mode: str) -> DutDescription:
        side = self._process.side
        return DutDescription(
            name=f"testpmd-{forward_mode}",
            version=self._process.telemetry.greeting().version,
            command_line=self._process.command_line,
            expect=FORWARD_MODES[forward_mode],
            cpu=None if side.is_far else side.worker_cpus[0],
            details=(
                ("device", ", ".join(side.devices)),
                ("queues", f"{self._ports.queues} rx, {self._ports.queues} tx"),
                *self._rings(),
                ("lcores", side.lcores()),
                ("memory", "hugepages" if side.hugepages else "no hugepages"),
                *(() if side.is_far else (("priority", self._process.priority),)),
            ),
        )
