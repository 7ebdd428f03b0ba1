"""Units and programs are called as the host's distribution calls them; what it lacks is refused."""

import pytest
from test_ovs_dpdk_shares import spec
from test_switchdev_drivers import connectx
from whole_plan import SPEC

from described.host import Host, capture_of
from described.ovs import OpenVSwitch
from wirespeed.approaches.ovs_dpdk import ovs_dpdk
from wirespeed.approaches.ovs_tc import ovs_tc
from wirespeed.approaches.traits import RequestedStep
from wirespeed.model.capture import parse_capture
from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.steps.alternative import Alternative
from wirespeed.steps.ovs_config import OvsConfig

RED_HAT = "Red Hat Enterprise Linux 9.4 (Plow)"
SUSE = "SUSE Linux Enterprise Server 15 SP6"
UBUNTU = "Ubuntu 24.04.1 LTS"


def host_of(name: str, switch: OpenVSwitch | None = None, *programs: str) -> Host:
    host = connectx()
    host.put("/etc", **{"os-release": f'PRETTY_NAME="{name}"'})
    for path in [path for path in host.files if path.startswith("/lib/systemd/system/")]:
        del host.files[path]
    if switch is not None:
        switch.place(host)
    for program in programs:
        host.answer(f"{program} --version", "1\n")
    return host


def facts(host: Host) -> HostFacts:
    return HostFacts("beta", parse_capture(capture_of(host), "beta"))


def planned(host: Host) -> list[RequestedStep]:
    return list(ovs_dpdk(spec({"gpu-1": {"kind": "libvirt"}}), "beta", facts(host)))


def units(found: list[RequestedStep]) -> set[str]:
    steps = [wanted.step for wanted in found]
    return {step.unit for step in steps if isinstance(step, OvsConfig) and step.restart}


@pytest.mark.parametrize("name", [RED_HAT, SUSE])
def test_red_hat_and_suse_have_one_build_and_another_unit(name: str):
    switch = OpenVSwitch({}, unit="openvswitch")
    found = planned(host_of(name, switch, "virsh", "xorriso"))
    assert units(found) == {"openvswitch.service"}
    restart = next(w.step for w in found if isinstance(w.step, OvsConfig) and w.step.restart)
    commands = restart.commands(
        {"value": None, "is_restart_due": False}, {"value": restart.value, "is_restart_due": False}
    )
    assert commands[1].argv == ("systemctl", "restart", "openvswitch.service")
    assert not [w for w in found if isinstance(w.step, Alternative)]
    assert units(list(ovs_tc(SPEC, "beta", facts(host_of(name, switch))))) == {
        "openvswitch.service"
    }


def test_ubuntu_is_as_debian():
    found = planned(host_of(UBUNTU, OpenVSwitch({}), "virsh", "xorriso"))
    assert units(found) == {"openvswitch-switch.service"}
    assert [w for w in found if isinstance(w.step, Alternative)]


def refused(host: Host, kind: str = "libvirt") -> InputError:
    with pytest.raises(InputError) as caught:
        list(ovs_dpdk(spec({"gpu-1": {"kind": kind}}), "beta", facts(host)))
    return caught.value


def test_a_switch_that_no_unit_started_is_refused():
    host = host_of(UBUNTU, OpenVSwitch({}))
    del host.files["/lib/systemd/system/openvswitch-switch.service"]
    assert refused(host).what == "spec.no_switch_unit"


def test_a_build_without_dpdk_is_refused():
    switch = OpenVSwitch({}, unit="openvswitch", dpdk_version="none")
    error = refused(host_of(SUSE, switch))
    assert error.what == "spec.no_dpdk"
    assert "zypper install openvswitch" in error.next


OPENVSWITCH = "0000000000007c00"
"""CAP_NET_BIND_SERVICE, _BROADCAST, _ADMIN, _RAW, _IPC_LOCK: what daemon-unix.c leaves to a user
that is not root; with --hw-rawio-access, bit 17 too."""


@pytest.mark.parametrize(
    ("version", "told"),
    [("3.3.6", "--ovs-vswitchd-options=--hw-rawio-access"), ("2.17.9", "OVS_USER_ID=root:root")],
)
def test_a_switch_that_is_not_root_needs_raw_io_for_an_embedded_switch(version: str, told: str):
    switch = OpenVSwitch({}, unit="openvswitch", version=version, capabilities=OPENVSWITCH)
    error = refused(host_of(RED_HAT, switch, "virsh", "xorriso"))
    assert error.what == "spec.no_raw_io"
    assert told in error.next and "systemctl restart openvswitch.service" in error.next


def test_a_switch_that_keeps_raw_io_is_planned():
    switch = OpenVSwitch({}, unit="openvswitch", capabilities="0000000000027c00")
    assert planned(host_of(RED_HAT, switch, "virsh", "xorriso"))


@pytest.mark.parametrize(
    ("name", "kind", "programs", "missing", "told"),
    [
        (UBUNTU, "qemu", (), "qemu-system-x86_64", "apt install qemu-system-x86"),
        (SUSE, "qemu", (), "qemu-system-x86_64", "zypper install qemu-x86"),
        (RED_HAT, "qemu", ("qemu-kvm",), "qemu-system-x86_64", "kind: libvirt"),
        (RED_HAT, "libvirt", ("virsh",), "xorriso", "dnf install xorriso, on beta"),
        # No distribution has a package virsh; Red Hat's and SUSE's is libvirt-client.
        (UBUNTU, "libvirt", ("xorriso",), "virsh", "libvirt-daemon-system libvirt-clients, on"),
        (RED_HAT, "libvirt", (), "virsh", "libvirt-daemon-kvm libvirt-client xorriso, on"),
        (SUSE, "libvirt", (), "virsh", "libvirt-daemon-qemu libvirt-client xorriso, on"),
    ],
)
def test_a_guest_that_the_host_cannot_run_is_refused(
    name: str, kind: str, programs: tuple[str, ...], missing: str, told: str
):
    unit = "openvswitch-switch" if name == UBUNTU else "openvswitch"
    error = refused(host_of(name, OpenVSwitch({}, unit=unit), *programs), kind)
    assert error.what == "spec.no_program"
    assert missing in error.found
    assert told in error.next


def test_without_the_switch_the_package_is_that_of_the_distribution():
    host = connectx(has_switch=False)
    host.put("/etc", **{"os-release": f'PRETTY_NAME="{RED_HAT}"'})
    with pytest.raises(InputError) as caught:
        list(ovs_tc(SPEC, "beta", facts(host)))
    assert "dnf install openvswitch, or systemctl start openvswitch" in caught.value.next
