"""What a host's cards say of each VF: whether they check the source of what it sends.

ip -j link show      of each port: `vfinfo_list`, with `address` and `spoofchk`
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from wirespeed.facts.json_text import objects_in, objects_of
from wirespeed.host.runner import Runner
from wirespeed.measure.network.lease import said
from wirespeed.model.error import WirespeedError
from wirespeed.model.observed import Known
from wirespeed.model.shown import shown

SHOW = ("ip", "-j", "link", "show")


@dataclass(frozen=True, slots=True)
class SpoofChecks:
    """Of one host."""

    by_mac: Mapping[str, bool | None] = field(default_factory=dict)
    """By the address of the VF; None: the card does not say."""
    unread: str = ""
    """Why nothing of the host is known; empty: it was read."""

    def is_tried(self, mac: str) -> bool:
        """Tell whether a forged source is to be tried, or named: not where no check is promised."""
        return bool(self.unread) or self.by_mac.get(mac, False) is not False

    def why_not(self, mac: str) -> str:
        """Say why it cannot be told whether a check is promised; empty where one is."""
        if self.unread:
            return f"whether its card checks the source is not known: {self.unread}"
        if self.by_mac.get(mac, False) is None:
            return f"the card does not say whether it checks the source of the VF {mac}"
        return ""


def spoof_checks(runner: Runner) -> SpoofChecks:
    """Read them."""
    command = " ".join(SHOW)
    try:
        done = runner.run(SHOW, timeout_s=30.0)
    except WirespeedError as error:
        return SpoofChecks(unread=f"{error.what}: {error.found}")
    if done.returncode:
        return SpoofChecks(unread=f"{command}: {said(done)}")
    links = objects_of(Known(done.output, command))
    if not isinstance(links, Known):
        return SpoofChecks(unread=f"{command}: {links.reason}")
    found: dict[str, bool | None] = {}
    for link in links.value:
        for vf in objects_in(link, "vfinfo_list"):
            mac, checks = vf.get("address"), vf.get("spoofchk")
            if not isinstance(mac, str):
                name = shown(json.dumps(link.get("ifname")), 40)
                return SpoofChecks(unread=f"{command}: a VF of {name} has no address")
            found[mac] = checks if isinstance(checks, bool) else None
    return SpoofChecks(found)
