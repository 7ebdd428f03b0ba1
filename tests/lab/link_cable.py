"""The cable between a modelled card and a described switch: a link where both are set alike."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any

from described_switch import PORTS, DescribedSwitch
from test_control_switchport import DescribedSession

from wirespeed.apply.control_posix import PosixControl
from wirespeed.host.reach_destination import Remote, SwitchHost
from wirespeed.host.runner import Completed
from wirespeed.host.ssh_session import SshSession
from wirespeed.lab.machine_fault import make_fault, parse_fault
from wirespeed.lab.machines import Machine
from wirespeed.model.switch_kind import SwitchKind
from wirespeed.platforms.switch.control import SwitchControl

STATUS = Path(__file__).parents[1] / "facts/samples/switchport/os6_status.txt"
KIND = SwitchKind.DELL_OS6
PORT = PORTS[KIND]


class Cable:
    """A link where both ends negotiate, or both have one speed by hand: docs/link-speed.md."""

    def __init__(
        self, host: Machine, netdev: str, switch: DescribedSwitch, *, by_hand: str
    ) -> None:
        """`by_hand`: Mb/s of the card where it does not negotiate; the test sees to that."""
        self.host, self.netdev, self.switch, self.by_hand = host, netdev, switch, by_hand
        self.turn = Lock()

    def card_negotiates(self) -> bool:
        """Without a link ethtool shows no more; mstlink shows the speed, in seconds each time."""
        return "Auto-negotiation: on" in self.host.run(["ethtool", self.netdev]).output

    def switch_mbit(self) -> str | None:
        return self.switch.ports[PORT].get("speed")

    def follow(self) -> bool:
        """Plug the cable in, or pull it, as both ends are set."""
        # Both ends are asked at the same time, each in a thread; the session to the host is one.
        with self.turn:
            forced = None if self.card_negotiates() else self.by_hand
            is_up = forced == self.switch_mbit()
            make_fault(self.host.control, 0, parse_fault("cable-in" if is_up else "cable-out"))
        return is_up

    def switch_capture(self) -> str:
        """What a N-series switch shows of the port, in the format of a published output."""
        mbit = self.switch_mbit()
        first = f"{PORT:<42}Full   {mbit or '10000':<7} {'Off' if mbit else 'Auto':<4} "
        first += "Up     Active" if self.follow() else "Down   Inactive"
        lines = STATUS.read_text().splitlines()
        number = next(n for n, line in enumerate(lines) if line.startswith(f"{PORT} "))
        lines[number] = first
        sections = {
            "kind": KIND,
            "cable": f"{self.netdev} {PORT}",
            "status": "\n".join(lines),
            "lldp": "",
        }
        body = "".join(
            f"mmmm begin switch-{name} sw1\n{text}\n\nmmmm end 0\n"
            for name, text in sections.items()
        )
        return f"wirespeed-capture 1 mmmm\n{body}mmmm done\n"


class FromCard(SshSession):
    """A session at the host: after each command the link is what both ends make of it."""

    cable: Cable

    def run(self, *words: Any, **more: Any) -> Completed:
        done = super().run(*words, **more)
        self.cable.follow()
        return done


class FromSwitch(DescribedSession):
    """A session at the switch, likewise."""

    def __init__(self, cable: Cable) -> None:
        super().__init__(cable.switch)
        self.cable = cable

    def type(self, lines: Sequence[str]) -> list[str]:
        answers = super().type(lines)
        self.cable.follow()
        return answers


@contextmanager
def both_ends(cable: Cable, host: str, place: SwitchHost) -> Iterator[dict[str, object]]:
    """Give what `runs.link_run.ends` gives."""
    where = cable.host.state.destination
    with FromCard(Remote(where, where)) as session:
        session.cable = cable
        at_switch = SwitchControl(FromSwitch(cable), reconnect_s=0.05, pause_s=0.01)
        yield {host: PosixControl(host, session), place.text: at_switch}
