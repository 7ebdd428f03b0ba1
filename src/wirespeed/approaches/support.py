"""Cards that look like a ConnectX and are not for a host to set up as one: refused first. Pure."""

from wirespeed.facts.firmware import Firmware
from wirespeed.facts.pci_cards import card
from wirespeed.facts.sriov import Sriov
from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import Known, known
from wirespeed.model.spec.networks import Failover
from wirespeed.model.spec.spec import Spec

BLUEFIELD = "BlueField"
OWNER = "INTERNAL_CPU_OFFLOAD_ENGINE"
ITS_OWN, THE_HOSTS = "ENABLED(0)", "DISABLED(1)"
"""NVIDIA, BlueField modes of operation: in DPU mode, the default, the card's own processors manage
its switch and ports; in NIC mode it is as a ConnectX."""


def require_host_managed(spec: Spec, name: str, host: HostFacts) -> None:
    """Raise InputError `spec.card_managed` where a card is managed by its own processors.

    Raises CannotTellError for a BlueField whose mode is not known.
    """
    for address in spec.hosts[name].ports:
        pf = host[Sriov].pfs.get(address)
        if pf is None or not isinstance(pf.vendor, Known) or not isinstance(pf.device, Known):
            continue
        kind = card(pf.vendor.value, pf.device.value)
        if kind is None or not kind.name.startswith(BLUEFIELD):
            continue
        settings = known(host[Firmware].of(address).settings, f"settings of {address}")
        told = settings.get(OWNER)
        mode = known(told.current, f"{OWNER} of {address}") if told is not None else "not there"
        if mode == THE_HOSTS:
            continue
        raise InputError(
            "spec.card_managed",
            where=f"{name} {address}",
            found=f"a {kind.name} whose {OWNER} is {mode} instead of {THE_HOSTS}",
            so="the card's own processors manage its switch and ports: the card would refuse VF "
            "settings and switchdev mode, or accept them without effect",
            next="configure the card from its own operating system; or switch it to NIC mode "
            "with its maker's guide",
        )


def require_one_card(spec: Spec, name: str) -> None:
    """Raise InputError `spec.two_cards` where VF-LAG is to join ports that are not of one card.

    mlx5 joins functions of one slot (mlx5_gen_pci_id); later kernels also those of one system image
    GUID (mlx5_same_hw_devs), which is not read here. A multi-host or socket-direct card has its
    ports in several slots of one or more hosts.
    """
    ports = spec.hosts[name].ports
    slots = {address.rpartition(".")[0] for address in ports}
    if spec.failover is Failover.NONE or len(slots) == 1:
        return
    raise InputError(
        "spec.two_cards",
        where=f"hosts.{name}.ports",
        found=f"{', '.join(ports)} are in {len(slots)} slots: two cards, or one card that is "
        "multi-host or socket-direct",
        so="not every driver bonds them in the card (VF-LAG); without that, a VF does not fail "
        "over when its port fails",
        next="use two ports of one slot, failover: none, or approach: legacy-vlan, where the "
        "guests bond",
    )
