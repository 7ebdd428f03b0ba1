"""Where a DPDK program runs: on this machine, or on a host that it is sent to.

    FarHost() --> program("dpdk-testpmd") --> side(…) --> Testpmd(side, …) --> close

What is sent lies in a folder of its own below /run, which the program's keeper there removes when
the program has ended, whoever ended it (`guest_keeper.py`). A library that the host has is taken
from there, for a second copy of one of DPDK's ends the program (*Cannot initialize tailq*).
"""

import json
import re
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from wirespeed.host.closing import Closing
from wirespeed.host.detached import our_python, our_python_path
from wirespeed.host.files import find_program
from wirespeed.host.guest_script import send_files
from wirespeed.host.local import LocalRunner
from wirespeed.host.process import Child
from wirespeed.host.runner import Runner
from wirespeed.measure.bench.eal_side import EalSide
from wirespeed.measure.bench.telemetry import (
    Greeting,
    Telemetry,
    ThreadTimes,
    parse_answer,
    parse_counters,
    parse_extended,
    socket_path,
)
from wirespeed.model.error import InputError, MeasurementError
from wirespeed.model.json_value import read_json
from wirespeed.model.names import PciAddress
from wirespeed.model.trial import PortCounters

SILENT_S = 15
"""A program ends on its host when nobody was heard for so long: a controller that was cut off."""
_ANSWER_S = 30.0
NO_STATISTICS = {"/ethdev/xstats": None}
"""The answer of a port whose driver gives none."""
ENDS_S = 60.0
AWAIT_END = """
turns=0
while [ -d "$1" ]; do
    keeper=$(cat "$1/keeper" 2>/dev/null) && kill -0 "$keeper" 2>/dev/null || rm -rf -- "$1"
    turns=$((turns + 1))
    [ "$turns" -lt 200 ] || exit 1
    sleep 0.2
done
"""
"""The folder is the keeper's to remove; where none came to be, or it was killed, it is ours."""
PASSES = 4
"""Libraries that a library which was sent needs are found at the next look."""
_NEEDED = re.compile(r"^[ \t]*(\S+) => (not found|/\S+)", re.M)
COMPILED_BY = r"GCC: \([^)]{1,80}\) [0-9.]{1,16}|clang version [0-9.]{1,16}"
"""In a program's section .comment, which no tool that all hosts have prints."""
COMPILER_GONE = "not told: the program was stripped of it"
_AS_ROOT = "reach that host as root: wirespeed makes a folder in its /run"
_FULL = "see with `df -h /run` on that host whether it is full, then run the same command again"
_FOLDER = re.compile(r"/run/wirespeed-dpdk-[A-Za-z0-9]{8}")


class FarTelemetry(Telemetry):
    """Asks a program on another host, by a script that runs there from the first question on."""

    def __init__(self, path: Path, pipe: Sequence[str]) -> None:
        """`pipe` is what a command there begins with."""
        super().__init__(path)
        self._pipe = pipe
        self._script: Child | None = None
        self._ports: tuple[int, ...] = ()

    def close(self) -> None:
        """End the script; a second call does nothing."""
        script, self._script = self._script, None
        if script is not None:
            script.close()

    def counters(self) -> tuple[PortCounters, ...]:
        """Read every port's counters in one round trip; its ports do not change.

        With them comes what the drivers count beside: DPDK gives at most 256 of them a port
        (rte_telemetry.h, RTE_TEL_MAX_DICT_ENTRIES), and null where a driver has none.
        """
        ports = self._ports = self._ports or self.ports()
        commands = [f"/ethdev/{kind},{port}" for kind in ("stats", "xstats") for port in ports]
        _, values = self._ask(tuple(commands))
        counted, beside = values[: len(ports)], values[len(ports) :]
        try:
            self.statistics = {
                port: parse_extended(value)
                for port, value in zip(ports, beside, strict=True)
                if value is not None
            }
            found = zip(ports, counted, strict=True)
            return tuple(parse_counters(port, value) for port, value in found)
        except ValueError as error:
            raise self._failure("/ethdev/stats", error) from None

    def _ask(self, commands: tuple[str, ...]) -> tuple[Greeting, list[Any]]:
        if self._script is None:
            argv = [*self._pipe, *_script("guest_telemetry.py"), str(SILENT_S), str(self._path)]
            self._script = Child(argv, role="telemetry")
        self._script.write_line(json.dumps(commands))
        line = self._script.read_line(_ANSWER_S)
        try:
            told = read_json(line)
            if "failed" in told:
                raise ValueError(told["failed"])
            greeting = Greeting.model_validate(told["greeting"])
            values = [
                None if read_json(text) == NO_STATISTICS else parse_answer(command, text)
                for command, text in zip(commands, told["answers"], strict=True)
            ]
            self.threads = tuple(
                ThreadTimes(comm=comm, run_ns=ran, wait_ns=waited, cpu_hz=hz)
                for _, comm, ran, waited, hz in told["threads"]
            )
        except (ValueError, KeyError, TypeError) as error:
            raise self._failure(", ".join(commands), error) from None
        return greeting, values


def _script(name: str) -> tuple[str, ...]:
    """Give the words that run a script of ours there, whose input is its own."""
    return "python3", "-I", "-S", "-c", files("wirespeed.host").joinpath(name).read_text()


class FarHost(Closing):
    """One program's place on a host that SSH goes to. Raises MeasurementError, HostError."""

    def __init__(self, destination: str, runner: Runner) -> None:
        self._destination, self._runner = destination, runner
        self._pipe = (
            *("env", *(f"{name}={value}" for name, value in our_python_path().items())),
            *(*our_python("wirespeed.host.ssh_pipe"), destination, "--"),
        )
        self._telemetry: FarTelemetry | None = None
        self._programs: dict[str, str] = {}
        self._sent: set[str] = set()
        made = runner.run(("mktemp", "-d", "/run/wirespeed-dpdk-XXXXXXXX"))
        self.folder = made.output.strip()
        if made.returncode != 0 or not _FOLDER.fullmatch(self.folder):
            found = made.errors.strip() or made.output[:80]
            raise self._failure("host.no_folder", found, _AS_ROOT)

    @property
    def where(self) -> str:
        """Give the host as the user wrote it."""
        return self._destination

    def program(self, name: str, *, ours: str | None = None) -> str:
        """Give the path of a program there: the host's own, else what is sent of this machine.

        `ours` is sent in any case. Raises InputError `program.not_installed`, `program.unfit`.
        """
        if name not in self._programs:
            self._programs[name] = self._find(name, ours)
        return self._programs[name]

    def compiler(self, program: str) -> tuple[tuple[str, str], ...]:
        """Give what compiled a program there, by the words that it left in it.

        Distributions strip them of their packages; nothing where the program's file is not known.
        """
        if not program.startswith("/"):
            return ()
        found = self._runner.run(("grep", "-a", "-o", "-E", "-m", "1", "-e", COMPILED_BY, program))
        words = found.output.splitlines() if found.returncode == 0 else []
        return (("compiler", words[0] if words else COMPILER_GONE),)

    def like(self, other: "FarHost") -> None:
        """Have at hand what another place of this host was sent, without sending it again.

        Raises MeasurementError `host.not_sent`.
        """
        if other._sent:
            files = (f"{other.folder}/{name}" for name in sorted(other._sent))
            copied = self._runner.run(("cp", "-p", "--", *files, self.folder))
            if copied.returncode != 0:
                raise self._failure("host.not_sent", copied.errors.strip(), _FULL)
        self._sent = set(other._sent)
        self._programs = {
            name: path.replace(other.folder, self.folder) for name, path in other._programs.items()
        }

    def _find(self, name: str, ours: str | None) -> str:
        if ours is None:
            there = self._runner.run(("sh", "-c", 'command -v "$1"', "sh", name))
            if there.returncode == 0 and there.output.startswith("/"):
                return there.output.strip()
            ours = find_program(name)
        if ours is None:
            raise InputError(
                "program.not_installed",
                where=f"{self._destination}: {name}",
                found="not found on that host nor on this machine",
                next=f"install the package that contains {name} on one of the two",
            )
        path = f"{self.folder}/{Path(ours).name}"
        self.send({Path(ours).name: Path(ours)})
        has = dict(_NEEDED.findall(LocalRunner().run(("ldd", ours)).output))
        for _ in range(PASSES):
            looked = self._runner.run(
                ("env", f"LD_LIBRARY_PATH={self.folder}", "ldd", path), timeout_s=60
            )
            lacking = [one for one, at in _NEEDED.findall(looked.output) if at == "not found"]
            if looked.returncode == 0 and not lacking:
                return path
            if not lacking or any(has.get(one, "not found") == "not found" for one in lacking):
                break
            self.send({one: Path(has[one]) for one in lacking})
        raise InputError(
            "program.unfit",
            where=f"{self._destination}: {name}",
            found=(looked.errors.strip() or ", ".join(lacking))[-200:],
            so="the program of this machine does not run there",
            next=f"install {name} there, of the same release of DPDK",
        )

    def send(self, what: Mapping[str, Path | str]) -> None:
        """Put files or texts into the folder. Raises MeasurementError `host.not_sent`."""
        sent = send_files(self._runner, self.folder, what)
        if sent.returncode != 0:
            raise self._failure("host.not_sent", sent.errors.strip(), _FULL)
        self._sent.update(what)

    def side(
        self,
        devices: Sequence[str],
        *,
        prefix: str,
        memory_mib: int,
        control_cpu: int,
        worker_cpus: tuple[int, ...],
        environment: Mapping[str, str] | None = None,
    ) -> EalSide:
        """Give what a program there is to be told; its command is then kept there."""
        there = {
            "RUNTIME_DIRECTORY": self.folder,
            "LD_LIBRARY_PATH": self.folder,
            **(environment or {}),
        }
        return EalSide(
            devices=tuple(devices),
            file_prefix=prefix,
            runtime_folder=Path(self.folder),
            memory_mib=memory_mib,
            hugepages=True,
            control_cpu=control_cpu,
            worker_cpus=worker_cpus,
            inside=(
                *self._pipe,
                *(*_script("guest_keeper.py"), str(SILENT_S), self.folder),
                *("env", *(f"{name}={value}" for name, value in there.items())),
            ),
            is_far=True,
        )

    def telemetry(self, side: EalSide) -> Telemetry:
        """Give what asks the program of `side`."""
        if self._telemetry is None:
            path = socket_path(side.runtime_folder, side.file_prefix)
            self._telemetry = FarTelemetry(path, self._pipe)
        return self._telemetry

    def close(self) -> None:
        """Wait until the program is gone, by its folder; a second call does nothing.

        Raises MeasurementError `host.left_running`.
        """
        if self._telemetry is not None:
            self._telemetry.close()
        folder, self.folder = self.folder, ""
        if not folder:
            return
        gone = self._runner.run(("sh", "-c", AWAIT_END, "sh", folder), timeout_s=ENDS_S)
        if gone.returncode != 0:
            raise self._failure(
                "host.left_running",
                f"the keeper of {folder} still runs",
                f"on that host, find it with `pgrep -af {folder}` and end it with `kill PID`",
            )

    def _failure(self, what: str, found: str, then: str) -> MeasurementError:
        return MeasurementError(
            what, where=self._destination, found=found or "no answer", next=then
        )


def devices_of(ports: Sequence[PciAddress], devargs: str | None) -> tuple[str, ...]:
    """Give ports as the EAL takes them, with options for their driver."""
    return tuple(port if devargs is None else f"{port},{devargs}" for port in ports)
