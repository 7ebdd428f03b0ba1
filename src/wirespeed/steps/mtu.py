"""The MTU of a netdev."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from wirespeed.model.capture import Section
from wirespeed.model.command import Command
from wirespeed.model.finding import Danger
from wirespeed.model.names import Netdev
from wirespeed.model.observed import Known, Observed, Unreadable
from wirespeed.model.step import Phase, Scope, State, Step

MAX_DIGITS = 9
ETHERNET = 1500


class Mtu(Step):
    """A netdev carries IP packets of up to `mtu` bytes; 68 is the least of IPv4 (RFC 791).

    Of netdevs that are stacked, the lower one grows first and shrinks last: the kernel refuses more
    above than below, and lowers a VLAN's own with its port's. The order is the planner's business.
    """

    scope: ClassVar[Scope] = Scope.BOOT
    # igb, ixgbe and others restart the port for it.
    danger: ClassVar[Danger] = Danger.DROPS_LINK
    purpose: ClassVar[str] = (
        "Larger packets cost fewer of them: each has a price in cores, descriptors and headers."
    )
    phase: ClassVar[Phase | None] = Phase.PORT
    step: Literal["mtu"] = "mtu"
    netdev: Netdev
    mtu: Annotated[int, Field(ge=68, le=65535)]

    @property
    def subject(self) -> str:
        return self.netdev

    def read(self) -> Command:
        return Command(argv=("cat", f"/sys/class/net/{self.netdev}/mtu"))

    def parse(self, section: Section) -> Observed[State]:
        source = self.read().line()
        text = section.text(source)
        if not isinstance(text, Known):
            return Unreadable(text.reason, source)
        digits = text.value.strip()
        if not (digits.isascii() and digits.isdecimal() and len(digits) <= MAX_DIGITS):
            return Unreadable(f"{digits[:40]!r} is not an MTU", source)
        return Known({"mtu": int(digits)}, source)

    def made(self) -> State:
        """Give what the kernel gives a new Ethernet netdev (ether_setup)."""
        return {"mtu": ETHERNET}

    def wanted(self, before: State) -> State:
        return {"mtu": self.mtu}

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        command = Command(argv=("ip", "link", "set", "dev", self.netdev, "mtu", str(to["mtu"])))
        return (command,)
