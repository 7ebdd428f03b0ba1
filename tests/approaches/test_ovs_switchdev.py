"""The whole plan of ovs-tc on a described host with a ConnectX: as found, applied, and as found.

With the real planner and executor; killed at every command; and with what goes wrong on such hosts.
"""

import pytest
from described_connectx import CHANNELS, FIRST_VF, PFS, PORTS, SYSFS, DescribedConnectX
from described_vf_guests import Guest
from whole_plan import Run, prove_kills, prove_refusals

from wirespeed.apply.executor import Executor
from wirespeed.approaches.guest_network import guest_mac
from wirespeed.model.command import write_file
from wirespeed.model.error import ApplyError, LeftChangedError
from wirespeed.model.journal import Ended
from wirespeed.model.spec.guests import GuestKind
from wirespeed.steps.representor_name import RepresentorName


def test_as_found_applied_nothing_to_do_and_as_found():
    run = Run()
    run.apply()
    beta = run.hosts["beta"]
    assert set(beta.modes.values()) == {"switchdev"}
    assert set(beta.steering.values()) == {"smfs"}
    assert [p.channels["combined"] for p in beta.ethtool.ports.values()] == [CHANNELS, CHANNELS]
    assert [p.features["hw-tc-offload"] for p in beta.ethtool.ports.values()] == ["on", "on"]
    (vf,) = beta.vfs[PFS[0]]
    assert vf.is_of_lag and vf.driver == "vfio-pci" and not beta.vfs[PFS[1]]
    assert beta.links.netdevs["underlay0"].kind == "bond"
    assert beta.links.link("underlay0").addresses == ["192.168.9.2/24"]
    assert {beta.links.link(name).mtu for name in ("underlay0", *PORTS)} == {9080}
    representor = beta.links.link("gpu-1-n0")
    assert representor.lower == f"rep {PFS[0]}"
    assert (representor.mtu, representor.is_up) == (9000, True)
    assert beta.ovs.runs_with == {"hw-offload": "true"}
    assert set(beta.ovs.ports) == {"t42-alpha", "gpu-1-n0"}

    again = run.planned("switchdev")
    assert [step.name for step in again.steps if not step.no_op] == []
    assert len(again.steps) > 30
    run.undo()
    assert run.is_as_found()


def with_namespaces() -> Run:
    return Run(kind=GuestKind.NAMESPACE)


def test_a_guest_that_is_a_namespace_has_the_vf_with_its_own_address():
    run = with_namespaces()
    run.apply()
    beta = run.hosts["beta"]
    (vf,) = beta.vfs[PFS[0]]
    inside = beta.guests.places["gpu-1"]["net0p0"]
    assert isinstance(inside, Guest)
    assert inside.parentdev == FIRST_VF[PFS[0]]
    assert inside.mac == vf.mac == guest_mac("gpu-1", "storage")
    assert (inside.mtu, inside.is_up, inside.addresses) == (9000, True, ["192.168.10.2/24"])
    assert "gpu-1-n0" in beta.ovs.ports
    assert [step.name for step in run.planned("switchdev").steps if not step.no_op] == []
    run.undo()
    assert run.is_as_found()


def test_with_namespaces_killed_and_refused_it_ends_well():
    prove_kills(with_namespaces)
    prove_refusals(with_namespaces)


def test_each_thing_comes_after_what_it_stands_on():
    run = Run()
    run.apply()
    assert run.hosts["beta"].order == [
        f"smfs {PFS[0]}",
        f"smfs {PFS[1]}",
        f"switchdev {PFS[0]}",
        f"switchdev {PFS[1]}",
        "bond",
        "VF-LAG active",
        f"1 VFs of {PFS[0]}",
        "restart",
        "bridge",
        "port t42-alpha",
        "named gpu-1-n0",
        "port gpu-1-n0",
    ]


def test_vfs_that_are_there_go_first_and_are_there_again_after_undo():
    start = DescribedConnectX()
    assert not start.run(write_file(f"{SYSFS}/{PFS[0]}/sriov_numvfs", "1")).returncode
    start.order.clear()
    run = Run(start)
    run.apply()
    assert run.hosts["beta"].order[:2] == [f"0 VFs of {PFS[0]}", f"smfs {PFS[0]}"]
    run.undo()
    assert len(run.hosts["beta"].vfs[PFS[0]]) == 1
    assert set(run.hosts["beta"].modes.values()) == {"legacy"}


@pytest.mark.parametrize("channels", [CHANNELS, 24])
def test_channels_are_as_they_were_in_both_modes(channels: int):
    """The mode change leaves one; the way back leaves as many as the driver gives by itself."""
    run = Run(DescribedConnectX(channels=channels))
    run.apply()
    for port in run.hosts["beta"].ethtool.ports.values():
        assert port.channels["combined"] == channels
    run.undo()
    assert run.is_as_found()


def test_killed_before_any_command_it_is_undone_and_it_is_applied():
    prove_kills(Run)


def test_any_command_that_is_refused_ends_as_found():
    prove_refusals(Run)


def test_vf_lag_that_never_becomes_active_is_told_and_no_vf_is_made():
    run = Run(DescribedConnectX(no_lag=True))
    error = run.failed(run.apply)
    assert error.where == f"{PFS[0]} on beta"
    assert "VF-LAG is disabled after 60 s, not active" in error.found
    assert not any("VFs of" in one for one in run.hosts["beta"].order)
    assert run.is_as_found()
    assert isinstance(run.journal[-1], Ended) and run.journal[-1].outcome == "undone"


def test_a_representor_that_comes_late_is_awaited_and_one_that_never_does_is_told(
    monkeypatch: pytest.MonkeyPatch,
):
    run = Run()
    run.hosts["beta"].late = 3
    run.apply()
    assert "gpu-1-n0" in run.hosts["beta"].links.netdevs
    run.undo()
    assert run.is_as_found()

    monkeypatch.setattr(RepresentorName, "settle_s", 0.2)
    never = Run()
    never.hosts["beta"].late = 10_000
    error = never.failed(never.apply)
    assert error.where == f"VF 0 of {PFS[0]} as gpu-1-n0 on beta"
    assert "no representors of VF 0" in error.found
    assert never.is_as_found()


def test_open_vswitch_that_dies_is_told_and_when_it_runs_again_all_is_put_back():
    run = Run()
    beta = run.hosts["beta"]
    die_at = next(n for n, s in enumerate(run.plan.steps) if s.kind == "ovs_bridge")
    executor = Executor(run.plan, run.controls, run.journal.append, lambda: "now")
    first = next(n for n in range(die_at, len(run.plan.steps)) if run.plan.steps[n].host == "beta")
    assert executor.apply(until=first) == "stopped"
    beta.no_ovs = True
    with pytest.raises((ApplyError, LeftChangedError)) as caught:
        run.apply()
    assert "database connection failed" in caught.value.found
    beta.no_ovs = False
    run.undo()
    assert run.is_as_found()
