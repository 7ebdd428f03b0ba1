"""What the steps of a host want of its ports, one setting each: none is lost in a format."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

from wirespeed.approaches.traits import RequestedStep
from wirespeed.catalog import read_step
from wirespeed.model.step import Step
from wirespeed.steps.address import Address
from wirespeed.steps.channels import Channels
from wirespeed.steps.driver_override import DriverOverride
from wirespeed.steps.eswitch_mode import EswitchMode
from wirespeed.steps.in_namespace import InNamespace
from wirespeed.steps.kernel_switch import KernelSwitch
from wirespeed.steps.link_up import LinkUp
from wirespeed.steps.mtu import Mtu
from wirespeed.steps.ovs_port import OvsPort
from wirespeed.steps.pause import Pause
from wirespeed.steps.representor_name import RepresentorName
from wirespeed.steps.rings import Rings
from wirespeed.steps.vf_count import VfCount
from wirespeed.steps.vf_settings import VfSettings
from wirespeed.steps.vlan import Vlan

AUTOPROBE = "/sys/bus/pci/devices/{}/sriov_drivers_autoprobe"


class Key(StrEnum):
    """What is set, in the words of a list."""

    MTU = "MTU"
    UP = "link up"
    ADDRESS = "address"
    TAG = "VLAN on it"
    TAG_NETDEV = "netdev of the VLAN on it"
    TAG_MTU = "MTU of the VLAN on it"
    TAG_ADDRESS = "address in the VLAN on it"
    RX_RING = "receive ring, descriptors"
    TX_RING = "transmit ring, descriptors"
    CHANNELS = "combined channels"
    PAUSE_AUTONEG = "pause negotiated"
    PAUSE_RX = "pause frames obeyed"
    PAUSE_TX = "pause frames sent"
    VFS = "number of VFs"
    AUTOPROBE = "VFs probed by the host's driver"
    DRIVER = "driver"
    MAC = "MAC"
    VLAN = "VLAN"
    TRUST = "trust"
    SPOOF_CHECK = "spoof check"
    MIN_RATE = "least rate, Mbit/s"
    MAX_RATE = "largest rate, Mbit/s"
    ESWITCH = "mode of the embedded switch"
    BRIDGE = "bridge of its representor"
    REPRESENTOR_MTU = "MTU of its representor"


Value = int | bool | str
FIELDS: Mapping[type[Step], Mapping[str, Key]] = {
    Mtu: {"mtu": Key.MTU},
    Address: {"address": Key.ADDRESS},
    Rings: {"rx": Key.RX_RING, "tx": Key.TX_RING},
    Channels: {"combined": Key.CHANNELS},
    Pause: {"autoneg": Key.PAUSE_AUTONEG, "rx": Key.PAUSE_RX, "tx": Key.PAUSE_TX},
    VfCount: {"num_vfs": Key.VFS},
    VfSettings: {
        "mac": Key.MAC,
        "vlan": Key.VLAN,
        "trust": Key.TRUST,
        "spoof_check": Key.SPOOF_CHECK,
        "min_tx_mbit_per_s": Key.MIN_RATE,
        "max_tx_mbit_per_s": Key.MAX_RATE,
    },
}
"""Of the steps that are settings of a port: its fields, and what each sets."""
PLACES = {"step", "netdev", "pci_address", "vf", "has_representors"}
"""Fields that say of what a step is, and what it waits for."""


@dataclass(frozen=True)
class WantedPort:
    """A port, and where its VFs will be."""

    pci_address: str
    netdev: str
    vf_addresses: tuple[str, ...] = field(default=(), compare=False)

    @cached_property
    def vf_numbers(self) -> dict[str, int]:
        """Give the number of each VF, by its address."""
        return {address: vf for vf, address in enumerate(self.vf_addresses)}


@dataclass(frozen=True, slots=True)
class Setting:
    """One thing that is wanted of a port, or of one of its VFs."""

    port: WantedPort
    key: Key
    value: Value
    vf: int | None = None

    def words(self) -> str:
        """Say it in a list."""
        where = self.port.netdev if self.vf is None else f"VF {self.vf} of {self.port.netdev}"
        if self.value is True:
            return f"{where}: {self.key}"
        return f"{where}: {self.key} {'no' if self.value is False else self.value}"


@dataclass(frozen=True)
class WantedHost:
    """All that is wanted of a host."""

    name: str
    ports: tuple[WantedPort, ...]
    settings: tuple[Setting, ...]
    others: tuple[str, ...]
    """Steps that are no setting of a port, in words: no format has them."""

    def of(self, port: WantedPort, vf: int | None = None) -> dict[Key, Value]:
        """Give what is wanted of a port itself, or of one VF."""
        return dict(self._by_place.get((port, vf), {}))

    def vfs(self, port: WantedPort) -> list[int]:
        """Give the VFs of a port of which something is wanted."""
        return sorted(vf for of, vf in self._by_place if of == port and vf is not None)

    @cached_property
    def _by_place(self) -> dict[tuple[WantedPort, int | None], dict[Key, Value]]:
        """Give the settings of each port and VF: there may be 65,535, each asked for alone."""
        found: dict[tuple[WantedPort, int | None], dict[Key, Value]] = {}
        for one in self.settings:
            found.setdefault((one.port, one.vf), {})[one.key] = one.value
        return found


def wanted_host(
    name: str, ports: Iterable[WantedPort], requested: Iterable[RequestedStep]
) -> WantedHost:
    """Take the steps of a host apart. What is no setting of a port stays in `others`."""
    ports, requested = tuple(ports), tuple(requested)
    settings: list[Setting] = []
    others: list[str] = []
    representors = dict(_representors(ports, requested))
    tagged = dict(_tagged(ports, requested))
    for one in requested:
        found = [] if one.guest else list(_settings(one.step, ports))
        found += [] if one.guest else _of_representor(one.step, representors)
        found += [] if one.guest else list(_of_tagged(one.step, tagged))
        settings += found
        if not found:
            where = f"in {one.guest}: " if one.guest else ""
            others.append(where + _words(one.step))
    # VFs are taken away and made: the last counts.
    last = {(one.port, one.key, one.vf): one for one in settings}
    return WantedHost(name, ports, tuple(last.values()), tuple(others))


def _words(step: Step) -> str:
    """Name a step that no format has, with what it sets; no long text."""
    of = read_step(step.inner) if isinstance(step, InNamespace) else step
    given = of.model_dump(mode="json", exclude={*PLACES, "reason"}, exclude_defaults=True)
    values = [
        f"{field} {value}"
        for field, value in given.items()
        if isinstance(value, int | str) and str(value) not in step.subject and len(f"{value}") <= 40
    ]
    kind = of.model_dump()["step"]
    return f"{kind} {step.subject}".strip() + (f": {', '.join(values)}" if values else "")


def _representors(
    ports: tuple[WantedPort, ...], requested: Iterable[RequestedStep]
) -> Iterator[tuple[str, tuple[WantedPort, int]]]:
    """Give the names of representors that the steps give, each with its port and VF."""
    for one in requested:
        for port in ports:
            if isinstance(one.step, RepresentorName) and one.step.pci_address == port.pci_address:
                yield one.step.netdev, (port, one.step.vf)


def _of_representor(
    step: Step, representors: Mapping[str, tuple[WantedPort, int]]
) -> list[Setting]:
    """Give the setting of a VF that a step makes on its representor; else none."""
    port, vf = representors.get(getattr(step, "netdev", None) or "", (None, 0))
    if port is None:
        return []
    if isinstance(step, Mtu):
        return [Setting(port, Key.REPRESENTOR_MTU, step.mtu, vf)]
    if isinstance(step, OvsPort) and not step.options and step.vlan is None:
        return [Setting(port, Key.BRIDGE, step.bridge, vf)]
    return []


def _tagged(
    ports: tuple[WantedPort, ...], requested: Iterable[RequestedStep]
) -> Iterator[tuple[str, WantedPort]]:
    """Give the netdevs of VLANs that the steps make, each with its port."""
    for one in requested:
        for port in ports:
            if isinstance(one.step, Vlan) and one.step.lower == port.netdev and not one.guest:
                yield one.step.netdev, port


def _of_tagged(step: Step, tagged: Mapping[str, WantedPort]) -> Iterator[Setting]:
    """Give the settings of a step that is about the VLAN on a port."""
    port = tagged.get(getattr(step, "netdev", None) or "")
    if port is None:
        return
    if isinstance(step, Vlan):
        yield Setting(port, Key.TAG, step.vlan)
        yield Setting(port, Key.TAG_NETDEV, step.netdev)
    elif isinstance(step, Mtu):
        yield Setting(port, Key.TAG_MTU, step.mtu)
    elif isinstance(step, Address):
        yield Setting(port, Key.TAG_ADDRESS, str(step.address))


def _settings(step: Step, ports: tuple[WantedPort, ...]) -> Iterator[Setting]:
    """Give the settings of a step; none where it is not wholly about a port."""
    for port in ports:
        if isinstance(step, LinkUp) and step.netdev == port.netdev:
            yield Setting(port, Key.UP, True)
        elif isinstance(step, KernelSwitch) and step.paths == (AUTOPROBE.format(port.pci_address),):
            yield Setting(port, Key.AUTOPROBE, step.value != "0")
        elif isinstance(step, EswitchMode) and step.pci_address == port.pci_address:
            # What else stands in it is as it was found.
            yield Setting(port, Key.ESWITCH, step.mode)
        elif isinstance(step, DriverOverride) and step.pci_address in port.vf_numbers:
            yield Setting(port, Key.DRIVER, step.driver, port.vf_numbers[step.pci_address])
        elif _is_of(step, port):
            yield from _fields(step, port)


def _is_of(step: Step, port: WantedPort) -> bool:
    netdev, address = getattr(step, "netdev", None), getattr(step, "pci_address", None)
    return netdev == port.netdev or (netdev is None and address == port.pci_address)


def _fields(step: Step, port: WantedPort) -> Iterator[Setting]:
    keys = FIELDS.get(type(step), {})
    given = step.model_dump(mode="json", exclude=PLACES, exclude_defaults=True)
    if set(given) <= set(keys):
        vf = step.vf if isinstance(step, VfSettings) else None
        for name, value in given.items():
            yield Setting(port, keys[name], value, vf)
