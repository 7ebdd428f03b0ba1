"""Taking a port away and giving it back: by its host, by a cable, by a switch."""

from collections.abc import Mapping
from contextlib import ExitStack
from typing import Protocol

from wirespeed.host.runner import Runner
from wirespeed.measure.network.lease import borrowed, said
from wirespeed.model.command import Command
from wirespeed.model.error import InputError
from wirespeed.model.json_value import read_json


class PortSwitch(Protocol):
    """One port of one host that can be taken away. A second call of either does nothing."""

    host: str
    """Its host's name in the spec."""
    port: str
    """Its PCI address."""
    number: int
    """Its place among the ports of its host in the spec: of the guests' members, the same one."""
    how: str
    """How it is taken away, for a person: `set down on its host`."""

    def down(self, seconds: int) -> None:
        """Take it away. Whatever becomes of us, it is back after `seconds`."""
        ...

    def up(self) -> None:
        """Give it back."""
        ...


class BorrowedPort:
    """A port that one command takes away and another one gives back, wherever they run."""

    def __init__(
        self,
        runner: Runner,
        *,
        host: str,
        port: str,
        number: int,
        how: str,
        away: Command,
        back: Command,
    ) -> None:
        self.host, self.port, self.number, self.how = host, port, number, how
        self._runner, self._away, self._back = runner, away, back
        self._stack = ExitStack()
        self._is_away = False

    def down(self, seconds: int) -> None:
        """See `PortSwitch.down`. Raises as `borrowed`."""
        if not self._is_away:
            where = f"{self.port} of {self.host}"
            lease = borrowed(self._runner, where, [self._away], [self._back], seconds)
            self._stack.enter_context(lease)
            self._is_away = True

    def up(self) -> None:
        """See `PortSwitch.up`. Raises as `borrowed`."""
        self._is_away = False
        self._stack.close()


def port_set_down(
    runner: Runner, *, host: str, port: str, number: int, netdev: str, carried: Mapping[str, str]
) -> BorrowedPort:
    """Give the port that its host sets down: `ip link set`, by its PF's netdev.

    `carried` says what each netdev of the host carries (apply/guard.py). Raises InputError
    `port.in_use` for one that carries the session or the default route, that is not up, or that
    has an address, itself or by a VLAN on it: the routes would not come back. The kernel takes a
    VLAN down with its port (vlan_device_event() in net/8021q/vlan.c).
    """
    where = f"{netdev} on {host}"
    if netdev in carried:
        raise _in_use(
            where,
            f"it carries {carried[netdev]}",
            "give the spec other ports, or log in through another interface",
        )
    done = runner.run(("ip", "-j", "address", "show"), timeout_s=30.0)
    try:
        told = read_json(done.output)
        links = {link["ifname"]: link for link in told if "ifname" in link}
        is_up = "UP" in links[netdev]["flags"]
        has = {
            name: [one["local"] for one in links[name]["addr_info"] if one["scope"] == "global"]
            for name in _stacked(netdev, {name: link.get("link") for name, link in links.items()})
        }
    except (ValueError, KeyError, TypeError, AttributeError):
        raise _in_use(
            where,
            f"its state cannot be read: {said(done)}",
            f"run `ip address show dev {netdev}` on {host}, and fix what it names",
        ) from None
    if not is_up:
        raise _in_use(
            where, "it is not up", f"run `ip link set dev {netdev} up` on {host}, then prove again"
        )
    for name, addresses in has.items():
        if addresses:
            what = "it" if name == netdev else f"{name}, which is on it,"
            raise _in_use(
                where,
                f"{what} has the address {addresses[0]}",
                "move the address to an interface of its own",
            )
    return BorrowedPort(
        runner,
        host=host,
        port=port,
        number=number,
        how="set down on its host",
        away=Command(argv=("ip", "link", "set", "dev", netdev, "down")),
        back=Command(argv=("ip", "link", "set", "dev", netdev, "up")),
    )


def _stacked(netdev: str, lower: Mapping[str, str | None]) -> list[str]:
    """Give a netdev, and all that is stacked on it; `lower` has what each is stacked on."""
    found = [netdev]
    for below in found:
        found += [name for name, of in lower.items() if of == below and name not in found]
    return found


def _in_use(where: str, found: str, then: str) -> InputError:
    return InputError(
        "port.in_use",
        where=where,
        found=found,
        so="the port was not taken down, and fail-over was not tested",
        next=f"{then}; or set `failover: none` in the spec to leave fail-over out",
    )
