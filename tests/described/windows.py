"""Windows hosts described as what the collector's cmdlets give: rows by the name of a section."""

import json
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, Self

from wirespeed.model.capture import with_section

MELLANOX, REALTEK = "Mellanox Technologies Ltd.", "Realtek"
CONNECTX5 = "PCI\\VEN_15B3&DEV_1019&SUBSYS_000815B3"
REALTEK_10G = "PCI\\VEN_10EC&DEV_8127&SUBSYS_012310EC"
EMPTY = "wirespeed-capture 1 case\ncase done\n"
Row = dict[str, Any]


def guid(number: int) -> str:
    """A GUID by a small number, so that a reader sees whose it is."""
    return f"{{{number:08X}-3B5C-4D64-9F0E-6A3D1C1F0000}}"


@dataclass
class Windows:
    """A description; steps change it."""

    rows: dict[str, list[Row]] = field(default_factory=dict)
    """Section, without `windows-`, to its rows. One that is not there was not read."""
    failures: dict[str, tuple[int, str]] = field(default_factory=dict)
    """Section to its return code and what it said."""

    def copy(self) -> Self:
        """Give one that can be changed by itself."""
        return deepcopy(self)

    def add(self, section: str, **row: Any) -> None:
        """Add a row."""
        self.rows.setdefault(section, []).append(row)

    def change(self, section: str, number: int, **changed: Any) -> None:
        """Change the rows of one adapter (or of none that is told: the first)."""
        rows = [r for r in self.rows[section] if r.get("Guid", guid(number)) == guid(number)]
        if not rows:
            raise LookupError(f"{section} has no row of {number}")
        for row in rows:
            row.update(changed)

    def capture(self, text: str = EMPTY) -> str:
        """Give the capture, with the sections of `text`, the Linux side, behind its own."""
        for name in reversed(self.rows):
            rows = json.dumps(self.rows[name], ensure_ascii=False, separators=(",", ":"))
            text = with_section(text, "described", f"windows-{name}", rows)
        for name, (code, said) in self.failures.items():
            begin = f"case begin windows-{name} -\n\ncase errors\n{said}\ncase end {code}\n"
            text = text.replace("case done\n", f"{begin}case done\n")
        return text

    def adapter(
        self,
        number: int,
        name: str,
        description: str,
        component: str,
        *,
        gigabits: float = 10,
        status: str = "Up",
        provider: str = "Microsoft",
        driver: str = "vmswitch.sys",
        mtu: int = 1500,
    ) -> None:
        """Add an adapter; its index is its number."""
        self.add(
            "adapters", Index=number, Guid=guid(number), Name=name, Description=description,
            Status=status, TransmitBps=int(gigabits * 1e9), ReceiveBps=int(gigabits * 1e9),
            Virtual=component.startswith("vms_"), Hidden=False, Mac=f"98-03-9B-00-00-{number:02X}",
            Mtu=mtu, Vlan=None, DriverProvider=provider, DriverVersion="24.10.26603.0",
            DriverFile=driver, ComponentId=component,
        )  # fmt: skip

    def card(
        self, number: int, name: str, *, gigabits: float = 100, lanes: int = 16, node: int = 0,
        queues: int = 8, processors: tuple[int, int] = (0, 15), numa: dict[int, int] | None = None,
    ) -> None:  # fmt: skip
        """Add a ConnectX-5 Ex with its slot, RSS and offloads, all as they should be."""
        self.adapter(number, name, f"Mellanox ConnectX-5 Ex Adapter #{number}", CONNECTX5,
                     gigabits=gigabits, provider=MELLANOX, driver="mlx5.sys")  # fmt: skip
        own = guid(number)
        self.add("hardware", Guid=own, Segment=0, Bus=number, Device=0, Function=0, Slot=number,
                 NumaNode=node, Lanes=lanes, Speed=4, MaxLanes=16, MaxSpeed=4, Payload=256,
                 MaxReadRequest=512)  # fmt: skip
        first, last = processors
        far = numa or {}
        self.add("rss", Guid=own, Enabled=True, Queues=queues, BaseGroup=0, Base=first, MaxGroup=0,
                 Max=last, MaxProcessors=queues, NumaNode=node, Profile="NUMAStatic",
                 Processors=[f"0:{n}/{far.get(n, 0)}" for n in range(first, last + 1)])  # fmt: skip
        self.add("vmq", Guid=own, Enabled=True, Queues=31, BaseGroup=0, Base=first, MaxGroup=0,
                 Max=last, MaxProcessors=queues, NumaNode=node, Profile=None,
                 Processors=[])  # fmt: skip
        self.add("lso", Guid=own, IPv4=True, IPv6=True)
        self.add("rsc", Guid=own, IPv4=True, IPv6=True)
        self.advanced(number, {"*LsoV2IPv4": "1", "*LsoV2IPv6": "1", "*RSS": "1",
                               "*JumboPacket": "1514"})  # fmt: skip
        self.bind(number, "ms_tcpip", "TCP/IPv4")

    def advanced(self, number: int, values: dict[str, str]) -> None:
        """Add advanced properties of an adapter."""
        for keyword, value in values.items():
            self.add("advanced", Guid=guid(number), Keyword=keyword, Value=[value],
                     DisplayValue=value, Default=value, Valid=[])  # fmt: skip

    def bind(self, number: int, component: str, shown: str, *, enabled: bool = True) -> None:
        """Bind a component to an adapter."""
        self.add("bindings", Guid=guid(number), ComponentId=component, ComponentClass="Service",
                 BindName=component, DisplayName=shown, Enabled=enabled)  # fmt: skip

    def switch(self, number: int, name: str, card: int | None = None, *, iov: bool = False) -> None:
        """Add a switch: external where it has a card."""
        description = "" if card is None else f"Mellanox ConnectX-5 Ex Adapter #{card}"
        self.add("switches", Name=name, Id=guid(number), Kind="Internal" if card is None else
                 "External", CardGuids=[] if card is None else [guid(card)],
                 Cards=[description] if description else [], Card=description or None,
                 IovEnabled=iov, EmbeddedTeam=False,
                 SoftwareRsc=card is not None)  # fmt: skip


REALTEK_FILTER = ("nt_rtf64", "Realtek LightWeight Filter (NDIS6.40)")


def machine(windows: Windows, *, processors: int = 24, nodes: int = 1) -> None:
    """A Windows 11 with what every one has, read as administrator."""
    windows.add("host", Caption="Microsoft Windows 11 Pro", Build=26100, IsAdministrator=True,
                Processors=processors, Sockets=nodes)  # fmt: skip
    windows.rows["numa"] = [{"Node": str(node)} for node in range(nodes)]
    for section in ("adapters", "hardware", "bindings", "advanced", "rss", "vmq", "lso", "rsc",
                    "rdma", "qos", "qos-flow-control", "qos-policies", "sriov", "switches",
                    "vm-adapters", "teams", "switch-teams", "addresses", "default-routes",
                    "smb-connections", "smb-client-interfaces", "smb-server-interfaces",
                    "migration", "wslconfig", "bugchecks", "statistics", "sessions"):  # fmt: skip
        windows.rows.setdefault(section, [])
    for end in ("smb-client", "smb-server"):
        windows.add(end, Multichannel=True)
    windows.add("dcbx", Willing=False)
    windows.add("tcp-settings", SettingName="Internet", AutoTuningLevelLocal="Normal",
                AutoTuningLevelGroupPolicy="NotConfigured", AutoTuningLevelEffective="Local",
                ScalingHeuristics="Disabled")  # fmt: skip
    windows.add("throttling", Index="")
    windows.add("vmhost", IovSupport=True, IovSupportReasons=[])


def as_found(windows: Windows) -> None:
    """The workstation of the WSL2 document: Step 1, 2 and 4, before anything was done."""
    machine(windows)
    windows.card(10, "이더넷 10", lanes=4)
    windows.adapter(7, "이더넷 7", "Realtek PCIe 10GbE Family Controller", REALTEK_10G,
                    provider=REALTEK, driver="rt68cx21x64.sys")  # fmt: skip
    windows.adapter(20, "vEthernet (Default Switch)", "Hyper-V Virtual Ethernet Adapter", "vms_mp")
    windows.adapter(21, "vEthernet (FSE HostVnic)", "Hyper-V Virtual Ethernet Container", "vms_mp")
    windows.switch(1, "Default Switch")
    windows.switch(2, "FSE Switch")
    for number in (10, 7, 20, 21):
        windows.bind(number, *REALTEK_FILTER)
    windows.add("vm-adapters", VMName=None, SwitchId=guid(2), SwitchName="FSE Switch",
                Mac="98039B000015", IovWeight=0, VmqWeight=100, Status=["Ok"],
                IsManagementOs=True)  # fmt: skip
    windows.add("addresses", Index=10, Address="10.10.10.1", PrefixLength=24)
    windows.add("addresses", Index=7, Address="192.168.1.20", PrefixLength=24)
    windows.add("default-routes", Index=7, NextHop="192.168.1.1")
    windows.add("bugchecks", Time="2025-06-01T10:00:00", Code="0x000000d1 (0x0000000000000000)")


def unbound(windows: Windows) -> None:
    """Step 4: the filter is unbound from everything except the actual Realtek card."""
    for row in windows.rows["bindings"]:
        if row["ComponentId"] == "nt_rtf64" and row["Guid"] != guid(7):
            row["Enabled"] = False


def external_switch(windows: Windows) -> None:
    """New-VMSwitch -Name "ConnectX-External": the host's own adapter on it has the address."""
    windows.switch(3, "ConnectX-External", 10, iov=True)
    windows.adapter(22, "vEthernet (ConnectX-External)", "Hyper-V Virtual Ethernet Adapter #2",
                    "vms_mp", gigabits=100)  # fmt: skip
    windows.add("vm-adapters", VMName=None, SwitchId=guid(3), SwitchName="ConnectX-External",
                Mac="98039B000016", IovWeight=0, VmqWeight=100, Status=["Ok"],
                IsManagementOs=True)  # fmt: skip
    for row in windows.rows["addresses"]:
        if row["Index"] == 10:
            row["Index"] = 22


def bridged(windows: Windows) -> None:
    """Step 6: .wslconfig asks for bridged mode on that switch."""
    text = "[wsl2]\nnetworkingMode=bridged\nvmSwitch=ConnectX-External\nipv6=true\n"
    windows.rows["wslconfig"] = [{"Text": text}]
