"""What a netdev does for the host: offload features, and the driver's private flags."""

import re
from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.facts.ethtool import ethtool_answer
from wirespeed.model.capture import Capture
from wirespeed.model.fact import Fact
from wirespeed.model.observed import Absent, Known, Observed, Unreadable, read_as

FEATURE = re.compile(r"\s*([\w-]+): (on|off)(?: \[(fixed|requested on|requested off)\])?\s*")
FLAG = re.compile(r"(.*?\S)\s*: (on|off)\s*")


@dataclass(frozen=True, slots=True)
class Feature:
    """One line of `ethtool -k`."""

    is_on: bool
    is_fixed: bool
    """It cannot be changed."""
    is_requested: bool
    """Somebody asked for it. Where it is not as requested, another setting stands against it."""


@dataclass(frozen=True, slots=True)
class NetdevOffloads:
    """Features and flags of one netdev by the names that ethtool prints."""

    features: Observed[dict[str, Feature]]
    """`tcp-segmentation-offload`, `tx-udp_tnl-segmentation`, …: groups and their members alike."""
    private_flags: Observed[dict[str, bool]]
    """The driver's own: `rx_cqe_compress`, `rx_striding_rq`, …."""

    def feature(self, name: str) -> Observed[Feature]:
        """Give one feature; Absent where this kernel knows none of that name."""
        if not isinstance(self.features, Known):
            return self.features
        source = f"{self.features.source} | grep {name}:"
        feature = self.features.value.get(name)
        return Absent(source, f"no {name}") if feature is None else Known(feature, source)

    def private_flag(self, name: str) -> Observed[bool]:
        """Give one private flag; Absent where the driver has none of that name."""
        if not isinstance(self.private_flags, Known):
            return self.private_flags
        source = f"{self.private_flags.source} | grep {name}"
        flag = self.private_flags.value.get(name)
        return Absent(source, f"no {name}") if flag is None else Known(flag, source)


@dataclass(frozen=True, slots=True)
class Offloads(Fact):
    """Offloads of every port's netdev."""

    netdevs: dict[str, NetdevOffloads]

    script: ClassVar[str] = """\
for netdev in $port_netdevs; do
	run ethtool-features "$netdev" ethtool -k "$netdev"
	run ethtool-private-flags "$netdev" ethtool --show-priv-flags "$netdev"
done
"""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read `ethtool-features` and `ethtool-private-flags` of each netdev."""
        netdevs = (
            capture.sections("ethtool-features").keys()
            | capture.sections("ethtool-private-flags").keys()
        )
        return cls({netdev: _read(capture, netdev) for netdev in netdevs})

    def of(self, netdev: str) -> NetdevOffloads:
        """Offloads of one netdev; unreadable where it was not asked about."""
        return self.netdevs.get(netdev) or _read(Capture([], complete=False), netdev)


def _read(capture: Capture, netdev: str) -> NetdevOffloads:
    features = ethtool_answer(capture, "ethtool-features", netdev, "-k")
    flags = ethtool_answer(capture, "ethtool-private-flags", netdev, "--show-priv-flags")
    if isinstance(flags, Unreadable) and "No private flags" in flags.reason:
        return NetdevOffloads(read_as(features, _features), Absent(flags.source, flags.reason))
    return NetdevOffloads(read_as(features, _features), read_as(flags, _flags))


def _features(text: str) -> dict[str, Feature]:
    features = {}
    for line in text.splitlines():
        if match := FEATURE.fullmatch(line):
            name, state, remark = match.groups()
            wanted = remark == "requested on" if (remark or "fixed") != "fixed" else state == "on"
            features[name] = Feature(state == "on", remark == "fixed", wanted)
    if not features:
        raise ValueError("no feature in it")
    return features


def _flags(text: str) -> dict[str, bool]:
    matches = (FLAG.fullmatch(line) for line in text.splitlines())
    return {match[1]: match[2] == "on" for match in matches if match}
