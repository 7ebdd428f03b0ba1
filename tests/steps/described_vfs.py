"""A PF and its VFs, and iproute2 on them."""

import json
from dataclasses import asdict, dataclass
from typing import Any

from proof import Answer, UnknownCommandError

from wirespeed.model.command import Command

INVALID = Answer("", "RTNETLINK answers: Invalid argument\n", 2)
NO_ADDRESS = "00:00:00:00:00:00"


@dataclass
class Vf:
    """What the driver keeps of one VF. igb and mlx5 start with no address and no limit."""

    mac: str = NO_ADDRESS
    vlan: int = 0
    qos: int = 0
    protocol: str = "802.1Q"
    spoofchk: bool = True
    trust: bool = False
    min_tx: int = 0
    max_tx: int = 0


@dataclass
class DescribedVfs:
    """Understands `ip -j -d link show dev PF` and `ip link set dev PF vf N SETTING`."""

    vfs: list[Vf]
    netdev: str = "enp3s0f0np0"

    def run(self, command: Command) -> Answer:
        assert command.stdin is None
        match command.argv:
            case ("ip", "-j", "-d", "link", "show", "dev", netdev) if netdev == self.netdev:
                return Answer(json.dumps([self._port()]) + "\n")
            case ("ip", "link", "set", "dev", netdev, "vf", index, *words) if (
                netdev == self.netdev and index.isdecimal()
            ):
                if int(index) >= len(self.vfs):
                    return INVALID
                return _set(self.vfs[int(index)], words, command)
            case _:
                raise UnknownCommandError(command.line())

    def _port(self) -> dict[str, Any]:
        vfs = [{"vf": index, **_as_printed(vf)} for index, vf in enumerate(self.vfs)]
        port = {"ifname": self.netdev, "flags": ["UP"], "address": "02:00:00:00:00:02"}
        return port | {"vfinfo_list": vfs}


def _as_printed(vf: Vf) -> dict[str, Any]:
    """As print_vfinfo() of iproute2 6.1 does: a tag of 0 and the usual protocol are left out."""
    tag = {name: value for name, value in (("vlan", vf.vlan), ("qos", vf.qos)) if value}
    if vf.protocol != "802.1Q":
        tag["protocol"] = vf.protocol
    return {
        "link_type": "ether",
        "address": vf.mac,
        "vlan_list": [tag],
        "rate": {"max_tx": vf.max_tx, "min_tx": vf.min_tx},
        "spoofchk": vf.spoofchk,
        "link_state": "auto",
        "trust": vf.trust,
    }


def _set(vf: Vf, words: list[str], command: Command) -> Answer:
    """One setting, as iplink_parse_vf() of iproute2 reads it and do_setvfinfo() of Linux takes it.

    mlx5_esw_set_vport_mac_locked() and igb_ndo_set_vf_mac() take an address of zeros, which frees
    the VF to draw its own; none takes one of a group.
    """
    match words:
        case ["mac", mac] if len(mac) == len(NO_ADDRESS):
            if int(mac[:2], 16) & 1:
                return INVALID
            vf.mac = mac
        case ["vlan", tag, *rest]:
            given = dict(zip(rest[::2], rest[1::2], strict=True))
            if given.keys() - {"qos", "proto"}:
                raise UnknownCommandError(command.line())
            if int(tag) > 4095 or int(given.get("qos", 0)) > 7:
                return INVALID
            # A tag without them is a tag of priority 0 and 802.1Q.
            vf.vlan, vf.qos = int(tag), int(given.get("qos", 0))
            vf.protocol = given.get("proto", "802.1Q")
        case ["trust" | "spoofchk" as name, "on" | "off" as switch]:
            setattr(vf, name, switch == "on")
        case ["min_tx_rate" | "max_tx_rate", *_] if len(words) in (2, 4):
            # The one that is not given is read and sent again.
            rates = asdict(vf) | {
                name.removesuffix("_rate"): int(value)
                for name, value in zip(words[::2], words[1::2], strict=True)
            }
            # rtnl_set_vf_rate(): a most of 0 is none.
            if 0 < rates["max_tx"] < rates["min_tx"]:
                return INVALID
            vf.min_tx, vf.max_tx = rates["min_tx"], rates["max_tx"]
        case _:
            raise UnknownCommandError(command.line())
    return Answer()
