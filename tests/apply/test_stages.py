"""Where a plan is cut by a reboot, and what is said of the rest."""

from collections.abc import Iterator

import pytest
from described_host import Put
from rebooting_host import PutAndReboot, RebootingHost

from described.approach import planned_by
from wirespeed import catalog
from wirespeed.apply.make import When, plan_spec
from wirespeed.apply.planner import planned
from wirespeed.apply.spec_file import parse_spec
from wirespeed.apply.stages import needs_reboot, refuse_endless
from wirespeed.approaches.traits import RequestedStep
from wirespeed.model.capture import Capture
from wirespeed.model.error import InputError, LeftChangedError
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import Known
from wirespeed.model.plan import Later, Plan
from wirespeed.steps.firmware_reset import FirmwareReset
from wirespeed.steps.firmware_settings import FirmwareSettings

SPEC = parse_spec(
    """
hosts: {alpha: {reach: here, ports: ["0000:03:00.0"]}}
approach: legacy-vlan
failover: none
underlay: {subnet: 192.168.9.0/24, mtu: 9000}
networks: {}
guests: {}
""",
    "spec.yaml",
)
BOOT, BOOT_TOO = PutAndReboot(key="kept.a", value=1), PutAndReboot(key="kept.b", value=1)
FIRST, LAST = Put(key="first", value=1), Put(key="last", value=1)


@pytest.fixture(autouse=True)
def _only_put(monkeypatch: pytest.MonkeyPatch) -> None:
    kinds = {"put": Put, "put_and_reboot": PutAndReboot}
    monkeypatch.setattr(catalog, "step_types", lambda: kinds)


def plan_of(
    monkeypatch: pytest.MonkeyPatch,
    values: dict[str, int],
    steps: list[Put],
    when: When | None = None,
    then: Exception | None = None,
) -> Plan:
    def approach(*_: object) -> Iterator[RequestedStep]:
        yield from (RequestedStep(step) for step in steps)
        if then is not None:
            raise then

    monkeypatch.setattr(catalog, "approaches", planned_by({"legacy-vlan": approach}))
    facts = {"alpha": HostFacts("alpha", Capture((), complete=True))}
    return plan_spec(SPEC, facts, {"alpha": RebootingHost(values)}, when)


def subjects(plan: Plan) -> list[str]:
    return [step.subject for step in plan.steps]


VALUES = {"first": 0, "kept.a": 0, "kept.b": 0, "last": 0}


def test_what_follows_a_reboot_is_not_planned_yet(monkeypatch: pytest.MonkeyPatch):
    plan = plan_of(monkeypatch, VALUES, [FIRST, BOOT, BOOT_TOO, LAST])
    assert subjects(plan) == ["first", "kept.a", "kept.b"], "one reboot does for both"
    after = ("put_and_reboot kept.a", "put_and_reboot kept.b")
    assert plan.later == (Later(host="alpha", after=after, needs_reboot=True),)


def test_what_is_so_already_needs_no_reboot(monkeypatch: pytest.MonkeyPatch):
    plan = plan_of(monkeypatch, VALUES | {"kept.a": 1}, [FIRST, BOOT, LAST])
    assert subjects(plan) == ["first", "kept.a", "last"]
    assert plan.later == ()


def test_what_is_so_already_and_waits_for_its_reboot_ends_the_stage(
    monkeypatch: pytest.MonkeyPatch,
):
    when = When(pending={"alpha"})
    plan = plan_of(monkeypatch, VALUES | {"kept.a": 1}, [FIRST, BOOT, LAST], when)
    assert subjects(plan) == ["first", "kept.a"]
    assert plan.later[0].needs_reboot


def test_what_cannot_be_read_before_the_reboot_is_no_obstacle(monkeypatch: pytest.MonkeyPatch):
    values = {key: value for key, value in VALUES.items() if key != "last"}
    assert subjects(plan_of(monkeypatch, values, [FIRST, BOOT, LAST])) == ["first", "kept.a"]
    with pytest.raises(InputError) as caught:
        plan_of(monkeypatch, values | {"kept.a": 1}, [FIRST, BOOT, LAST])
    assert caught.value.what == "plan.cannot_tell"


def test_an_approach_that_cannot_go_on_before_the_reboot_is_no_obstacle(
    monkeypatch: pytest.MonkeyPatch,
):
    too_few = InputError("spec.too_many_vfs", where="alpha")
    plan = plan_of(monkeypatch, VALUES, [BOOT], then=too_few)
    assert subjects(plan) == ["kept.a"]
    with pytest.raises(InputError) as caught:
        plan_of(monkeypatch, VALUES | {"kept.a": 1}, [BOOT], then=too_few)
    assert caught.value.what == "spec.too_many_vfs"


@pytest.mark.parametrize(("reset", "needs"), [("0000:03:00.0", False), ("0000:04:00.0", True)])
def test_a_card_that_is_reset_needs_no_reboot(
    monkeypatch: pytest.MonkeyPatch, reset: str, needs: bool
):
    steps = (
        FirmwareSettings(pci_address="0000:03:00.0", settings={"SRIOV_EN": 1}),
        FirmwareReset(pci_address=reset),
    )
    kinds = {"firmware_settings": FirmwareSettings, "firmware_reset": FirmwareReset}
    monkeypatch.setattr(catalog, "step_types", lambda: kinds)
    states = ({"SRIOV_EN": 0}, None)
    both = [
        planned("alpha", steps[0], Known(states[0], "mstconfig")),
        planned("alpha", steps[0], Known(states[0], "mstconfig")).model_copy(
            update={
                "step": steps[1].model_dump(mode="json"),
                "subject": reset,
                "waits_for_reboot": steps[1].waits_for_reboot,
            }
        ),
    ]
    assert needs_reboot(both) is needs


def test_a_reboot_that_does_not_keep_what_was_set_is_not_waited_for_again():
    lost = planned("alpha", BOOT, Known({"value": 0}, "get"))
    with pytest.raises(LeftChangedError) as caught:
        refuse_endless(Plan(steps=(lost,)), Plan(steps=(lost,)))
    assert caught.value.what == "stage.not_kept"
    kept = planned("alpha", BOOT, Known({"value": 1}, "get"))
    refuse_endless(Plan(steps=(lost,)), Plan(steps=(kept,)))
