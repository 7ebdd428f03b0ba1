"""Which ConnectX a function is: by its PCI device, as the mlx5 and mlx4 drivers list them."""

from collections.abc import Iterable
from dataclasses import dataclass

from wirespeed.model.port import Port

MELLANOX = 0x15B3


@dataclass(frozen=True, slots=True)
class Card:
    """A family of cards. `is_vf`: this device is what a virtual function of it is called."""

    name: str
    is_vf: bool = False


CARDS = {
    0x1003: Card("ConnectX-3"),
    0x1004: Card("ConnectX-3", is_vf=True),
    0x1007: Card("ConnectX-3 Pro"),
    0x1013: Card("ConnectX-4"),
    0x1014: Card("ConnectX-4", is_vf=True),
    0x1015: Card("ConnectX-4 Lx"),
    0x1016: Card("ConnectX-4 Lx", is_vf=True),
    0x1017: Card("ConnectX-5"),
    0x1018: Card("ConnectX-5", is_vf=True),
    0x1019: Card("ConnectX-5 Ex"),
    0x101A: Card("ConnectX-5 Ex", is_vf=True),
    0x101B: Card("ConnectX-6"),
    0x101C: Card("ConnectX-6", is_vf=True),
    0x101D: Card("ConnectX-6 Dx"),
    0x101E: Card("ConnectX-6 Dx or later", is_vf=True),
    0x101F: Card("ConnectX-6 Lx"),
    0x1021: Card("ConnectX-7"),
    0x1023: Card("ConnectX-8"),
    0xA2D2: Card("BlueField (ConnectX-5)"),
    0xA2D3: Card("BlueField (ConnectX-5)", is_vf=True),
    0xA2D6: Card("BlueField-2 (ConnectX-6 Dx)"),
    0xA2DC: Card("BlueField-3 (ConnectX-7)"),
}
"""mlx5_core_pci_table in Linux' drivers/net/ethernet/mellanox/mlx5/core/main.c, mlx4_pci_table in
mlx4/main.c; https://pci-ids.ucw.cz/read/PC/15b3 has the same."""


def card(vendor: int, device: int) -> Card | None:
    """Give the card of a PCI vendor and device; None when it is no ConnectX that is known."""
    return CARDS.get(device) if vendor == MELLANOX else None


def other_functions(ports: Iterable[Port], address: str) -> list[str]:
    """Give the other functions in the slot of one: a reset of the card takes them down too."""
    slot = address.rpartition(".")[0]
    others = {p.pci_address for p in ports if p.pci_address and p.pci_address != address}
    return sorted(other for other in others if other.rpartition(".")[0] == slot)
