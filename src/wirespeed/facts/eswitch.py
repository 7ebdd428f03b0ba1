"""The embedded switch of a card: its mode, and whether two ports are one to it (VF-LAG)."""

from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.facts.json_text import field, json_of, object_in
from wirespeed.facts.sriov import Sriov
from wirespeed.model.capture import Capture, Files
from wirespeed.model.fact import Fact
from wirespeed.model.observed import Absent, Known, Observed, Unreadable

ATTRIBUTES = ("state", "type", "port_sel_mode", "members")
DEBUGFS = "/sys/kernel/debug/mlx5"
FORMER_ENCAP = {"enable": "basic", "disable": "none"}
"""devlink before iproute2 5.7 calls the field `encap`, and its values so (commit 0b1875cdc69f)."""


@dataclass(frozen=True, slots=True)
class PfEswitch:
    """Of one PF."""

    pci_address: str
    mode: Observed[str]
    """`legacy`, `switchdev`; Absent: the driver has no eswitch."""
    inline_mode: Observed[str]
    """`none`, `link`, `network`, `transport`: headers that a VF must put into its descriptors."""
    encap_mode: Observed[str]
    """`none`, `basic`: whether the card can put packets into tunnels."""
    lag_state: Observed[str]
    """mlx5: `active`, `disabled`. Absent: a kernel before 5.19, or another driver."""
    lag_type: Observed[str]
    """mlx5: `roce`, `switchdev` (VF-LAG), `multipath`; Absent unless active."""
    lag_port_selection: Observed[str]
    """mlx5: `queue_affinity` (each queue has its port), `hash`; Absent unless active."""


@dataclass(frozen=True, slots=True)
class Eswitch(Fact):
    """Every network function that is no VF, by its PCI address."""

    pfs: dict[str, PfEswitch]

    script: ClassVar[str] = """\
for address in $pfs; do
	run devlink-eswitch "$address" devlink -j dev eswitch show "pci/$address"
done
lag_files() {
	for address in $pfs; do
		[ -e "/sys/bus/pci/drivers/mlx5_core/$address" ] || continue
		for attribute in ATTRIBUTES; do
			printf '%s\\0' "/sys/kernel/debug/mlx5/$address/lag/$attribute"
		done
	done
}
lag_files | files mlx5-lag -
""".replace("ATTRIBUTES", " ".join(ATTRIBUTES))

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read what devlink says of each PF, and mlx5's debugfs."""
        files = capture.files("mlx5-lag", ATTRIBUTES)
        addresses = dict.fromkeys([*Sriov.parse(capture).pfs, *capture.sections("devlink-eswitch")])
        return cls({address: _pf(capture, files, address) for address in addresses if address})


def _pf(capture: Capture, files: Files, address: str) -> PfEswitch:
    source = f"devlink dev eswitch show pci/{address}"
    said = json_of(capture.text("devlink-eswitch", source, address))

    def read(name: str) -> Observed[str]:
        if not isinstance(said, Known):
            return said
        devices = object_in(said.value, "dev") if isinstance(said.value, dict) else {}
        if f"pci/{address}" not in devices:
            return Absent(source, "devlink lists no eswitch of it")
        return field(object_in(devices, f"pci/{address}"), name, str, source)

    def encapsulation() -> Observed[str]:
        found, former = read("encap-mode"), read("encap")
        if isinstance(found, Absent) and isinstance(former, Known):
            return Known(FORMER_ENCAP.get(former.value, former.value), source)
        return found

    def lag(name: str) -> Observed[str]:
        found = files[f"{DEBUGFS}/{address}/lag/{name}"]
        if isinstance(found, Known) and not found.value:
            return Absent(found.source, "it is empty: no hardware LAG is active")
        if isinstance(found, Unreadable) and found.reason == "nothing was read there":
            return Absent(found.source, "mlx5_core drives no port of this host")
        if isinstance(found, Unreadable) and "nvalid argument" in found.reason:
            return Absent(found.source, "the driver gives none: no hardware LAG is active")
        return found

    return PfEswitch(
        pci_address=address,
        mode=read("mode"),
        inline_mode=read("inline-mode"),
        encap_mode=encapsulation(),
        lag_state=lag("state"),
        lag_type=lag("type"),
        lag_port_selection=lag("port_sel_mode"),
    )
