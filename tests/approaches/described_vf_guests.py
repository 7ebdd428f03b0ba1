"""Namespaces of a described host, and VFs of mlx5 that move into them with their netdevs.

A driver asks its PF for the VF's address as it takes the VF; where none was given it draws one
(mlx5_query_mac_address, en_main.c).
"""

import json
from dataclasses import dataclass, field

from described_namespaces import HOST, SYSFS, DescribedNamespaces, Function, Netdev, error
from proof import Answer, UnknownCommandError

from wirespeed.model.command import Command
from wirespeed.steps.vf_in_namespace import BY_ADDRESS

NONE = "00:00:00:00:00:00"
DRAWN = "5e:12:34:56:78:9a"


@dataclass
class Guest(Netdev):
    """A VF's netdev with what is set on it within its guest."""

    mtu: int = 1500
    addresses: list[str] = field(default_factory=list)


@dataclass
class DescribedVfGuests(DescribedNamespaces):
    """Understands `ip netns exec` too, and the script that moves what was not seen yet."""

    def made(self, address: str, netdev: str, *, is_taken: bool = True) -> None:
        """A VF is made, and its driver takes it unless it is not to."""
        self.functions[address] = Function(given_mac=NONE)
        if is_taken:
            self.take(address, netdev)

    def take(self, address: str, netdev: str) -> None:
        """Let its driver take a VF, if it has not."""
        function = self.functions[address]
        if not function.is_bound:
            function.is_bound = True
            mac = function.given_mac if function.given_mac != NONE else DRAWN
            self.places[HOST][netdev] = Guest(parentdev=address, mac=mac)

    def let_go(self, address: str) -> None:
        """Let its driver go: the netdev is gone, wherever it was."""
        self.functions[address].is_bound = False
        for netdevs in self.places.values():
            for name in [n for n, link in netdevs.items() if link.parentdev == address]:
                del netdevs[name]

    def gone(self, address: str) -> None:
        """The VF is no more."""
        self.let_go(address)
        del self.functions[address]

    def run(self, command: Command) -> Answer:
        match command.argv:
            case ("ip", "netns", "exec", name, *words):
                if name not in self.places:
                    return error(f'Cannot open network namespace "{name}"', 255)
                return self._within(name, words, command)
            case ("sh", "-c", script, address, to, named) if script == BY_ADDRESS:
                found = [n for n, link in self.places[HOST].items() if link.parentdev == address]
                if not found:
                    return error('Cannot find device ""', 1)
                return self._move(HOST, found[0], to, ["name", named])
        return super().run(command)

    def is_of_these(self, command: Command) -> bool:
        """Tell whether a command is about namespaces, or a VF's netdev on the host."""
        match command.argv:
            case ("ip", "netns", *_) | ("ip", "-n", *_) | ("ip", *_, "-batch", "-"):
                return True
            case ("sh", "-c", _, folder, *_):
                return folder.removeprefix(f"{SYSFS}/") in self.functions
            case ("ip", "link", "set", "dev", netdev, *_):
                return netdev in self.places[HOST]
        return False

    def _within(self, name: str, words: list[str], command: Command) -> Answer:
        netdevs = self.places[name]
        match words:
            case ["cat", path] if path.startswith("/sys/class/net/"):
                netdev = path.split("/")[4]
                if netdev not in netdevs:
                    return error(f"cat: {path}: No such file or directory", 1)
                return Answer(f"{self._guest(name, netdev).mtu}\n")
            case ["ip", "-j", "link" | "addr", "show", "dev", netdev] if netdev not in netdevs:
                return error(f'Device "{netdev}" does not exist.', 1)
            case ["ip", "-j", "addr", "show", "dev", netdev]:
                found = [one.split("/") for one in self._guest(name, netdev).addresses]
                of = [{"local": at, "prefixlen": int(length)} for at, length in found]
                return Answer(json.dumps([{"ifname": netdev, "addr_info": of}]))
            case ["ip", "addr", "add", address, "dev", netdev]:
                self._guest(name, netdev).addresses.append(address)
                return Answer()
            case ["ip", "addr", "del", address, "dev", netdev]:
                self._guest(name, netdev).addresses.remove(address)
                return Answer()
            case ["ip", "link", "set", "dev", netdev, "mtu", mtu]:
                self._guest(name, netdev).mtu = int(mtu)
                return Answer()
            case ["ip", *rest]:
                return self._ip(name, rest, command)
        raise UnknownCommandError(command.line())

    def _guest(self, name: str, netdev: str) -> Guest:
        link = self.places[name][netdev]
        assert isinstance(link, Guest)
        return link
