"""The module or cable in every port: what it says it is, its temperature, what the kernel says."""

import re
from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.facts.ethtool import ethtool_answer
from wirespeed.facts.ports import Ports
from wirespeed.model.capture import Capture
from wirespeed.model.fact import Fact
from wirespeed.model.observed import Absent, Known, Observed, Unreadable, read_as

COMPLAINTS = (
    r"Port module event",  # mlx5: drivers/net/ethernet/mellanox/mlx5/core/events.c
    r"nsupported (SFP|QSFP|module)",  # ixgbe, i40e, ice
    r"Unqualified SFP",  # bnxt_en, bnx2x
)
SYNDROME = r"failed, status .*syndrome \(0x"
UNANSWERED = r"timeout\. Will cause a leak of a command resource"
BARS = r"BAR [0-9]+.*(no space for|failed to assign|can.t assign|: (re)?assigned)"
"""What the kernel says of a BAR without room, and of one that it placed after all:
drivers/pci/setup-res.c; setup-bus.c tries again, so the last counts."""
FIRMWARE_STATES = (
    r"Firmware (recovery|rollback) mode detected",  # i40e, ice, ixgbe
    r"detected an older version of the NVM image",  # i40e_main.c, ice_controlq.c, ixgbe_main.c
    r"because the NVM image is newer than expected",  # the same: the driver does not start
    r"HWRM interface [0-9.]+ is older than",  # bnxt_en: bnxt.c, bnxt_hwrm_ver_get
)
"""What a driver says of firmware that does not fit it. That it is newer than expected is left out
where the driver goes on: i40e said it of healthy cards, and now says it for debugging alone."""
NO_SWITCHDEV = r"E-Switch: Failed to create slow path FDB"
"""mlx5: core/eswitch_offloads.c."""
REFUSALS = (
    r"probe of [^ ]+ failed with error",  # drivers/base/dd.c
    r"probe with driver [^ ]+ failed with error",  # the same since Linux 6.8
    r"mlx5_load_one failed", r"handle_hca_cap failed", r"Firmware over [0-9]+ MS",
    r"health compromised",  # mlx5: core/main.c, core/health.c
    SYNDROME,  # mlx5: core/cmd.c, a command that the firmware refused
    UNANSWERED,  # mlx5: core/cmd.c, a command that it did not answer
    NO_SWITCHDEV,
    BARS,
    r"not enough MMIO resources", r"VFs \(bus .* out of range",  # drivers/pci/iov.c
    r"([Ii]n|ntering) [Ss]afe [Mm]ode",  # ice: ice_main.c
    r"DDP package.*(not found|could not be|invalid|not valid|not supported|too low)",  # ice
    r"DDP package.*(successfully loaded|already present)",  # ice: it is out of Safe Mode again
    *FIRMWARE_STATES,
)  # fmt: skip
"""What drivers and PCI say of a card that they refuse: read with the rest, for driver_log."""
LAG_WORDS = (r"lag map port", r"Failed to (create|activate|deactivate) .*LAG")
"""What mlx5 says when it makes two ports one, or cannot (mlx5/core/lag/lag.c): also for driver_log.
A kernel before 5.19 tells it nowhere else."""
RESETS = (
    r"Detected (Tx|Hardware) Unit Hang",  # igb, ixgbe, e1000e
    r"NETDEV WATCHDOG: .*timed out",  # net/sched/sch_generic.c
    r"tx_timeout(: VSI| recovery level)",
    r"TX timeout detected",  # i40e, ice; mlx5
    r"TX driver issue detected",
    r"alicious Driver Detection event",  # i40e, ice
    r"Error cqe on cqn",  # mlx5: core/en/txrx.h
    r"reset to clear Tx work after link loss",  # ixgbe
    r"has been stopped because it has over ?heated",  # ixgbe: ixgbe_common.h
    r"High temperature on sensors",
    r"synd 0x10: High temperature",  # mlx5: core/events.c, health.c
    r"insufficient power on the PCIe slot",  # mlx5: core/events.c
)
"""What drivers say when they stop or reset a card, or it lacks power: read with the rest, too."""
BUS_ERRORS = (r"PCIe Bus Error: severity=",)
"""Of any function or bridge: drivers/pci/pcie/aer.c, aer_print_error. Also for driver_log."""
VF_REFUSALS = (
    r"VF[- ]?[0-9]* ?is not trusted", r"Unprivileged VF",  # i40e, ice: virtchnl
    r"override administratively set", r"administratively denied",  # ixgbe, igb, i40e, ice
    r"VF reached its maximum allowed limit",  # i40e since 2025
    r"filter but there is no space for it",  # ixgbe, igb
)  # fmt: skip
"""What a PF's driver says when it refuses what a VF asks for: read with the rest, too."""
TABLES = (
    "nf_conntrack: table full, dropping packet",
    "(arp_cache|ndisc_cache): neighbor table overflow|[Nn]eighbour table overflow",
)
"""net/netfilter/nf_conntrack_core.c and net/core/neighbour.c, which was worded anew in 4.16."""
DRIVERS_TOO = "wirespeed: drivers too"
VFS_TOO = "wirespeed: VFs too"
RESETS_TOO = "wirespeed: resets too"
"""Stand before the lines of a collector that reads what is about drivers, VFs and resets, too."""
COMPLAINT = re.compile("|".join(COMPLAINTS))
MLX5_EVENT = re.compile(r"Port module event(?:\[error\])?: module \d+, (Cable [a-z]+)(?:, (.+))?")
TOO_HOT = re.compile(r"High Temperature")
"""mlx5's word for a module that is too hot: core/events.c."""
UNPLUGGED = "Cable unplugged"
CELSIUS = re.compile(r"(-?\d{1,4}(?:\.\d{1,4})?) degrees C\b.*")
LANES = {"0x0c": 4, "0x0d": 4, "0x11": 4, "0x1e": 4, "0x18": 8, "0x19": 8, "0x1a": 2, "0x1b": 2}
"""By identifier, SFF-8024 table 4-1: QSFP, QSFP+, QSFP28, QSFP with CMIS, QSFP-DD, OSFP, SFP-DD,
DSFP."""
FLAG = re.compile(
    r"^[ \t]*([A-Z][A-Za-z ]{1,40}? (?:low|high) (?:alarm|warning))"
    r"(?:[ \t]+\(Chan(?:nel)? (\d)\))?[ \t]*: (On|Off)[ \t]*$",
    re.M,
)
"""sff-common.c and qsfp.c of ethtool; thresholds of the same names have a value and no flag."""
MEASURED = ("Module temperature", "Module voltage")
AMOUNT = re.compile(r"(-?\d{1,4}(?:\.\d{1,4})?) (?:degrees C\b.*|V)")
METRES = re.compile(r"(\d{1,5}(?:\.\d{1,3})?) ?m")


@dataclass(frozen=True, slots=True)
class Module:
    """What `ethtool -m` decodes of a module's own memory (SFF-8472, SFF-8636, CMIS)."""

    identifier: Observed[str]
    """`0x11 (QSFP28)`. Absent: no module, or none that can be read there."""
    vendor: Observed[str]
    part: Observed[str]
    compliance: Observed[tuple[str, ...]]
    """What it says that it is made for: `100G Ethernet: 100G Base-CR4, 25G Base-CR CA-L`, …"""
    lane_baud: Observed[int]
    """Symbols a second that each lane is made for: 10.3e9 for 10 Gb/s, 1.25e9 for 1 Gb/s."""
    lanes: int
    """Of the form factor: 4 of a QSFP, 8 of a QSFP-DD or OSFP, 2 of an SFP-DD, else 1."""
    cable_m: Observed[float]
    """Length of a copper or active cable. Absent for a module with a fibre of its own."""
    celsius: Observed[float]
    high_warning_celsius: Observed[float]
    high_alarm_celsius: Observed[float]
    alarms: Observed[tuple[str, ...]]
    """Flags that are set: `Laser rx power low alarm`, with the channel where it has several.
    Absent: no module, or one without flags."""


@dataclass(frozen=True, slots=True)
class Modules(Fact):
    """The module of every port that has a netdev, and what the kernel last said of each."""

    by_netdev: dict[str, Module]
    complaints: dict[str, str]
    """PCI address or netdev to the last thing that the kernel said of its module, if a fault."""
    unplugged: frozenset[str]
    """PCI addresses and netdevs of which the kernel last said that the module was taken out."""
    log: Observed[str]
    """Known when the kernel's messages could be read; those at boot may be gone from them."""

    script: ClassVar[str] = """\
for netdev in $port_netdevs; do
	run ethtool-m "$netdev" ethtool -m "$netdev"
done
module_messages() {
	printf '%s\\n' 'DRIVERS_TOO' 'VFS_TOO' 'RESETS_TOO'
	said=$($limit dmesg | grep -aE 'COMPLAINTS')
	[ -n "$said" ] || return 0
	# What guests and programs ask for again and again must not drive out what was said once.
	printf '%s\\n' "$said" | grep -aE 'VF_REFUSALS' | tail -n 50
	said=$(printf '%s\\n' "$said" | grep -avE 'VF_REFUSALS')
	# At boot the kernel may place the BARs of every device and bridge itself.
	printf '%s\\n' "$said" | grep -aE 'BARS' | grep -aF "$(printf '%s\\n' $pfs)" | tail -n 200
	said=$(printf '%s\\n' "$said" | grep -avE 'BARS')
	printf '%s\\n' "$said" | grep -aE 'BUS' | tail -n 50
	said=$(printf '%s\\n' "$said" | grep -avE 'BUS')
	printf '%s\\n' "$said" | grep -aE 'TABLES' | tail -n 50
	said=$(printf '%s\\n' "$said" | grep -avE 'TABLES')
	printf '%s\\n' "$said" | grep -aE 'OFTEN' | tail -n 50
	printf '%s\\n' "$said" | grep -avE 'OFTEN' | tail -n 200
}
show module-messages - module_messages
"""
    script = script.replace("COMPLAINTS", "|".join(
        (*COMPLAINTS, *REFUSALS, *LAG_WORDS, *RESETS, *BUS_ERRORS, *VF_REFUSALS, *TABLES)
    ))  # fmt: skip
    script = script.replace("OFTEN", "|".join((SYNDROME, UNANSWERED, *RESETS)))
    script = script.replace("TABLES", "|".join(TABLES))
    script = script.replace("VF_REFUSALS", "|".join(VF_REFUSALS))
    script = script.replace("DRIVERS_TOO", DRIVERS_TOO).replace("VFS_TOO", VFS_TOO)
    script = script.replace("RESETS_TOO", RESETS_TOO)
    script = script.replace("'BARS'", f"'{BARS}'")
    script = script.replace("'BUS'", f"'{BUS_ERRORS[0]}'")

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read `ethtool -m` of each port, and the kernel's messages, the last of each counting."""
        ports = [port for port in Ports.parse(capture).ports if port.netdev]
        names = {name for port in ports for name in (port.netdev, port.pci_address) if name}
        log = log_of(capture)
        return cls(
            by_netdev={p.netdev: _module(capture, p.netdev) for p in ports if p.netdev},
            complaints=_complaints(log, names),
            unplugged=_unplugged(log, names),
            log=log,
        )

    def complaint(self, netdev: str | None, pci_address: str | None) -> Observed[str]:
        """Give the last fault of a port's module in the kernel's log; Absent: there is none."""
        for name in (pci_address, netdev):
            if name in self.complaints:
                return Known(self.complaints[name], "dmesg")
        return self.log if isinstance(self.log, Unreadable) else Absent("dmesg", "no complaint")


def log_of(capture: Capture) -> Observed[str]:
    """Give the kernel's messages about modules and drivers of network cards."""
    section = capture.section("module-messages")
    if section is None:
        return Unreadable("the capture has no such section", "dmesg")
    if section.errors.strip():
        return Unreadable(section.errors.strip().splitlines()[0][:200], "dmesg")
    return section.text("dmesg")


def _complaints(log: Observed[str], names: set[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    lines = log.value.splitlines() if isinstance(log, Known) else []
    for line in filter(COMPLAINT.search, lines):
        about = names.intersection(word.rstrip(":") for word in line.split())
        event = MLX5_EVENT.search(line)
        fault = event[2] if event else line.rpartition(": ")[2]
        for name in about:
            if event and event[1] != "Cable error":
                found.pop(name, None)  # plugged anew, or pulled
            else:
                found[name] = (fault or "Cable error").strip()[:200]
    return found


def _unplugged(log: Observed[str], names: set[str]) -> frozenset[str]:
    last: dict[str, str] = {}
    for line in log.value.splitlines() if isinstance(log, Known) else ():
        if event := MLX5_EVENT.search(line):
            last |= dict.fromkeys(
                names.intersection(word.rstrip(":") for word in line.split()), event[1]
            )
    return frozenset(name for name, said in last.items() if said == UNPLUGGED)


def _module(capture: Capture, netdev: str) -> Module:
    text = ethtool_answer(capture, "ethtool-m", netdev, "-m")
    measured = text
    values: dict[str, list[str]] = {}
    for line in text.value.splitlines() if isinstance(text, Known) else ():
        name, colon, value = line.partition(":")
        if colon and value.strip():
            values.setdefault(name.strip(), []).append(value.strip())

    def read(*names: str) -> Observed[str]:
        if not isinstance(text, Known):
            return text
        for name in names:
            if name in values:
                return Known(values[name][0], text.source)
        return Absent(text.source, f"no line `{names[0]}:`")

    if isinstance(text, Known) and (why := _contradicts(values)):
        measured = Unreadable(why, text.source)

    def degrees(name: str) -> Observed[float]:
        return read_as(read(name), _celsius) if isinstance(measured, Known) else measured

    compliance = tuple(values.get("Transceiver type", ()))
    return Module(
        identifier=read("Identifier"),
        vendor=read("Vendor name"),
        part=read("Vendor PN"),
        compliance=Known(compliance, text.source) if compliance else _absent(text),
        lane_baud=_lane_baud(read("BR, Nominal", "BR Nominal")),
        lanes=_lanes(read("Identifier")),
        cable_m=_cable_m(
            read("Length (Copper or Active cable)", "Length (Copper)", "Cable assembly length")
        ),
        celsius=degrees(MEASURED[0]),
        high_warning_celsius=degrees(f"{MEASURED[0]} high warning threshold"),
        alarms=_alarms(measured),
        high_alarm_celsius=degrees(f"{MEASURED[0]} high alarm threshold"),
    )


def _contradicts(values: dict[str, list[str]]) -> str:
    """Why the diagnostics cannot be what the module says: a highest limit below the lowest.

    Drivers that read the wrong page print such, with flags that mean nothing. Empty: none.
    """
    for name in MEASURED:
        limits = [
            AMOUNT.fullmatch(values.get(f"{name} {end} alarm threshold", [""])[0])
            for end in ("low", "high")
        ]
        low, high = (float(match[1]) if match else None for match in limits)
        if low is not None and high is not None and high < low:
            return f"its diagnostics contradict each other: {name.lower()} {low:g} to {high:g}"
    return ""


def _lanes(identifier: Observed[str]) -> int:
    number = identifier.value.partition(" ")[0] if isinstance(identifier, Known) else ""
    return LANES.get(number.lower(), 1)


def _absent(text: Observed[str]) -> Absent | Unreadable:
    return text if isinstance(text, Unreadable) else Absent(text.source, "it reports none")


def _alarms(text: Observed[str]) -> Observed[tuple[str, ...]]:
    if not isinstance(text, Known):
        return text
    flags = FLAG.findall(text.value)
    if not flags:
        return Absent(text.source, "it reports no flags")
    return Known(
        tuple(
            f"{name}{f', channel {n}' if n else ''}" for name, n, state in flags if state == "On"
        ),
        text.source,
    )


def _celsius(text: str) -> float:
    match = CELSIUS.fullmatch(text)
    if match is None:
        raise ValueError(repr(text))
    return float(match[1])


def _metres(text: str) -> float:
    match = METRES.fullmatch(text)
    if match is None:
        raise ValueError(repr(text))
    return float(match[1])


def _lane_baud(text: Observed[str]) -> Observed[int]:
    """`10300MBd`, of QSFP `25500Mbps` or `25750 Mbps`; 0 where the module does not say.

    ethtool 6.13 and newer call it `BR Nominal`: sfpid.c and qsfp.c.
    """
    baud = read_as(text, _baud)
    return Absent(baud.source, "it reports none") if baud == Known(0, text.source) else baud


def _baud(text: str) -> int:
    match = re.fullmatch(r"(\d{1,6}) ?M(?:Bd|bps)", text)
    if match is None:
        raise ValueError(repr(text))
    return int(match[1]) * 10**6


def _cable_m(text: Observed[str]) -> Observed[float]:
    """0 stands for no cable of its own (SFF-8472 byte 18, SFF-8636 byte 146)."""
    metres = read_as(text, _metres)
    if isinstance(metres, Known) and metres.value == 0:
        return Absent(metres.source, "it has no cable of its own")
    return metres
