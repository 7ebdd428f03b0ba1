"""DPDK's telemetry socket: a running DPDK program's own counters, as JSON.

Every DPDK program since 20.05 has one, also without hugepages; so it serves testpmd, l3fwd and any
DUT alike. What is not there is an error: DPDK answers null for a port that does not exist, and a
null must not become zero frames.
"""

from pathlib import Path
from typing import Any

from wirespeed.host.seqpacket import SeqPacket
from wirespeed.model.error import MeasurementError
from wirespeed.model.frozen import Frozen
from wirespeed.model.json_value import read_json, read_record
from wirespeed.model.trial import PortCounters

_GREETING_BYTES = 4096
_COUNTERS = (
    "ipackets",
    "opackets",
    "ibytes",
    "obytes",
    "imissed",
    "ierrors",
    "oerrors",
    "rx_nombuf",
)


class Greeting(Frozen):
    """What the program says of itself when one connects."""

    version: str
    pid: int
    max_output_len: int


class ThreadTimes(Frozen):
    """What schedstat says of a thread of the program."""

    comm: str
    run_ns: int
    wait_ns: int
    cpu_hz: int | None = None
    """Clock of its CPU, where the kernel says."""


class PortState(Frozen):
    """The part of `/ethdev/info` and `/ethdev/link_status` that we use."""

    port: int
    device: str
    mac: str
    link_up: bool


def socket_path(runtime_folder: Path, file_prefix: str) -> Path:
    """Where a program with that `--file-prefix` listens; DPDK's own rule (eal_filesystem.h)."""
    return runtime_folder / "dpdk" / file_prefix / "dpdk_telemetry.v2"


def parse_greeting(text: str) -> Greeting:
    """Parse the first message. Raises ValueError when it is none."""
    return read_record(Greeting, text)


def parse_answer(command: str, text: str) -> Any:
    """Take the value out of `{"/ethdev/stats": {…}}`; `command` may have parameters.

    Raises ValueError for an answer to something else, and for null: an unknown command or port.
    """
    answer = read_json(text)
    name = command.partition(",")[0]
    if not isinstance(answer, dict) or set(answer) != {name}:
        raise ValueError(f"an answer to something else: {text[:100]}")
    if answer[name] is None:
        raise ValueError("null: it does not know the command or the port")
    return answer[name]


def parse_counters(port: int, value: Any) -> PortCounters:
    """Pick the port's counters, cumulative since it was started. ValueError if one is missing."""
    counters = {name: value.get(name) if isinstance(value, dict) else None for name in _COUNTERS}
    wrong = [name for name, count in counters.items() if type(count) is not int]
    if wrong:
        raise ValueError(f"no number for {', '.join(wrong)}")
    return PortCounters(port=port, **counters)


def parse_extended(value: Any) -> dict[str, int]:
    """Check the extended counters: names differ by driver. ValueError if one is no number."""
    if not isinstance(value, dict) or any(type(count) is not int for count in value.values()):
        raise ValueError("not a table of numbers")
    return dict(value)


class Telemetry:
    """Asks one program. Each call makes its own connection: DPDK serves at most ten.

    Everything raises MeasurementError `telemetry.failed` with the socket, the command and why.
    """

    def __init__(self, path: Path, *, timeout_s: float = 2.0) -> None:
        self._path = path
        self._timeout_s = timeout_s
        self.threads: tuple[ThreadTimes, ...] = ()
        """Of a program on another host, when it was last asked."""
        self.statistics: dict[int, dict[str, int]] = {}
        """What the drivers of its ports count beside, when its counters were last read."""

    def greeting(self) -> Greeting:
        """Ask for version and pid."""
        return self._ask(())[0]

    def ports(self) -> tuple[int, ...]:
        """List the ports that it has."""
        value = self._value("/ethdev/list")
        if not isinstance(value, list) or any(type(port) is not int for port in value):
            raise self._failure("/ethdev/list", "not a list of numbers")
        return tuple(value)

    def counters(self) -> tuple[PortCounters, ...]:
        """Read every port's counters, cumulative."""
        ports = self.ports()
        commands = tuple(f"/ethdev/stats,{port}" for port in ports)
        _, values = self._ask(commands)
        try:
            return tuple(parse_counters(p, v) for p, v in zip(ports, values, strict=True))
        except ValueError as error:
            raise self._failure("/ethdev/stats", error) from None

    def extended(self, port: int) -> dict[str, int]:
        """Read the driver's own counters of one port, cumulative."""
        command = f"/ethdev/xstats,{port}"
        value = self._value(command)
        try:
            return parse_extended(value)
        except ValueError as error:
            raise self._failure(command, error) from None

    def port_state(self, port: int) -> PortState:
        """Read a port's device, MAC address and link."""
        _, (info, link) = self._ask((f"/ethdev/info,{port}", f"/ethdev/link_status,{port}"))
        try:
            if link["status"] not in ("UP", "DOWN"):
                raise ValueError(f"link status {link['status']!r}")
            return PortState(
                port=port,
                device=info["name"],
                mac=info["mac_addr"].lower(),
                link_up=link["status"] == "UP",
            )
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise self._failure("/ethdev/info", error) from None

    def _value(self, command: str) -> Any:
        return self._ask((command,))[1][0]

    def _ask(self, commands: tuple[str, ...]) -> tuple[Greeting, list[Any]]:
        values = []
        with SeqPacket(self._path, timeout_s=self._timeout_s) as connection:
            command = "(greeting)"
            try:
                greeting = parse_greeting(connection.receive(_GREETING_BYTES).decode())
                for command in commands:
                    connection.send(command)
                    text = connection.receive(greeting.max_output_len).decode()
                    values.append(parse_answer(command, text))
            except ValueError as error:
                raise self._failure(command, error) from None
        return greeting, values

    def _failure(self, command: str, reason: object) -> MeasurementError:
        return MeasurementError(
            "telemetry.failed",
            where=f"{self._path} {command}",
            found=str(reason),
            next="build the program with DPDK 22.11: wirespeed was tested with it",
        )
