"""Netdevs, bonds, bridges and VLANs, and iproute2 on them."""

import json
from dataclasses import dataclass, field
from typing import Any

from proof import Answer, UnknownCommandError

from wirespeed.model.command import Command

DEFAULTS: dict[str, Any] = {
    "mode": "balance-rr", "miimon": 0, "updelay": 0, "downdelay": 0, "use_carrier": 1,
    "arp_interval": 0, "arp_validate": None, "arp_all_targets": "any",
    "primary_reselect": "always", "fail_over_mac": "none", "xmit_hash_policy": "layer2",
}  # fmt: skip
"""What a bond prints that nothing was said about: cases of tests/rules."""


def error(text: str) -> Answer:
    return Answer("", f"{text}\n", 2)


@dataclass
class Netdev:
    """One netdev."""

    is_up: bool = True
    master: str | None = None
    kind: str | None = None
    lower: str | None = None
    """What a VLAN lies on."""
    options: dict[str, Any] = field(default_factory=dict)


@dataclass
class DescribedLinks:
    """Understands `ip -j -d link show`, `ip link add|del`, `ip link set up|down|[no]master`."""

    netdevs: dict[str, Netdev]

    def run(self, command: Command) -> Answer:
        assert command.stdin is None
        match command.argv:
            case ("ip", "-j", "-d", "link", "show"):
                return Answer(json.dumps([self._printed(name) for name in self.netdevs]))
            case ("ip", "link", "add", "dev", name, "type", "bond", *words):
                return self._add(name, dict(zip(words[::2], words[1::2], strict=True)))
            case ("ip", "link", "add", "link", lower, "name", name, "type", "vlan", "id", tag):
                return self._add_vlan(name, lower, int(tag))
            case ("ip", "link", "del", "dev", name) if name in self.netdevs:
                # bond_uninit(): every member is released.
                for member in [n for n, link in self.netdevs.items() if link.master == name]:
                    self._release(member)
                del self.netdevs[name]
            case ("ip", "link", "set", "dev", name, "up" | "down" as state) if name in self.netdevs:
                self.netdevs[name].is_up = state == "up"
            case ("ip", "link", "set", "dev", name, "nomaster") if name in self.netdevs:
                self._release(name)
            case ("ip", "link", "set", "dev", name, "master", master) if name in self.netdevs:
                return self._join(name, master)
            case ("ip", "link", "set" | "del", "dev", name, *_) if name not in self.netdevs:
                return error(f'Cannot find device "{name}"')
            case _:
                raise UnknownCommandError(command.line())
        return Answer()

    def _add(self, name: str, given: dict[str, str]) -> Answer:
        if name in self.netdevs:
            return error("RTNETLINK answers: File exists")
        options = dict(DEFAULTS)
        for word, value in given.items():
            match word:
                case "miimon" | "arp_interval":
                    options[word] = int(value)
                case "arp_ip_target":
                    options[word] = value.split(",")
                case "mode" | "arp_validate" | "primary" | "fail_over_mac" | "xmit_hash_policy":
                    options[word] = value
                case _:
                    raise UnknownCommandError(f"{word} {value}")
        self.netdevs[name] = Netdev(is_up=False, kind="bond", options=options)
        return Answer()

    def _add_vlan(self, name: str, lower: str, tag: int) -> Answer:
        if lower not in self.netdevs:
            return error(f'Cannot find device "{lower}"')
        if name in self.netdevs:
            return error("RTNETLINK answers: File exists")
        options = {"protocol": "802.1Q", "id": tag, "flags": ["REORDER_HDR"]}
        self.netdevs[name] = Netdev(is_up=False, kind="vlan", lower=lower, options=options)
        return Answer()

    def _join(self, name: str, master: str) -> Answer:
        """do_set_master() of rtnetlink.c, bond_enslave() of bond_main.c, br_add_if()."""
        if master not in self.netdevs:
            return error(f'argument "{master}" is wrong: Device does not exist')
        if self.netdevs[name].master == master:
            return Answer()
        # It leaves its former master first, and stays without one where the next refuses it.
        self._release(name)
        if self.netdevs[master].kind == "bond":
            if self.netdevs[name].is_up:
                return error("Error: Device can not be enslaved while up.")
            self.netdevs[name].is_up = True
        self.netdevs[name].master = master
        return Answer()

    def _release(self, name: str) -> None:
        """__bond_release_one() closes it; a bridge leaves it as it is."""
        link = self.netdevs[name]
        if link.master is not None and self.netdevs[link.master].kind == "bond":
            link.is_up = False
        link.master = None

    def _printed(self, name: str) -> dict[str, Any]:
        link = self.netdevs[name]
        flags = ["BROADCAST", "MULTICAST", *(["UP", "LOWER_UP"] if link.is_up else [])]
        printed: dict[str, Any] = {"ifname": name, "flags": flags, "mtu": 1500}
        if link.master is not None:
            printed["master"] = link.master
        if link.lower is not None:
            printed["link"] = link.lower
        if link.kind is not None:
            options = dict(link.options)
            # bond_fill_info(): the primary port, once it has joined.
            if (primary := options.get("primary")) and self.netdevs[primary].master != name:
                del options["primary"]
            printed["linkinfo"] = {"info_kind": link.kind, "info_data": options}
        return printed
