"""The link-speed document's story: a 25 Gb/s card at a Dell N4000 switch of 10 Gb/s.

    switch forced to 10 Gb/s, card negotiates    no link
    switch negotiates                            1 Gb/s
    both ends forced to 10 Gb/s                  10 Gb/s
    and back to automatic

Figures and order are the document's (ConnectX-4 Lx, N4000). Both ends are described.
"""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field

import pytest
from described_switch import DescribedSwitch, switch
from proof import Answer, DescribedControl, UnknownCommandError
from test_control_switchport import DescribedSession

from wirespeed.apply.executor import Executor
from wirespeed.apply.planner import make_plan
from wirespeed.catalog import rules
from wirespeed.doctor.diagnose import diagnose
from wirespeed.model.capture import Capture, Section
from wirespeed.model.command import Command
from wirespeed.model.error import ApplyError, HostError
from wirespeed.model.fact import HostFacts
from wirespeed.model.finding import Diagnosis, Severity
from wirespeed.model.journal import Entry, Result, Verified
from wirespeed.model.plan import Plan
from wirespeed.model.question import Question
from wirespeed.model.switch_kind import SwitchKind
from wirespeed.platforms.switch.control import SwitchControl
from wirespeed.platforms.switch.steps.switchport_link import SwitchportLink
from wirespeed.runs.link_steps import card_end, link_speed, switch_end

HOST, SWITCH = "ssh://root@alpha", "switch+dell_os6://admin@sw1"
NETDEV, PORT = "enp59s0f0", "Te1/0/1"
MODES = ("1000baseKX/Full", "10000baseKR/Full", "25000baseCR/Full")
TEN = 10 * 10**9
OURS = [rule for rule in rules() if rule.slug.startswith("switchport.")]


@dataclass
class Wire:
    """The cable, the card and the switch: what the link is follows from how both ends are set."""

    described: DescribedSwitch
    card_mbit: int | None = None
    """None: it negotiates."""
    is_broken: bool = False
    """No setting brings the link up."""

    @property
    def switch_mbit(self) -> int | None:
        value = self.described.ports[PORT].get("speed")
        return int(value) if value else None

    @property
    def link_mbit(self) -> int | None:
        """As the document saw it; None: no link."""
        ends = (self.card_mbit, self.switch_mbit)
        if self.is_broken:
            return None
        if ends == (None, None):
            return 1000
        return self.card_mbit if self.card_mbit == self.switch_mbit else None


@dataclass
class Card:
    """`ethtool enp59s0f0` and `ethtool -s enp59s0f0 …` of a ConnectX-4 Lx."""

    wire: Wire
    said: list[str] = field(default_factory=list, compare=False)

    def run(self, command: Command) -> Answer:
        match command.argv:
            case ("ethtool", "enp59s0f0"):
                return Answer(self.shown())
            case ("ethtool", "-s", "enp59s0f0", "autoneg", "on"):
                self.wire.card_mbit = None
            case ("ethtool", "-s", "enp59s0f0", "speed", mbit, "duplex", "full", "autoneg", "off"):
                if mbit not in ("1000", "10000", "25000"):
                    return Answer("", "Cannot set new settings: Invalid argument\n", 1)
                self.wire.card_mbit = int(mbit)
            case _:
                raise UnknownCommandError(command.line())
        return Answer()

    def shown(self) -> str:
        modes = "\n\t                        ".join(MODES)
        mbit = self.wire.link_mbit
        at = f"Speed: {mbit}Mb/s\n\tDuplex: Full" if mbit else "Speed: Unknown!\n\tDuplex: Unknown!"
        return (
            f"Settings for {NETDEV}:\n\tSupported ports: [ FIBRE ]\n"
            f"\tSupported link modes:   {modes}\n\tSupports auto-negotiation: Yes\n"
            f"\tAdvertised link modes:  {modes}\n\t{at}\n"
            f"\tAuto-negotiation: {'off' if self.wire.card_mbit else 'on'}\n"
            f"\tPort: Direct Attach Copper\n\tLink detected: {'yes' if mbit else 'no'}\n"
        )


def status(wire: Wire) -> str:
    """`show interfaces status` of the switch."""
    mbit, forced = wire.link_mbit, wire.switch_mbit
    shown = mbit or forced
    row = (
        f"{PORT:<9} {'node 1':<25} {'':<5} {'Full' if shown else 'N/A':<6} "
        f"{shown or 'Unknown':<7} {'Off' if forced else 'Auto':<4} "
        f"{'Up' if mbit else 'Down':<6} Active"
    )
    head = "Port      Description               Vlan  Duplex Speed   Neg  Link   Flow Ctrl"
    return f"{head}\n{row}\n"


def diagnosis(wire: Wire) -> Diagnosis:
    """The doctor's answer about the host with its far end, as far as switch ports go."""
    slot = "/sys/devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0"
    device = f"{NETDEV} driver=mlx5_core physfn= port=p0 device={slot}"
    sections = [
        Section("ports", "", f"{device}\n", "", 0),
        Section("link", "", f"/sys/class/net/{NETDEV}/flags:0x1003\n", "", 0),
        Section("ethtool", NETDEV, Card(wire).shown(), "", 0),
        Section("switch-kind", "sw1", "dell_os6\n", "", 0),
        Section("switch-cable", "sw1", f"{NETDEV} {PORT}\n", "", 0),
        Section("switch-status", "sw1", status(wire), "", 0),
        Section("switch-lldp", "sw1", "", "", 0),
    ]
    facts = HostFacts("alpha", Capture(sections, complete=True))
    return diagnose(facts, Question(), OURS)


def faults(wire: Wire) -> list[str]:
    found = diagnosis(wire)
    assert not found.faults
    return [f.rule for f in found.findings if f.severity is Severity.FAULT]


class Ends:
    """Both ends under the real executor, each with a control that can be made to fail."""

    def __init__(self, wire: Wire, link_bps: int | None, *, at: int = -1, fault: str = "") -> None:
        self.wire = wire
        self.session = DescribedSession(wire.described, fault, at)
        self.card = DescribedControl(Card(wire))
        self.controls = {
            SWITCH: SwitchControl(self.session, reconnect_s=0.05, pause_s=0.01),
            HOST: self.card,
        }
        steps = link_speed(
            HOST,
            card_end(NETDEV, link_bps),
            SWITCH,
            switch_end(SwitchKind.DELL_OS6, PORT, link_bps),
        )
        self.plan = self._plan([*steps])
        self.journal: list[Entry] = []
        self.links: list[int | None] = []

    def _plan(self, steps: list[tuple[str, object]]) -> Plan:
        states = [(place, step, self.controls[place].read([step])[0]) for place, step in steps]  # type: ignore[list-item]
        return make_plan(states)  # type: ignore[arg-type]

    def write(self, entry: Entry) -> None:
        self.journal.append(entry)
        if isinstance(entry, Result):
            self.links.append(self.wire.link_mbit)

    def executor(self) -> Executor:
        return Executor(self.plan, self.controls, self.write, lambda: "now", tuple(self.journal))


def as_found() -> Wire:
    """Switch forced to 10 Gb/s, as it always was there; the card as it came."""
    return Wire(switch(SwitchKind.DELL_OS6, speed="10000"))


def test_the_link_speed_story_from_no_link_to_10_gigabits_and_back():
    wire = as_found()
    assert wire.link_mbit is None
    assert faults(wire) == ["switchport.ends_set_unlike"]

    # "When changing that to auto-negotiate the link would come up at 1Gbps."
    auto = SwitchportLink(kind=SwitchKind.DELL_OS6, port=PORT, link_mbit_per_s=None)
    controls = SwitchControl(DescribedSession(wire.described))
    plan = make_plan([(SWITCH, auto, controls.read([auto])[0])])
    journal: list[Entry] = []
    Executor(plan, {SWITCH: controls}, journal.append, lambda: "now").apply()
    assert wire.link_mbit == 1000
    assert faults(wire) == ["switchport.negotiated_below_both"]
    (finding,) = diagnosis(wire).findings
    assert len(finding.changes) == 2
    assert "1 Gb/s of the 10 Gb/s" in finding.so

    # "The link comes up at 10Gbps": the card forced, and the switch port fixed as well.
    start = deepcopy(wire)
    ends = Ends(wire, TEN)
    assert [(p.host, p.name) for p in ends.plan.steps] == [
        (SWITCH, f"switchport_link {PORT}"),
        (HOST, f"link_mode {NETDEV}"),
    ]
    ends.executor().apply()
    # With one end alone there is no link.
    assert ends.links == [None, 10000]
    assert wire.link_mbit == 10000
    assert diagnosis(wire).findings == ()

    # "If you want to change it back to the default you can force … auto-negotiate again."
    ends.executor().undo()
    assert wire == start and wire.link_mbit == 1000
    back = Ends(Wire(switch(SwitchKind.DELL_OS6, speed="10000"), card_mbit=10000), None)
    back.executor().apply()
    assert (back.wire.card_mbit, back.wire.switch_mbit) == (None, None)


def test_link_speed_is_set_from_the_state_that_was_found_and_comes_back_to_it():
    wire = as_found()
    ends = Ends(wire, TEN)
    # The switch is so already: only the card is to be set.
    assert [bool(p.no_op) for p in ends.plan.steps] == [True, False]
    ends.executor().apply()
    assert wire.link_mbit == 10000
    ends.executor().undo()
    assert wire == as_found()


def tried(act: Callable[[], object]) -> str:
    """Run it; give why it failed, or an empty text."""
    try:
        act()
    except (ApplyError, HostError) as error:
        return error.what
    return ""


@pytest.mark.parametrize("fault", ["refused", "hangs", "lost", "restarts"])
def test_a_fault_at_any_line_of_the_switch_leaves_both_link_speeds_as_they_were_or_both_set(
    fault: str,
):
    whole = Ends(Wire(switch(SwitchKind.DELL_OS6)), TEN)
    first = whole.session.count
    whole.executor().apply()
    for at in range(first, whole.session.count):
        wire = Wire(switch(SwitchKind.DELL_OS6))
        start = deepcopy(wire)
        ends = Ends(wire, TEN, at=at, fault=fault)
        why = tried(lambda ends=ends: ends.executor().apply())
        if why == "switch.lost":
            # A reading was not answered: the journal has all that undo needs.
            ends.executor().undo()
        if why:
            assert (wire.card_mbit, wire.switch_mbit) == (None, None), at
            assert wire.link_mbit == start.link_mbit
        else:
            assert (wire.card_mbit, wire.switch_mbit) == (10000, 10000), at


@pytest.mark.parametrize("how", ["refuses", "ignores"])
def test_both_link_speeds_are_put_back_when_the_card_does_not_take_it(how: str):
    wire = Wire(switch(SwitchKind.DELL_OS6))
    ends = Ends(wire, TEN)
    if how == "refuses":
        ends.card.refuses = 0
    else:
        ends.card.ignores = lambda _: True
    with pytest.raises(ApplyError):
        ends.executor().apply()
    assert (wire.card_mbit, wire.switch_mbit, wire.link_mbit) == (None, None, 1000)


def test_a_link_that_stays_down_at_the_new_speed_is_not_called_done_and_both_ends_are_put_back():
    wire = Wire(switch(SwitchKind.DELL_OS6))
    ends = Ends(wire, TEN)
    wire.is_broken = True
    with pytest.raises(ApplyError) as caught:
        ends.executor().apply()
    assert caught.value.what == "step.cannot_verify"
    verdicts = [e.verdict for e in ends.journal if isinstance(e, Result)]
    assert verdicts == [Verified.VERIFIED, Verified.CANNOT_VERIFY]
    assert (wire.card_mbit, wire.switch_mbit) == (None, None)


def test_a_speed_that_the_switch_has_not_leaves_both_link_speeds_alone():
    wire = Wire(switch(SwitchKind.DELL_OS6))
    ends = Ends(wire, 25 * 10**9)
    with pytest.raises(ApplyError) as caught:
        ends.executor().apply()
    assert caught.value.what == "step.failed"
    assert (wire.card_mbit, wire.switch_mbit, wire.link_mbit) == (None, None, 1000)
