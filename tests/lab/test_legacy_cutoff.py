"""A step that severs the way to a real host is undone by that host; one that does not stays."""

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from claims import claim
from program import start, wirespeed

from wirespeed.apply.control_posix import PosixControl
from wirespeed.apply.executor import Executor
from wirespeed.apply.guard import with_cutoffs
from wirespeed.apply.guard_timer_control import with_rollback
from wirespeed.apply.planner import make_plan
from wirespeed.apply.run_place import run_folder
from wirespeed.host.clock import Deadline, sleep_s
from wirespeed.host.reach_destination import Remote
from wirespeed.host.ssh_session import SshSession
from wirespeed.lab.machine_spec import LabSpec, MachineSpec
from wirespeed.lab.machines import Machine, Machines
from wirespeed.model.error import ApplyError, WirespeedError
from wirespeed.model.journal import Begun, Entry, Result, Verified
from wirespeed.model.plan import Plan
from wirespeed.runs.captures import Gathered, gather
from wirespeed.steps.ovs_bridge import OvsBridge
from wirespeed.steps.ovs_port import OvsPort

pytestmark = [pytest.mark.machines, pytest.mark.rare, pytest.mark.timeout(900)]
WITHIN_S = 20
# A port that joins a switch hands its frames to it: its own address is deaf from then on.
STEPS = [
    OvsBridge(bridge="br9", datapath_type="system", owner="test"),
    OvsPort(bridge="br9", netdev="lab0", interface_type="system", owner="test"),
]
CONTROL_PORT = "0000:00:02.0"


@pytest.fixture(scope="module", params=["plain", "systemd"])
def host(request: pytest.FixtureRequest) -> Iterator[Machine]:
    """One that has systemd-run, and one that has not."""
    alpha = MachineSpec(name="alpha", systemd=request.param == "systemd")
    name = f"test-{os.getpid()}-cut"
    with Machines(LabSpec(hosts=(alpha,), wiring="switch"), name=name) as lab:
        sh(lab.hosts["alpha"], "/usr/share/openvswitch/scripts/ovs-ctl start")
        yield lab.hosts["alpha"]


def sh(host: Machine, script: str) -> str:
    done = host.run(["sh", "-ec", script])
    assert done.returncode == 0, f"{script}\n{done.output}\n{done.errors}"
    return done.output.strip()


def standing(host: Machine) -> str:
    links = "ip -o link | sed 's/^[0-9]*: //' | sort"
    return sh(host, f"{links}; ip -4 -o addr; ip route; ls /run; ovs-vsctl show | sed 1d")


def plan_of(host: Machine, session: SshSession) -> Plan:
    """Plan the severing steps, with leave to cut off."""
    name = host.state.name
    [gathered] = gather([Remote(host.state.destination, host.state.destination)])
    assert isinstance(gathered, Gathered)
    states = PosixControl(name, session).read(STEPS)
    plan = make_plan((name, step, state) for step, state in zip(STEPS, states, strict=True))
    marked = with_cutoffs(plan, {name: gathered.facts}, here=())
    assert [one.cuts for one in marked.steps] == ["", "lab0 carries your session"]
    return marked


def test_legacy_what_severs_is_undone_by_the_host_within_its_timer(host: Machine):
    before = standing(host)
    name, journal = host.state.name, list[Entry]()
    with SshSession(Remote(host.state.destination, host.state.destination)) as session:
        control, plan = PosixControl(name, session), plan_of(host, session)
        executor = Executor(
            plan, with_rollback(plan, {name: control}, WITHIN_S), journal.append, lambda: "now"
        )
        control.lock(claim())
        with pytest.raises(ApplyError) as caught:
            executor.apply()
        control.unlock(claim())
    assert caught.value.what == "step.cut_off", caught.value
    assert "lab0 in br9" in caught.value.where
    assert "the host undid it itself" in caught.value.found
    results = [entry.verdict for entry in journal if isinstance(entry, Result)]
    assert results == [Verified.VERIFIED, Verified.CUT_OFF]
    assert standing(host) == before


def test_legacy_killed_while_it_was_cut_off_the_host_undoes_it(host: Machine, tmp_path: Path):
    before = standing(host)
    spec = spec_of(host, tmp_path)
    with SshSession(Remote(host.state.destination, host.state.destination)) as session:
        plan = plan_of(host, session)
    journal = run_folder(spec) / "journal.jsonl"
    journal.parent.mkdir(mode=0o700, parents=True)
    journal.write_text(Begun(at="now", plan=plan).model_dump_json() + "\n")
    process = start(
        "apply", str(spec), "--yes", "--allow-cutoff", "--confirm-within", str(WITHIN_S)
    )
    await_intent(journal, 1)
    # The timer is armed, then the commands are sent: on a host that is slow, seconds later.
    severed = Deadline(60)
    while comes_back(host, 6):
        assert process.poll() is None and not severed.expired, "it is severed"
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=10)
    assert comes_back(host, 60), "the host undid it"
    assert sh(host, "cat /run/wirespeed/*/result") == "undone"

    undone = wirespeed("undo", str(spec))
    assert undone.returncode == 0, undone.stdout + undone.stderr
    assert standing(host) == before


def test_legacy_what_does_not_sever_is_confirmed_and_stays(host: Machine, tmp_path: Path):
    before = standing(host)
    spec = spec_of(host, tmp_path)
    options = ("--yes", "--allow-cutoff", "--confirm-within", "20")
    applied = wirespeed("apply", str(spec), *options)
    assert applied.returncode == 0, applied.stdout + applied.stderr
    sleep_s(22)
    assert sh(host, "cat /sys/class/net/lab0/mtu") == "9080"
    assert sh(host, "ls /run/wirespeed /run/wirespeed.lock 2>&1 || :").count("No such") == 2
    undone = wirespeed("undo", str(spec))
    assert undone.returncode == 0, undone.stdout + undone.stderr
    assert standing(host) == before


def spec_of(host: Machine, folder: Path) -> Path:
    path = folder / "spec.yaml"
    reach = {"reach": f"ssh://{host.state.destination}", "ports": [CONTROL_PORT]}
    path.write_text(
        json.dumps(
            {
                "hosts": {host.state.name: reach},
                "approach": "legacy-vlan",
                "failover": "none",
                "underlay": {"subnet": "192.168.9.0/24", "mtu": 9080},
                "networks": {"storage": {"segment": 42, "subnet": "192.168.10.0/24", "mtu": 9000}},
                "guests": {},
            }
        )
    )
    return path


def await_intent(journal: Path, number: int) -> None:
    # Beside two other labs the doctor and the plan alone took longer than a minute.
    deadline = Deadline(300)
    while f'"kind":"intent","number":{number}' not in journal.read_text():
        assert not deadline.expired, journal.read_text()
        sleep_s(0.05)


def comes_back(host: Machine, within_s: float) -> bool:
    deadline = Deadline(within_s)
    while not deadline.expired:
        try:
            return host.run(["true"], timeout_s=within_s).returncode == 0
        except WirespeedError:
            sleep_s(1)
    return False
