"""The formats that a spec can be written in, by name."""

from wirespeed.formats import netplan, networkd, nmstate, sriov_operator
from wirespeed.formats.form import Format

FORMATS: dict[str, Format] = {
    one.FORMAT.name: one.FORMAT for one in (netplan, networkd, nmstate, sriov_operator)
}
