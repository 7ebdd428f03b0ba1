"""Times at which links went down, from the journal or the kernel's ring."""

import subprocess
from pathlib import Path

import pytest

from wirespeed.facts.link_events import MOST, LinkEvents, LinkLog
from wirespeed.host.sections import sections_script
from wirespeed.model.capture import Capture, Section, parse_capture
from wirespeed.model.observed import Unreadable

PORTS = "".join(
    f"{netdev} driver={driver} physfn= port= device=/sys/devices/pci0000:d7/0000:d8:00.{n}\n"
    for n, (netdev, driver) in enumerate((("ens1f0np0", "mlx5_core"), ("eth1", "ixgbe")))
)
BOOT, UPTIME = 1_699_600_000, 400_000.0
NOW = 1_700_000_000


def log(*lines: str, since: str = "since [    0.000000]") -> LinkLog:
    said = "\n".join((f"clock {BOOT} {UPTIME:.2f}", since, *lines))
    sections = [Section("ports", "", PORTS, "", 0), Section("link-messages", "", said, "", 0)]
    found = LinkEvents.parse(Capture(sections, complete=True)).known
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("message", "netdev"),
    [
        # drivers/net/ethernet/mellanox/mlx5/core/en_main.c: netdev_info
        ("mlx5_core 0000:d8:00.0 ens1f0np0: Link down", "ens1f0np0"),
        ("ixgbe 0000:d8:00.1 eth1: NIC Link is Down", "eth1"),
        # https://lore.kernel.org: e1000e and igb name the netdev twice.
        ("igb 0000:d8:00.1 eth1: igb: eth1 NIC Link is Down", "eth1"),
        ("mlx4_en: eth1: Link Down", "eth1"),
        ("tg3 0000:d8:00.1 eth1: Link is down", "eth1"),
        ("mlx5_core 0000:d8:00.0 ens1f0np0: Link up", ""),
        ("mlx5_core 0000:e8:00.0 ens9f0np0: Link down", ""),
        ("bond0: (slave eth1): link status definitely down, disabling slave", ""),
    ],
)
def test_a_link_that_went_down_is_told_by_its_netdev(message: str, netdev: str):
    for line in (f"at {NOW - 60}.250000 {message}", f"[{UPTIME - 60:12.6f}] {message}"):
        lines = [line] if "own" in message and "definitely" not in message else []
        found = [one.netdev for one in log(*lines).downs]
        assert found == ([netdev] if netdev else [])


def test_the_ring_has_seconds_since_the_start_and_its_clock_drifts():
    (journal,) = log(f"at {NOW - 100_000}.250000 x eth1: Link is down").downs
    (ring,) = log(f"[{UPTIME - 100_000:.6f}] x eth1: Link is down").downs
    assert journal.at == NOW - 100_000 + 0.25
    assert ring.at == NOW - 100_000 + 0.5
    # 100 ppm of 100,000 s, and the second that the start is known to.
    assert (journal.within_s, ring.within_s) == (0.5, 10.5)


def test_what_goes_down_while_the_host_starts_is_not_counted():
    found = log("[    9.000000] x eth1: Link is down", "[  200.000000] x eth1: Link is down")
    assert [one.at - BOOT for one in found.downs] == [200.5]


def test_the_log_covers_what_it_still_has():
    assert log().seconds == UPTIME
    assert log(since="since [390000.000000]").seconds == 10_000
    assert log(since=f"since {NOW - 50}.000000").seconds == 50.5
    many = [f"[{UPTIME - MOST + n:.6f}] x eth1: Link is down" for n in range(MOST)]
    assert log(*many).seconds == MOST


@pytest.mark.parametrize("first", ["", "clock", "clock 1 x", "clock 99999999999999 1"])
def test_without_the_clock_no_time_is_known(first: str):
    section = Section("link-messages", "", f"{first}\n[1.0] eth1: Link is down", "", 0)
    found = LinkEvents.parse(Capture([section], complete=True))
    assert isinstance(found.log, Unreadable) and found.known is None


JOURNAL = f"""\
{NOW - 90}.000001 n7 kernel: Linux version 6.12
{NOW - 80}.000002 n7 kernel: mlx5_core 0000:d8:00.0 ens1f0np0: Link down
{NOW - 79}.000003 n7 kernel: secret of somebody
{NOW - 78}.000004 n7 sshd[7]: eth1: Link is Down
"""
RING = """\
[    0.000000] Linux version 6.12
[  300.500000] ixgbe 0000:d8:00.1 eth1: NIC Link is Down
[  301.500000] ixgbe 0000:d8:00.1 eth1: NIC Link is Up 10 Gbps
"""


@pytest.mark.parametrize("has_journal", [True, False])
def test_the_shell_reads_the_journal_and_else_the_ring(tmp_path: Path, has_journal: bool):
    for name, text in (("journalctl", JOURNAL), ("dmesg", RING)):
        (tmp_path / name).write_text(f"#!/bin/sh\ncat <<'END'\n{text}END\n")
        (tmp_path / name).chmod(0o755)
    folder = tmp_path / "journal"
    if has_journal:
        folder.mkdir()
    body = LinkEvents.script.replace("/run/log/journal", str(folder))
    body = body.replace("/var/log/journal", str(folder))
    head = f"PATH={tmp_path}:$PATH\n"
    done = subprocess.run(
        ["/bin/sh", "-c", sections_script(head, body)],
        capture_output=True, text=True, check=True, timeout=30,
    )  # fmt: skip
    section = parse_capture(done.stdout, "here").section("link-messages")
    assert section is not None and section.returncode == 0
    clock, *lines = section.output.splitlines()
    assert clock.startswith("clock ")
    assert lines == (
        [
            f"since {NOW - 90}.000001",
            f"at {NOW - 80}.000002 " + JOURNAL.partition("2 n7 kernel: ")[2].splitlines()[0],
        ]
        if has_journal
        else ["since [    0.000000]", RING.splitlines()[1]]
    )
