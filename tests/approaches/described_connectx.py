"""A described host with a ConnectX of two ports: its embedded switch, its bond, Open vSwitch on it.

The rules are those that the order of an approach follows. Sources: the document `SR-IOV with a
ConnectX-5` (the mode change drops channels, VF-LAG before VFs); bond_main.c (a bond's MTU is its
members'); devlink-port.rst; udev's further names as seen on Linux 6.12. Not proven on hardware.
"""

import json
from dataclasses import dataclass, field
from typing import Any

from described_ethtool import DescribedPorts, Port
from described_links import DescribedLinks, Netdev
from described_ovsdb import DescribedOvs
from described_vf_guests import DescribedVfGuests
from proof import Answer, UnknownCommandError

from wirespeed.model.command import Command
from wirespeed.steps.eswitch_mode import AS_FOUND
from wirespeed.steps.netdev_name import NAMED_BACK
from wirespeed.steps.representor_name import BY_PORT
from wirespeed.steps.vf_count import AWAIT_LAG, LAG_S

PFS = ("0000:03:00.0", "0000:03:00.1")
PORTS = ("enp3s0f0np0", "enp3s0f1np1")
FIRST_VF = {PFS[0]: "0000:03:00.2", PFS[1]: "0000:03:02.3"}
VF_NETDEV = {FIRST_VF[PFS[0]]: "enp3s0f0v0", FIRST_VF[PFS[1]]: "enp3s0f1v0"}
SYSFS = "/sys/bus/pci/devices"
CHANNELS = 32
"""That the driver gives by itself in legacy mode; in switchdev mode one."""
RINGS = {"rx": 1024, "tx": 1024}
"""That the driver gives by itself."""
NO_DATABASE = "ovs-vsctl: unix:/var/run/openvswitch/db.sock: database connection failed"


def refused(text: str, returncode: int = 2) -> Answer:
    return Answer(errors=f"{text}\n", returncode=returncode)


@dataclass
class Vf:
    """VF 0 of a PF, the only one here."""

    mac: str = "00:00:00:00:00:00"
    driver: str | None = "mlx5_core"
    override: str | None = None
    is_of_lag: bool = False
    """It was made when both ports were one: it fails over."""


@dataclass
class Link(Netdev):
    """A netdev with what the underlay and representors need."""

    mtu: int = 1500
    addresses: list[str] = field(default_factory=list)
    altname: str = field(default="", compare=False)
    """What udev calls it, too."""


class Links(DescribedLinks):
    """Netdevs whose MTU is shown."""

    def shown(self, name: str, **more: Any) -> dict[str, Any]:
        link = self.netdevs[name]
        assert isinstance(link, Link)
        return {**self._printed(name), "mtu": link.mtu, **more}

    def link(self, name: str) -> Link:
        link = self.netdevs[name]
        assert isinstance(link, Link)
        return link


@dataclass
class DescribedConnectX:
    """The host; `no_lag` and the like are what goes wrong on it."""

    channels: int = CHANNELS
    """As found: of both ports."""
    modules: set[str] = field(default_factory=set)
    modes: dict[str, str] = field(default_factory=lambda: dict.fromkeys(PFS, "legacy"))
    steering: dict[str, str] = field(default_factory=lambda: dict.fromkeys(PFS, "dmfs"))
    """Who writes the rules of each embedded switch."""
    autoprobe: dict[str, str] = field(default_factory=lambda: dict.fromkeys(PFS, "1"))
    """Whether the host's driver takes a VF as it is made."""
    vfs: dict[str, list[Vf]] = field(default_factory=lambda: {pf: [] for pf in PFS})
    links: Links = field(default_factory=lambda: Links({name: Link() for name in PORTS}))
    ovs: DescribedOvs = field(default_factory=DescribedOvs)
    guests: DescribedVfGuests = field(default_factory=DescribedVfGuests)
    """Namespaces, and netdevs of VFs."""
    no_lag: bool = field(default=False, compare=False)
    late: int = field(default=0, compare=False)
    """Readings in which the VF's representor is not there yet."""
    no_ovs: bool = field(default=False, compare=False)
    """Open vSwitch was killed."""
    order: list[str] = field(default_factory=list, compare=False)
    """What was done, as the rules below notice it."""

    def __post_init__(self) -> None:
        features = {"hw-tc-offload": "off"}
        self.ethtool = DescribedPorts(
            {
                name: Port(
                    rings=dict(RINGS),
                    channels={"combined": self.channels},
                    channels_max={"combined": CHANNELS},
                    features=dict(features),
                    table=(),
                    flow_fields={},
                )
                for name in PORTS
            }
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DescribedConnectX) and self.standing() == other.standing()

    __hash__ = None  # type: ignore[assignment]

    def standing(self) -> tuple[object, ...]:
        """Give all that is set on it."""
        ports = self.ethtool.ports
        of_links = self.links.netdevs, self.ovs, ports, self.guests
        return self.modules, self.modes, self.steering, self.autoprobe, self.vfs, *of_links

    def run(self, command: Command) -> Answer:
        argv = command.argv
        if self.guests.is_of_these(command):
            return self.guests.run(command)
        match argv[0]:
            case "ethtool":
                return self.ethtool.run(command)
            case "ovs-vsctl" | "systemctl":
                return self._ovs(command)
            case "ls" | "modprobe":
                return self._module(argv)
            case "devlink":
                return self._devlink(argv)
            case "cat" | "tee" | "grep":
                return self._file(command)
            case "ip":
                return self._ip(command)
            case "udevadm" if argv[1:] == ("settle", "--timeout=30"):
                return Answer()
            case "sleep":
                self.order.append(" ".join(argv))
                return Answer()
            case "sh" if AS_FOUND in argv:
                done = self.ethtool.run(Command(argv=argv[argv.index("ethtool") :]))
                return Answer() if "parameters changed" in done.errors else done
            case "sh":
                return self._script(argv)
        raise UnknownCommandError(command.line())

    @property
    def is_lag(self) -> bool:
        """Both ports are in switchdev mode, and up in one bond."""
        masters = {self.links.netdevs[name].master for name in PORTS}
        is_one = len(masters) == 1 and None not in masters
        return is_one and set(self.modes.values()) == {"switchdev"} and not self.no_lag

    def _ovs(self, command: Command) -> Answer:
        if self.no_ovs:
            return refused(f"{NO_DATABASE} (Connection refused)", 1)
        argv = command.argv
        if "add-port" in argv:
            name = argv[argv.index("add-port") + 2]
            if "type=system" in argv:
                assert name in self.links.netdevs, f"{name} is not a netdev yet"
            self.order.append(f"port {name}")
        if "restart" in argv:
            self.order.append("restart")
        done = self.ovs.run(command)
        if "add-br" in argv:
            self.order.append("bridge")
        self._bridges_own_ports()
        return done

    def _bridges_own_ports(self) -> None:
        """Let each bridge have a netdev of its name, which is down at first."""
        netdevs = self.links.netdevs
        for name in [n for n, link in netdevs.items() if link.kind == "openvswitch"]:
            if name not in self.ovs.bridges:
                del netdevs[name]
        for name in self.ovs.bridges:
            netdevs.setdefault(name, Link(is_up=False, kind="openvswitch"))

    def _module(self, argv: tuple[str, ...]) -> Answer:
        match argv:
            case ("ls", "-d", path):
                if path.rpartition("/")[2] in self.modules:
                    return Answer(f"{path}\n")
                return refused(f"ls: cannot access '{path}': No such file or directory")
            case ("modprobe", "-r", name):
                used = name == "bonding" and any(
                    link.kind == "bond" for link in self.links.netdevs.values()
                )
                if used:
                    return refused(f"modprobe: FATAL: Module {name} is in use.", 1)
                self.modules.discard(name.replace("-", "_"))
            case ("modprobe", name, *_):
                self.modules.add(name.replace("-", "_"))
            case _:
                raise UnknownCommandError(" ".join(argv))
        return Answer()

    def _devlink(self, argv: tuple[str, ...]) -> Answer:
        match argv:
            case ("devlink", "-j", "dev", "eswitch", "show", handle):
                device = {"mode": self.modes[handle[4:]], "inline-mode": "none"}
                return Answer(json.dumps({"dev": {handle: device}}))
            case ("devlink", "dev", "eswitch", "set", handle, "mode", mode):
                return self._set_mode(handle[4:], mode)
            case ("devlink", "-j", "dev", "param", "show", handle, "name", "flow_steering_mode"):
                values = [{"cmode": "runtime", "value": self.steering[handle[4:]]}]
                param = {"name": "flow_steering_mode", "values": values}
                return Answer(json.dumps({"param": {handle: [param]}}))
            case ("devlink", "dev", "param", "set", handle, "name", "flow_steering_mode", *more):
                return self._set_steering(handle[4:], more)
            case ("devlink", "-j", "port", "show"):
                if self.late:
                    self.late -= 1
                    return Answer('{"port":{}}')
                return Answer(json.dumps({"port": self._ports()}))
        raise UnknownCommandError(" ".join(argv))

    def _set_steering(self, pf: str, words: list[str]) -> Answer:
        """Refuse as mlx5_fs_mode_validate() does."""
        word, mode, *rest = words
        assert (word, rest) == ("value", ["cmode", "runtime"])
        if mode == "smfs" and self.modes[pf] == "switchdev":
            said = "Software managed steering is not supported when eswitch offloads enabled."
            return refused(f"Error: mlx5_core: {said}\nkernel answers: Operation not supported", 1)
        self.steering[pf] = mode
        self.order.append(f"{mode} {pf}")
        return Answer()

    def _set_mode(self, pf: str, mode: str) -> Answer:
        if self.vfs[pf]:
            return refused("kernel answers: Device or resource busy", 1)
        self.modes[pf] = mode
        port = PORTS[PFS.index(pf)]
        most = CHANNELS if mode == "legacy" else 1
        self.ethtool.ports[port].channels["combined"] = most
        self.ethtool.ports[port].rings.update(RINGS)
        self.order.append(f"{mode} {pf}")
        return Answer()

    def _ports(self) -> dict[str, dict[str, Any]]:
        ports: dict[str, dict[str, Any]] = {}
        for number, pf in enumerate(PFS):
            ports[f"pci/{pf}/65535"] = {"netdev": PORTS[number], "flavour": "physical"}
            if name := self._representor(pf):
                of_vf = {"flavour": "pcivf", "controller": 0, "pfnum": number, "vfnum": 0}
                ports[f"pci/{pf}/1"] = {"netdev": name, **of_vf, "external": False}
        return ports

    def _representor(self, pf: str) -> str | None:
        names = [n for n, link in self.links.netdevs.items() if link.lower == f"rep {pf}"]
        return names[0] if names else None

    def _file(self, command: Command) -> Answer:
        match command.argv, command.stdin:
            case ("cat", path), None if path.startswith("/sys/class/net/"):
                name = path.split("/")[4]
                if name not in self.links.netdevs:
                    return refused(f"cat: {path}: No such file or directory", 1)
                return Answer(f"{self.links.link(name).mtu}\n")
            case ("cat", path), None if path.endswith("/sriov_numvfs"):
                return Answer(f"{len(self.vfs[path.split('/')[5]])}\n")
            case ("tee", path), str(text) if path.endswith("/sriov_numvfs"):
                return self._set_vfs(path.split("/")[5], int(text))
            case ("tee", "/sys/bus/pci/drivers_probe"), str(address):
                vf = self._vf(address)
                vf.driver = vf.override or "mlx5_core"
                if vf.driver == "mlx5_core":
                    self.guests.take(address, VF_NETDEV[address])
                return Answer()
            case ("tee", path), str(text) if path.endswith("/driver/unbind"):
                self._vf(text).driver = None
                self.guests.let_go(text)
                return Answer()
            case ("tee", path), str(text) if path.endswith("/driver_override"):
                self._vf(path.split("/")[5]).override = text or None
                return Answer()
            case ("grep", "-H", "", path), None if path.endswith("/sriov_drivers_autoprobe"):
                return Answer(f"{path}:{self.autoprobe[path.split('/')[5]]}\n")
            case ("tee", path), str(text) if path.endswith("/sriov_drivers_autoprobe"):
                self.autoprobe[path.split("/")[5]] = text
                return Answer()
            case ("grep", "-H", "", override, uevent), None:
                return self._uevent(override, uevent)
        raise UnknownCommandError(command.line())

    def _vf(self, address: str) -> Vf:
        (pf,) = (pf for pf, first in FIRST_VF.items() if first == address)
        return self.vfs[pf][0]

    def _uevent(self, override: str, uevent: str) -> Answer:
        address = override.split("/")[5]
        try:
            vf = self._vf(address)
        except IndexError:
            return refused(f"grep: {override}: No such file or directory")
        driver = [f"DRIVER={vf.driver}"] if vf.driver else []
        lines = [f"{uevent}:{line}\n" for line in (*driver, f"PCI_SLOT_NAME={address}")]
        return Answer(f"{override}:{vf.override or '(null)'}\n{''.join(lines)}")

    def _set_vfs(self, pf: str, count: int) -> Answer:
        assert count in (0, 1), "one VF is all that is described"
        if count and self.vfs[pf]:
            return refused(f"tee: {SYSFS}/{pf}/sriov_numvfs: Device or resource busy", 1)
        if self.vfs[pf]:
            self.guests.gone(FIRST_VF[pf])
        is_taken = self.autoprobe[pf] == "1"
        driver = "mlx5_core" if is_taken else None
        self.vfs[pf] = [Vf(is_of_lag=self.is_lag, driver=driver)] if count else []
        if count:
            self.guests.made(FIRST_VF[pf], VF_NETDEV[FIRST_VF[pf]], is_taken=is_taken)
        self.order.append(f"{count} VFs of {pf}")
        if (name := self._representor(pf)) is not None:
            del self.links.netdevs[name]
        if count and self.modes[pf] == "switchdev":
            udevs = f"enp3s0f{PFS.index(pf)}npf{PFS.index(pf)}vf0"
            self.links.netdevs[udevs] = Link(is_up=False, lower=f"rep {pf}", altname=udevs)
        return Answer()

    def _ip(self, command: Command) -> Answer:
        argv = command.argv
        match argv:
            case ("ip", "-j", "-d", "link", "show"):
                return Answer(json.dumps([self.links.shown(n) for n in self.links.netdevs]))
            case ("ip", "-j", *_, "show", "dev", name) if name not in self.links.netdevs:
                return refused(f'Device "{name}" does not exist.', 1)
            case ("ip", "-j", "-d", "link", "show", "dev", name):
                return Answer(json.dumps([self.links.shown(name, vfinfo_list=self._vfinfo(name))]))
            case ("ip", "-j", "link", "show", "dev", name):
                return Answer(json.dumps([self.links.shown(name)]))
            case ("ip", "-j", "addr", "show", "dev", name):
                found = [one.split("/") for one in self.links.link(name).addresses]
                of = [{"local": at, "prefixlen": int(length)} for at, length in found]
                return Answer(json.dumps([self.links.shown(name, addr_info=of)]))
            case ("ip", "addr", "add", address, "dev", name):
                self.links.link(name).addresses.append(address)
            case ("ip", "addr", "del", address, "dev", name):
                self.links.link(name).addresses.remove(address)
            case ("ip", "link", "set", "dev", name, "vf", "0", "mac", mac):
                pf = PFS[PORTS.index(name)]
                self.vfs[pf][0].mac = mac
                self.guests.functions[FIRST_VF[pf]].given_mac = mac
            case ("ip", "link", "set", "dev", name, "mtu", mtu):
                for one in (name, *self._members(name)):
                    self.links.link(one).mtu = int(mtu)
            case ("ip", "link", "set", "dev", name, "name", new):
                return self._named(name, new)
            case _:
                done = self.links.run(command)
                self._as_link(argv)
                return done
        return Answer()

    def _as_link(self, argv: tuple[str, ...]) -> None:
        """Let a new bond be a netdev of ours, and a port that leaves it have its own MTU again."""
        for name, link in list(self.links.netdevs.items()):
            if not isinstance(link, Link):
                self.links.netdevs[name] = Link(**vars(link))
                self.order.append("bond")
        if "nomaster" in argv or "del" in argv:
            for name in PORTS:
                if self.links.netdevs[name].master is None:
                    self.links.link(name).mtu = 1500

    def _members(self, name: str) -> list[str]:
        return [n for n, link in self.links.netdevs.items() if link.master == name]

    def _vfinfo(self, name: str) -> list[dict[str, Any]]:
        return [
            {"vf": 0, "address": vf.mac, "vlan_list": [{}], "rate": {"max_tx": 0, "min_tx": 0},
             "spoofchk": False, "link_state": "auto", "trust": False}
            for vf in self.vfs[PFS[PORTS.index(name)]]
        ]  # fmt: skip

    def _named(self, name: str, new: str) -> Answer:
        link = self.links.link(name)
        if new in self.links.netdevs or (new == link.altname and name != link.altname):
            return refused("RTNETLINK answers: File exists")
        self.links.netdevs[new] = self.links.netdevs.pop(name)
        self.order.append(f"named {new}")
        return Answer()

    def _script(self, argv: tuple[str, ...]) -> Answer:
        match argv[2:]:
            case (script, path) if script == AWAIT_LAG:
                assert path == f"/sys/kernel/debug/mlx5/{PFS[0]}/lag/state"
                if self.is_lag:
                    self.order.append("VF-LAG active")
                    return Answer()
                words = f"VF-LAG is disabled after {LAG_S} s, not active"
                return refused(f"{words}: VFs made now would not fail over", 1)
            case (script, pf, vf, name) if script == BY_PORT:
                assert vf == "0"
                found = self._representor(pf)
                return self._named(found, name) if found else refused('Cannot find device ""', 1)
            case (script, name, former) if script == NAMED_BACK:
                self.links.link(name).altname = ""
                return self._named(name, former)
        raise UnknownCommandError(" ".join(argv))
