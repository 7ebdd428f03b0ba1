"""What a driver of another age or vendor lacks: who writes rules, and whether VF-LAG is shown."""

import pytest
from whole_plan import SPEC

from described.doc_sriov import PFS, as_found, mlx5_eswitch, ports, rebooted
from described.firmware import module_of_vendor, steering
from described.host import Host, capture_of
from described.ovs import OpenVSwitch
from wirespeed.approaches.ovs_tc import ovs_tc
from wirespeed.model.capture import parse_capture
from wirespeed.model.fact import HostFacts
from wirespeed.model.spec.guest_networks import GuestNetworks
from wirespeed.model.step import Step
from wirespeed.steps.eswitch_mode import EswitchMode
from wirespeed.steps.steering_mode import SteeringMode
from wirespeed.steps.vf_count import AWAIT_LAG, UNSHOWN_LAG_S, VfCount

NETDEVS = ("enp3s0f0np0", "enp3s0f1np1")


def connectx(*, has_switch: bool = True) -> Host:
    host = Host()
    as_found(host)
    rebooted(host)
    mlx5_eswitch(host, PFS)
    steering(host, PFS, "dmfs")
    ports(host)
    if has_switch:
        OpenVSwitch({}).place(host)
    return host


def steps(host: Host, spec: GuestNetworks = SPEC) -> list[Step]:
    facts = HostFacts("beta", parse_capture(capture_of(host), "beta"))
    return [wanted.step for wanted in ovs_tc(spec, "beta", facts)]


def steered(found: list[Step]) -> list[SteeringMode]:
    return [step for step in found if isinstance(step, SteeringMode)]


def vfs(found: list[Step]) -> VfCount:
    return next(step for step in found if isinstance(step, VfCount) and step.num_vfs)


def without_lag_state(host: Host) -> Host:
    for path in [path for path in host.files if "/lag/" in path]:
        del host.files[path]
    return host


def of_release(host: Host, release: str) -> Host:
    host.put("/proc/sys/kernel", osrelease=release)
    return host


def test_rules_are_written_by_the_driver_before_the_change_of_mode():
    found = steps(connectx())
    kinds = [type(step) for step in found]
    assert steered(found) == [SteeringMode(pci_address=pf, mode="smfs") for pf in PFS]
    assert kinds.index(SteeringMode) < kinds.index(EswitchMode)


def test_a_vendors_file_is_written_where_devlink_has_no_such_parameter():
    host = connectx()
    steering(host, PFS, None)
    for netdev in NETDEVS:
        host.put(f"/sys/class/net/{netdev}/compat/devlink", steering_mode="dmfs")
    assert [step.netdev for step in steered(steps(host))] == list(NETDEVS)


@pytest.mark.parametrize("mode", [None, "hmfs"])
def test_a_driver_without_a_choice_is_left_as_it_is(mode: str | None):
    host = connectx()
    steering(host, PFS, mode)
    assert steered(steps(host)) == []


def test_a_card_whose_rules_no_driver_can_write_is_left_as_it_is():
    host = connectx()
    for pf in PFS:
        host.put(host.links[f"/sys/bus/pci/devices/{pf}"], device="0x1015")
    assert steered(steps(host)) == []


def test_whoever_writes_the_rules_goes_on_where_the_spec_says_so():
    as_found = SPEC.model_copy(update={"steering": "as-found"})
    assert steered(steps(connectx())) and not steered(steps(connectx(), as_found))


CONNECTX_5, CONNECTX_6_DX, CONNECTX_7, CONNECTX_8 = "0x1017", "0x101d", "0x1021", "0x1023"


@pytest.mark.parametrize(
    ("device", "release", "is_asked"),
    [
        (CONNECTX_5, "5.10.0-30-amd64", True),
        # mlx5dr_is_supported: by the format of the rules that this card has. Linux 5.12, …
        (CONNECTX_6_DX, "5.10.0-30-amd64", False),
        (CONNECTX_6_DX, "5.15.0-105-generic", True),
        # … 5.18, and 6.14.
        (CONNECTX_7, "5.15.0-105-generic", False),
        (CONNECTX_7, "5.18.0-1-generic", True),
        (CONNECTX_8, "6.12.38+deb13-amd64", False),
        (CONNECTX_8, "6.14.0-1-generic", True),
    ],
)
def test_a_driver_older_than_its_card_is_not_asked_to_write_rules(
    device: str, release: str, is_asked: bool
):
    host = of_release(connectx(), release)
    for pf in PFS:
        host.put(host.links[f"/sys/bus/pci/devices/{pf}"], device=device)
    assert bool(steered(steps(host))) == is_asked


@pytest.mark.parametrize("mode", ["dmfs", "smfs"])
def test_a_driver_that_is_newer_than_its_kernel_writes_the_rules(mode: str):
    release = "6.12.38+deb13-amd64"
    host = of_release(connectx(), release)
    for pf in PFS:
        host.put(host.links[f"/sys/bus/pci/devices/{pf}"], device=CONNECTX_8)
    steering(host, PFS, mode)
    if mode == "dmfs":
        # Of the vendor; one that a distribution brought up to date starts with smfs.
        module_of_vendor(host, release, "24.10-0.7.0")
    assert steered(steps(host)) != []


@pytest.mark.parametrize("release", ["5.15.0-105-generic", "5.14.0-362.el9.x86_64"])
def test_a_kernel_that_does_not_show_vf_lag_is_waited_for_and_told(release: str):
    one = vfs(steps(of_release(without_lag_state(connectx()), release)))
    assert "VF-LAG is active is not verified" in one.why
    wait, write, _ = one.commands({"num_vfs": 0}, {"num_vfs": 1})
    assert wait.argv == ("sleep", str(UNSHOWN_LAG_S))
    assert write.stdin == "1"


@pytest.mark.parametrize(
    "host",
    [
        # A vendor's driver has the file on an older kernel.
        of_release(connectx(), "5.15.0-105-generic"),
        # Missing where it belongs, it tells that the ports make no LAG.
        without_lag_state(connectx()),
    ],
)
def test_vf_lag_is_awaited_where_it_is_shown(host: Host):
    one = vfs(steps(host))
    assert "not verified" not in one.why
    assert AWAIT_LAG in one.commands({"num_vfs": 0}, {"num_vfs": 1})[0].argv
