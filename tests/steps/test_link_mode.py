"""A link negotiated, or set by hand."""

from dataclasses import dataclass, field

import pytest
from proof import Answer, UnknownCommandError, plan_on, prove
from pydantic import ValidationError
from samples import is_never_guessed, reason_of, sample, section_of, state_of

from wirespeed.model.command import Command
from wirespeed.model.finding import Danger
from wirespeed.steps.link_mode import LinkMode

ALL = ("1000baseT/Full", "10000baseCR/Full", "25000baseCR/Full")
NEGOTIATED = LinkMode(netdev="eth0", autoneg=True)
FORCED = LinkMode(netdev="eth0", autoneg=False, link_mbit_per_s=10000, duplex="full")
ONE = LinkMode(netdev="eth0", autoneg=True, advertise=("25000baseCR/Full",))
WITH_LANES = FORCED.model_copy(update={"lanes": 2})


@dataclass
class Described:
    """`ethtool eth0` and `ethtool -s eth0 …`, as nl_sset() of ethtool and the kernel do it.

    `autoneg on` alone offers all; `advertise MODE on|off` changes the modes that it names; without
    negotiation there is a link only at the speed that `peer` is set to.
    """

    autoneg: bool = True
    offered: tuple[str, ...] = ALL
    forced: dict[str, str] = field(default_factory=dict)
    shows_lanes: bool = False

    def run(self, command: Command) -> Answer:
        assert command.stdin is None
        match command.argv:
            case ("ethtool", "eth0"):
                return Answer(self.shown())
            case ("ethtool", "-s", "eth0", "autoneg", "on", *rest):
                self.autoneg, self.forced = True, {}
                if not rest:
                    self.offered = ALL
                    return Answer()
                assert rest.pop(0) == "advertise"
                switches = dict(zip(rest[::2], rest[1::2], strict=True))
                assert switches.keys() <= set(ALL) and set(switches.values()) <= {"on", "off"}
                self.offered = tuple(
                    m for m in ALL if switches.get(m, "on" if m in self.offered else "off") == "on"
                )
                return Answer()
            case ("ethtool", "-s", "eth0", *words, "autoneg", "off"):
                given = dict(zip(words[::2], words[1::2], strict=True))
                assert given.keys() <= {"speed", "duplex", "lanes"}
                # What is offered is no setting while nothing is negotiated.
                self.autoneg, self.offered, self.forced = False, ALL, given
                return Answer()
            case _:
                raise UnknownCommandError(command.line())

    def shown(self) -> str:
        offered = "\n\t                        ".join(self.offered)
        supported = "\n\t                        ".join(ALL)
        speed = self.forced.get("speed", "25000")
        lanes = f"\tLanes: {self.forced.get('lanes', '1')}\n" if self.shows_lanes else ""
        return (
            "Settings for eth0:\n\tSupported ports: [ FIBRE ]\n"
            f"\tSupported link modes:   {supported}\n"
            "\tSupported pause frame use: Symmetric\n\tSupports auto-negotiation: Yes\n"
            f"\tAdvertised link modes:  {offered}\n"
            "\tAdvertised pause frame use: Symmetric\n"
            f"\tSpeed: {speed}Mb/s\n{lanes}\tDuplex: Full\n"
            f"\tAuto-negotiation: {'on' if self.autoneg else 'off'}\n"
            "\tPort: Direct Attach Copper\n\tLink detected: yes\n"
        )


def forced(speed: str, **more: str) -> Described:
    return Described(autoneg=False, forced={"speed": speed, "duplex": "full", **more})


def test_negotiated_to_forced_and_back():
    prove(FORCED, Described(), forced("10000"))


def test_some_modes_that_were_offered_are_offered_again():
    prove(FORCED, Described(offered=ALL[:1]), forced("10000"))


def test_forced_to_negotiated_and_back():
    prove(NEGOTIATED, forced("10000"), Described())


def test_one_speed_to_another_and_back():
    prove(FORCED, forced("25000"), forced("10000"))


def test_lanes_that_the_driver_tells_come_back():
    start, goal = forced("10000", lanes="1"), forced("10000", lanes="2")
    start.shows_lanes = goal.shows_lanes = True
    prove(WITH_LANES, start, goal)


def test_all_modes_are_offered_again_and_one_alone():
    prove(NEGOTIATED, Described(offered=ALL[:1]), Described())
    prove(ONE, Described(), Described(offered=ALL[2:]))
    prove(ONE, forced("10000"), Described(offered=ALL[2:]))


def test_the_commands_are_what_an_administrator_types():
    planned = plan_on(FORCED, Described()).steps[0]
    lines = [c.line() for c in (*planned.commands, *planned.undo)]
    assert lines == [
        "ethtool -s eth0 speed 10000 duplex full autoneg off",
        "ethtool -s eth0 autoneg on",
    ]
    (undo,) = plan_on(FORCED, Described(offered=ALL[:1])).steps[0].undo
    assert undo.line() == (
        "ethtool -s eth0 autoneg on advertise 1000baseT/Full on 10000baseCR/Full off "
        "25000baseCR/Full off"
    )
    assert planned.danger is Danger.DROPS_LINK and FORCED.settle_s > 0


def test_what_is_negotiated_is_known_without_a_link():
    state = state_of(NEGOTIATED, sample("ethtool/settings_no_link"))
    assert state["autoneg"] is True and state["speed"] is None
    assert str(state["supported"]).split()[-1] == "100000baseCR4/Full"
    assert str(state["advertised"]).split() == [
        "40000baseCR4/Full", "40000baseSR4/Full", "40000baseLR4/Full", "100000baseSR4/Full",
        "100000baseCR4/Full",
    ]  # fmt: skip


def test_a_mode_that_is_not_advertised_is_seen():
    state = state_of(NEGOTIATED, sample("ethtool/settings_partner"))
    assert "2500baseX/Full" in str(state["supported"])
    assert "2500baseX/Full" not in str(state["advertised"])


def test_what_a_forced_port_is_set_to_is_not_known_without_a_link():
    assert "only with a link" in reason_of(FORCED, sample("ethtool/settings_virtio"))


def test_a_mode_that_the_port_lacks_is_refused():
    """To offer none would leave the port without a link."""
    step = LinkMode(netdev="eth0", autoneg=True, advertise=("400000baseCR8/Full",))
    assert "no mode 400000baseCR8/Full" in reason_of(step, section_of(Described().shown()))


@pytest.mark.parametrize(
    "line",
    ["Auto-negotiation: maybe", "Advertised link modes:  $(reboot)", "Supported link modes: -s x"],
)
def test_what_makes_no_sense_is_not_known(line: str):
    name = line.partition(":")[0]
    lines = Described().shown().splitlines()
    text = "\n".join(line if name in one else one for one in lines if "base" not in one[:9])
    reason_of(NEGOTIATED, section_of(text.replace("\t   ", "\t  x: ")))


def test_it_is_never_guessed():
    for step in (NEGOTIATED, FORCED):
        is_never_guessed(step)


@pytest.mark.parametrize(
    "fields",
    [
        {"autoneg": True, "link_mbit_per_s": 10000},
        {"autoneg": True, "duplex": "full"},
        {"autoneg": False},
        {"autoneg": False, "link_mbit_per_s": 10000},
        {"autoneg": False, "link_mbit_per_s": 1, "duplex": "full"},
        {"autoneg": False, "link_mbit_per_s": 10000, "duplex": "full", "advertise": ALL},
        {"autoneg": True, "advertise": ("off",)},
        {"autoneg": True, "netdev": "-s"},
    ],
)
def test_no_such_step(fields: dict[str, object]):
    with pytest.raises(ValidationError):
        LinkMode.model_validate({"netdev": "eth0", **fields})
