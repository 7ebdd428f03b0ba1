"""A DUT on files of frames: what it sends is what it made of what it got."""

from collections.abc import Callable
from pathlib import Path

import pytest
from pcap_tester import write_pcap

from wirespeed.host.folder import PrivateFolder
from wirespeed.host.procfs import usable_cpus
from wirespeed.measure.bench.eal_side import EalSide


@pytest.fixture
def runtime_folder():
    with PrivateFolder.create() as folder:
        yield folder.path


@pytest.fixture
def null_side(runtime_folder: Path) -> Callable[..., EalSide]:
    """Make a side on some device, without hugepages, on the last CPU."""

    def make(device: str = "net_null0", *, memory_mib: int = 1024) -> EalSide:
        cpus = usable_cpus()
        return EalSide(
            devices=(device,),
            file_prefix="dut",
            runtime_folder=runtime_folder,
            memory_mib=memory_mib,
            hugepages=False,
            control_cpu=cpus[0],
            worker_cpus=(cpus[-1],),
        )

    return make


@pytest.fixture
def pcap_side(
    null_side: Callable[..., EalSide], tmp_path: Path
) -> Callable[..., tuple[EalSide, Path]]:
    """Make a side whose port receives given frames, again and again if asked to."""

    def make(frames: list[bytes], *, options: str = "") -> tuple[EalSide, Path]:
        write_pcap(tmp_path / "in.pcap", frames)
        out = tmp_path / "out.pcap"
        return null_side(f"net_pcap0,rx_pcap={tmp_path}/in.pcap,tx_pcap={out}{options}"), out

    return make
