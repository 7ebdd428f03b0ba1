"""Control of a switch, on described ones that refuse, hang, restart and lose the session."""

from collections.abc import Sequence
from copy import deepcopy

import pytest
from described_switch import PORTS, DescribedSwitch, switch

from wirespeed.apply.executor import Executor
from wirespeed.apply.planner import make_plan
from wirespeed.host.switch import is_refused
from wirespeed.model.error import ApplyError, HostError, LeftChangedError
from wirespeed.model.journal import Ended, Entry
from wirespeed.model.observed import Known, Unreadable
from wirespeed.model.switch_kind import SwitchKind
from wirespeed.platforms.switch.control import SwitchControl
from wirespeed.platforms.switch.steps.switchport_link import SwitchportLink
from wirespeed.platforms.switch.steps.switchport_mtu import SwitchportMtu

K = SwitchKind
NAME = "switch+x://sw1"


class DescribedSession:
    """A session at a described switch; line number `at` of all that are typed has `fault`.

    hangs      it is not taken, and there is no answer; the session is lost
    lost       it is taken, and the session is lost before it answers
    restarts   the switch comes up anew with what was saved
    refused    the switch does not take it
    """

    def __init__(self, described: DescribedSwitch, fault: str = "", at: int = -1) -> None:
        self.switch, self.fault, self.at = described, fault, at
        self.count = self.sessions = 0

    @property
    def kind(self) -> SwitchKind:
        return self.switch.kind

    def type(self, lines: Sequence[str]) -> list[str]:
        answers = []
        for line in lines:
            number, self.count = self.count, self.count + 1
            fault = self.fault if number == self.at else ""
            if fault in ("hangs", "restarts"):
                if fault == "restarts":
                    self.switch.restart()
                raise HostError("switch.lost", where=NAME, found="no answer")
            answer = "% Error: refused\n" if fault == "refused" else self.switch.type(line)
            if fault == "lost":
                raise HostError("switch.lost", where=NAME, found="no answer")
            answers.append(answer)
            if is_refused(answer):
                break
        return answers

    def save(self) -> str:
        number, self.count = self.count, self.count + 1
        if number == self.at and self.fault == "refused":
            return "% Error: refused\n"
        if number == self.at and self.fault:
            raise HostError("switch.lost", where=NAME, found="no answer")
        return self.switch.save()

    def renew(self) -> None:
        self.sessions += 1
        self.switch.mode, self.switch.pending = "exec", None


def forced(kind: SwitchKind) -> SwitchportLink:
    return SwitchportLink(kind=kind, port=PORTS[kind], link_mbit_per_s=10000)


def controls_of(session: DescribedSession) -> SwitchControl:
    return SwitchControl(session, reconnect_s=0.05, pause_s=0.01)


def run(session: DescribedSession, step: SwitchportLink) -> tuple[list[Entry], Executor]:
    control = controls_of(session)
    plan = make_plan([(NAME, step, control.read([step])[0])])
    journal: list[Entry] = []
    return journal, Executor(plan, {NAME: control}, journal.append, lambda: "now", ())


@pytest.mark.parametrize("kind", K)
def test_a_switchport_is_changed_and_put_back(kind: SwitchKind):
    session = DescribedSession(switch(kind))
    start = deepcopy(session.switch)
    journal, executor = run(session, forced(kind))
    executor.apply()
    assert session.switch.ports != start.ports
    executor.undo()
    assert session.switch == start
    assert [e.outcome for e in journal if isinstance(e, Ended)] == ["applied", "undone"]


@pytest.mark.parametrize("fault", ["refused", "hangs", "lost", "restarts"])
@pytest.mark.parametrize("kind", K)
def test_a_fault_at_any_line_leaves_a_switchport_as_it_was_or_as_it_should_be(
    kind: SwitchKind, fault: str
):
    whole = DescribedSession(switch(kind))
    _, executor = run(whole, forced(kind))
    executor.apply()
    goal, lines = deepcopy(whole.switch), whole.count
    for at in range(1, lines):
        session = DescribedSession(switch(kind), fault, at)
        start = deepcopy(session.switch)
        try:
            run(session, forced(kind))[1].apply()
        except (ApplyError, LeftChangedError) as error:
            assert not isinstance(error, LeftChangedError), (at, error.found)
            assert session.switch == start, at
        except HostError as error:
            # A reading that is not answered ends the run before or after the change.
            assert error.what == "switch.lost"
            assert session.switch.ports in (start.ports, goal.ports), at
        else:
            assert session.switch.ports in (goal.ports, start.ports), at


def test_what_is_refused_says_which_line_of_the_switchport_and_why():
    session = DescribedSession(switch(K.DELL_OS6))
    step = SwitchportLink(kind=K.DELL_OS6, port="Te1/0/1", link_mbit_per_s=25000)
    _, executor = run(session, step)
    with pytest.raises(ApplyError) as caught:
        executor.apply()
    assert caught.value.what == "step.failed"
    assert caught.value.found == "speed 25000: % Invalid input detected at '^' marker."
    assert session.switch.mode == "exec"


def test_a_switchport_that_is_not_there_is_not_known():
    control = controls_of(DescribedSession(switch(K.NXOS)))
    step = SwitchportLink(kind=K.NXOS, port="Ethernet7/7", link_mbit_per_s=10000)
    (found,) = control.read([step])
    assert isinstance(found, Unreadable)


def test_steps_of_one_switchport_are_read_by_one_line():
    session = DescribedSession(switch(K.NXOS, mtu="9216"))
    steps = [forced(K.NXOS), SwitchportMtu(kind=K.NXOS, port="Ethernet1/1", mtu=9216)]
    states = controls_of(session).read(steps)
    assert all(isinstance(state, Known) for state in states)
    assert session.count == 1


@pytest.mark.parametrize(
    ("answer", "refused"),
    [
        ("", False),
        ("                ^\n% Invalid input detected at '^' marker.\n", True),
        ("% Error: Illegal parameter.", True),
        ("Error: Invalid value for speed", True),
        ("ERROR: This VLAN does not exist.", True),
        ("An invalid interface has been used for this function.", True),
        ("-bash: nv: command not found", True),
        ("sudo: a password is required", True),
        ("applied [rev_id: 2]", False),
        ("interface Ethernet1\n   description 100 % of it\n", False),
        ("     0 input errors, 0 CRC\n     TX Errors: 0\n", False),
    ],
)
def test_what_a_switch_prints_is_told_from_a_refusal(answer: str, refused: bool):
    """Of the switchport's own outputs none may read as a refusal."""
    assert is_refused(answer) is refused
