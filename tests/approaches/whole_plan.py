"""A whole plan of two described hosts with a ConnectX, by the real planner and executor."""

from collections.abc import Callable
from copy import copy, deepcopy
from functools import cache

import pytest
from described_connectx import CHANNELS, PFS, DescribedConnectX
from proof import DescribedControl, Killed

from described.doc_sriov import as_found, mlx5_eswitch, ports, rebooted
from described.firmware import steering
from described.host import Host, capture_of
from described.ovs import OpenVSwitch
from wirespeed.apply.executor import Executor
from wirespeed.apply.make import plan_spec
from wirespeed.model.capture import parse_capture
from wirespeed.model.error import ApplyError
from wirespeed.model.fact import HostFacts
from wirespeed.model.journal import Entry
from wirespeed.model.plan import Plan
from wirespeed.model.spec.guests import GuestKind
from wirespeed.model.spec.members import read_spec_data

SPEC = read_spec_data(
    {
        "hosts": {
            name: {"reach": f"ssh://{name}.example", "ports": PFS} for name in ("alpha", "beta")
        },
        "approach": "ovs-tc",
        "underlay": {"subnet": "192.168.9.0/24", "mtu": 9080},
        "networks": {"storage": {"segment": 42, "subnet": "192.168.10.0/24", "mtu": 9000}},
        "guests": {
            "ceph-1": {"host": "alpha", "networks": ["storage"]},
            "gpu-1": {"host": "beta", "networks": ["storage"]},
        },
    }
)


@cache
def capture(mode: str = "legacy", channels: int = CHANNELS) -> str:
    host = Host()
    as_found(host)
    rebooted(host)
    mlx5_eswitch(host, PFS, mode=mode)
    # As drivers of the vendor start.
    steering(host, PFS, "dmfs" if mode == "legacy" else "smfs")
    ports(host, channels=channels, switchdev=mode == "switchdev")
    OpenVSwitch({}).place(host)
    return capture_of(host)


@cache
def facts_of(name: str, mode: str, channels: int) -> HostFacts:
    return HostFacts(name, parse_capture(capture(mode, channels), name))


class Run:
    """Two hosts, their plan, and the journal of what is done to them."""

    def __init__(
        self,
        host: DescribedConnectX | None = None,
        approach: str = "ovs-tc",
        kind: GuestKind = GuestKind.NONE,
    ) -> None:
        """`host` is beta; alpha has nothing wrong with it."""
        start = host or DescribedConnectX()
        guests = {n: g.model_copy(update={"kind": kind}) for n, g in SPEC.guests.items()}
        self.spec = SPEC.model_copy(update={"approach": approach, "guests": guests})
        self.start = {"alpha": type(start)(start.channels), "beta": deepcopy(start)}
        self._begin()
        self.plan = self.planned()

    def _begin(self) -> None:
        self.controls = {name: DescribedControl(deepcopy(one)) for name, one in self.start.items()}
        self.journal: list[Entry] = []

    def anew(self) -> "Run":
        """Give the same plan on hosts as found."""
        other = copy(self)
        other._begin()
        return other

    def planned(self, mode: str = "legacy") -> Plan:
        channels = self.start["beta"].channels
        facts = {name: facts_of(name, mode, channels) for name in SPEC.hosts}
        return plan_spec(self.spec, facts, self.controls)

    @property
    def hosts(self) -> dict[str, DescribedConnectX]:
        return {name: controls.host for name, controls in self.controls.items()}  # type: ignore[misc]

    def apply(self) -> None:
        self._executor().apply()

    def undo(self) -> None:
        self._executor().undo()

    def _executor(self) -> Executor:
        return Executor(
            self.plan, self.controls, self.journal.append, lambda: "now", tuple(self.journal)
        )

    def failed(self, work: Callable[[], None]) -> ApplyError:
        with pytest.raises(ApplyError) as caught:
            work()
        return caught.value

    def is_as_found(self) -> bool:
        return self.hosts == self.start


def prove_kills(make: Callable[[], Run]) -> None:
    """Kill apply before every command, and undo too: what is run next ends well."""
    begin = make()
    goal = begin.anew()
    goal.apply()
    applied = goal.controls["beta"].count
    goal.controls["beta"].count = 0
    undo = begin.anew()
    undo.apply()
    undo.controls["beta"].count = 0
    undo.undo()
    for number in range(applied + 1):
        for ends, is_undone in ((Run.undo, True), (Run.apply, False)):
            run = begin.anew()
            run.controls["beta"].dies_before = number
            _killed(run.apply)
            ends(run)
            assert run.hosts == (run.start if is_undone else goal.hosts), (number, is_undone)
    for number in range(undo.controls["beta"].count + 1):
        run = begin.anew()
        run.apply()
        run.controls["beta"].count = 0
        run.controls["beta"].dies_before = number
        _killed(run.undo)
        run.undo()
        assert run.is_as_found(), (number, "undo")


def _killed(work: Callable[[], None]) -> None:
    with pytest.raises(Killed):
        work()
        raise Killed


def prove_refusals(make: Callable[[], Run]) -> None:
    """Each command in turn is refused: all is put back."""
    begin = make()
    whole = begin.anew()
    whole.apply()
    for number in range(whole.controls["beta"].count):
        run = begin.anew()
        run.controls["beta"].refuses = number
        assert run.failed(run.apply).what == "step.failed"
        assert run.is_as_found(), number
