"""Who asks for a setting: rules by their remedies, specs by their plans, commands by their steps.

All of it is made by the real code, on described hosts: no list says who asks for what.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Any

import test_dpdk
import test_hosts_only
import test_legacy_vlan
import test_legacy_vlan_vm
import test_ovs_tc
from described_ovs_dpdk import DescribedDpdkHost
from optimizations import BARE_METAL, GUEST, HYPERVISOR
from remedies import remedies
from whole_plan import Run

from described import doc_sriov
from wirespeed import catalog
from wirespeed.apply.spec_file import parse_spec
from wirespeed.approaches.dpdk import dpdk
from wirespeed.host.local import LocalRunner
from wirespeed.model.fact import HostFacts
from wirespeed.model.finding import StepCall
from wirespeed.model.plan import Plan
from wirespeed.model.spec.dpdk import ProfileSpec
from wirespeed.model.spec.spec import Spec
from wirespeed.runs.firmware_run import Card, FirmwareRequest, firmware_steps
from wirespeed.runs.link_steps import card_end

BOOT = ("kernel_command_line", "kernel_arguments")
WHICH = {"sysctl": "name", "module": "name", "kernel_switch": "paths", "file_content": "path",
         "service": "unit", "offloads": "features", "firmware_settings": "settings"}  # fmt: skip
"""Steps that set many things: the field that says which."""
PROFILE: Mapping[str, Mapping[str, Any]] = {
    "kernel_parameters": {"kernel_parameters": f"{BARE_METAL} {HYPERVISOR} {GUEST}".split()},
    "isolate": {"isolate": True},
    "rt_throttling": {"rt_throttling": False},
    "zone_reclaim": {"zone_reclaim": False},
    "swappiness": {"swappiness": 0},
    "governor": {"governor": "performance"},
    "irqbalance": {"irqbalance": False},
    "ban_cores": {"ban_cores": True},
    "interrupts": {"interrupts": "other-cores", "irqbalance": False},
    "pause": {"pause": False},
    "max_read_request_bytes": {"max_read_request_bytes": 1024},
}
"""A value of each field that asks for something."""
POLICY = ("case begin cpu-power -", "/sys/devices/system/cpu/cpufreq/policy0/scaling_governor:x",
          "", "case end 0")  # fmt: skip


def keys(step: Mapping[str, Any]) -> set[str]:
    """Give what a step sets: one word each, `sysctl vm.swappiness`; values are left out."""
    kind = str(step["step"])
    if kind == "in_namespace":
        return keys(step["inner"])
    if kind in BOOT:
        return {f"boot {word.partition('=')[0]}" for word in step["parameters"]}
    which = step[WHICH[kind]] if kind in WHICH else ""
    return {f"{kind} {one}".strip() for one in ([which] if isinstance(which, str) else which)}


@cache
def askers() -> dict[str, set[str]]:
    """Give who asks, by what is set: slugs of rules, fields of specs, approaches, commands."""
    found: dict[str, set[str]] = {}
    for asker, step in _asked():
        for key in keys(step):
            found.setdefault(key, set()).add(asker)
    return found


def who_asks(calls: Iterable[StepCall]) -> list[set[str]]:
    """Give who asks for each thing that the steps of an optimization set."""
    return [askers().get(key, set()) for call in calls for key in keys(call.data)]


def kinds() -> set[str]:
    """Give the kinds of all steps that are asked for."""
    return {str(step["step"]) for _, step in _asked()} | set(BOOT)


def _asked() -> Iterator[tuple[str, Mapping[str, Any]]]:
    for told in remedies():
        for call in told.remedy.steps:
            yield told.rule, call.data
    yield from _of_dpdk()
    for approach, plan in _approaches():
        for step in plan:
            yield f"approach: {approach}", step
    card = Card("0000:af:00.0", ("0000:af:00.1",), is_vendors=False)
    settings = {"SRIOV_EN": 1, "NUM_OF_VFS": 1, "CQE_COMPRESSION": 1}
    for request in (FirmwareRequest("x", settings=settings), FirmwareRequest("x", is_reset=True)):
        for one in firmware_steps(request, card, LocalRunner()):
            yield "wirespeed firmware", one.model_dump(mode="json")
    yield "wirespeed link", card_end("ens6f0", 100 * 10**9).model_dump(mode="json")


def _of_dpdk() -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Give the steps that each field of a spec of `dpdk` adds."""
    facts = test_dpdk.host(driver="mlx5_core", online="0-4", more=[*test_dpdk.IRQS, *POLICY])
    beside = {"dpdk": test_dpdk.BESIDE}
    bare = _steps(dpdk, test_dpdk.spec(**beside), "fwd", facts)
    for step in bare:
        yield "dpdk.hugepages", step
    assert PROFILE.keys() == ProfileSpec.model_fields.keys()
    fields = {field: {"profile": profile, **beside} for field, profile in PROFILE.items()}
    for field, changes in fields.items():
        wanted = test_dpdk.spec(**changes)
        others = {"irqbalance"} if field == "interrupts" else set()
        for step in _steps(dpdk, wanted, "fwd", facts):
            if step not in bare and step["step"] not in others:
                yield f"profile.{field}", step
    vfio = _steps(dpdk, test_dpdk.spec(), "fwd", test_dpdk.host())
    for step in vfio:
        if step not in bare:
            yield "driver: vfio-pci", step
    for step in _steps(dpdk, test_dpdk.spec(**test_dpdk.vfs("fwd")), "fwd", test_dpdk.with_vfs()):
        if step not in [*bare, *vfio]:
            yield "use_vfs", step


def _approaches() -> Iterator[tuple[str, list[Mapping[str, Any]]]]:
    """Give the steps of every approach that sets up a Linux host, on a host of its tests."""
    facts = test_legacy_vlan_vm.host()
    for text in (test_legacy_vlan.SPEC, test_legacy_vlan_vm.SPEC):
        yield "legacy-vlan", _steps_of(test_legacy_vlan.spec(text), facts)
    yield "legacy-vlan", _steps_of(test_legacy_vlan.spec(), test_legacy_vlan.host(total=0))
    tagged = test_hosts_only.SPEC.replace("PORT", doc_sriov.PFS[0]).replace(
        "9000}", "9000, vlan: 4}"
    )
    yield "none", _steps_of(parse_spec(tagged, "spec"), test_hosts_only.facts_of())
    yield "ovs-tc", _steps_of(test_ovs_tc.spec(), test_ovs_tc.host())
    yield "ovs-tc", _planned(Run().plan)
    yield "ovs-dpdk", _steps_of(test_ovs_tc.spec(approach="ovs-dpdk"), test_ovs_tc.host())
    yield "ovs-dpdk", _planned(Run(DescribedDpdkHost(), "ovs-dpdk").plan)


def _steps_of(spec: Spec, facts: HostFacts) -> list[Mapping[str, Any]]:
    return _steps(catalog.approaches()[spec.approach].steps, spec, "alpha", facts)


def _planned(plan: Plan) -> list[Mapping[str, Any]]:
    return [one.step for one in plan.steps]


def _steps(
    approach: Callable[[Any, str, HostFacts], Iterable[Any]],
    spec: Spec,
    name: str,
    facts: HostFacts,
) -> list[Mapping[str, Any]]:
    return [one.step.model_dump(mode="json") for one in approach(spec, name, facts)]
