"""What a switch that polls and its guests take of one host: the sum of pages, and CPUs apart."""

from typing import Any

import pytest
from pydantic import ValidationError
from test_switchdev_drivers import connectx
from whole_plan import SPEC

from described.firmware import firmware
from described.host import Host, capture_of
from described.ovs import Interface, OpenVSwitch
from wirespeed.approaches.legacy_vlan import legacy_vlan
from wirespeed.approaches.ovs_dpdk import ovs_dpdk
from wirespeed.approaches.ovs_tc import ovs_tc
from wirespeed.model.capture import parse_capture
from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import CannotTellError
from wirespeed.model.spec.members import read_spec_data
from wirespeed.model.spec.spec import Spec
from wirespeed.steps.firmware_settings import FirmwareSettings
from wirespeed.steps.guest_domain_xml import domain_xml
from wirespeed.steps.guest_machine import GuestMachine
from wirespeed.steps.hugepages import Hugepages
from wirespeed.steps.ovs_config import OvsConfig
from wirespeed.steps.ovs_port import OvsPort

PFS = ("0000:03:00.0", "0000:03:00.1")
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINbVBC67eWFEdo1bStFUdU8ji6Qfi5CV4X"
GUEST = {"host": "beta", "networks": ["storage"], "image": "/srv/a.qcow2", "vcpus": 2,
         "hugepage_kib": 2048, "authorized_keys": [KEY]}  # fmt: skip


def spec(guests: dict[str, Any] | None = None, **beta: object) -> Spec:
    data = SPEC.model_dump(mode="json")
    data["approach"] = "ovs-dpdk"
    data["hosts"]["beta"] |= beta
    machines = guests or {"gpu-1": {"kind": "libvirt"}, "gpu-2": {"kind": "qemu"}}
    data["guests"] = {"ceph-1": data["guests"]["ceph-1"]}
    data["guests"] |= {name: {**GUEST, **of} for name, of in machines.items()}
    return read_spec_data(data)


def facts(host: Host | None = None) -> HostFacts:
    one = host or connectx()
    for program in ("qemu-system-x86_64", "virsh", "xorriso"):
        one.answer(f"{program} --version", "1\n")
    return HostFacts("beta", parse_capture(capture_of(one), "beta"))


def steps(of: Spec) -> list[Any]:
    return [wanted.step for wanted in ovs_dpdk(of, "beta", facts()) if not wanted.guest]


def machines(of: Spec) -> list[GuestMachine]:
    return [step for step in steps(of) if isinstance(step, GuestMachine)]


def test_pages_of_the_switch_and_of_guests_are_added_up():
    counts = [step.count for step in steps(spec()) if isinstance(step, Hugepages)]
    # The switch's 1024, and two guests of 1 GiB in pages of 2 MiB beside them.
    assert counts == [1024, 1024 + 2 * 512]


def test_pages_of_another_size_are_a_pool_of_their_own():
    huge = spec({"gpu-1": {"kind": "qemu", "hugepage_kib": 1048576}})
    found = [(s.page_kib, s.count) for s in steps(huge) if isinstance(s, Hugepages)]
    assert found == [(2048, 1024), (1048576, 1)]


def mask(of: Spec) -> int:
    return next(
        int(step.value, 16)
        for step in steps(of)
        if isinstance(step, OvsConfig) and step.key == "pmd-cpu-mask"
    )


def test_cpus_and_queues_of_the_switch_are_those_of_the_spec():
    of = spec(pmd_cpus="14-15")
    assert mask(of) == 0b11 << 14
    port = next(s for s in steps(of) if isinstance(s, OvsPort) and s.netdev == "phy-p0")
    assert port.options["n_rxq"] == "2"
    port = next(
        s for s in steps(spec(pmd_cpus="14-15", n_rxq=4))
        if isinstance(s, OvsPort) and s.netdev == "phy-p0"
    )  # fmt: skip
    assert port.options["n_rxq"] == "4"


def test_without_a_word_one_cpu_polls_one_queue():
    assert mask(spec()) == 1 << 31
    port = next(s for s in steps(spec()) if isinstance(s, OvsPort) and s.netdev == "phy-p0")
    assert "n_rxq" not in port.options


@pytest.mark.parametrize("pmd_cpus", [None, "0,1", "31"])
def test_no_guest_runs_where_the_switch_polls_nor_on_its_cores_other_thread(pmd_cpus: str | None):
    of = spec(pmd_cpus=pmd_cpus)
    polling = {cpu for cpu in range(32) if mask(of) >> cpu & 1}
    # CPU N and N + 16 share a core on the described host.
    cores = {cpu % 16 for cpu in polling}
    own = [{int(cpu) for cpu in one.cpus.split(",")} for one in machines(of)]
    assert not {cpu % 16 for cpus in own for cpu in cpus} & cores
    # One CPU for each vCPU, which no other guest has.
    assert [len(cpus) for cpus in own] == [2, 2]
    assert not own[0] & own[1]


def test_each_vcpu_of_libvirt_has_one_cpu():
    (one, _) = machines(spec())
    first, second = one.cpus.split(",")
    xml = domain_xml(one)
    assert f'vcpu="0" cpuset="{first}"' in xml
    assert f'vcpu="1" cpuset="{second}"' in xml


def test_guests_with_more_vcpus_than_cpus_share_what_the_switch_leaves():
    of = spec({"gpu-1": {"kind": "qemu", "vcpus": 40}, "gpu-2": {"kind": "qemu"}})
    shared = {one.cpus for one in machines(of)}
    assert len(shared) == 1
    assert len(shared.pop().split(",")) == 30


@pytest.mark.parametrize("pmd_cpus", ["99", "0-31"])
def test_cpus_that_are_not_there_or_all_of_them_are_refused(pmd_cpus: str):
    with pytest.raises(InputError) as caught:
        steps(spec(pmd_cpus=pmd_cpus))
    assert caught.value.what == "spec.pmd_cpus"


def test_a_switch_that_leaves_no_core_to_guests_is_refused():
    with pytest.raises(InputError) as caught:
        steps(spec(pmd_cpus="0-15"))
    assert caught.value.what == "spec.no_cpus"


@pytest.mark.parametrize("changes", [{"pmd_cpus": "x"}, {"n_rxq": 0}, {"spare_vfs": -1}])
def test_what_is_no_tuning_is_refused(changes: dict[str, object]):
    with pytest.raises(ValidationError):
        spec(**changes)


def test_an_approach_without_polling_takes_no_cpus_for_it():
    data = SPEC.model_dump(mode="json")
    data["hosts"]["beta"]["pmd_cpus"] = "3"
    with pytest.raises(ValidationError, match="approach: ovs-tc has no pmd_cpus"):
        read_spec_data(data)


def firmware_of(told: dict[str, str] | None, **beta: object) -> list[FirmwareSettings]:
    """Give the firmware steps of a card that offers no VF and was told so many; None: unread."""
    host = connectx()
    firmware(host, PFS, settings=told or {}, version="16.35.4554")
    if told is None:
        host.answer(f"mstconfig -d {PFS[0]} -e q", errors="-E- Failed to open device", returncode=3)
    for pf in PFS:
        host.put(host.links[f"/sys/bus/pci/devices/{pf}"], sriov_totalvfs=0)
    data = SPEC.model_dump(mode="json")
    data["approach"] = "legacy-vlan"
    data["hosts"]["beta"] |= beta
    found = legacy_vlan(read_spec_data(data), "beta", facts(host))
    return [wanted.step for wanted in found if isinstance(wanted.step, FirmwareSettings)]


def test_a_card_that_was_told_more_vfs_keeps_them():
    (one,) = firmware_of({"SRIOV_EN": "False(0)", "NUM_OF_VFS": "16"})
    assert one.settings == {"SRIOV_EN": 1, "NUM_OF_VFS": 16}


def test_a_spec_may_ask_for_vfs_in_reserve():
    (one,) = firmware_of({"SRIOV_EN": "False(0)", "NUM_OF_VFS": "0"}, spare_vfs=7)
    assert one.settings == {"SRIOV_EN": 1, "NUM_OF_VFS": 8}


def test_a_number_of_vfs_that_cannot_be_read_is_not_overwritten():
    with pytest.raises(CannotTellError, match="Failed to open device"):
        firmware_of(None)


def test_the_plan_says_which_way_a_tunnel_is_not_offloaded():
    offload = next(s for s in steps(spec()) if isinstance(s, OvsConfig) and s.key == "hw-offload")
    assert "what comes in, Open vSwitch unpacks" in offload.why
    assert "experimental API" in offload.why


@pytest.mark.parametrize(
    ("version", "dpdk", "extra"),
    [
        ("3.5.0", "DPDK 24.11.1", "-a {},representor=pf[0,1]vf[0-1],"),
        ("2.17.9", "none", "-a {},representor=pf[0,1]vf[0-1],"),
        ("2.16.4", "DPDK 20.11.6", "-a {},representor=[0-1],"),
        # Ubuntu 20.04: the build that runs has no DPDK, the one beside it has 19.11.
        ("2.13.8", "none", "-w {},representor=[0-1],"),
        ("2.10.0-0092", "MLNX_DPDK 22.11.2404", "-a {},representor=pf[0,1]vf[0-1],"),
    ],
)
def test_dpdk_is_told_the_card_in_the_words_of_its_release(version: str, dpdk: str, extra: str):
    host = connectx(has_switch=False)
    OpenVSwitch({}, version=version, dpdk_version=dpdk).place(host)
    made = [wanted.step for wanted in ovs_dpdk(spec(), "beta", facts(host)) if not wanted.guest]
    (told,) = [s.value for s in made if isinstance(s, OvsConfig) and s.key == "dpdk-extra"]
    assert told.startswith(extra.format(PFS[0]))


def with_port(devargs: str) -> HostFacts:
    host = connectx(has_switch=False)
    port = Interface("nfv0", "dpdk", {"dpdk-devargs": devargs})
    OpenVSwitch({"br-nfv": [port]}, {"dpdk-init": "true"}, "netdev", True).place(host)
    return facts(host)


@pytest.mark.parametrize(
    "devargs", ["0000:5e:00.0", "0000:5e:00.0,n_rxq=2", "class=eth,mac=02:00:00:00:00:09"]
)
def test_dpdk_that_drives_another_card_keeps_its_settings(devargs: str):
    with pytest.raises(InputError) as caught:
        list(ovs_dpdk(spec(), "beta", with_port(devargs)))
    assert caught.value.what == "spec.dpdk_in_use"
    assert f"nfv0 ({devargs})" in caught.value.found


@pytest.mark.parametrize("devargs", [PFS[0], f"{PFS[0]},representor=[3]"])
def test_ports_of_the_specs_own_card_are_no_other_ones(devargs: str):
    assert list(ovs_dpdk(spec(), "beta", with_port(devargs)))


def test_a_restart_names_the_bridges_whose_rules_it_loses():
    host = connectx(has_switch=False)
    OpenVSwitch({"br-storage": [], "br-own": []}).place(host)
    whys = {
        step.key: step.why
        for approach in (ovs_dpdk, ovs_tc)
        for step in (wanted.step for wanted in approach(spec(), "beta", facts(host)))
        if isinstance(step, OvsConfig) and step.restart
    }
    assert "loses OpenFlow rules of br-own that no controller" in whys["dpdk-extra"]
    assert "loses OpenFlow rules of br-own that no controller" in whys["hw-offload"]
    bare = [w.step for w in ovs_tc(spec(), "beta", facts()) if isinstance(w.step, OvsConfig)]
    assert not any("OpenFlow" in step.why for step in bare)
