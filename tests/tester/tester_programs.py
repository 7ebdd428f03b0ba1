"""The programs under test, started for real: the tester, and the relay at the other end of a wire.

Both end at the end of their stdin, so that neither can outlive the tests.
"""

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
SCHEMA = ROOT / "docs" / "tester-protocol.schema.json"
ANSWER_S = 60.0
"""How long any answer may take: opening a port on a busy machine takes some seconds."""

Reply = dict[str, Any]


def meson() -> str:
    """Give the meson of this Python's environment, or the one in PATH."""
    here = Path(sys.executable).with_name("meson")
    return str(here) if here.exists() else "meson"


def build_folder() -> Path:
    """Where the tester is built for these tests; `make` may name one that it has built already."""
    return Path(os.environ.get("WIRESPEED_BUILD", ROOT / "build" / "meson-tests"))


def build(folder: Path, *targets: str, setup: Sequence[str] = (), **environment: str) -> None:
    """Bring a build folder up to date."""
    env = {**os.environ, **environment}
    if not (folder / "build.ninja").exists():
        subprocess.run([meson(), "setup", *setup, folder, ROOT / "tester"], check=True, env=env)
    subprocess.run([meson(), "compile", "-C", folder, *targets], check=True, env=env)


def usable_cpus() -> tuple[int, int]:
    """Give the CPU for everything else, and the one for the tester's worker; alike if only one."""
    cpus = sorted(os.sched_getaffinity(0))
    return cpus[0], cpus[-1]


SPIN = "print('on', flush=True)\nwhile True: pass"


@contextmanager
def spinning_on(cpu: int) -> Iterator[None]:
    """A busy neighbour on a CPU, of the same priority."""
    with subprocess.Popen([sys.executable, "-c", SPIN], stdout=subprocess.PIPE) as child:
        try:
            os.sched_setaffinity(child.pid, {cpu})
            assert child.stdout and child.stdout.readline()
            yield
        finally:
            child.kill()


class Program:
    """A child that is spoken to in lines."""

    def __init__(
        self,
        argv: Sequence[str | Path],
        folder: Path,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.name = Path(argv[0]).name
        self.log = folder / f"{self.name}.log"
        # DPDK takes RUNTIME_DIRECTORY first; without it, root gets /var/run whatever XDG says.
        private = {"RUNTIME_DIRECTORY": str(folder), "XDG_RUNTIME_DIR": str(folder)}
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env={**os.environ, **private, **(environment or {})},
                bufsize=0,
            )
        self._unread = b""

    def send(self, line: str | bytes) -> None:
        """Write one line."""
        assert self.process.stdin
        data = line if isinstance(line, bytes) else line.encode()
        self.process.stdin.write(data + b"\n")

    def end_input(self) -> None:
        """Close its stdin."""
        assert self.process.stdin
        self.process.stdin.close()

    def line(self, timeout_s: float = ANSWER_S) -> str | None:
        """Read one line; None at the end of its stdout."""
        assert self.process.stdout
        deadline = time.monotonic() + timeout_s
        while b"\n" not in self._unread:
            left = deadline - time.monotonic()
            if not select.select([self.process.stdout], [], [], max(left, 0))[0]:
                raise AssertionError(f"{self.name} is silent; its log:\n{self.log.read_text()}")
            got = os.read(self.process.stdout.fileno(), 65536)
            if not got:
                return None
            self._unread += got
        line, _, self._unread = self._unread.partition(b"\n")
        return line.decode()

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal."""
        self.process.send_signal(number)

    def wait(self, timeout_s: float = 20) -> int:
        """Wait for its end; give its exit code."""
        return self.process.wait(timeout_s)

    def close(self) -> None:
        """End it, by force if it does not go."""
        if self.process.stdin and not self.process.stdin.closed:
            self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if self.process.stdout:
            self.process.stdout.close()

    def __enter__(self) -> "Program":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Tester(Program):
    """wirespeed-tester, with lcores 1 to `workers` for traffic, all on the last CPU."""

    __test__ = False  # pytest would take it for a class of tests

    def __init__(
        self,
        folder: Path,
        *,
        workers: int = 1,
        memory_mib: int = 256,
        isa: str | None = None,
        eal: Iterable[str] = (),
        environment: Mapping[str, str] | None = None,
    ) -> None:
        control, cpu = usable_cpus()
        lcores = [f"0@{control}", *(f"{n}@{cpu}" for n in range(1, workers + 1))]
        super().__init__(
            [
                build_folder() / "wirespeed-tester",
                "--no-huge",
                "--no-pci",
                *("-m", str(memory_mib)),
                f"--file-prefix=tester-{os.getpid()}",
                *("--lcores", ",".join(lcores)),
                *eal,
            ],
            folder,
            {**({"WIRESPEED_ISA": isa} if isa else {}), **(environment or {})},
        )
        self._id = 0
        self.seen: list[Reply] = []
        """Every reply, for the schema's sake."""

    def reply(self, timeout_s: float = ANSWER_S) -> Reply:
        """Read one reply."""
        line = self.line(timeout_s)
        if line is None:
            raise AssertionError(f"the tester has ended; its log:\n{self.log.read_text()}")
        reply: Reply = json.loads(line)
        self.seen.append(reply)
        return reply

    def tell(self, op: str, **fields: object) -> int:
        """Send a request; give its id."""
        self._id += 1
        self.send(json.dumps({"v": 1, "id": self._id, "op": op, **fields}))
        return self._id

    def ask(self, op: str, **fields: object) -> Reply:
        """Send a request and give its last reply, passing over the progress."""
        id_ = self.tell(op, **fields)
        reply = self.result()
        assert reply["id"] == id_, reply
        return reply

    def result(self) -> Reply:
        """Give the next reply that is no progress."""
        while (reply := self.reply())["event"] == "progress":
            pass
        return reply

    def open(self, *devices: str, **fields: object) -> Reply:
        """Open ports of one queue each, all on lcore 1."""
        pairs = [[i, 0] for i in range(len(devices))]
        return self.ask(
            "open",
            ports=[{"device": d} for d in devices],
            workers=[{"lcore": 1, "tx": pairs, "rx": pairs}],
            **fields,
        )

    def trial(self, **fields: object) -> Reply:
        """Run a short trial of 64-byte frames from port 0 to port 0, unless told otherwise."""
        return self.ask("trial", **trial_fields(**fields))


def trial_fields(**fields: object) -> dict[str, object]:
    """Give a trial's fields: short and slow unless told otherwise."""
    return {
        "number": 1,
        "mix": [{"frame_bytes": 64}],
        "streams": [{"tx_port": 0, "rx_port": 0}],
        "flows": 16,
        "load": {"pps": 100_000},
        "seconds": 0.02,
        **fields,
    }


class Relay(Program):
    """The relay at the other end of wires: vhost's, which the tester serves, or memif's."""

    def __init__(self, folder: Path, sockets: Sequence[Path], wire: str = "vhost") -> None:
        control, _ = usable_cpus()
        ends = {
            "vhost": "net_vhost{},iface={},client=1",
            "memif": "net_memif{},role=server,id=0,socket-abstract=no,socket={}",
        }
        super().__init__(
            [
                build_folder() / "tests" / "relay",
                "--no-huge",
                "--no-pci",
                *("-m", "512"),
                f"--file-prefix=relay-{os.getpid()}",
                *("--lcores", f"0@{control}"),
                *(f"--vdev={ends[wire].format(i, s)}" for i, s in enumerate(sockets)),
            ],
            folder,
        )

    def words(self) -> str:
        """Read one line of the relay's own, past what the EAL prints on stdout."""
        while True:
            line = self.line()
            if line is None:
                raise AssertionError(f"the relay has ended; its log:\n{self.log.read_text()}")
            if line == "ready" or line.startswith("{"):
                return line

    def case(self, **values: float) -> None:
        """Start anew with these faults."""
        self.send("case " + " ".join(f"{name}={value}" for name, value in values.items()))
        assert self.words() == "ready"

    def counts(self) -> Reply:
        """What the tester must have counted."""
        self.send("counts")
        counts: Reply = json.loads(self.words())
        return counts


def short_folder() -> Iterator[Path]:
    """Give a folder whose path leaves room for sockets, unlike pytest's own."""
    path = Path(tempfile.mkdtemp(prefix="ws", dir="/tmp"))
    try:
        yield path
    finally:
        shutil.rmtree(path)
