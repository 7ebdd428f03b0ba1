"""Open vSwitch on a described host: its database as `ovs-vsctl` prints it, and its daemon."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from described.host import Host
from described.port import IP_LINK, netdev

DATABASE = (
    "ovs-vsctl --timeout=2 --format=json -- list Open_vSwitch -- list Bridge -- "
    "--columns=_uuid,name,interfaces,bond_mode,tag list Port -- "
    "--columns=_uuid,name,type,options,mtu,mtu_request,error,link_state list Interface"
)
UPCALL = "ovs-appctl --timeout=2 upcall/show"
POLLING = "ovs-appctl --timeout=2 dpif-netdev/pmd-rxq-show"
NOTHING: list[object] = ["set", []]


@dataclass
class Interface:
    """A row of the table Interface, which has a port to itself."""

    name: str
    kind: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    mtu: int | None = 1500
    error: str | None = None


@dataclass
class OpenVSwitch:
    """The switch; `place` writes it down, and writes it again when it changed."""

    bridges: Mapping[str, Sequence[Interface]]
    """Ports of each bridge beside its own."""
    other_config: Mapping[str, str] = field(default_factory=dict)
    datapath_type: str = ""
    dpdk_initialized: bool = False
    version: str = "3.5.0"
    unit: str = "openvswitch-switch"
    dpdk_version: str = "DPDK 24.11.1"
    capabilities: str = "000001ffffffffff"
    """Of its daemon, as /proc/PID/status has them; root's."""
    flows: int = 42
    offloaded: int | None = None
    """None: the daemon offloads nothing, and has no such line."""

    def place(self, host: Host) -> None:
        """Write the database, the daemon's word and the netdevs of the bridges."""
        host.put("/lib/systemd/system", **{f"{self.unit}.service": "[Unit]"})
        host.put("/run/openvswitch", **{"ovs-vswitchd.pid": "1077"})
        status = f"Name:\tovs-vswitchd\nUmask:\t0002\nCapEff:\t{self.capabilities}\nSeccomp:\t0"
        host.put("/proc/1077", status=status, comm="ovs-vswitchd")
        bridges, ports, interfaces = [], [], []
        for number, (bridge, members) in enumerate(self.bridges.items()):
            own = Interface(bridge, "internal", mtu=max((m.mtu or 0 for m in members), default=0))
            numbers = []
            for index, one in enumerate((own, *members)):
                port = 0x300 + 16 * number + index
                numbers.append(port)
                ports.append([_uuid(port), one.name, _uuid(port + 0x200), NOTHING, NOTHING])
                interfaces.append(
                    [_uuid(port + 0x200), one.name, one.kind, _map(one.options),
                     NOTHING if one.mtu is None else one.mtu, NOTHING,
                     NOTHING if one.error is None else one.error, "up"]
                )  # fmt: skip
            bridges.append(
                [_uuid(0x10 + number), NOTHING, self.datapath_type, _map({}), bridge,
                 ["set", [_uuid(port) for port in numbers]], False]
            )  # fmt: skip
        switch = [
            _uuid(1), ["set", [row[0] for row in bridges]], 12, ["set", ["netdev", "system"]],
            "8.5.1", self.dpdk_initialized, _map({"hostname": "host"}),
            ["set", ["geneve", "gre", "internal", "patch", "system", "tap", "vxlan"]], 12,
            _map(self.other_config), self.version, self.dpdk_version,
        ]  # fmt: skip
        host.data[DATABASE] = (
            _table([switch], "_uuid bridges cur_cfg datapath_types db_version dpdk_initialized "
                   "external_ids iface_types next_cfg other_config ovs_version dpdk_version"),
            _table(bridges, "_uuid controller datapath_type external_ids name ports stp_enable"),
            _table(ports, "_uuid name interfaces bond_mode tag"),
            _table(interfaces, "_uuid name type options mtu mtu_request error link_state"),
        )  # fmt: skip
        offloaded = f"  offloaded flows : {self.offloaded}\n" if self.offloaded is not None else ""
        datapath = "netdev@ovs-netdev" if self.datapath_type == "netdev" else "system@ovs-system"
        host.answer(
            UPCALL,
            f"{datapath}:\n  flows         : (current {self.flows}) (avg 42) (max 54) "
            f"(limit 200000)\n{offloaded}  dump duration : 1ms\n  ufid enabled : true\n\n"
            "  23: (keys 9)\n  24: (keys 8)\n",
        )
        if self.datapath_type == "netdev":
            host.answer(POLLING, "")
        else:
            host.answer(
                POLLING,
                errors="please specify an existing datapath\n"
                "ovs-appctl: ovs-vswitchd: server returned an error\n",
                returncode=2,
            )
        self._netdevs(host)

    def _netdevs(self, host: Host) -> None:
        if self.datapath_type != "netdev":
            netdev(host, "ovs-system", mtu=1500, operstate="DOWN", flags=["BROADCAST", "MULTICAST"],
                   link_type="ether", linkinfo={"info_kind": "openvswitch"})  # fmt: skip
        for bridge, members in self.bridges.items():
            netdev(host, bridge, mtu=max((m.mtu or 0 for m in members), default=1500),
                   operstate="UNKNOWN", link_type="ether",
                   flags=["BROADCAST", "MULTICAST", "UP", "LOWER_UP"],
                   linkinfo={"info_kind": "openvswitch"})  # fmt: skip
            for one in members:
                if one.kind in ("", "system"):
                    own = next(x for x in host.data[IP_LINK] if x["ifname"] == one.name)
                    own["master"] = "ovs-system"


def _table(rows: list[list[object]], headings: str) -> dict[str, object]:
    return {"data": rows, "headings": headings.split()}


def _uuid(number: int) -> list[str]:
    return ["uuid", f"00000000-0000-4000-8000-{number:012x}"]


def _map(values: Mapping[str, str]) -> list[object]:
    return ["map", [list(pair) for pair in values.items()]]
