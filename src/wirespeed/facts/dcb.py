"""Data Center Bridging of ports with RDMA: priorities that are paused, trust, and ECN of RoCE."""

import re
from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.facts.ports import Ports
from wirespeed.model.capture import Capture
from wirespeed.model.fact import Fact
from wirespeed.model.observed import Absent, Known, Observed, Unreadable

TRUST = re.compile(r"^Priority trust state: *(pcp|dscp)\b", re.M)
ENABLED = re.compile(r"^[ \t]*enabled:?[ \t]+((?:[01][ \t]*){8})$", re.M)
PRIORITIES = re.compile(r"(?:prio|pg|tc)-pfc ((?:[0-7]:(?:on|off)\s*){8})")
DSCP = re.compile(r"\bdscp-prio \S+:[0-7]")
DSCP_OF_DCB = re.compile(r"(\S+):([0-7])")
DSCP_NAMES = {
    "default": 0,
    **{f"CS{n}": 8 * n for n in range(8)},
    **{f"AF{n}{drop}": 8 * n + 2 * drop for n in range(1, 5) for drop in range(1, 4)},
    "EF": 46,
    "reliability": 1, "throughput": 2, "lowdelay": 4, "priority": 8, "immediate": 16, "flash": 24,
    "flash-override": 32, "critical": 40, "internet": 48, "network": 56,
}  # fmt: skip
"""Of etc/iproute2/rt_dsfield, by which `dcb app show` names a DSCP (dcb_app_print_pid_dscp() of
dcb/dcb_app.c): RFC 2474, RFC 2597, RFC 3246. The words are of earlier versions; Red Hat keeps
them behind the newer names, and the last name of a value counts (rtnl_tab_initialize())."""
MOST_DSCP = 63
DSCP_OF_QOS = re.compile(r"^[ \t]*prio:([0-7]) dscp:((?:\d{2},)+)[ \t]*$", re.M)
"""mlnx_qos, `dscp2prio mapping`: `prio:3 dscp:31,30,29,28,27,26,25,24,`."""
PRIORITY_COUNT = 8
ECN = re.compile(r"(roce_[nr]p) ([0-7]) ([01])")


@dataclass(frozen=True, slots=True)
class PortDcb:
    """Of one port."""

    trust: Observed[str]
    """`pcp`: the VLAN tag's priority counts, and what has no tag has priority 0; `dscp`."""
    lossless: Observed[frozenset[int]]
    """Priorities that are paused by themselves (PFC, IEEE 802.1Qbb)."""
    priorities: Observed[dict[int, int]]
    """DSCP to priority, of those that the card maps. Absent: nothing says."""
    ecn_notified: Observed[frozenset[int]]
    """Priorities whose marked packets the card reports to their sender (notification point, np)."""
    ecn_obeyed: Observed[frozenset[int]]
    """Priorities in which it slows down when it is told so (reaction point, rp). Both are Absent
    where the driver has no such setting: the kernel's own has none, MLNX_OFED's has."""


@dataclass(frozen=True, slots=True)
class Dcb(Fact):
    """Every port with a netdev and an RDMA device."""

    by_netdev: dict[str, PortDcb]

    # Of other ports nothing is asked: each tool is a process.
    script: ClassVar[str] = """\
roce_ecn() (
	set +f
	for path in /sys/class/net/"$1"/ecn/roce_[nr]p/enable/[0-7]; do
		value=
		{ read -r value <"$path"; } 2>/dev/null || continue
		point=${path%/enable/*}
		printf '%s %s %s\\n' "${point##*/}" "${path##*/}" "$value"
	done
)
for netdev in $port_netdevs; do
	[ -d "/sys/class/net/$netdev/device/infiniband" ] || continue
	# mlnx_qos answers of its maker's cards alone, and not of their VFs.
	code=127
	! command -v mlnx_qos >/dev/null 2>&1 || run mlnx-qos "$netdev" mlnx_qos -i "$netdev"
	if [ "$code" -ne 0 ]; then
		run dcb-pfc "$netdev" dcb pfc show dev "$netdev"
		run dcb-app "$netdev" dcb app show dev "$netdev"
	fi
	show roce-ecn "$netdev" roce_ecn "$netdev"
done
"""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read mlnx_qos of MLNX_OFED, or dcb of iproute2."""
        ports = Ports.parse(capture).ports
        return cls({port.netdev: _dcb(capture, port.netdev) for port in ports if port.netdev})


def _dcb(capture: Capture, netdev: str) -> PortDcb:
    ecn = (_ecn(capture, netdev, "roce_np"), _ecn(capture, netdev, "roce_rp"))
    text = capture.text("mlnx-qos", f"mlnx_qos -i {netdev}", netdev)
    is_asked = capture.section("mlnx-qos", netdev) is not None
    if isinstance(text, Known) or (is_asked and capture.section("dcb-pfc", netdev) is None):
        return PortDcb(_trust(text), _enabled(text), _map_of_qos(text), *ecn)
    pfc = capture.text("dcb-pfc", f"dcb pfc show dev {netdev}", netdev)
    app = capture.text("dcb-app", f"dcb app show dev {netdev}", netdev)
    return PortDcb(_trust_of_app(app), _priorities(pfc), _map_of_app(app), *ecn)


def _ecn(capture: Capture, netdev: str, point: str) -> Observed[frozenset[int]]:
    source = f"grep . /sys/class/net/{netdev}/ecn/{point}/enable/*"
    text = capture.text("roce-ecn", source, netdev)
    if not isinstance(text, Known):
        return text
    lines = [match for line in text.value.splitlines() if (match := ECN.fullmatch(line))]
    found = {int(match[2]): match[3] == "1" for match in lines if match[1] == point}
    if not found:
        return Absent(source, "the driver has no such setting")
    if len(found) < PRIORITY_COUNT:
        return Unreadable("some priorities could not be read", source)
    return Known(frozenset(n for n, is_on in found.items() if is_on), source)


def _trust(text: Observed[str]) -> Observed[str]:
    if not isinstance(text, Known):
        return text
    match = TRUST.search(text.value)
    return Known(match[1], text.source) if match else Absent(text.source, "no trust state")


def _enabled(text: Observed[str]) -> Observed[frozenset[int]]:
    if not isinstance(text, Known):
        return text
    match = ENABLED.search(text.value)
    if match is None:
        return Absent(text.source, "no PFC configuration")
    flags = match[1].split()
    return Known(frozenset(n for n, flag in enumerate(flags) if flag == "1"), text.source)


def _map_of_qos(text: Observed[str]) -> Observed[dict[int, int]]:
    if not isinstance(text, Known):
        return text
    found = {
        int(dscp): int(priority)
        for priority, listed in DSCP_OF_QOS.findall(text.value)
        for dscp in listed.rstrip(",").split(",")
    }
    return Known(found, text.source) if found else Absent(text.source, "no mapping of DSCP")


def _map_of_app(text: Observed[str]) -> Observed[dict[int, int]]:
    """`dscp-prio default:0 AF31:3 27:3`: what rt_dsfield names stands there by its name."""
    if not isinstance(text, Known):
        return text
    found: dict[int, int] = {}
    for line in text.value.splitlines():
        if not line.strip().startswith("dscp-prio"):
            continue
        for name, priority in (m.groups() for m in map(DSCP_OF_DCB.fullmatch, line.split()) if m):
            dscp = _dscp(name)
            if dscp is None:
                reason = f"{name[:20]!r} is a DSCP's name in this host's rt_dsfield alone"
                return Unreadable(reason, text.source)
            found[dscp] = int(priority)
    return Known(found, text.source) if found else Absent(text.source, "no mapping of DSCP")


def _dscp(name: str) -> int | None:
    if name.isascii() and name.isdecimal():
        return dscp if (dscp := int(name[:4])) <= MOST_DSCP else None
    return DSCP_NAMES.get(name)


def _trust_of_app(text: Observed[str]) -> Observed[str]:
    """Mlx5 trusts the DSCP as soon as one is mapped (en_dcbnl.c, mlx5e_dcbnl_ieee_setapp)."""
    if not isinstance(text, Known):
        return text
    return Known("dscp" if DSCP.search(text.value) else "pcp", text.source)


def _priorities(text: Observed[str]) -> Observed[frozenset[int]]:
    if not isinstance(text, Known):
        return text
    match = PRIORITIES.search(text.value)
    if match is None:
        return Absent(text.source, "no PFC configuration")
    flags = [word.split(":") for word in match[1].split()]
    return Known(frozenset(int(n) for n, state in flags if state == "on"), text.source)
