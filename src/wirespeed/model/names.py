"""Names of things on a host, checked before they come into a path or a command."""

import re
from typing import Annotated

from pydantic import AfterValidator

NETDEV = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@+-]{0,14}")
"""Stricter than the kernel, which allows all but white space, `/` and `:`; never an option."""
PCI_ADDRESS = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[01][0-9a-f]\.[0-7]")
"""Domain, bus, device, function. A domain may have more than four digits (VMD, Hyper-V)."""

NAMESPACE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


def _netdev(text: str) -> str:
    if not NETDEV.fullmatch(text) or text in (".", ".."):
        raise ValueError(f"{text!r} is not a netdev")
    return text


def _pci_address(text: str) -> str:
    if not PCI_ADDRESS.fullmatch(text):
        raise ValueError(f"{text!r} is not a PCI address such as 0000:3b:00.0")
    return text


def _namespace(text: str) -> str:
    if not NAMESPACE.fullmatch(text):
        raise ValueError(f"{text!r} is not a name of a network namespace")
    return text


Netdev = Annotated[str, AfterValidator(_netdev)]
PciAddress = Annotated[str, AfterValidator(_pci_address)]
NamespaceName = Annotated[str, AfterValidator(_namespace)]
