"""The kernel's own stack gets nothing that comes in by a netdev; a switch in userspace does."""

import re
from typing import ClassVar, Literal

from wirespeed.facts.json_text import json_of, object_in, objects_in
from wirespeed.model.capture import Section
from wirespeed.model.command import Command
from wirespeed.model.finding import Danger
from wirespeed.model.names import Netdev
from wirespeed.model.observed import Known, Observed, Unreadable
from wirespeed.model.step import Scope, State, Step

NOT_THERE = "No such file or directory"
CHAIN = {"name": "ingress", "type": "filter", "hook": "ingress", "policy": "drop"}
PRIORITY = -500
"""Before any other table: what is dropped is not looked at first."""
NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9_.-]")
"""Of nftables (scanner.l, `string`); of a netdev's name, `@` and `+`."""


class IngressDrop(Step):
    """A table of nftables of our own drops all that the netdev receives.

    What a program hears by a packet socket it hears before that. A netdev that Open vSwitch takes
    by such a socket still hands each frame to the kernel too, which answers ARP requests for any
    address of the host, by whatever netdev they come, and takes packets to it: of guests, and of
    the underlay, where two answers with two MAC addresses are then given for the one address.
    Source: Documentation/intro/install/userspace.rst of Open vSwitch ("Firewall Rules").
    """

    scope: ClassVar[Scope] = Scope.BOOT
    danger: ClassVar[Danger] = Danger.DROPS_LINK
    purpose: ClassVar[str] = (
        "The switch alone gets its frames; else the host itself answers them too."
    )
    step: Literal["ingress_drop"] = "ingress_drop"
    netdev: Netdev

    @property
    def subject(self) -> str:
        return self.netdev

    @property
    def _table(self) -> str:
        return "wirespeed-" + NOT_IN_A_NAME.sub("_", self.netdev)

    def read(self) -> Command:
        return Command(argv=("nft", "-j", "list", "table", "netdev", self._table))

    def parse(self, section: Section) -> Observed[State]:
        """Give whether it is there, as it is made."""
        source = self.read().line()
        if section.returncode == 1 and NOT_THERE in section.errors:
            return Known({"is_there": False}, source)
        found = json_of(section.text(source))
        if not isinstance(found, Known):
            return Unreadable(f"{found.reason} (`nft` comes with nftables)", source)
        listed = objects_in(found.value, "nftables") if isinstance(found.value, dict) else []
        chains = [object_in(one, "chain") for one in listed if "chain" in one]
        is_ours = [chain for chain in chains if self._is_as_made(chain)]
        if len(chains) != 1 or not is_ours or any("rule" in one for one in listed):
            return Unreadable(f"there is another table {self._table} already", source)
        return Known({"is_there": True}, source)

    def _is_as_made(self, chain: dict[str, object]) -> bool:
        # Which netdev it hooks into, nft 1.0.6 does not print.
        device = chain.get("dev", self.netdev)
        return device in (self.netdev, [self.netdev]) and chain.items() >= CHAIN.items()

    def made(self) -> State:
        """Give what a netdev has that was just made."""
        return {"is_there": False}

    def wanted(self, before: State) -> State:
        return {"is_there": True}

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        """Make the table in one transaction, or remove it."""
        if not to["is_there"]:
            return (Command(argv=("nft", "delete", "table", "netdev", self._table)),)
        hook = f'type filter hook ingress device "{self.netdev}" priority {PRIORITY}; policy drop;'
        text = f"table netdev {self._table} {{ chain {CHAIN['name']} {{ {hook} }}; }}"
        return (Command(argv=("nft", text)),)
