"""A setting of Open vSwitch."""

from typing import Any

import pytest
from described_ovsdb import DescribedOvs
from proof import DescribedControl, plan_on, prove
from pydantic import ValidationError
from samples import is_never_guessed, reason_of, section_of, state_of

from wirespeed.apply.executor import Executor
from wirespeed.model.error import ApplyError
from wirespeed.model.finding import Danger
from wirespeed.steps.ovs_config import OvsConfig

STEP = OvsConfig(key="hw-offload", value="true", restart="systemd", reason="flows go to the card")
DPDK = OvsConfig(key="dpdk-init", value="true", restart="systemd", reason="ports of DPDK")
LIVE = OvsConfig(key="max-idle", value="30000", reason="flows stay")
NOTHING = (
    '{"data":[[["map",[]],["map",[["rundir","/r"]]]]],"headings":["other_config","external_ids"]}\n'
)
"""ovs-vsctl 3.1.0 with a new database."""
OFFLOAD = (
    '{"data":[[["map",[["dpdk-init","true"],["hw-offload","true"]]],["map",[["hostname","a"],["rundir","/r"]]]]],'
    '"headings":["other_config","external_ids"]}\n'
)
DUE = OFFLOAD.replace('["rundir","/r"]', '["wirespeed-restart-hw-offload","due"]')


def ovs(value: str | None, runs_with: str | None) -> DescribedOvs:
    there = {"dpdk-init": "true"}
    return DescribedOvs(
        other_config=there | ({"hw-offload": value} if value else {}),
        runs_with=there | ({"hw-offload": runs_with} if runs_with else {}),
        dpdk_initialized=True,
    )


@pytest.mark.parametrize("before", [None, "false"])
def test_it_is_set_and_the_daemon_is_started_with_it_and_both_are_put_back(before: str | None):
    prove(STEP, ovs(before, before), ovs("true", "true"))


def test_what_the_daemon_takes_as_it_runs_needs_no_restart():
    before = DescribedOvs()
    prove(LIVE, before, DescribedOvs(other_config={"max-idle": "30000"}))


def test_the_commands():
    planned = plan_on(STEP, ovs(None, None)).steps[0]
    assert planned.danger is Danger.DROPS_LINK
    restart = "systemctl restart openvswitch-switch.service"
    row = "ovs-vsctl --timeout=10 --no-wait"
    ids = "Open_vSwitch . external_ids"
    due = f"{ids}:wirespeed-restart-hw-offload=due -- remove {ids} rundir"
    done = f"{row} remove Open_vSwitch . external_ids wirespeed-restart-hw-offload"
    assert [c.line() for c in planned.commands] == [
        f"{row} set Open_vSwitch . other_config:hw-offload=true -- set {due}",
        restart,
        done,
    ]
    assert [c.line() for c in planned.undo] == [
        f"{row} remove Open_vSwitch . other_config hw-offload -- set {due}",
        restart,
        done,
    ]
    lab = plan_on(STEP.model_copy(update={"restart": "ovs-ctl"}), ovs(None, None)).steps[0]
    assert lab.commands[1].argv[0] == "/usr/share/openvswitch/scripts/ovs-ctl"


def with_dpdk(**changes: Any) -> DescribedOvs:
    return DescribedOvs(
        other_config={"dpdk-init": "true"}, runs_with={"dpdk-init": "true"}, **changes
    )


def test_dpdk_starts_and_is_off_again_after_undo():
    prove(DPDK, DescribedOvs(), with_dpdk(dpdk_initialized=True))


def test_dpdk_that_did_not_start_is_not_called_done_and_is_put_back():
    start = DescribedOvs(can_start_dpdk=False)
    control = DescribedControl(start)
    run = Executor(plan_on(DPDK, start), {"alpha": control}, lambda _: None, lambda: "now")
    with pytest.raises(ApplyError) as caught:
        run.apply()
    assert caught.value.what == "step.contradicted"
    assert "dpdk_initialized no" in caught.value.found
    assert control.host == DescribedOvs(can_start_dpdk=False)


def test_where_dpdk_was_asked_for_and_did_not_start_it_is_started_again():
    planned = plan_on(DPDK, with_dpdk()).steps[0]
    assert [c.argv[0] for c in planned.commands] == ["systemctl", "ovs-vsctl"]


def test_what_an_earlier_start_said_of_dpdk_is_cleared_with_the_key():
    """ovs-vswitchd that dies as it starts leaves the column as it was."""
    words = DPDK.change(
        {"value": None, "is_restart_due": False, "dpdk_initialized": True},
        {"value": "true", "is_restart_due": False, "dpdk_initialized": True},
    )[0].argv
    assert words[-5:] == ("--", "set", "Open_vSwitch", ".", "dpdk_initialized=false")


def test_before_2_10_nobody_can_tell():
    row = '["map",[]],["map",[["rundir","/r"]]],["set",[]]'
    heads = '["other_config","external_ids","dpdk_initialized"]'
    output = f'{{"data":[[{row}]],"headings":{heads}}}\n'
    assert "whether DPDK runs" in reason_of(DPDK, section_of(output))
    known = state_of(DPDK, section_of(output.replace('["set",[]]', "false")))
    assert known == {"value": None, "is_restart_due": False, "dpdk_initialized": False}


def test_what_would_be_read_as_a_set_or_a_map_is_quoted():
    extra = OvsConfig(key="dpdk-extra", value="-a 0000:03:00.0,representor=[0]", reason="x")
    commands = extra.change({"value": None}, {"value": extra.value})
    assert commands[0].argv[-1] == 'other_config:dpdk-extra="-a 0000:03:00.0,representor=[0]"'


def test_real_outputs():
    assert state_of(STEP, section_of(NOTHING)) == {"value": None, "is_restart_due": False}
    assert state_of(STEP, section_of(OFFLOAD)) == {"value": "true", "is_restart_due": False}
    assert state_of(LIVE, section_of(OFFLOAD)) == {"value": None}


def test_a_daemon_that_was_started_in_another_way_cannot_be_seen_to_restart():
    assert "not started by ovs-ctl" in reason_of(
        STEP, section_of(OFFLOAD.replace('"rundir"', '"other"'))
    )


def test_who_was_killed_before_the_restart_restarts():
    due = state_of(STEP, section_of(DUE))
    assert due == {"value": "true", "is_restart_due": True}
    commands = STEP.change(due, STEP.wanted(due))
    assert [c.argv[0] for c in commands] == ["systemctl", "ovs-vsctl"]


def test_what_could_not_be_put_back_is_not_planned():
    odd = OFFLOAD.replace('["hw-offload","true"]', '["hw-offload","a\\u0007b"]')
    assert "could not be restored by undo" in reason_of(STEP, section_of(odd))
    is_never_guessed(STEP)


def test_a_database_that_does_not_answer():
    errors = "ovs-vsctl: unix:/var/run/openvswitch/db.sock: database connection failed (No such…)"
    assert "database connection failed" in reason_of(STEP, section_of("", errors, 1))


@pytest.mark.parametrize("bad", [{"key": "--db"}, {"key": "a b"}, {"value": 'x"y'}, {"value": ""}])
def test_names_are_checked(bad: dict[str, str]):
    with pytest.raises(ValidationError):
        OvsConfig(**{"key": "hw-offload", "value": "true", "reason": "x", **bad})
