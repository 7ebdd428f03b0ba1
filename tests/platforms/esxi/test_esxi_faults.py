"""A described ESXi host that refuses, hangs or reboots at any command of an apply or an undo.

Each tool of it that is called has its turn. It ends as it was, or as wanted; and what a fault left
is finished or undone by the next run.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import pytest
from described_esxi import DescribedEsxi, described_esxi

from wirespeed.apply import control_posix, control_script
from wirespeed.apply.planner import make_plan
from wirespeed.apply.run import open_run
from wirespeed.host.local import LocalRunner
from wirespeed.host.runner import MAX_OUTPUT_BYTES, Completed
from wirespeed.model.error import HostError, LeftChangedError, WirespeedError
from wirespeed.model.plan import Plan
from wirespeed.platforms.esxi import control as control_esxi
from wirespeed.platforms.esxi.control import EsxiControl
from wirespeed.platforms.esxi.steps.esxi_module_parameters import EsxiModuleParameters
from wirespeed.runs.run_hosts import apply_plan, undo_plan

pytestmark = pytest.mark.timeout(50)
"""A tool that hangs is ended by its own limit, not by that of the connection, which is 60 s."""
NAME = "vmhost"
VFS = EsxiModuleParameters(parameters={"max_vfs": "1,1"}, reason="each guest has a VF")
BEFORE, AFTER = "DRSS=4", "DRSS=4 max_vfs=1,1"
CALLS = 6
"""Of an apply; an undo has one less. A test counts them."""


class Session:
    """A session at the host, as SSH would be one: it is lost with the shell at its other end."""

    def __init__(self, host: DescribedEsxi) -> None:
        self._host = host

    def run(
        self,
        argv: Sequence[str],
        *,
        timeout_s: float = 60.0,
        stdin: str | None = None,
        max_bytes: int = MAX_OUTPUT_BYTES,
    ) -> Completed:
        assert tuple(argv) == ("sh", "-s")
        done = LocalRunner().run(
            self._host.starts, timeout_s=timeout_s, stdin=stdin, max_bytes=max_bytes
        )
        if done.returncode < 0:
            raise HostError("ssh.lost", where=NAME, found="the connection ended")
        return done

    def renew(self) -> None:
        """There is nothing to keep."""


@pytest.fixture(name="host")
def _host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[DescribedEsxi]:
    made = described_esxi(tmp_path / "esxi", with_sshd=False)
    monkeypatch.setattr(control_esxi, "ESXI_LOCK", str(made.lock))
    monkeypatch.setattr(control_esxi, "PRELUDE", control_esxi.PRELUDE.replace("30", "1"))
    monkeypatch.setattr(control_script, "CHANGE_TIMEOUT_S", 1)
    monkeypatch.setattr(control_posix, "RECONNECT_S", 5.0)
    yield made
    assert made.says("refused") == ""


def controls_of(host: DescribedEsxi) -> dict[str, EsxiControl]:
    return {NAME: EsxiControl(NAME, Session(host), "")}


def plan_on(host: DescribedEsxi) -> Plan:
    (state,) = controls_of(host)[NAME].read([VFS])
    return make_plan([(NAME, VFS, state)])


def arm(host: DescribedEsxi, fault: str, at: int) -> None:
    host.put("count", "0")
    host.put("fault_at", fault)
    host.put("at", str(at) if at else "")


FAULTS = pytest.mark.parametrize("fault", ["refused", "hangs", "reboots"])
AT = pytest.mark.parametrize("at", range(1, CALLS + 1))


@FAULTS
@AT
def test_an_esxi_host_at_fault_at_any_command_of_an_apply(
    host: DescribedEsxi, tmp_path: Path, fault: str, at: int
):
    plan = plan_on(host)
    arm(host, fault, at)
    with open_run(tmp_path / "run") as run:
        with suppress(WirespeedError):
            apply_plan(run, plan, controls_of(host))
        assert host.says("options") in (BEFORE, AFTER)
        arm(host, "", 0)
        if run.plan is not None and run.outcome != "undone":
            undo_plan(run, plan, controls_of(host), NAME)
    assert host.says("options") == BEFORE
    assert not host.lock.exists()


@FAULTS
@AT
def test_an_esxi_host_at_fault_at_any_command_of_an_undo(
    host: DescribedEsxi, tmp_path: Path, fault: str, at: int
):
    plan = plan_on(host)
    with open_run(tmp_path / "run") as run:
        apply_plan(run, plan, controls_of(host))
        assert host.says("options") == AFTER
        arm(host, fault, at)
        with suppress(WirespeedError):
            undo_plan(run, plan, controls_of(host), NAME)
        is_undone = run.outcome == "undone"
        assert host.says("options") == BEFORE or not is_undone
        arm(host, "", 0)
        if not is_undone:
            undo_plan(run, plan, controls_of(host), NAME)
    assert host.says("options") == BEFORE
    assert not host.lock.exists()


def test_the_calls_that_are_put_at_fault_are_all_there_are(host: DescribedEsxi, tmp_path: Path):
    plan = plan_on(host)
    counts = []
    with open_run(tmp_path / "run") as run:
        for do in (
            lambda: apply_plan(run, plan, controls_of(host)),
            lambda: undo_plan(run, plan, controls_of(host), NAME),
        ):
            arm(host, "", 0)
            do()
            counts.append(int(host.says("count")))
    assert max(counts) == CALLS, counts


def test_an_undo_that_esxi_refuses_is_said(host: DescribedEsxi, tmp_path: Path):
    plan = plan_on(host)
    with open_run(tmp_path / "run") as run:
        apply_plan(run, plan, controls_of(host))
        host.put("fault", "refused")
        with pytest.raises(LeftChangedError):
            undo_plan(run, plan, controls_of(host), NAME)
        assert host.says("options") == AFTER
