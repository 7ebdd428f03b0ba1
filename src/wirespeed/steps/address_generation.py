"""Whether a netdev gives itself an IPv6 address when it is set up."""

from typing import ClassVar, Literal

from wirespeed.facts.json_text import objects_of
from wirespeed.model.capture import Section
from wirespeed.model.command import Command
from wirespeed.model.names import Netdev
from wirespeed.model.observed import Known, Observed, Unreadable
from wirespeed.model.step import Scope, State, Step
from wirespeed.steps.marks import key, words

MODES = ("eui64", "none", "stable_secret", "random")
"""Of ip-link(8), `addrgenmode`."""


class AddressGeneration(Step):
    """It gives itself none. One that it has already stays, so this stands before it is set up.

    Open vSwitch in userspace takes a frame for a tunnel of its own wherever it leaves by a port
    that has an address (seen with 3.1): a guest that makes tunnels itself would be heard in other
    tenants' networks.
    """

    scope: ClassVar[Scope] = Scope.BOOT
    purpose: ClassVar[str] = (
        "By a port with an address, guests could make tunnels into other networks."
    )
    step: Literal["address_generation"] = "address_generation"
    netdev: Netdev

    @property
    def subject(self) -> str:
        return self.netdev

    def read(self) -> Command:
        return Command(argv=("ip", "-j", "-d", "link", "show", "dev", self.netdev))

    @property
    def mark(self) -> str:
        return words(key("inet6_addr_gen_mode"))

    def parse(self, section: Section) -> Observed[State]:
        """Give the mode; `none` where this kernel has no IPv6 for it, and so prints no mode."""
        source = self.read().line()
        found = objects_of(section.text(source))
        if not isinstance(found, Known):
            return Unreadable(found.reason, source)
        if len(found.value) != 1 or found.value[0].get("ifname") != self.netdev:
            return Unreadable("it did not print one netdev", source)
        mode = found.value[0].get("inet6_addr_gen_mode", "none")
        if mode not in MODES:
            return Unreadable(f"{str(mode)[:40]!r} is not a mode that undo could restore", source)
        return Known({"mode": str(mode)}, source)

    def made(self) -> State:
        """Give what the kernel gives a new netdev."""
        return {"mode": "eui64"}

    def wanted(self, before: State) -> State:
        return {"mode": "none"}

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        words = ("ip", "link", "set", "dev", self.netdev, "addrgenmode", str(to["mode"]))
        return (Command(argv=words),)
