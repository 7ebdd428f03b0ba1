"""Hosts of ESXi of the corpus, as esxcli shows them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass
class Esxi:
    """A host of ESXi as esxcli shows it: its uplinks, all as they should be."""

    uplinks: Sequence[Mapping[str, Any]] = ({},)
    """What of each differs from UPLINK; `counted` is what of its counters does."""
    version: str = "7.0.3"

    def capture(self) -> str:
        """Give what the collector read."""
        ports, sections = [], [("esxi-version -", json.dumps({"Version": self.version}))]
        for number, own in enumerate(self.uplinks):
            one = {**UPLINK, **own}
            name, up = f"vmnic{number}", bool(one["megabits"])
            ports.append({
                "AdminStatus": "Up", "Description": one["card"], "Driver": one["driver"],
                "Duplex": "Full" if up else "Half", "LinkStatus": "Up" if up else "Down",
                "MACAddress": f"02:00:00:00:00:{number:02x}", "MTU": 1500, "Name": name,
                "PCIDevice": f"0000:af:00.{number}", "Speed": one["megabits"],
            })  # fmt: skip
            sections.append((f"esxi-uplink {name}", _uplink(name, number, one)))
            sections.append((f"esxi-counters {name}", _esxi_counters(name, one["counted"])))
        sections.insert(1, ("esxi-ports -", json.dumps(ports)))
        shown = (f"case begin {name}\n{text}\n\ncase end 0\n" for name, text in sections)
        return f"wirespeed-capture 1 case\n{''.join(shown)}case done\n"


UPLINK: Mapping[str, Any] = {
    "driver": "ixgben", "card": "Intel(R) 82599 10 Gigabit Dual Port Network Connection",
    "megabits": 10_000, "modes": "10000baseT/Full", "version": "1.8.7.0",
    "firmware": "0x800003e2", "counted": {},
}  # fmt: skip


def _uplink(name: str, number: int, one: Mapping[str, Any]) -> str:
    up = bool(one["megabits"])
    return f"""\
   Advertised Auto Negotiation: true
   Advertised Link Modes: {one["modes"]}
   Auto Negotiation: true
   Cable Type: FIBRE
   Current Message Level: 0
   Driver Info:
         Bus Info: 0000:af:00:{number}
         Driver: {one["driver"]}
         Firmware Version: {one["firmware"]}
         Version: {one["version"]}
   Link Detected: {str(up).lower()}
   Link Status: {"Up" if up else "Down"}
   Name: {name}
   PHYAddress: 0
   Pause Autonegotiate: false
   Pause RX: false
   Pause TX: false
   Supports Auto Negotiation: true
   Supports Pause: true"""


def _esxi_counters(name: str, counted: Mapping[str, int]) -> str:
    counts = {
        "Packets received": 701_280_499, "Packets sent": 687_061_948,
        "Bytes received": 664_124_780_523, "Bytes sent": 676_938_646_792,
        **dict.fromkeys(("Receive packets dropped", "Transmit packets dropped",
                         "Total receive errors", "Receive length errors", "Receive over errors",
                         "Receive CRC errors", "Receive frame errors", "Receive FIFO errors",
                         "Receive missed errors", "Total transmit errors"), 0),
        **counted,
    }  # fmt: skip
    lines = (f"   {what}: {count}" for what, count in counts.items())
    return "\n".join((f"NIC statistics for {name}", *lines))
