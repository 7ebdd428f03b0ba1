"""How the tests are run, whatever started them: what comes first, and what Ctrl-C does.

Runs of wirespeed are kept in a folder that is gone with the tests, not in the user's own.
"""

import os
import shutil
import signal
import tempfile
import time
from functools import cache
from itertools import count
from pathlib import Path

import pytest

from described.host import SHARED, remove_unused
from wirespeed.apply import host_copy_script
from wirespeed.host.build_cache import cache_folder

STATE = pytest.StashKey[Path]()
RARE_UNTIL = "WIRESPEED_RARE_UNTIL"
"""Seconds since 1970, after which no rare test begins: `scripts/test.sh` sets it for CI."""
RARE_TURN = "WIRESPEED_RARE_TURN"
"""How many files of virtual hosts the order starts later: `scripts/test.sh` sets it for CI. What
one run has no time for is among the first of another."""
HOSTS = count()

# Shows what an assertion of these compared, though they are no tests themselves.
pytest.register_assert_rewrite("proof", "whole_plan")

# A job that a shell starts in the background has SIGINT ignored, and hands that on to its children:
# a program that is told to stop by it would go on.
signal.signal(signal.SIGINT, signal.default_int_handler)


LONGEST = (
    "test_fleet_waves_ssh.py",
    "test_fleet_collection_ssh.py",
    "test_fleet_collection.py",
    "test_mlx5_driver.py",
    "test_mlx5_tc.py",
    "test_mlx5_firmware.py",
    "test_legacy_disk_lost.py",
    "test_legacy_killed_writes.py",
    "test_story_legacy_prove.py",
    "test_story_ovs_dpdk.py",
    "test_network_legacy.py",
    "test_ovs_tc_faults.py",
    "test_legacy_persist.py",
    "test_ovs_dpdk_faults.py",
    "test_story_ovs_tc.py",
    "test_legacy_cutoff.py",
    "test_story_legacy_namespace.py",
    "test_story_ovs_lacp.py",
    "test_mlx5_vfs.py",
    "test_fleet_rack.py",
    "test_fuzz.py",
)
"""Minutes each: one that starts last is waited for by all. The two whose hosts poll stand apart:
side by side they took a CPU each from all others, and from each other."""


def pytest_configure(config: pytest.Config) -> None:
    """Keep runs apart from the user's, for all that the tests start, too.

    What is captured of a described host is in a folder that all workers and later runs share.
    """
    config.stash[STATE] = Path(tempfile.mkdtemp(prefix="wirespeed-state-"))
    os.environ["XDG_STATE_HOME"] = str(config.stash[STATE])
    if SHARED not in os.environ:
        captures = cache_folder() / "described"
        captures.mkdir(parents=True, exist_ok=True)
        remove_unused(captures, days=30)
        os.environ[SHARED] = str(captures)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove it."""
    shutil.rmtree(config.stash[STATE], ignore_errors=True)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Refuse a test that has the machine to itself and that `scripts/test.sh` would not find."""
    alone = any(item.get_closest_marker(name) for name in ("dpdk", "polls"))
    if alone and not names_a_mark(item.path):
        message = f"{item.nodeid}: scripts/test.sh finds such tests by mark.dpdk or mark.polls"
        raise pytest.UsageError(f"{message} in their file, and this one has neither")


@cache
def names_a_mark(path: Path) -> bool:
    """Whether `scripts/test.sh` finds the file."""
    return any(name in path.read_text() for name in ("mark.dpdk", "mark.polls"))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Leave rare tests out when their time is over, and say so: a slow day is no failure."""
    until = os.environ.get(RARE_UNTIL)
    if until and item.get_closest_marker("rare") and time.time() > float(until):
        pytest.skip(f"rare, and the time for what is rare is over ({RARE_UNTIL})")


@pytest.fixture(autouse=True)
def copies(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep the copies of journals that a test leaves on this machine as a host; give where.

    A virtual host has a disk of its own: there they stand where they do on any host.
    """
    place = request.config.stash[STATE] / f"host-{next(HOSTS)}"
    if request.node.get_closest_marker("machines") is None:
        monkeypatch.setattr(host_copy_script, "FOLDER", str(place))
    return place


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start the longest first, then what waits for virtual hosts: what computes fills the gaps.

    The order within a file stays: what a module sets up is used by all its tests.
    """
    hosts = {item.path.name for item in items if item.get_closest_marker("machines")}
    order = [*LONGEST, *sorted(hosts - set(LONGEST))]
    turn = int(os.environ.get(RARE_TURN, "0")) % len(order)
    place = {name: index for index, name in enumerate(order[turn:] + order[:turn])}
    items.sort(key=lambda item: place.get(item.path.name, len(order)))
