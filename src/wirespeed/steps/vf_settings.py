"""What a PF enforces on one of its VFs: MAC, VLAN, trust, spoof check, limits."""

import re
from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field, model_validator

from wirespeed.facts.json_text import field, object_in, objects_in, objects_of
from wirespeed.model.capture import Section
from wirespeed.model.command import Command
from wirespeed.model.names import Netdev
from wirespeed.model.observed import Known, Observed, Unreadable
from wirespeed.model.step import Phase, Scope, State, Step
from wirespeed.steps.marks import key, lines, words

ADDRESS = re.compile(r"[0-9a-f]{2}(:[0-9a-f]{2}){5}")
MULTICAST = 1
TAG, PRIORITY, PROTOCOL = "vlan", "vlan_qos", "vlan_protocol"
USUAL_PROTOCOL = "802.1Q"
"""iproute2 names a protocol only where it is another one."""
LEAST, MOST = "min_tx_mbit_per_s", "max_tx_mbit_per_s"
VFS = r"""sed -E 's/\{"vf":/\n{"vf":/g'"""
"""Puts each VF of `ip -j` on a line of its own."""
REFUSED, UNSUPPORTED = "Operation not permitted", "Operation not supported"
FLAGS = {"trust": "trust", "spoof_check": "spoofchk"}
"""Field of the step, and the word of iproute2 for it."""


def _station(text: str) -> str:
    address = text.lower()
    if (
        not ADDRESS.fullmatch(address)
        or int(address[:2], 16) & MULTICAST
        or not address.strip("0:")
    ):
        raise ValueError(f"{text!r} is not an address of one station, such as 02:00:00:00:40:01")
    return address


class VfSettings(Step):
    """The VF has these settings; what is None here stays as it is.

    The port's own link stays up. A guest that has the VF is in the other VLAN at once, and takes a
    new MAC when its driver starts again. A former tag comes back with its priority and protocol.

    i40e resets a VF that gets an address, and answers EAGAIN to what comes before that is over
    (i40e_ndo_set_vf_port_vlan, which waits since Linux 6.6), or while another setting is under way;
    ice answers EBUSY (ice_check_vf_init).
    """

    scope: ClassVar[Scope] = Scope.BOOT
    purpose: ClassVar[str] = (
        "The card itself holds the guest to its VLAN, its address and its share."
    )
    phase: ClassVar[Phase | None] = Phase.GUESTS
    is_refused_at_times: ClassVar[bool] = True
    step: Literal["vf_settings"] = "vf_settings"
    netdev: Netdev
    """Of the PF."""
    vf: Annotated[int, Field(ge=0, le=65534)]
    mac: Annotated[str, AfterValidator(_station)] | None = None
    vlan: Annotated[int, Field(ge=0, le=4094)] | None = None
    """Tag that the card adds and strips; 0 is none."""
    trust: bool | None = None
    spoof_check: bool | None = None
    min_tx_mbit_per_s: Annotated[int, Field(ge=0, le=10**7)] | None = None
    max_tx_mbit_per_s: Annotated[int, Field(ge=0, le=10**7)] | None = None
    """0 is no limit."""

    @model_validator(mode="after")
    def _sets_something(self) -> "VfSettings":
        if not self._wanted():
            raise ValueError("nothing is set")
        if self.max_tx_mbit_per_s and (self.min_tx_mbit_per_s or 0) > self.max_tx_mbit_per_s:
            raise ValueError("the least is more than the most")
        return self

    @property
    def subject(self) -> str:
        return f"VF {self.vf} of {self.netdev}"

    def read(self) -> Command:
        return Command(argv=("ip", "-j", "-d", "link", "show", "dev", self.netdev))

    @property
    def mark(self) -> str:
        asked = {
            "address|mac": self.mac,
            "vlan|qos|protocol": self.vlan,
            "max_tx": self.max_tx_mbit_per_s,
            "min_tx": self.min_tx_mbit_per_s,
            **{word: getattr(self, name) for name, word in FLAGS.items()},
        }
        keys = "|".join(name for name, value in asked.items() if value is not None)
        mine = lines(rf'^\{{"vf":{self.vf},')
        return f"{VFS} | {mine} | {words(key(f'({keys})'))}"

    def parse(self, section: Section) -> Observed[State]:
        """Give the settings that the step is about; unreadable where the driver does not tell."""
        source = self.read().line()
        links = objects_of(section.text(source))
        if not isinstance(links, Known):
            return Unreadable(links.reason, source)
        ports = [link for link in links.value if link.get("ifname") == self.netdev]
        vfs = [vf for link in ports for vf in objects_in(link, "vfinfo_list")]
        mine = [vf for vf in vfs if vf.get("vf") == self.vf and vf.get("vf") is not False]
        if len(mine) != 1:
            return Unreadable(f"{self.netdev} has no VF {self.vf}", source)
        state: State = {}
        for name, value in self._told(mine[0], source):
            if not isinstance(value, Known):
                return Unreadable(f"{name}: {value.reason}", source)
            state[name] = value.value
        return Known(state, source)

    def _told(self, vf: dict[str, Any], source: str) -> Iterator[tuple[str, Observed[Any]]]:
        if self.mac is not None:
            # `mac` in older iproute2.
            mac = field(vf, "address" if "address" in vf else "mac", str, source)
            if isinstance(mac, Known) and not ADDRESS.fullmatch(mac.value):
                mac = Unreadable(f"{mac.value[:40]!r} is not an address", source)
            yield "mac", mac
        if self.vlan is not None:
            # In a list, or flat in older iproute2; what is 0 is left out.
            tag = {**vf, **next(iter(objects_in(vf, "vlan_list")), {})}
            usual = {"vlan": 0, "qos": 0, "protocol": USUAL_PROTOCOL}
            tag = {name: tag.get(name, value) for name, value in usual.items()}
            yield TAG, field(tag, "vlan", int, source)
            yield PRIORITY, field(tag, "qos", int, source)
            protocol = field(tag, "protocol", str, source)
            if isinstance(protocol, Known) and protocol.value not in (USUAL_PROTOCOL, "802.1ad"):
                protocol = Unreadable(f"{protocol.value[:40]!r}", source)
            yield PROTOCOL, protocol
        for name, word in FLAGS.items():
            if getattr(self, name) is not None:
                yield name, field(vf, word, bool, source)
        for name in (LEAST, MOST):
            if getattr(self, name) is not None:
                limit = name.removesuffix("_mbit_per_s")
                yield name, field(object_in(vf, "rate"), limit, int, source)

    def explained(self, failed: str) -> str:
        """Say why a driver refuses root (mlx5_esw_allowed gives EPERM), or has no such setting."""
        if REFUSED in failed:
            word = "trust" if self.trust is not None else "settings of VFs"
            return (
                f"as root, the driver refuses {word} where this host does not manage the card's "
                "switch: on a BlueField in DPU mode set it on the DPU, on a multi-host card on the "
                "host that manages it; not as root, log in as root"
            )
        if UNSUPPORTED in failed and self.trust is not None:
            return "this driver has no trust for VFs: leave `trust` out of the step"
        return ""

    def made(self) -> State:
        """Give what the kernel gives a new VF, of that which the step is about."""
        new: State = {
            "mac": "00:00:00:00:00:00", TAG: 0, PRIORITY: 0, PROTOCOL: USUAL_PROTOCOL,
            "trust": False, "spoof_check": True, LEAST: 0, MOST: 0,
        }  # fmt: skip
        told = {*self._wanted(), *((PRIORITY, PROTOCOL) if self.vlan is not None else ())}
        return {name: value for name, value in new.items() if name in told}

    def _wanted(self) -> State:
        names = ("mac", TAG, *FLAGS, LEAST, MOST)
        wanted = {name: getattr(self, name) for name in names}
        return {name: value for name, value in wanted.items() if value is not None}

    def wanted(self, before: State) -> State:
        """Give what is asked for; a tag that has to be set gets no priority."""
        wanted = {**before, **self._wanted()}
        if before.get(TAG) != wanted.get(TAG):
            wanted |= {PRIORITY: 0, PROTOCOL: USUAL_PROTOCOL}
        return wanted

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        """Set what differs, each by itself, so that a refusal names what was refused."""

        def differs(*names: str) -> bool:
            return any(now.get(name) != to.get(name) for name in names)

        found: list[tuple[str, ...]] = []
        if differs("mac"):
            found.append(("mac", str(to["mac"])))
        if differs(TAG, PRIORITY, PROTOCOL):
            priority = ("qos", str(to[PRIORITY])) if to[PRIORITY] else ()
            protocol = ("proto", str(to[PROTOCOL])) if to[PROTOCOL] != USUAL_PROTOCOL else ()
            found.append(("vlan", str(to[TAG]), *priority, *protocol))
        found += [(FLAGS[n], "on" if to[n] else "off") for n in FLAGS if differs(n)]
        if differs(LEAST, MOST):
            # Both in one command: neither order of two would do for every pair of limits.
            words = {LEAST: "min_tx_rate", MOST: "max_tx_rate"}
            both = [(word, str(to[name])) for name, word in words.items() if name in to]
            found.append(tuple(part for pair in both for part in pair))
        first = ("ip", "link", "set", "dev", self.netdev, "vf", str(self.vf))
        return tuple(Command(argv=(*first, *words)) for words in found)
