"""By what a bond that is there chooses the member for each frame."""

from typing import ClassVar, Literal, get_args

from wirespeed.facts.json_text import field
from wirespeed.model.capture import Section
from wirespeed.model.command import Command
from wirespeed.model.names import Netdev
from wirespeed.model.observed import Known, Observed, Unreadable
from wirespeed.model.step import Phase, Scope, State, Step
from wirespeed.steps.bond_monitoring import bond_data
from wirespeed.steps.marks import key, words

HASHED = ("802.3ad", "balance-xor")
"""Modes that use the policy for all frames; balance-tlb does so with tlb_dynamic_lb off only."""
HashPolicy = Literal["layer2", "layer2+3", "layer3+4", "encap2+3", "encap3+4", "vlan+srcmac"]
POLICIES = get_args(HashPolicy)
"""bond_xmit_hashtype_tbl of drivers/net/bonding/bond_options.c; vlan+srcmac since Linux 5.12."""


class BondHashPolicy(Step):
    """The bond hashes by these fields; the members keep their links.

    The option has no flag against a bond that is up (bond_options.c), so nothing is dropped.
    Connections that move to another member may have frames out of order once.
    """

    scope: ClassVar[Scope] = Scope.BOOT
    purpose: ClassVar[str] = (
        "Frames for one router have one MAC address: only a hash of addresses and ports spreads "
        "their connections over the members."
    )
    phase: ClassVar[Phase | None] = Phase.GUESTS
    step: Literal["bond_hash_policy"] = "bond_hash_policy"
    netdev: Netdev
    policy: HashPolicy = "layer3+4"

    @property
    def subject(self) -> str:
        return self.netdev

    def read(self) -> Command:
        return Command(argv=("ip", "-j", "-d", "link", "show", "dev", self.netdev))

    @property
    def mark(self) -> str:
        return words(key("xmit_hash_policy"))

    def parse(self, section: Section) -> Observed[State]:
        """Give the policy."""
        source = self.read().line()
        bond = bond_data(section, self.netdev, source)
        if not isinstance(bond, Known):
            return bond
        mode = field(bond.value, "mode", str, source)
        if not isinstance(mode, Known) or mode.value not in HASHED:
            return Unreadable(f"{self.netdev} does not choose its members by a hash", source)
        policy = field(bond.value, "xmit_hash_policy", str, source)
        if not isinstance(policy, Known) or policy.value not in POLICIES:
            return Unreadable(f"xmit_hash_policy of {self.netdev} is not one that is known", source)
        return Known({"policy": policy.value}, source)

    def wanted(self, before: State) -> State:
        return {"policy": self.policy}

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        words = ("type", "bond", "xmit_hash_policy", str(to["policy"]))
        return (Command(argv=("ip", "link", "set", "dev", self.netdev, *words)),)
