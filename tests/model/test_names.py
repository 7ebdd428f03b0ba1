"""What may come into a path or a command, and what not."""

import pytest
from pydantic import TypeAdapter, ValidationError

from wirespeed.model.names import Netdev, PciAddress


@pytest.mark.parametrize("name", ["eth0", "enp3s0f0np0", "bond0.42", "ens4_vf", "a" * 15])
def test_a_netdev_is_taken(name: str):
    assert TypeAdapter(Netdev).validate_python(name) == name


@pytest.mark.parametrize(
    "name", ["", "-G", "a/b", "..", ".", "eth0;reboot", "a b", "$(x)", "a\n", "a" * 16]
)
def test_what_is_no_netdev_is_refused(name: str):
    with pytest.raises(ValidationError, match="is not a netdev"):
        TypeAdapter(Netdev).validate_python(name)


@pytest.mark.parametrize("address", ["0000:3b:00.0", "10000:e1:1f.7"])
def test_a_pci_address_is_taken(address: str):
    assert TypeAdapter(PciAddress).validate_python(address) == address


@pytest.mark.parametrize(
    "address", ["3b:00.0", "0000:3b:00.8", "0000:3b:20.0", "0000:3B:00.0", "../0000:3b:00.0", ""]
)
def test_what_is_no_pci_address_is_refused(address: str):
    with pytest.raises(ValidationError, match="is not a PCI address"):
        TypeAdapter(PciAddress).validate_python(address)
