"""A DPDK program that we started: its process, its telemetry, its forwarding thread's CPU time."""

import re
import shlex
from collections.abc import Sequence

from wirespeed.host import procfs
from wirespeed.host.clock import Deadline, sleep_s
from wirespeed.host.files import find_program
from wirespeed.host.process import Child
from wirespeed.measure.bench.dut import DutCounters
from wirespeed.measure.bench.eal_side import EalSide
from wirespeed.measure.bench.telemetry import PortState, Telemetry, socket_path
from wirespeed.model.error import InputError, MeasurementError

_MEMORY_SIGNS = re.compile(
    r"Cannot allocate memory|memory allocation failed|not enough memory|Cannot init mbuf pool"
    r"|Creation of mbuf pool|Couldn't get \S+ hugepages|No (?:free|available) (?:\d+ kB )?hugepages"
    r"|Cannot get hugepage information"
    r"|Not enough memory available|ENOMEM",
    re.IGNORECASE,
)
_DEVICE_SIGNS = re.compile(
    r"No probed ethernet devices|failed to initialize \S+ device|Cannot probe device"
    r"|Failed to hotplug add device|No available port|Failed to attach device"
    r"|unable to parse device|Cannot init EAL: No such device",
    re.IGNORECASE,
)
_WORKER_COMM = re.compile(
    r"^(?:rte-worker-|lcore-worker-|lcore-slave-|dpdk-worker)(\d+)$|^pmd-c\d+/id:"
)
"""rte-worker-1 and lcore-worker-1 in 22.11, dpdk-worker1 from 23.07 on; Open vSwitch names its
own threads: pmd-c01/id:8."""
_LINK_POLL_S = 0.02


class DpdkProcess:
    """Starts `argv` and watches it; the DUT classes say what to start and how to talk to it.

    `EalSide` says where its telemetry is and on which CPU it forwards. `errors` of the program
    are InputError `dut.memory`, `dut.device` or MeasurementError `dut.died`.
    """

    def __init__(
        self,
        argv: Sequence[str],
        side: EalSide,
        *,
        quit_line: str | None,
        telemetry: Telemetry | None = None,
    ) -> None:
        line_buffered = [*side.inside, "stdbuf", "-oL", *argv]
        self.side = side
        self.command_line = shlex.join(argv)
        self.child = Child(
            line_buffered, role="dut", quit_line=quit_line, environment=side.environment
        )
        self.priority = "" if side.is_far else self.child.put_first()
        own = socket_path(side.runtime_folder, side.file_prefix)
        self.telemetry = telemetry or Telemetry(own)
        self._forwarding_tid: int | None = None

    def read_until(self, pattern: re.Pattern[str], timeout_s: float) -> list[str]:
        """Read its output up to a line; what it dies of while starting gets its own error."""
        try:
            return self.child.read_until(pattern, timeout_s)
        except MeasurementError as error:
            raise explain(error) from None

    def await_link(self, timeout_s: float, port: int = 0) -> PortState:
        """Wait until a port has its link. Raises MeasurementError `dut.link_down`."""
        deadline = Deadline(timeout_s)
        while True:
            self.require_alive()
            state = self.telemetry.port_state(port)
            if state.link_up:
                return state
            if deadline.expired:
                raise MeasurementError(
                    "dut.link_down",
                    where=f"{state.device} of {self.side.file_prefix}",
                    found=f"its link is still down after {timeout_s:g} s",
                    so="no frame would come back",
                    next="check that the tester's end of the wire is open",
                )
            sleep_s(_LINK_POLL_S)

    def require_alive(self) -> None:
        """Raise MeasurementError `dut.died` if it is not there any more."""
        if not self.child.alive():
            raise explain(self.child.death())

    def read(self) -> DutCounters:
        """Read ports, CPU time and steal; what only the program can tell is None."""
        self.require_alive()
        if self.side.is_far:
            ports = self.telemetry.counters()
            return DutCounters(
                ports=ports,
                statistics=self.telemetry.statistics,
                far=True,
                **self._far_times(),
            )
        cpu = self.side.worker_cpus[0]
        times = procfs.read_thread_times(self.child.pid, self._forwarding_thread())
        return DutCounters(
            ports=self.telemetry.counters(),
            cpu_run_ns=times.run_ns,
            cpu_wait_ns=times.wait_ns,
            steal_ns=procfs.read_steal_ns(cpu),
            thread=(self.child.pid, self._forwarding_thread()),
        )

    def _far_times(self) -> dict[str, int | None]:
        """Give CPU time and clock of a lone forwarding thread, which came with the counters."""
        found = [t for t in self.telemetry.threads if _WORKER_COMM.match(t.comm)]
        if len(found) != 1:
            return {}
        one = found[0]
        return {"cpu_run_ns": one.run_ns, "cpu_wait_ns": one.wait_ns, "core_hz": one.cpu_hz}

    def _forwarding_thread(self) -> int:
        if self._forwarding_tid is None:
            threads = procfs.read_threads(self.child.pid)
            workers = [t.tid for t in threads if _WORKER_COMM.match(t.comm)]
            # Without workers the main lcore does the work, and its thread is the process itself.
            self._forwarding_tid = workers[0] if workers else self.child.pid
        return self._forwarding_tid


def require_program(program: str, package: str) -> None:
    """Raise InputError `dut.not_installed` naming the Debian package if `program` is not there."""
    if find_program(program) is None:
        raise InputError(
            "dut.not_installed",
            where=program,
            found="no such program in PATH",
            next=f"run `apt-get install {package}`",
        )


def explain(error: MeasurementError) -> MeasurementError | InputError:
    """Turn the death of a DPDK program into a reason that a user can act on, where known."""
    if error.what != "dut.died":
        return error
    if _MEMORY_SIGNS.search(error.found):
        return InputError(
            "dut.memory",
            where=error.where,
            found=error.found,
            so="the DUT did not get the memory that it needs",
            next="free memory or hugepages of its host; for a DUT on another host, raise "
            "`memory_mib` and `hugepages` in the spec, or --memory-mib",
        )
    if _DEVICE_SIGNS.search(error.found):
        return InputError(
            "dut.device",
            where=error.where,
            found=error.found,
            so="the DUT has no port",
            next="check the device string",
        )
    return error
