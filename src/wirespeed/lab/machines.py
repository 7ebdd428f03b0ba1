"""A lab of virtual hosts in QEMU: two SR-IOV cards each, joined port to port or by a switch.

    folder locked -> keys -> (switch) -> every QEMU -> every host says lab-ready -> ssh_config
    whoever owns this dies: the kernel ends every QEMU and the switch with it (spawn)

Hosts are reached by ssh on loopback alone, as `HOST.LAB`: the lab's ssh_config has port, key and
known_hosts, and whatever in this program goes by ssh reads it (host/ssh.py).
"""

import re
import uuid
from collections.abc import Callable, Sequence
from importlib.resources import files as package
from pathlib import Path

from pydantic import ValidationError

from wirespeed.host.clock import Deadline, sleep_s
from wirespeed.host.closing import Closing
from wirespeed.host.detached import our_python, our_python_path
from wirespeed.host.files import read_text, write_whole
from wirespeed.host.lab_folders import SSH_CONFIG, LabFolder
from wirespeed.host.process import Child
from wirespeed.host.qmp import Qmp
from wirespeed.host.reach_destination import Remote
from wirespeed.host.runner import Completed
from wirespeed.host.seqpacket import MAX_PATH_BYTES
from wirespeed.host.ssh_session import SshSession
from wirespeed.host.ssh_trust import make_key
from wirespeed.lab.machine_accel import FIRST_WORD_S, Verdict, accelerator, remember
from wirespeed.lab.machine_image import lab_image, make_disk
from wirespeed.lab.machine_model import with_model
from wirespeed.lab.machine_qemu import CONTROL, Cable, MachineFiles, card, qemu_argv
from wirespeed.lab.machine_spec import PORTS, TWO_HOSTS, LabSpec, MachineSpec, Wiring
from wirespeed.model.error import InputError, MeasurementError
from wirespeed.model.frozen import Frozen
from wirespeed.model.json_value import read_json, read_record

BOOT_S = 120.0
"""For all hosts together; two take 6 to 10 s on two idle CPUs without KVM."""
STATE = "lab.json"
READY, FAILED = "lab-ready", "lab-failed"
_SWITCH = "wirespeed.host.frame_switch"
_ANSWER_S = 5.0
_POLL_S = 0.05


class MachineState(Frozen):
    """One host that is up."""

    name: str
    destination: str
    """What `wirespeed doctor` and the lab's ssh_config call it."""
    ssh_port: int
    pid: int
    memory_mib: int
    cpus: int


class LabState(Frozen):
    """A lab that is up, as its folder says."""

    name: str
    accelerator: str
    wiring: Wiring
    hosts: tuple[MachineState, ...]


class Machine(Closing):
    """One host of a lab that is up. It is a `Runner`, as any host that ssh reaches.

    Its connection is kept: an emulated host takes 0.3 s of a CPU for a handshake, 0.04 s for a
    command.
    """

    def __init__(self, state: MachineState, control: Path) -> None:
        self.state = state
        self.control = control
        self._runner = SshSession(Remote(state.destination, state.destination))

    def run(
        self,
        argv: Sequence[str],
        *,
        timeout_s: float = 60.0,
        stdin: str | None = None,
        max_bytes: int = 1 << 20,
    ) -> Completed:
        """See `Runner.run`."""
        return self._runner.run(argv, timeout_s=timeout_s, stdin=stdin, max_bytes=max_bytes)

    def close(self) -> None:
        """Close the connection; a second call does nothing."""
        self._runner.close()

    def set_link(self, port: int, *, up: bool) -> None:
        """Pull a port's cable at this host, or put it back. The other end does not see it."""
        with Qmp(self.control) as qmp:
            qmp.execute("set_link", name=card(port), up=up)


class Machines(Closing):
    """A lab that is up. Made in the thread that lives as long as it is wanted (see `spawn`)."""

    def __init__(
        self,
        spec: LabSpec = TWO_HOSTS,
        *,
        name: str = "lab",
        progress: Callable[[str], None] = lambda _doing: None,
    ) -> None:
        """Bring it up.

        Raises InputError `lab.name`, `lab.exists`, `lab.tools`, `lab.no_model`,
        `lab.path_too_long`, MeasurementError `machine.died`, `machine.silent`, `lab.image`.
        """
        self._spec, self._name = spec, name
        self._children: list[Child] = []
        self._switch: Child | None = None
        self.hosts: dict[str, Machine] = {}
        wanted = any(host.card == "mlx5" for host in spec.hosts)
        self._with_model = with_model() if wanted else ()
        progress("the hosts' image")
        self._image = lab_image(kernel=spec.kernel)
        self._folder = LabFolder(name)
        try:
            self._require_short()
            self._make_keys()
            verdict = accelerator()
            try:
                self._boot_or_again(verdict, progress)
            except _NoWordError:
                self._stop()
                why = f"a host of KVM said nothing in {FIRST_WORD_S:g} s"
                verdict = verdict.model_copy(update={"kvm": False, "proven": True, "why": why})
                self._boot_or_again(remember(verdict), progress)
            if not verdict.proven:
                verdict = remember(verdict.model_copy(update={"proven": True}))
            self.accelerator = "KVM" if verdict.kvm else f"TCG ({verdict.why})"
            self.hosts = {state.name: self._machine(state) for state in self._states()}
            self._write_state()
        except BaseException:
            self.close()
            raise

    @property
    def folder(self) -> Path:
        """Where keys, sockets, consoles and the ssh_config are."""
        return self._folder.path

    def report(self, host: str) -> Path:
        """Where a host's modelled card tells what it was asked and does not know."""
        return self._path(f"{host}.refused")

    def alive(self) -> bool:
        """Whether any of the hosts still runs."""
        return any(child.alive() for child in self._children)

    def set_switch_port(self, host: str, port: int, *, up: bool) -> None:
        """Let the switch drop all at a port in silence, or serve it again: no link goes down."""
        self._ask_switch(f"{'up' if up else 'down'} {host}.{port}")

    def switch_counters(self) -> dict[str, dict[str, int]]:
        """Frames by port (`alpha.0`) and fate; see host/frame_switch.py."""
        found: dict[str, dict[str, int]] = self._ask_switch("counters")
        return found

    def close(self) -> None:
        """End every host and the switch, and remove the folder; a second call does nothing."""
        try:
            self._stop()
        finally:
            self._folder.close()

    def _stop(self) -> None:
        for host in self.hosts.values():
            host.close()
        children = [*self._children, *([self._switch] if self._switch else [])]
        self._children, self._switch = [], None
        failure: MeasurementError | None = None
        for child in children:
            try:
                # QEMU keeps nothing that would have to be saved.
                child.close(term_s=0.5)
            except MeasurementError as error:
                failure = error
        if failure is not None:
            raise failure

    def _path(self, name: str) -> Path:
        return self._folder.path / name

    def _require_short(self) -> None:
        longest = max(len(str(self._path(f"{host.name}.0.far"))) for host in self._spec.hosts)
        if longest > MAX_PATH_BYTES:
            raise InputError(
                "lab.path_too_long",
                where=str(self._folder.path),
                found=f"{longest} bytes for a socket in it",
                so=f"the path of a Unix socket holds at most {MAX_PATH_BYTES}",
                next="set XDG_RUNTIME_DIR to a folder with a shorter path",
            )

    def _make_keys(self) -> None:
        write_whole(self._path("authorized_keys"), make_key(self._path("key")) + "\n")
        self._host_keys = {
            host.name: make_key(self._path(f"{host.name}.key")) for host in self._spec.hosts
        }

    def _cables(self, number: int) -> tuple[Cable, ...]:
        own = self._spec.hosts[number].name
        ends = [self._path(f"{own}.{port}") for port in range(PORTS)]
        if self._spec.wiring == "switch":
            return tuple(
                Cable(local=end, remote=end.with_suffix(f"{end.suffix}.far")) for end in ends
            )
        peer = self._spec.hosts[1 - number].name
        return tuple(
            Cable(local=end, remote=self._path(f"{peer}.{port}")) for port, end in enumerate(ends)
        )

    def _boot_or_again(self, verdict: Verdict, progress: Callable[[str], None]) -> None:
        """Boot; where an emulated host dies or hangs in its boot, boot all once more.

        QEMU 7.2's emulation does so now and then when its threads wait for a busy machine's CPUs:
        an assertion of its memory map fails, or a CPU of the host misses a timer for good.
        """
        try:
            self._boot(verdict, progress)
        except MeasurementError as error:
            if verdict.kvm:
                raise
            self._stop()
            progress(f"booting again: {error.where or 'a host'}: {error.what}")
            self._boot(verdict, progress)

    def _boot(self, verdict: Verdict, progress: Callable[[str], None]) -> None:
        """Start all, and wait until all are ready. Raises _NoWordError: KVM is to blame."""
        deadline = Deadline(BOOT_S)
        if self._spec.wiring == "switch":
            self._start_switch()
        for number, host in enumerate(self._spec.hosts):
            write_whole(self._path(f"{host.name}.console"), "")
            files = MachineFiles(
                image=self._image,
                console=self._path(f"{host.name}.console"),
                control=self._path(f"{host.name}.qmp"),
                host_key=self._path(f"{host.name}.key"),
                authorized_keys=self._path("authorized_keys"),
                systemd=Path(str(package("wirespeed.lab"))) / "machine_systemd.sh",
                disk=self._disk(host),
                report=self.report(host.name),
                flash=self._path(f"{host.name}.flash"),
                cables=self._cables(number),
            )
            argv = qemu_argv(host, number, files, uuid=str(uuid.uuid4()), kvm=verdict.kvm)
            if host.card == "mlx5":
                argv = [*self._with_model, *argv]
            self._children.append(Child(argv, role="machine"))
        first_word = Deadline(FIRST_WORD_S)
        waiting = list(zip(self._spec.hosts, self._children, strict=True))
        while waiting:
            progress(f"booting {', '.join(host.name for host, _ in waiting)}")
            for host, child in list(waiting):
                said = read_text(self._path(f"{host.name}.console"))
                if READY in said:
                    waiting.remove((host, child))
                    continue
                if (
                    verdict.kvm
                    and not verdict.proven
                    and not said
                    and (first_word.expired or not child.alive())
                ):
                    raise _NoWordError
                if not child.alive():
                    raise child.death()
                if FAILED in said or deadline.expired:
                    raise MeasurementError(
                        "machine.silent",
                        where=host.name,
                        found=f"not ready within {BOOT_S:g} s; its console:\n{said[-1000:]}",
                        so="the lab was taken down",
                        next="use fewer hosts, or a machine with more CPUs: the hosts' CPUs are "
                        "emulated",
                    )
            sleep_s(_POLL_S)

    def _disk(self, host: MachineSpec) -> Path:
        path = self._path(f"{host.name}.disk")
        if host.disk:
            make_disk(path)
        return path

    def _start_switch(self) -> None:
        argv = [*our_python(_SWITCH)]
        for number, host in enumerate(self._spec.hosts):
            for port, cable in enumerate(self._cables(number)):
                argv.append(f"{host.name}.{port}={cable.remote}:{cable.local}")
        self._switch = Child(argv, role="switch", environment=our_python_path())
        self._switch.read_until(re.compile("ready"), BOOT_S)

    def _ask_switch(self, command: str) -> dict[str, dict[str, int]]:
        if self._switch is None:
            raise InputError(
                "lab.no_switch",
                where=f"lab {self._name}",
                found="the ports of this lab are connected in pairs",
                next="start a lab with a switch: wirespeed lab up --switch",
            )
        self._switch.write_line(command)
        answer = read_json(self._switch.read_line(_ANSWER_S))
        if "error" in answer:
            raise InputError(
                "lab.no_port",
                where=command,
                found=answer["error"],
                next="name a port as HOST.NUMBER, such as alpha.0",
            )
        return dict(answer)

    def _states(self) -> list[MachineState]:
        return [
            MachineState(
                name=host.name,
                destination=f"{host.name}.{self._name}",
                ssh_port=_ssh_port(self._path(f"{host.name}.qmp")),
                pid=child.pid,
                memory_mib=host.memory_mib,
                cpus=host.cpus,
            )
            for host, child in zip(self._spec.hosts, self._children, strict=True)
        ]

    def _machine(self, state: MachineState) -> Machine:
        return Machine(state, self._path(f"{state.name}.qmp"))

    def _write_state(self) -> None:
        states = [host.state for host in self.hosts.values()]
        known = [
            f"[127.0.0.1]:{state.ssh_port} {self._host_keys[state.name]}\n" for state in states
        ]
        write_whole(self._path("known_hosts"), "".join(known))
        write_whole(self._path(SSH_CONFIG), "".join(map(self._ssh_host, states)))
        lab = LabState(
            name=self._name,
            accelerator=self.accelerator,
            wiring=self._spec.wiring,
            hosts=tuple(states),
        )
        write_whole(self._path(STATE), lab.model_dump_json(indent=2))

    def _ssh_host(self, state: MachineState) -> str:
        """One `Host` of the ssh_config; what stands first there holds (ssh_config(5))."""
        lines = (
            f"Host {state.destination}",
            "HostName 127.0.0.1",
            f"Port {state.ssh_port}",
            "User root",
            f'IdentityFile "{self._path("key")}"',
            "IdentitiesOnly yes",
            f'UserKnownHostsFile "{self._path("known_hosts")}"',
            "StrictHostKeyChecking yes",
            "LogLevel ERROR",
        )
        return "\n  ".join(lines) + "\n"


class _NoWordError(Exception):
    """A host of KVM that was never proven does not say a word."""


def read_state(folder: Path) -> LabState | None:
    """Read what a lab's folder says of it; None while it is coming up."""
    try:
        return read_record(LabState, read_text(folder / STATE))
    except (InputError, ValidationError):
        return None


def _ssh_port(control: Path) -> int:
    """The port that QEMU listens on for the host's sshd."""
    with Qmp(control) as qmp:
        told = qmp.execute("human-monitor-command", command_line="info usernet")
    match = re.search(r"HOST_FORWARD\]\s+\d+\s+127\.0\.0\.1\s+(\d+)", str(told))
    if match is None:
        raise MeasurementError(
            "machine.silent",
            where=str(control),
            found=f"no forwarded port of {CONTROL} in `info usernet`: {str(told)[:400]}",
            next="install QEMU 8 or newer: `qemu-system-x86_64 --version` shows which one runs",
        )
    return int(match[1])
