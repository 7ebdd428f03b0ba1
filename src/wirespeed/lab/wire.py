"""A wire in memory: tester and DUT joined on one machine, without a card and without root.

    vhost   tester: virtio_user, which serves the socket    DUT: net_vhost, which connects to it
    memif   tester: client, which offers its memory         DUT: server
    memif-direct    the same without DPDK's driver: frames are composed and judged in that memory

vhost is the default, as the DUT may go and come back, killed or not: the tester serves the socket
and takes the new one in. It waits for the first DUT *inside EAL initialisation*, so start it first
and without waiting for its answer, then the DUT. memif is faster, but its server must be there
first, and a server that still polls crashes now and then when the client leaves.

Rings of 16384: a virtual machine that is not running for some ms is common, and with rings of
1024 no rate at all is free of loss (1024 frames are 1 ms at 1 Mpps).
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, get_args

from wirespeed.host import procfs
from wirespeed.host.closing import Closing
from wirespeed.host.files import remove_socket
from wirespeed.host.folder import PrivateFolder
from wirespeed.host.seqpacket import MAX_PATH_BYTES
from wirespeed.lab.placement import Placement, place
from wirespeed.measure.bench.eal_side import EalSide
from wirespeed.model.error import InputError

WireKind = Literal["vhost", "memif", "memif-direct"]
MEMIFS: tuple[WireKind, ...] = ("memif", "memif-direct")
"""Wires whose DUT is a memif's server: it must be there first."""
RING_FRAMES = 1 << 14
_MEMIF_RING_LOG2 = 14
_MEMIF_BUFFER_BYTES = 2048
_MEMIF_JUMBO_RING_LOG2 = 13
"""Half the ring for large buffers, whose memory is 2 x ring x buffer: 158 MB at 9664 bytes."""
_DUT_RESIDENT_MIB = 256
"""What a DUT touches of its memory without hugepages, measured: testpmd 176 on vhost, 236 on memif,
l3fwd em 200. The rest of what it may use costs nothing."""


class Wire(Closing):
    """An open wire: give `tester` and `dut` to the two programs, and close it after them."""

    def __init__(
        self,
        kind: WireKind,
        folder: PrivateFolder,
        *,
        placement: Placement,
        hugepages: bool,
        frame_bytes_max: int,
        tester_memory_mib: int,
        dut_memory_mib: int,
    ) -> None:
        self.kind = kind
        self.warnings = placement.warnings
        self._folder = folder
        self.socket = folder.path / "wire"
        # The folder is ours alone, so the prefix only has to tell it from other programs' hugepage
        # files and from strangers in `ps`.
        tag = folder.path.name.rpartition("-")[2][:8]
        tester_device, dut_device = devices(
            kind, self.socket, frame_bytes_max=frame_bytes_max, zero_copy=hugepages
        )
        self.tester = EalSide(
            devices=(tester_device,),
            file_prefix=f"tester-{tag}",
            runtime_folder=folder.path,
            memory_mib=tester_memory_mib,
            hugepages=hugepages,
            single_file_segments=True,
            control_cpu=placement.control_cpu,
            worker_cpus=placement.tester_cpus,
        )
        self.dut = EalSide(
            devices=(dut_device,),
            file_prefix=f"dut-{tag}",
            runtime_folder=folder.path,
            memory_mib=dut_memory_mib,
            hugepages=hugepages,
            single_file_segments=True,
            control_cpu=placement.control_cpu,
            worker_cpus=(placement.dut_cpu,),
        )
        for side in (self.tester, self.dut):
            _require_short(folder.path / "dpdk" / side.file_prefix / "dpdk_telemetry.v2")

    def forget_tester(self) -> None:
        """Make room for another tester after one that died: its socket would be in the way."""
        remove_socket(self.socket)

    def close(self) -> None:
        """Remove its folder; a second call does nothing."""
        self._folder.close()


def open_wire(
    kind: str = "vhost",
    *,
    folder: Path | None = None,
    frame_bytes_max: int = 1518,
    tester_workers: int = 1,
    tester_memory_mib: int = 512,
    dut_memory_mib: int = 1024,
) -> Wire:
    """Open a wire of `kind` with its sockets in `folder`, or in a private one of its own.

    Uses hugepages if enough are free, else none. The memory is what each program may use at most;
    `frame_bytes_max` is with FCS.
    Raises InputError `wire.unknown`, `folder.in_use`, `wire.path_too_long`, `wire.memory`,
    `cpus.too_few`.
    """
    if kind not in get_args(WireKind):
        raise InputError(
            "wire.unknown",
            where=kind,
            found="no such wire",
            next=f"one of {', '.join(get_args(WireKind))}",
        )
    cpus = [procfs.read_topology(cpu) for cpu in procfs.usable_cpus()]
    placement = place(cpus, tester_workers)
    needs = (tester_memory_mib, dut_memory_mib)
    hugepages = enough_hugepages(procfs.read_hugepages(), needs)
    if not hugepages:
        _require_memory(
            tester_memory_mib + min(dut_memory_mib, _DUT_RESIDENT_MIB), procfs.read_available_mib()
        )
    owned = PrivateFolder.create() if folder is None else PrivateFolder.adopt(folder)
    try:
        # A named folder may hold the socket of a tester that died.
        remove_socket(owned.path / "wire")
        return Wire(
            next(known for known in get_args(WireKind) if known == kind),
            owned,
            placement=placement,
            hugepages=hugepages,
            frame_bytes_max=frame_bytes_max,
            tester_memory_mib=tester_memory_mib,
            dut_memory_mib=dut_memory_mib,
        )
    except BaseException:
        owned.close()
        raise


def devices(
    kind: WireKind, socket: Path, *, frame_bytes_max: int, zero_copy: bool
) -> tuple[str, str]:
    """Give the device strings of tester and DUT.

    memif's buffers hold the largest frame whole: chained ones come out cut and in the wrong number
    (DPDK 22.11, one end counts 9000 bytes a frame and the other 7500). Its zero copy is the faster
    one with hugepages (50 against 41 Mpps), the slower one without (34 against 41).
    """
    _require_short(socket)
    if kind == "vhost":
        return (
            f"net_virtio_user0,path={socket},server=1,queues=1,queue_size={RING_FRAMES}",
            f"net_vhost0,iface={socket},client=1,queues=1",
        )
    jumbo = frame_bytes_max > _MEMIF_BUFFER_BYTES
    ring_log2 = _MEMIF_JUMBO_RING_LOG2 if jumbo else _MEMIF_RING_LOG2
    buffer_bytes = max(_MEMIF_BUFFER_BYTES, -(-frame_bytes_max // 64) * 64)
    shape = f"socket={socket},rsize={ring_log2},bsize={buffer_bytes}"
    common = f"id=0,socket-abstract=no,{shape}"
    server = f"net_memif0,role=server,{common}"
    if kind == "memif-direct":
        return f"own_memif0,{shape}", server
    return f"net_memif0,role=client,{common},zero-copy={'yes' if zero_copy else 'no'}", server


def enough_hugepages(pools: Sequence[procfs.HugepagePool], needs_mib: Sequence[int]) -> bool:
    """Whether one size of pages has enough free ones for all, each rounded up to whole pages."""
    return any(
        pool.free >= sum(-(-need * 1024 // pool.page_kib) for need in needs_mib) for pool in pools
    )


def _require_memory(needed_mib: int, available_mib: int) -> None:
    if available_mib < needed_mib:
        raise InputError(
            "wire.memory",
            where="/proc/meminfo",
            found=f"{available_mib} MiB available",
            so=f"tester and DUT may need {needed_mib} MiB",
            next="free memory, or give fewer flows or smaller rings",
        )


def _require_short(path: Path) -> None:
    size = len(str(path).encode())
    if size > MAX_PATH_BYTES:
        raise InputError(
            "wire.path_too_long",
            where=str(path),
            found=f"{size} bytes",
            so=f"the path of a Unix socket holds at most {MAX_PATH_BYTES}",
            next="give a folder with a shorter path, or set TMPDIR to one",
        )
