"""Light that a module sends and receives, by lane, against the alarms that its maker set."""

import math
import re
from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.facts.ethtool import ethtool_answer
from wirespeed.facts.json_text import field
from wirespeed.facts.link_margin import mlxlink, mlxlink_output
from wirespeed.facts.ports import Ports
from wirespeed.model.capture import Capture
from wirespeed.model.fact import Fact
from wirespeed.model.observed import Absent, Known, Observed, Unreadable

NUMBER = r"-?(?:\d{1,4}(?:\.\d{1,6})?|inf)"
MLXLINK = re.compile(rf"({NUMBER}(?:,{NUMBER})*) \[({NUMBER})\.\.({NUMBER})\]")
"""`3.585,3.259,3.220,2.674 [-9.914..6.999]`: prepareDDMSection of mstflint's mlxlink_commander.cpp;
its registers call the two *alarm low* and *alarm high*, of channel 0."""
DBM = re.compile(rf"/ ({NUMBER}) dBm$")
ETHTOOL = {
    "received": (
        re.compile(r"(?:Rcvr|Receiver) signal (?:avg|average) optical power *(?:\(Channel \d\))?"),
        "Laser rx power",
    ),
    "sent": (
        re.compile(r"(?:Laser output power|Transmit avg optical power) *(?:\(Channel \d\))?"),
        "Laser output power",
    ),
}
"""sff-common.c, sfpdiag.c, qsfp.c of ethtool: the line of a lane, and the alarms' first words."""


@dataclass(frozen=True, slots=True)
class Light:
    """One direction of one module; in dBm."""

    lanes: tuple[float, ...]
    """-inf: no light at all."""
    low_alarm: float
    high_alarm: float

    def margins(self) -> tuple[float, ...]:
        """Give the dB from each lane to the nearer alarm; below 0: beyond it."""
        return tuple(min(dbm - self.low_alarm, self.high_alarm - dbm) for dbm in self.lanes)


@dataclass(frozen=True, slots=True)
class ModulePower:
    """One module. Absent: a copper cable, or a module without monitors; Unreadable: no alarms."""

    received: Observed[Light]
    sent: Observed[Light]


@dataclass(frozen=True, slots=True)
class ModulePowers(Fact):
    """Every port with a netdev: as mlxlink says, else as `ethtool -m` does."""

    by_netdev: dict[str, ModulePower]

    script: ClassVar[str] = ""
    """What link_margin and module read holds it."""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read both tools' answers about each port."""
        found = {}
        for port in Ports.parse(capture).ports:
            if port.netdev:
                by_ethtool = _by_ethtool(capture, port.netdev)
                by_card = _by_mlxlink(capture, port.pci_address or "")
                is_known = isinstance(by_card.received, Known) or isinstance(by_card.sent, Known)
                found[port.netdev] = by_card if is_known else by_ethtool
        return cls(found)


def _by_mlxlink(capture: Capture, address: str) -> ModulePower:
    told, source = mlxlink_output(capture, address), mlxlink(capture, address)
    if not isinstance(told, Known):
        return ModulePower(told, told)
    module = told.value.get("Module Info")

    def light(name: str) -> Observed[Light]:
        text = field(module if isinstance(module, dict) else {}, name, str, source)
        match = MLXLINK.fullmatch(text.value.strip()) if isinstance(text, Known) else None
        if match is None:
            return Absent(source, f"no {name} with alarms")
        return _light([float(dbm) for dbm in match[1].split(",")], match[2], match[3], source)

    return ModulePower(light("Rx Power Current [dBm]"), light("Tx Power Current [dBm]"))


def _by_ethtool(capture: Capture, netdev: str) -> ModulePower:
    text = ethtool_answer(capture, "ethtool-m", netdev, "-m")
    if not isinstance(text, Known):
        return ModulePower(text, text)
    lines = [line.partition(":")[::2] for line in text.value.splitlines()]
    values = [(name.strip(), value.strip()) for name, value in lines]

    def light(direction: str) -> Observed[Light]:
        lane, words = ETHTOOL[direction]
        dbm = [_dbm(value) for name, value in values if lane.fullmatch(name)]
        seen = [one for one in dbm if one is not None]
        if not seen:
            return Absent(text.source, f"no light {direction} is shown")
        alarms = dict(values)
        low = DBM.search(alarms.get(f"{words} low alarm threshold", ""))
        high = DBM.search(alarms.get(f"{words} high alarm threshold", ""))
        if low is None or high is None:
            return Unreadable("it shows no alarms for light", text.source)
        return _light(seen, low[1], high[1], text.source)

    return ModulePower(light("received"), light("sent"))


def _dbm(value: str) -> float | None:
    match = DBM.search(value)
    return float(match[1]) if match else None


def _light(lanes: list[float], low: str, high: str, source: str) -> Observed[Light]:
    """Modules that set no alarms leave both at no light."""
    found = Light(tuple(lanes), float(low), float(high))
    if not -math.inf < found.low_alarm < found.high_alarm:
        return Unreadable("its maker set no alarms for light", source)
    return Known(found, source)
