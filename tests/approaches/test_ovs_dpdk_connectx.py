"""The whole plan of ovs-dpdk on a described host with a ConnectX: as found, applied, as found.

With the real planner and executor; killed at every command; and with what goes wrong on such hosts.
"""

import pytest
from described_connectx import CHANNELS, PFS, PORTS
from described_ovs_dpdk import DPDK, KERNEL, DescribedDpdkHost
from whole_plan import Run, prove_kills, prove_refusals

from wirespeed.approaches.guest_network import guest_mac
from wirespeed.model.error import InputError
from wirespeed.model.spec.guests import GuestKind


def begin(host: DescribedDpdkHost | None = None) -> Run:
    return Run(host or DescribedDpdkHost(), "ovs-dpdk")


def beta(run: Run) -> DescribedDpdkHost:
    found = run.hosts["beta"]
    assert isinstance(found, DescribedDpdkHost)
    return found


def test_as_found_applied_nothing_to_do_and_as_found():
    run = begin()
    run.apply()
    host = beta(run)
    assert (host.pages, host.runs, host.ovs.dpdk_initialized) == (1024, DPDK, True)
    assert host.ovs.runs_with["dpdk-init"] == "true"
    allowed = f"-a {PFS[0]},representor=pf[0,1]vf[0-0]"
    assert host.ovs.runs_with["dpdk-extra"].startswith(allowed)
    assert set(host.modes.values()) == {"switchdev"}
    assert [p.channels["combined"] for p in host.ethtool.ports.values()] == [CHANNELS, CHANNELS]
    (vf,) = host.vfs[PFS[0]]
    assert vf.is_of_lag and vf.driver == "vfio-pci"
    assert {host.links.link(name).mtu for name in ("underlay0", *PORTS)} == {9080}
    assert host.links.link("br-phy").addresses == ["192.168.9.2/24"]
    assert set(host.ovs.ports) == {"phy-p0", "t42-alpha", "gpu-1-n0"}

    again = run.planned("switchdev")
    assert [step.name for step in again.steps if not step.no_op] == []
    run.undo()
    assert run.is_as_found()
    assert beta(run).runs == KERNEL


def test_guests_that_are_namespaces_have_their_vfs_and_all_is_as_found_after():
    run = Run(DescribedDpdkHost(), "ovs-dpdk", GuestKind.NAMESPACE)
    run.apply()
    host = beta(run)
    assert host.guests.places["gpu-1"]["net0p0"].mac == guest_mac("gpu-1", "storage")
    assert host.ovs.ports["gpu-1-n0"][0] == "br-storage"
    run.undo()
    assert run.is_as_found()


def test_killed_before_any_command_it_is_undone_and_it_is_applied():
    prove_kills(begin)


def test_any_command_that_is_refused_ends_as_found():
    prove_refusals(begin)


def test_dpdk_starts_when_card_and_vfs_are_ready():
    run = begin()
    run.apply()
    order = beta(run).order
    last = len(order) - 1 - order[::-1].index("restart")
    assert order.index(f"1 VFs of {PFS[0]}") < last < order.index("bridge")
    assert order.index("VF-LAG active") < order.index(f"1 VFs of {PFS[0]}")


def test_hugepages_that_the_kernel_does_not_give_are_told_and_put_back():
    run = begin(DescribedDpdkHost(free_pages=300))
    error = run.failed(run.apply)
    assert error.where == "hugepages of 2048 KiB on beta"
    assert "300" in error.found and "1024" in error.found
    assert run.is_as_found()


def test_a_build_that_is_not_installed_is_told_before_anything_is_changed():
    with pytest.raises(InputError) as caught:
        begin(DescribedDpdkHost(has_build=False))
    assert "apt install openvswitch-switch-dpdk" in caught.value.found


def test_dpdk_that_does_not_start_is_contradicted_and_the_former_build_runs_again():
    run = begin(DescribedDpdkHost(cannot_start=True))
    error = run.failed(run.apply)
    assert error.what == "step.contradicted"
    assert error.where == "other_config:dpdk-init on beta"
    assert "dpdk_initialized" in error.found
    assert run.is_as_found()
    assert beta(run).runs == KERNEL


def test_vf_lag_that_never_becomes_active_is_told_and_dpdk_is_not_started():
    run = begin(DescribedDpdkHost(no_lag=True))
    error = run.failed(run.apply)
    assert "VF-LAG is disabled after 60 s, not active" in error.found
    assert run.is_as_found()
