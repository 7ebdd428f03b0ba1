"""Namespaces as guests on two virtual hosts: the spec, what stands, and an apply that is killed."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from wirespeed.apply.control_posix import PosixControl
from wirespeed.apply.run import open_run
from wirespeed.catalog import read_step
from wirespeed.doctor.host_state import Values, differences, values_of
from wirespeed.host.reach_destination import Remote
from wirespeed.lab.machines import Machines
from wirespeed.model.journal import Begun, Intent
from wirespeed.model.observed import Known, Observed
from wirespeed.model.plan import Plan
from wirespeed.model.step import State
from wirespeed.runs.captures import Gathered, gather
from wirespeed.runs.hosts_of_spec import controls_of, read_spec
from wirespeed.runs.plan_hosts import plan_hosts
from wirespeed.runs.run_hosts import apply_plan, undo_plan

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


def states(controls: dict[str, PosixControl], plan: Plan) -> list[Observed[State]]:
    return controls["alpha"].read([read_step(planned.step) for planned in plan.steps])


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


def assert_start_or_goal_where_killed(spec: Path, work: Path, usual: int) -> None:
    """Kill an apply of alpha at `usual` lines of its journal, each in the midst of as many.

    WIRESPEED_KILLS is another number; more than there are lines: at each of them. The next
    controller finishes and undoes it, or undoes it at once: by turns.
    """
    wanted, folder, saved = read_spec(spec), work / "run", work / "plan.json"
    with controls_of(wanted) as controls:
        plan, _ = plan_hosts(wanted, controls)
        saved.write_text(plan.model_dump_json())
        start = states(controls, plan)
        with open_run(folder) as run:
            apply_plan(run, plan, controls)
            entries = list(run.entries)
            goal = states(controls, plan)
            undo_plan(run, plan, controls, "spec.yaml")
        assert states(controls, plan) == start != goal
        assert all(isinstance(state, Known) for state in goal)

        kills = int(os.environ.get("WIRESPEED_KILLS", usual))
        lines_each = len(entries) / kills
        places = sorted({int((n + 0.5) * lines_each) for n in range(kills)})
        for turn, place in enumerate(places):
            # Of what was written: the intent, and nothing is done; not the result, and all is.
            when = "after" if isinstance(entries[place], Begun | Intent) else "before"
            # Another run: one whose journal alone is gone is a damaged one.
            shutil.rmtree(folder)
            killed = is_killed(spec, saved, folder, place, when)
            kept = len((folder / "journal.jsonl").read_text().splitlines())
            # An apply of fewer lines: the VF had its address before it was read.
            assert kept == place + (when == "after") if killed else kept <= place
            end = "undo" if turn // 2 % 2 else "apply"
            with open_run(folder) as run:
                if end == "apply" and killed:
                    apply_plan(run, plan, controls)
                    assert states(controls, plan) == goal, (place, when)
                undo_plan(run, plan, controls, "spec.yaml")
            assert states(controls, plan) == start, (place, when, end)
