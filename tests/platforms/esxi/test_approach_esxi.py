"""The approach esxi: which steps a host gets by the way that leads to it, and what is refused."""

import json
from typing import Any

import pytest

from wirespeed.model.capture import Capture, Section
from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.spec.members import read_spec_data
from wirespeed.model.spec.spec import Spec
from wirespeed.model.step import Step
from wirespeed.platforms.esxi.approach import esxi
from wirespeed.platforms.esxi.steps.esxi_guest import EsxiGuest
from wirespeed.platforms.esxi.steps.esxi_module_parameters import EsxiModuleParameters
from wirespeed.runs.measuring import measuring_of
from wirespeed.runs.remedy_run import spec_for_host

PORT = "0000:af:00.0"
API = {
    "version": "6.5.0",
    "pnic": [{"device": "vmnic4", "pci": PORT, "driver": "nmlx5_core", "speedMb": 25000}],
    "cpu": {"cores": 48, "threads": 96, "numaNodes": 2},
    "guests": {"7": {"hardware.memoryMB": 32768, "powerState": "poweredOff"}},
}
SHELL = json.dumps([{"Name": "vmnic4", "PCIDevice": PORT, "Driver": "nmlx5_core"}])


def by_api(**changed: Any) -> HostFacts:
    section = Section("vsphere", "", json.dumps(API | changed), "", 0)
    return HostFacts("vmhost", Capture([section], complete=True))


def by_shell() -> HostFacts:
    section = Section("esxi-ports", "", SHELL, "", 0)
    return HostFacts("vmhost", Capture([section], complete=True))


def spec_of(guest: dict[str, Any], number: str = "7", port: str = PORT) -> Spec:
    return read_spec_data(
        {
            "hosts": {"vmhost": {"reach": "vsphere://vmhost", "ports": [port]}},
            "approach": "esxi",
            "esxi": {"parameters": {"max_vfs": "1,1"}, "guests": {number: guest}},
        }
    )


def steps_of(spec: Spec, host: HostFacts) -> list[Step]:
    return [wanted.step for wanted in esxi(spec, "vmhost", host)]


def test_the_shell_of_an_esxi_host_gets_the_driver_and_its_api_the_guests():
    spec = spec_of({"affinity": "0-2,5", "numa_node": 1})
    (driver,) = steps_of(spec, by_shell())
    assert isinstance(driver, EsxiModuleParameters) and driver.parameters == {"max_vfs": "1,1"}
    assert steps_of(spec, by_api()) == [EsxiGuest(number="7", affinity="0,1,2,5", numa_node=1)]


def test_the_last_cpu_and_node_of_an_esxi_host_are_there():
    assert steps_of(spec_of({"affinity": "95", "numa_node": 1}), by_api())


@pytest.mark.parametrize("guest", [{"affinity": "90-96"}, {"numa_node": 2}])
def test_a_cpu_or_node_that_an_esxi_host_has_not_is_refused(guest: dict[str, Any]):
    with pytest.raises(InputError) as caught:
        steps_of(spec_of(guest), by_api())
    assert caught.value.what == "spec.cpu_unknown"


def test_what_an_esxi_host_does_not_say_of_its_cpus_refuses_nothing():
    assert steps_of(spec_of({"affinity": "90-96", "numa_node": 2}), by_api(cpu={}))


def test_a_port_that_an_esxi_host_has_not_is_refused_with_those_that_are_there():
    with pytest.raises(InputError) as caught:
        steps_of(spec_of({"numa_node": 1}, port="0000:3b:00.0"), by_api())
    assert caught.value.what == "spec.port_unknown" and f"{PORT} vmnic4" in caught.value.found


def test_a_guest_that_an_esxi_host_has_not_is_refused():
    with pytest.raises(InputError) as caught:
        steps_of(spec_of({"numa_node": 1}, number="8"), by_api())
    assert caught.value.what == "spec.guest_unknown"


def test_a_linux_host_is_no_esxi_host():
    linux = HostFacts("vmhost", Capture([Section("uname", "", "Linux\n", "", 0)], complete=True))
    with pytest.raises(InputError) as caught:
        steps_of(spec_of({"numa_node": 1}), linux)
    assert caught.value.what == "spec.no_esxi"


def test_nothing_of_an_esxi_spec_is_measured():
    with pytest.raises(InputError) as caught:
        measuring_of(spec_of({"numa_node": 1}))
    assert caught.value.what == "spec.not_measured"


def test_a_remedy_of_an_esxi_host_is_a_spec():
    with pytest.raises(InputError) as caught:
        spec_for_host("vsphere://vmhost", by_api())
    assert caught.value.what == "remedy.esxi"


@pytest.mark.parametrize(
    "wrong",
    [
        {"approach": "legacy-vlan"},
        {"esxi": None},
        {"esxi": {}},
        {"esxi": {"guests": {"7": {}}}},
        {"esxi": {"guests": {"7": {"affinity": "5-2"}}}},
        {"esxi": {"guests": {"7": {"affinity": "all"}}}},
        {"esxi": {"guests": {"7 8": {"numa_node": 1}}}},
        {"esxi": {"parameters": {"max vfs": "1"}}},
        {"esxi": {"parameters": {"max_vfs": "1 RSS=0"}}},
        {"guests": {"a": {"host": "vmhost", "networks": [], "vcpus": 1, "memory_gib": 1}}},
    ],
)
def test_what_no_esxi_host_could_be_told_is_refused_in_the_spec(wrong: dict[str, Any]):
    plain = spec_of({"numa_node": 1}).model_dump(mode="json")
    read_spec_data(plain)
    with pytest.raises(ValueError, match=r".+"):
        read_spec_data(plain | wrong)
