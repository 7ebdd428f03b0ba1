"""Forwarders on a host that SSH goes to: testpmd, l3fwd, or a program of the user's own."""

import shlex
from collections.abc import Mapping

from wirespeed.host.clock import Deadline, sleep_s
from wirespeed.measure.bench.dpdk_dut import DpdkDut
from wirespeed.measure.bench.dpdk_process import DpdkProcess
from wirespeed.measure.bench.dut import Dut, DutCounters, DutDescription, Expect
from wirespeed.measure.bench.eal_side import EalSide
from wirespeed.measure.bench.l3fwd import FORWARDING, LINK_S, START_S, WAITING, rules_of
from wirespeed.measure.bench.l3fwd_build import build_l3fwd
from wirespeed.measure.bench.program_host import FarHost
from wirespeed.measure.bench.telemetry import Telemetry
from wirespeed.measure.bench.testpmd import PROGRAM, USUAL_FRAME_BYTES, Ports, Testpmd
from wirespeed.measure.bench.two_hosts_bed import End
from wirespeed.model.error import MeasurementError
from wirespeed.model.frozen import Frozen

PREFIX = "wirespeed-dut"
EAL = "{eal}"
RULES = ("ipv4", "ipv6")
"""Files of rules, in the folder of l3fwd."""
_UP_S = 60.0
_POLL_S = 0.5


class FarDut(Frozen):
    """What is to be started."""

    forwarder: str
    """`testpmd-MODE`, `l3fwd-LOOKUP`, or `command`."""
    command: str | None = None
    expect: Expect | None = None
    """Of `command`."""
    environment: Mapping[str, str] = {}
    realtime_priority: int | None = None
    ports: Ports = Ports()
    burst: int = 32
    flows: int = 1
    ways: tuple[int, ...] = (0,)
    """The port that each of the tester's streams is to leave by."""


def start_far_dut(place: FarHost, wanted: FarDut, end: End) -> Dut:
    """Start it on its host. Raises InputError, MeasurementError, HostError."""
    kind, _, mode = wanted.forwarder.partition("-")
    program = next(iter(shlex.split(wanted.command or "")), "")
    if kind == "testpmd":
        program = place.program(PROGRAM)
    elif kind == "l3fwd":
        program = place.program("l3fwd", ours=str(build_l3fwd(burst=wanted.burst)))
    side = place.side(
        end.devices,
        prefix=PREFIX,
        memory_mib=end.memory_mib,
        control_cpu=end.control_cpu,
        worker_cpus=end.worker_cpus,
        environment=wanted.environment,
    )
    if wanted.realtime_priority is not None:
        first = ("chrt", "--fifo", str(wanted.realtime_priority))
        side = side.model_copy(update={"inside": (*side.inside, *first)})
    compiler = place.compiler(program)
    dut = _start(kind, mode, program, side, place, wanted)
    dut.tell(*compiler)
    return dut


def _start(
    kind: str, mode: str, program: str, side: EalSide, place: FarHost, wanted: FarDut
) -> "Testpmd | FarL3fwd | FarCommand":
    telemetry = place.telemetry(side)
    if kind == "testpmd":
        return Testpmd(
            side,
            mode,
            ports=wanted.ports,
            burst=wanted.burst,
            program=program,
            telemetry=telemetry,
        )
    if kind == "l3fwd":
        rules = rules_of(mode, wanted.flows, *wanted.ways)
        place.send(dict(zip(RULES, rules, strict=True)))
        return FarL3fwd(program, side, mode, wanted, telemetry)
    return FarCommand(side, wanted, telemetry)


class FarL3fwd(DpdkDut):
    """See `Dut`, and `L3fwd`. Each stream of the tester leaves by the port of its routes."""

    def __init__(
        self, program: str, side: EalSide, lookup: str, wanted: FarDut, telemetry: Telemetry
    ) -> None:
        rules = [f"{side.runtime_folder}/{name}" for name in RULES]
        argv = [program, *side.arguments(), *l3fwd_options(side, lookup, wanted.ports, rules)]
        super().__init__(DpdkProcess(argv, side, quit_line=None, telemetry=telemetry))
        self._forwarding, self._ports = False, wanted.ports.count
        try:
            self._process.read_until(WAITING, 2 * START_S)
            version = self._process.telemetry.greeting().version
        except BaseException:
            self.close()
            raise
        self._description = DutDescription(
            name=wanted.forwarder,
            version=version,
            command_line=self._process.command_line,
            expect="routed",
            cpu=None,
            details=(
                ("device", ", ".join(side.devices)),
                ("queues", f"{wanted.ports.queues} rx"),
                ("burst", str(wanted.burst)),
                ("built from", "the distribution's example source, checksum offload not demanded"),
            ),
        )

    def start_trial(self) -> None:
        """Wait until its links are up and it forwards; it does so from then on."""
        if not self._forwarding:
            # It gives a link 9 s and forwards without it then (check_all_ports_link_status).
            for port in range(self._ports):
                self._process.await_link(LINK_S, port)
            self._process.read_until(FORWARDING, LINK_S)
            self._forwarding = True

    def end_trial(self) -> None:
        """Do nothing but see that it is still there: it cannot be stopped."""
        self._process.require_alive()

    def read(self) -> DutCounters:
        """Read its ports and its thread's CPU time; it counts neither drops nor cycles."""
        return self._process.read()


def l3fwd_options(side: EalSide, lookup: str, ports: Ports, rules: list[str]) -> list[str]:
    """Give lcores, and what stands after `--`: each queue has one lcore, dealt in turn."""
    cpus = side.worker_cpus
    queues = [(port, queue) for port in range(ports.count) for queue in range(ports.queues)]
    config = ",".join(
        f"({port},{queue},{number % len(cpus)})" for number, (port, queue) in enumerate(queues)
    )
    rings = [f"--rx-queue-size={ports.rx_descriptors}"] if ports.rx_descriptors else []
    rings += [f"--tx-queue-size={ports.tx_descriptors}"] if ports.tx_descriptors else []
    longer = ports.frame_bytes_max > USUAL_FRAME_BYTES
    return [
        f"--lcores={','.join(f'{lcore}@{cpu}' for lcore, cpu in enumerate(cpus))}",
        "--",
        "-p",
        hex((1 << ports.count) - 1),
        "-P",
        f"--config={config}",
        "--parse-ptype",
        "-L" if lookup == "lpm" else "-E",
        f"--rule_ipv4={rules[0]}",
        f"--rule_ipv6={rules[1]}",
        *rings,
        *([f"--max-pkt-len={ports.frame_bytes_max}"] if longer else []),
        *(f"--eth-dest={port},{mac}" for port, mac in enumerate(ports.peer_macs)),
    ]


class FarCommand(DpdkDut):
    """See `Dut`: a DPDK program of the user's own. It forwards from its start until it is ended."""

    def __init__(self, side: EalSide, wanted: FarDut, telemetry: Telemetry) -> None:
        words = shlex.split(wanted.command or "")
        eal = [*side.arguments(), f"--lcores={side.lcores()}"]
        argv = [one for word in words for one in (eal if word == EAL else [word])]
        super().__init__(DpdkProcess(argv, side, quit_line=None, telemetry=telemetry))
        try:
            version = self._await_up()
        except BaseException:
            self.close()
            raise
        self._description = DutDescription(
            name=wanted.forwarder,
            version=version,
            command_line=self._process.command_line,
            expect=wanted.expect or "as-sent",
            cpu=None,
            details=(("device", ", ".join(side.devices)), ("lcores", side.lcores())),
        )

    def start_trial(self) -> None:
        """Wait until its links are up."""
        for port in self._process.telemetry.ports():
            self._process.await_link(_UP_S, port)

    def end_trial(self) -> None:
        """Do nothing but see that it is still there: it cannot be stopped."""
        self._process.require_alive()

    def read(self) -> DutCounters:
        """Read its ports and its thread's CPU time."""
        return self._process.read()

    def _await_up(self) -> str:
        """Wait for its telemetry, which any DPDK program has; give its version."""
        deadline = Deadline(_UP_S)
        while True:
            self._process.require_alive()
            try:
                version = self._process.telemetry.greeting().version
                if self._process.telemetry.ports():
                    return version
            except MeasurementError as error:
                if deadline.expired or error.what != "telemetry.failed":
                    raise
            sleep_s(_POLL_S)
