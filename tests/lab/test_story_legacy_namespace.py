"""Guests that are namespaces, on real kernels: two tenants, each on both hosts, and back again."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from program import wirespeed

from wirespeed.apply.hands_shell import ShellHands
from wirespeed.apply.run import open_run
from wirespeed.catalog import read_step
from wirespeed.doctor.host_state import Values, differences, values_of
from wirespeed.host.clock import Deadline, sleep_s
from wirespeed.host.reach_destination import Remote
from wirespeed.lab.machines import Machines
from wirespeed.measure.network.endpoint import Endpoint
from wirespeed.measure.network.endpoints import endpoints_of
from wirespeed.model.journal import Begun, Intent
from wirespeed.model.observed import Known, Observed
from wirespeed.model.plan import Plan
from wirespeed.model.step import State
from wirespeed.runs.captures import Gathered, gather
from wirespeed.runs.hosts_of_spec import hands_of, read_spec, runners_of
from wirespeed.runs.plan_hosts import plan_hosts
from wirespeed.runs.run_hosts import carry_out, take_back

pytestmark = [pytest.mark.machines, pytest.mark.timeout(900)]
HOSTS = ("alpha", "beta")
PORTS = ("0000:01:00.0", "0000:02:00.0")
STORY: dict[str, Any] = {
    "approach": "legacy-vlan",
    "underlay": {"subnet": "192.168.9.0/24", "mtu": 9080},
    "networks": {
        "storage": {"segment": 42, "subnet": "192.168.10.0/24", "mtu": 9000},
        "public": {"segment": 40, "subnet": "192.168.20.0/24", "mtu": 1500},
    },
    "guests": {
        "ceph-1": {"host": "alpha", "networks": ["storage"], "kind": "namespace"},
        "ceph-2": {"host": "beta", "networks": ["storage"], "kind": "namespace"},
        "web-1": {"host": "alpha", "networks": ["public"], "kind": "namespace"},
        "web-2": {"host": "beta", "networks": ["public"], "kind": "namespace"},
    },
}
SMALL = STORY | {
    "failover": "none",
    "underlay": {"subnet": "192.168.9.0/24", "mtu": 1500},
    "networks": {"storage": {"segment": 42, "subnet": "192.168.10.0/24", "mtu": 1500}},
    "guests": {"ceph-1": {"host": "alpha", "networks": ["storage"], "kind": "namespace"}},
}
CAPTURE_TIMEOUT_S = 180
"""An emulated host on a busy machine takes its time."""
HEADERS_BYTES = 28
"""IPv4 and ICMP: what `ping -s` leaves out."""
SHOWN_EACH = 4
"""Of so many kills the host is asked once what stands there: a command takes seconds."""


@pytest.fixture(scope="module")
def lab() -> Iterator[Machines]:
    with Machines(name=f"test-{os.getpid()}-namespace") as lab:
        yield lab


def written(lab: Machines, path: Path, story: dict[str, Any], ports: dict[str, Any]) -> Path:
    hosts = {
        n: {"reach": f"ssh://{lab.hosts[n].state.destination}", "ports": p}
        for n, p in ports.items()
    }
    # JSON is YAML too.
    path.write_text(json.dumps({"hosts": hosts, **story}))
    return path


def standing(lab: Machines) -> dict[str, Values]:
    """All that is set on every host, by a fresh capture."""
    places = {name: lab.hosts[name].state.destination for name in HOSTS}
    found = {}
    remotes = [Remote(place, place) for place in places.values()]
    for gathered in gather(remotes, timeout_s=CAPTURE_TIMEOUT_S):
        assert isinstance(gathered, Gathered), gathered
        assert gathered.facts.capture.complete, "cut off: there is nothing to compare"
        found[gathered.destination.text] = values_of(gathered.facts)
    assert len(found) == len(HOSTS)
    return found


def assert_as_before(lab: Machines, before: dict[str, Values]) -> None:
    now = standing(lab)
    assert [d for host in before for d in differences(host, before[host], now[host])] == []


def ping(guest: Endpoint, address: object, *, mtu: int, count: int = 3) -> str:
    """Packets of exactly so many bytes, which nobody may cut into pieces."""
    size = str(mtu - HEADERS_BYTES)
    argv = ("ping", "-n", "-M", "do", "-s", size, "-c", str(count), "-W", "2", str(address))
    done = guest.runner.run(argv, timeout_s=60)
    return done.output + done.errors


def assert_talk(one: Endpoint, other: Endpoint, network: str) -> None:
    mine, address = one.attachments[network], other.attachments[network].address
    # Both bonds have to find the port that the other one uses.
    deadline = Deadline(90)
    while " 0% packet loss" not in ping(one, address, mtu=mine.mtu, count=1):
        assert not deadline.expired, ping(one, address, mtu=mine.mtu)
        sleep_s(0.5)
    assert "message too long, mtu=" in ping(one, address, mtu=mine.mtu + 1, count=1)


def assert_apart(one: Endpoint, other: Endpoint, network: str) -> None:
    """With an address of the other's own subnet, too."""
    address = other.attachments[network].address
    netdev = next(iter(one.attachments.values())).netdev
    assert "Network is unreachable" in ping(one, address, mtu=100, count=1)
    forced = ("192.168.10.201/24", "dev", netdev)
    assert one.runner.run(("ip", "addr", "add", *forced)).returncode == 0
    try:
        assert "100% packet loss" in ping(one, address, mtu=100)
    finally:
        assert one.runner.run(("ip", "addr", "del", *forced)).returncode == 0


def test_legacy_namespaces_of_one_network_talk_and_of_two_do_not(lab: Machines, tmp_path: Path):
    spec = written(lab, tmp_path / "spec.yaml", STORY, dict.fromkeys(HOSTS, PORTS))
    before = standing(lab)

    applied = wirespeed("apply", str(spec), "--yes", timeout_s=600)
    assert applied.returncode == 0, applied.stdout + applied.stderr

    wanted = read_spec(spec)
    with runners_of(wanted) as runners:
        guests = endpoints_of(wanted, runners)
        assert set(guests) == set(STORY["guests"])
        assert_talk(guests["ceph-1"], guests["ceph-2"], "storage")
        assert_talk(guests["web-1"], guests["web-2"], "public")
        # Over the wire, and within one card.
        assert_apart(guests["web-1"], guests["ceph-2"], "storage")
        assert_apart(guests["web-1"], guests["ceph-1"], "storage")
        assert_talk(guests["ceph-2"], guests["ceph-1"], "storage")

    again = wirespeed("apply", str(spec), "--yes")
    assert again.returncode == 0, again.stdout + again.stderr
    assert "\n0 of " in again.stdout, again.stdout

    undone = wirespeed("undo", str(spec), timeout_s=600)
    assert undone.returncode == 0, undone.stdout + undone.stderr
    assert_as_before(lab, before)


def test_legacy_a_namespace_of_somebody_else_is_left_alone(lab: Machines, tmp_path: Path):
    story = STORY | {"guests": {"ceph-1": STORY["guests"]["ceph-1"]}}
    spec = written(lab, tmp_path / "spec.yaml", story, dict.fromkeys(HOSTS, PORTS))
    host = lab.hosts["alpha"]
    assert host.run(["ip", "netns", "add", "ceph-1"]).returncode == 0
    try:
        refused = wirespeed("apply", str(spec), "--yes")
    finally:
        assert host.run(["ip", "netns", "del", "ceph-1"]).returncode == 0
    assert refused.returncode == 2, refused.stdout + refused.stderr
    assert "whose it is is not known" in " ".join(refused.stderr.split())


def states(hands: dict[str, ShellHands], plan: Plan) -> list[Observed[State]]:
    return hands["alpha"].read([read_step(planned.step) for planned in plan.steps])


@pytest.mark.rare
@pytest.mark.timeout(3600)
def test_legacy_apply_killed_at_every_journal_write_ends_in_start_or_goal(
    lab: Machines, tmp_path: Path
):
    """One port and one guest; MTUs as found, for each change resets the port: time is dear."""
    spec = written(lab, tmp_path / "spec.yaml", SMALL, {"alpha": PORTS[:1]})
    before = standing(lab)
    wanted, folder, saved = read_spec(spec), tmp_path / "run", tmp_path / "plan.json"
    with hands_of(wanted) as hands:
        plan, _ = plan_hosts(wanted, hands)
        saved.write_text(plan.model_dump_json())
        start = states(hands, plan)
        with open_run(folder) as run:
            carry_out(run, plan, hands)
            entries = list(run.entries)
            goal = states(hands, plan)
            take_back(run, plan, hands, "spec.yaml")
        assert states(hands, plan) == start != goal
        assert all(isinstance(state, Known) for state in goal)

        for place, entry in enumerate(entries):
            # Of what was written: the intent, and nothing is done; not the result, and all is.
            when = "after" if isinstance(entry, Begun | Intent) else "before"
            # Another run: one whose journal alone is gone is a damaged one.
            shutil.rmtree(folder)
            killed = is_killed(spec, saved, folder, place, when)
            lines = (folder / "journal.jsonl").read_text().splitlines()
            # An apply of fewer lines: the VF had its address before it was read.
            assert len(lines) == place + (when == "after") if killed else len(lines) <= place
            end = "undo" if place // 2 % 2 else "apply"
            with open_run(folder) as run:
                if end == "apply" and killed:
                    carry_out(run, plan, hands)
                    assert states(hands, plan) == goal, (place, when)
                take_back(run, plan, hands, "spec.yaml")
            assert states(hands, plan) == start, (place, when, end)
    assert_as_before(lab, before)


def last_writes(plan: Plan) -> list[tuple[int, str]]:
    """Kills at three writes: in the midst of the steps, at their end, before the run's end."""
    todo = sum(not planned.no_op for planned in plan.steps)
    # begun, intent and result of each step, stood, ended
    return [(1 + 2 * (todo // 2), "after"), (2 * todo, "before"), (2 * todo + 2, "before")]


def every_write(plan: Plan) -> list[tuple[int, str]]:
    writes = range(3 + 2 * sum(not planned.no_op for planned in plan.steps))
    return [(place, when) for place in writes for when in ("before", "after")]


@pytest.mark.parametrize(
    "writes",
    [last_writes, pytest.param(every_write, marks=[pytest.mark.rare, pytest.mark.timeout(3600)])],
    ids=lambda writes: writes.__name__,
)
def test_legacy_killed_and_its_disk_lost_the_host_s_own_copy_brings_the_host_back(
    lab: Machines, tmp_path: Path, writes: Callable[[Plan], list[tuple[int, str]]]
):
    spec = written(lab, tmp_path / "spec.yaml", SMALL, {"alpha": PORTS[:1]})
    host, before = f"ssh://{lab.hosts['alpha'].state.destination}", standing(lab)
    wanted, saved = read_spec(spec), tmp_path / "plan.json"
    with hands_of(wanted) as hands:
        plan, _ = plan_hosts(wanted, hands)
        saved.write_text(plan.model_dump_json())
        start = states(hands, plan)
        for number, (place, when) in enumerate(writes(plan)):
            folder, state = tmp_path / f"run-{number}", tmp_path / f"state-{number}"
            killed = is_killed(spec, saved, folder, place, when)
            shutil.rmtree(folder)
            if number % SHOWN_EACH == 0:
                assert_stands(host, state, place, killed=killed)
            undone = wirespeed(
                "undo", host, "--yes", "--break-lock", XDG_STATE_HOME=str(state), timeout_s=600
            )
            assert undone.returncode == 0, (place, when, undone.stdout + undone.stderr)
            assert states(hands, plan) == start, (place, when)
            if number % SHOWN_EACH == 0:
                again = wirespeed("status", host, XDG_STATE_HOME=str(state))
                assert again.returncode == 0 and "0 runs stand" in again.stdout, again.stdout
            # Of what was killed before anything was done, the lock is still there.
            lab.hosts["alpha"].run(["rm", "-rf", "/run/wirespeed.lock"])
    assert_as_before(lab, before)


def assert_stands(host: str, state: Path, place: int, *, killed: bool) -> None:
    told = wirespeed("status", host, XDG_STATE_HOME=str(state))
    stands = "1 runs stand" in told.stdout
    assert told.returncode == (1 if stands and killed else 0), told.stdout + told.stderr
    # The first line is written to no host: nothing was done by then.
    assert stands or place < 2, (place, told.stdout)


def is_killed(spec: Path, plan: Path, folder: Path, place: int, when: str) -> bool:
    """Tell whether it was, or came to its end before."""
    program = Path(__file__).with_name("killed_apply.py")
    done = subprocess.run(
        [sys.executable, str(program), str(spec), str(plan), str(folder), str(place), when],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode in (0, -signal.SIGKILL), done.stdout + done.stderr
    return done.returncode != 0
