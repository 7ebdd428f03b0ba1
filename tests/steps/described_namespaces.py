"""Network namespaces, VFs whose netdevs move between them, and iproute2 on them."""

import json
from dataclasses import dataclass, field
from typing import Any

from proof import Answer, UnknownCommandError

from wirespeed.model.command import Command

BATCH = ("ip", "-j", "-d", "-force", "-batch", "-")
HOST = ""
"""Name of the host's own namespace here: process 1 is in it."""
SYSFS = "/sys/bus/pci/devices"


def error(text: str, returncode: int = 2) -> Answer:
    return Answer("", f"{text}\n", returncode)


def no_namespace(name: str) -> str:
    """netns_switch() of iproute2's lib/namespace.c."""
    return f'Cannot open network namespace "{name}": No such file or directory'


@dataclass
class Netdev:
    """One netdev; `parentdev` is the PCI function that it is of."""

    parentdev: str | None = None
    mac: str = "5e:00:00:00:00:01"
    is_up: bool = False
    master: str | None = None
    alias: str | None = None


@dataclass
class Function:
    """A VF: the address that its PF gives it, and whether its driver has it."""

    given_mac: str
    is_bound: bool = False


def lo() -> Netdev:
    return Netdev(mac="00:00:00:00:00:00")


@dataclass
class DescribedNamespaces:
    """Understands `ip netns add|del`, `ip [-n NAME] link …` and the batch that reads two places."""

    places: dict[str, dict[str, Netdev]] = field(default_factory=lambda: {HOST: {"lo": lo()}})
    functions: dict[str, Function] = field(default_factory=dict)

    def run(self, command: Command) -> Answer:
        match command.argv:
            case argv if argv == BATCH:
                return self._batch(command)
            case ("tee", "/sys/bus/pci/drivers_probe"):
                return self._probe(str(command.stdin))
            case ("sh", "-c", script, folder) if folder.startswith(SYSFS):
                return self._script(script, folder.removeprefix(f"{SYSFS}/"), command)
            case ("ip", "netns", "add", name):
                if name in self.places:
                    return error(
                        f'Cannot create namespace file "/run/netns/{name}": File exists', 1
                    )
                self.places[name] = {"lo": lo()}
            case ("ip", "netns", "del", name):
                if name not in self.places:
                    return error(
                        f'Cannot remove namespace file "/run/netns/{name}": '
                        "No such file or directory",
                        1,
                    )
                self._give_back(self.places.pop(name))
            case ("ip", "-n", name, *words):
                if name not in self.places:
                    return error(no_namespace(name), 255)
                return self._ip(name, words, command)
            case ("ip", *words):
                return self._ip(HOST, words, command)
            case _:
                raise UnknownCommandError(command.line())
        return Answer()

    def _give_back(self, netdevs: dict[str, Netdev]) -> None:
        """default_device_exit_net(): devices of their own go to the host's namespace."""
        self.places[HOST] |= {n: link for n, link in netdevs.items() if link.parentdev}

    def _ip(self, place: str, words: list[str], command: Command) -> Answer:
        netdevs = self.places[place]
        match words:
            case ["-j", "link", "show", "dev", name] if name in netdevs:
                return Answer(json.dumps([_printed(name, netdevs[name])]) + "\n")
            case ["link", "set", "dev", name, *_] if name not in netdevs:
                return error(f'Cannot find device "{name}"', 1)
            case ["link", "set", "dev", name, "alias", alias]:
                netdevs[name].alias = alias or None
            case ["link", "set", "dev", name, "up" | "down" as state]:
                netdevs[name].is_up = state == "up"
            case ["link", "set", "dev", name, "name", other]:
                if netdevs[name].is_up:
                    return error("RTNETLINK answers: Device or resource busy")
                return self._rename(netdevs, name, other)
            case ["link", "set", "dev", name, "netns", to, *named]:
                return self._move(place, name, to, named)
            case _:
                raise UnknownCommandError(command.line())
        return Answer()

    def _move(self, place: str, name: str, to: str, named: list[str]) -> Answer:
        """do_setlink() of rtnetlink.c: it moves, and then it is named."""
        there = HOST if to == "1" else to
        if there not in self.places:
            return error(f'Error: argument "{to}" is wrong: Invalid "netns" value', 255)
        if there == place:
            return Answer()
        if name in self.places[there]:
            return error("RTNETLINK answers: File exists")
        link = self.places[place].pop(name)
        # __dev_change_net_namespace(): it is closed, and leaves its master.
        link.is_up, link.master = False, None
        self.places[there][name] = link
        return self._rename(self.places[there], name, named[1]) if named else Answer()

    def _rename(self, netdevs: dict[str, Netdev], name: str, other: str) -> Answer:
        if name == other:
            return Answer()
        if other in netdevs:
            return error("RTNETLINK answers: File exists")
        netdevs[other] = netdevs.pop(name)
        return Answer()

    def _script(self, script: str, address: str, command: Command) -> Answer:
        if "unbind" in script:
            function = self.functions[address]
            if function.is_bound:
                function.is_bound = False
                for netdevs in self.places.values():
                    for name in [n for n, link in netdevs.items() if link.parentdev == address]:
                        del netdevs[name]
            return Answer()
        if "settle" in script:
            return Answer()
        raise UnknownCommandError(command.line())

    def _probe(self, address: str) -> Answer:
        function = self.functions[address]
        if not function.is_bound:
            function.is_bound = True
            self.places[HOST]["eth0"] = Netdev(parentdev=address, mac=function.given_mac)
        return Answer()

    def _batch(self, command: Command) -> Answer:
        first, second = str(command.stdin).split("\n")
        output = json.dumps([_printed(n, link) for n, link in self.places[HOST].items()]) + "\n"
        match first.split(), second.split():
            case ["link", "show"], ["netns", "exec", name, "ip", "-j", "-d", "link", "show"]:
                if name not in self.places:
                    # The child fails, and goes on with the batch at its end: both say so.
                    failed = "Command failed -:2\n"
                    return Answer(output, f"{no_namespace(name)}\n{failed}{failed}", 1)
                there = [_printed(n, link) for n, link in self.places[name].items()]
                return Answer(f"{output}{json.dumps(there)}\n")
            case _:
                raise UnknownCommandError(command.line())


def _printed(name: str, link: Netdev) -> dict[str, Any]:
    printed: dict[str, Any] = {
        "ifname": name,
        "flags": ["BROADCAST", "MULTICAST", *(["UP"] if link.is_up else [])],
        "address": link.mac,
    }
    if link.master is not None:
        printed["master"] = link.master
    if link.alias is not None:
        printed["ifalias"] = link.alias
    if link.parentdev is not None:
        printed |= {"parentbus": "pci", "parentdev": link.parentdev}
    return printed
