"""A switch of our own: its database, its sockets and its files in one folder, nothing elsewhere.

It is told that stand-ins for the kernel are welcome (`--enable-dummy`): the bridges' own ports,
which would be TAP devices of the host and need root, are only records then. Ports of DPDK, flows,
tunnels and the polling thread are the same code as ever.
"""

from pathlib import Path

from wirespeed.host.clock import Deadline, sleep_s
from wirespeed.host.closing import Closing
from wirespeed.host.files import is_socket, make_folder
from wirespeed.host.local import LocalRunner
from wirespeed.host.process import Child
from wirespeed.measure.bench.dpdk_process import DpdkProcess, explain
from wirespeed.measure.bench.eal_side import EalSide
from wirespeed.measure.bench.ovs_programs import OvsPrograms
from wirespeed.model.error import USUAL_NEXT, InputError, MeasurementError

DATAPATH = "dummy"
"""The userspace datapath, whose own ports are stand-ins."""
QUIET = ("-vconsole:warn", "-vfile:off", "-vsyslog:off")
_START_S = 30.0
_POLL_S = 0.02
_TOOL = "--timeout=15"


class PrivateOvs(Closing):
    """Starts when made; `process` is the switch. Raises InputError `dut.memory`, `dut.device`."""

    def __init__(self, programs: OvsPrograms, side: EalSide) -> None:
        self._programs = programs
        self._runner = LocalRunner()
        self.folder = side.runtime_folder / f"{side.file_prefix}-ovs"
        make_folder(self.folder)
        database = self.folder / "conf.db"
        self._database = f"unix:{self.folder / 'db.sock'}"
        self._call([programs.tool("ovsdb-tool"), "create", str(database), programs.database_schema])
        self._server = Child(
            [programs.server, str(database), f"--remote=p{self._database}",
             f"--unixctl={self.folder / 'db.ctl'}", *QUIET],
            role="dut",
        )  # fmt: skip
        try:
            self._await(self.folder / "db.sock", self._server)
            settings = {
                "dpdk-init": "true",
                "dpdk-extra": " ".join(eal_words(side)),
                "dpdk-lcore-mask": hex(1 << side.control_cpu),
                "pmd-cpu-mask": hex(1 << side.worker_cpus[0]),
                # Else one pool serves all ports: 262144 buffers, whatever they need.
                "per-port-memory": "true",
            }
            self.vsctl(
                *("--no-wait", "init", "--", "set", "Open_vSwitch", "."),
                *(f'other_config:{key}="{value}"' for key, value in settings.items()),
            )
            self.process = DpdkProcess(_argv(programs, self.folder, self._database), side,
                                       quit_line=None)  # fmt: skip
        except BaseException:
            self._server.close()
            raise
        try:
            self._await(self.folder / "vs.ctl", self.process.child)
            self._require_dpdk()
        except BaseException:
            self.close()
            raise

    def vsctl(self, *words: str) -> str:
        """Make one transaction and wait until the switch has done it."""
        tool = self._programs.tool("ovs-vsctl")
        return self._call([tool, _TOOL, f"--db={self._database}", *words])

    def appctl(self, *words: str) -> str:
        """Ask the switch itself."""
        return self._call([self._programs.tool("ovs-appctl"), _TOOL, "-t",
                           str(self.folder / "vs.ctl"), *words])  # fmt: skip

    def add_flow(self, bridge: str, flow: str) -> None:
        """Add a flow to a bridge."""
        socket = f"unix:{self.folder / bridge}.mgmt"
        self._call([self._programs.tool("ovs-ofctl"), _TOOL, "add-flow", socket, flow])

    def require_port(self, name: str) -> None:
        """Raise InputError `dut.device` or `dut.memory` if the switch could not make a port."""
        error = self.vsctl("get", "Interface", name, "error").strip()
        if error == "[]":
            return
        tail = self.process.child.errors_tail()
        found = f"{error}\n{tail}" if tail else error
        raise explain(
            MeasurementError("dut.died", where=name, found=found, next=USUAL_NEXT["dut.refused"])
        )

    def close(self) -> None:
        """End the switch, then its database; a second call does nothing."""
        try:
            self.process.child.close()
        finally:
            self._server.close()

    def _require_dpdk(self) -> None:
        """Without its memory it ends, or goes on as a switch without DPDK."""
        try:
            # Any change will do: it is answered when the switch has done all that it was told.
            self.vsctl("set", "Open_vSwitch", ".", "external_ids:hostname=localhost")
        except MeasurementError:
            self.process.require_alive()
            raise
        said = self.vsctl("get", "Open_vSwitch", ".", "dpdk_initialized").strip()
        if said != "true":
            raise InputError(
                "dut.memory",
                where="ovs-vswitchd, dpdk_initialized: false",
                found=self.process.child.errors_tail(),
                so="DPDK did not start in it, usually because memory or hugepages are missing",
                next="free memory or hugepages; `grep -i huge /proc/meminfo` shows them",
            )

    def _await(self, path: Path, child: Child) -> None:
        deadline = Deadline(_START_S)
        while not is_socket(path):
            if not child.alive():
                raise explain(child.death())
            if deadline.expired:
                raise MeasurementError(
                    "dut.silent",
                    where=child.argv[0],
                    found=f"no {path.name} within {_START_S:g} s; it last said:\n"
                    f"{child.errors_tail()}",
                    next="run the same command again when this machine is less busy: `uptime` "
                    "shows its load",
                )
            sleep_s(_POLL_S)

    def _call(self, argv: list[str]) -> str:
        done = self._runner.run(argv, timeout_s=30.0)
        if done.returncode != 0:
            raise MeasurementError(
                "dut.refused",
                where=" ".join(argv),
                found=done.errors.strip() or f"exit code {done.returncode}",
            )
        return done.output


def eal_words(side: EalSide) -> tuple[str, ...]:
    """Give `dpdk-extra`: the switch adds its cores, and --in-memory unless --legacy-mem is there.

    Without hugepages --in-memory is refused (DPDK 22.11); --legacy-mem keeps it away.
    """
    memory = () if side.hugepages else ("--no-huge", "--legacy-mem")
    return (*memory, "--no-pci", "-m", str(side.memory_mib), f"--file-prefix={side.file_prefix}")


def _argv(programs: OvsPrograms, folder: Path, database: str) -> list[str]:
    # Its own idea of these is /var/run/openvswitch, where the host's switch may be.
    variables = ("OVS_RUNDIR", "OVS_LOGDIR", "OVS_DBDIR", "OVS_SYSCONFDIR")
    return [
        *("env", *(f"{name}={folder}" for name in variables), programs.daemon, database),
        *("--enable-dummy", f"--unixctl={folder / 'vs.ctl'}", *QUIET),
    ]
