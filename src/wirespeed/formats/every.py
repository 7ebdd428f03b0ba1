"""The formats that a spec can be written in and read from, by name."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from wirespeed.formats import netplan, networkd, nmstate, sriov_operator
from wirespeed.formats.form import Format
from wirespeed.formats.found import Found, Source
from wirespeed.formats.netplan_read import read_netplan
from wirespeed.formats.networkd_read import read_networkd
from wirespeed.formats.nmstate_read import read_nmstate
from wirespeed.formats.sriov_operator_read import read_sriov_operator

FORMATS: dict[str, Format] = {
    one.FORMAT.name: one.FORMAT for one in (netplan, networkd, nmstate, sriov_operator)
}


@dataclass(frozen=True, slots=True)
class Reader:
    """What reads the files of one other tool."""

    read: Callable[[Found, Sequence[Source]], None]
    is_yaml: bool = True
    names_hosts: bool = False
    """Its files say which host they are for; else each file is of one host."""


READERS = {
    "netplan": Reader(read_netplan),
    "networkd": Reader(read_networkd, is_yaml=False),
    "nmstate": Reader(read_nmstate),
    "sriov-operator": Reader(read_sriov_operator, names_hosts=True),
}
