"""MTU and promiscuous mode of a port that is live: put back, also after SIGKILL."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from wirespeed.host.clock import Deadline, sleep_s
from wirespeed.host.detached import our_python_path
from wirespeed.host.kept_links import KeptLinks, Link, read_link
from wirespeed.model.error import MeasurementError

IP = """#!/bin/sh
# ip link set dev NETDEV [mtu N] [promisc on|off], on files.
shift 3; at={net}/$1; shift
put() (echo "$2" >"$at/$1.new" && mv "$at/$1.new" "$at/$1")
while [ $# -gt 0 ]; do
    case $1,$2 in
    mtu,*) put mtu "$2" ;;
    promisc,on) put flags 0x1103 ;;
    promisc,off) put flags 0x1003 ;;
    *) exit 2 ;;
    esac
    shift 2
done
"""
HOLDS = """
import sys, time
from pathlib import Path
from wirespeed.host.kept_links import KeptLinks
kept = KeptLinks(["ens1f0", "ens1f1"], Path(sys.argv[1]))
print("kept", flush=True)
time.sleep(60)
"""


def write(net: Path, netdev: str, mtu: int, flags: str) -> None:
    (net / netdev).mkdir(parents=True, exist_ok=True)
    (net / netdev / "mtu").write_text(f"{mtu}\n")
    (net / netdev / "flags").write_text(f"{flags}\n")


@pytest.fixture(name="net")
def _net(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two netdevs: jumbo frames and not promiscuous; 1500 and promiscuous."""
    net = tmp_path / "net"
    write(net, "ens1f0", 9000, "0x1003")
    write(net, "ens1f1", 1500, "0x1103")
    ip = tmp_path / "bin/ip"
    ip.parent.mkdir()
    ip.write_text(IP.format(net=net))
    ip.chmod(0o755)
    monkeypatch.setenv("PATH", f"{ip.parent}:{os.environ['PATH']}")
    return net


def as_dpdk_leaves_them(net: Path) -> None:
    write(net, "ens1f0", 1500, "0x1103")
    write(net, "ens1f1", 1500, "0x1003")


def both(net: Path) -> list[Link]:
    return [read_link(net, "ens1f0"), read_link(net, "ens1f1")]


BEFORE = [Link(9000, False), Link(1500, True)]


def test_both_are_put_back_at_the_end(net: Path):
    with KeptLinks(["ens1f0", "ens1f1"], net):
        as_dpdk_leaves_them(net)
    assert both(net) == BEFORE


def test_both_are_put_back_after_sigkill(net: Path):
    argv = [sys.executable, "-c", HOLDS, str(net)]
    environment = {**os.environ, **our_python_path()}
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, env=environment)
    assert process.stdout is not None
    assert process.stdout.readline() == "kept\n"
    as_dpdk_leaves_them(net)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=10)
    deadline = Deadline(20)
    while both(net) != BEFORE:
        assert not deadline.expired, both(net)
        sleep_s(0.05)


def test_a_netdev_that_is_gone_is_left_and_the_other_put_back(net: Path):
    with KeptLinks(["ens1f0", "ens1f1"], net):
        as_dpdk_leaves_them(net)
        for file in (net / "ens1f0").iterdir():
            file.unlink()
    assert read_link(net, "ens1f1") == BEFORE[1]


def test_what_cannot_be_read_is_not_begun_with(net: Path):
    with pytest.raises(MeasurementError) as caught:
        KeptLinks(["ens9"], net)
    assert caught.value.what == "port.not_kept"
