"""The MTU of a netdev."""

from dataclasses import dataclass, field

import pytest
from described_files import DescribedFiles
from proof import Answer, DescribedControl, plan_on, prove
from pydantic import ValidationError
from samples import is_never_guessed, reason_of, section_of, state_of

from wirespeed.apply.executor import Executor
from wirespeed.apply.planner import make_plan
from wirespeed.model.command import Command
from wirespeed.model.finding import Danger
from wirespeed.model.journal import Entry
from wirespeed.model.observed import Known
from wirespeed.steps.mtu import Mtu

STEP = Mtu(netdev="eth0", mtu=9000)
PATH = "/sys/class/net/eth0/mtu"


@dataclass
class Described(DescribedFiles):
    """Understands `ip link set dev D mtu N` too."""

    highest: int = 9216
    lies_on: dict[str, str] = field(default_factory=dict)
    """VLANs, by the netdev below."""

    def run(self, command: Command) -> Answer:
        match command.argv:
            case ("ip", "link", "set", "dev", netdev, "mtu", mtu) if command.stdin is None:
                path = f"/sys/class/net/{netdev}/mtu"
                if path not in self.files:
                    return Answer(errors=f'Cannot find device "{netdev}"', returncode=1)
                # dev_validate_mtu, net/core/dev.c; iproute2 ends with 2.
                below = self.lies_on.get(netdev)
                # vlan_dev_change_mtu, net/8021q/vlan_dev.c: ERANGE.
                if below is not None and int(mtu) > int(self._mtu(below)):
                    errors = "RTNETLINK answers: Numerical result out of range"
                    return Answer(errors=errors, returncode=2)
                if int(mtu) > self.highest:
                    return Answer(errors="Error: mtu greater than device maximum.", returncode=2)
                self._set(netdev, int(mtu))
                return Answer()
            case _:
                return super().run(command)

    def _mtu(self, netdev: str) -> str:
        return self.files[f"/sys/class/net/{netdev}/mtu"]

    def _set(self, netdev: str, mtu: int) -> None:
        """A VLAN is lowered with its port, and not raised (vlan_device_event, net/8021q/vlan.c)."""
        self.files[f"/sys/class/net/{netdev}/mtu"] = f"{mtu}\n"
        for above, below in self.lies_on.items():
            if below == netdev and int(self._mtu(above)) > mtu:
                self._set(above, mtu)


def host(mtu: int) -> Described:
    return Described({PATH: f"{mtu}\n"})


@pytest.mark.parametrize("before", [1500, 9216, 68])
def test_larger_and_smaller(before: int):
    prove(STEP, host(before), host(9000))


def test_the_commands():
    planned = plan_on(STEP, host(1500)).steps[0]
    assert [c.line() for c in planned.commands] == ["ip link set dev eth0 mtu 9000"]
    assert [c.line() for c in planned.undo] == ["ip link set dev eth0 mtu 1500"]
    assert planned.danger is Danger.DROPS_LINK


def test_of_a_netdev_that_an_earlier_step_makes_what_is_read_counts():
    # A VLAN over jumbo frames has its port's MTU from the start.
    plan = make_plan([("alpha", STEP, None)])
    assert [c.line() for c in plan.steps[0].commands] == ["ip link set dev eth0 mtu 9000"]
    control, journal = DescribedControl(host(4000)), list[Entry]()
    Executor(plan, {"alpha": control}, journal.append, lambda: "now").apply()
    assert control.host == host(9000)
    Executor(plan, {"alpha": control}, journal.append, lambda: "now", tuple(journal)).undo()
    assert control.host == host(4000)


def test_a_vlan_that_goes_first_comes_back_after_its_port():
    def tagged(mtu: int) -> Described:
        files = {f"/sys/class/net/{name}/mtu": f"{mtu}\n" for name in ("eth0", "eth0.40")}
        return Described(files, lies_on={"eth0.40": "eth0"})

    port, above = Mtu(netdev="eth0", mtu=1500), Mtu(netdev="eth0.40", mtu=1500)
    states = [Known({"mtu": 9000}, "read")] * 2
    plan = make_plan(zip(["alpha"] * 2, (above, port), states, strict=True))
    control, journal = DescribedControl(tagged(9000)), list[Entry]()
    Executor(plan, {"alpha": control}, journal.append, lambda: "now").apply()
    assert control.host == tagged(1500)
    Executor(plan, {"alpha": control}, journal.append, lambda: "now", tuple(journal)).undo()
    assert control.host == tagged(9000)


def test_more_than_the_port_can_is_refused():
    large = Mtu(netdev="eth0", mtu=9217)
    changed = DescribedControl(host(1500)).change(large, large.change({"mtu": 1500}, {"mtu": 9217}))
    assert "greater than device maximum" in changed.failed


def test_it_is_never_guessed():
    assert state_of(STEP, section_of("65536\n")) == {"mtu": 65536}
    is_never_guessed(STEP)
    for output in ("-1\n", "15 00\n", "1500\n1500\n", "0x5dc\n", "\u0661\n"):
        reason_of(STEP, section_of(output))
    missing = DescribedFiles({}).run(STEP.read())
    reason_of(STEP, section_of(missing.output, missing.errors, missing.returncode))


@pytest.mark.parametrize("fields", [{"mtu": 67}, {"mtu": 65536}, {"mtu": 9000, "netdev": "../x"}])
def test_no_such_step(fields: dict[str, object]):
    with pytest.raises(ValidationError):
        Mtu.model_validate({"netdev": "eth0", **fields})
