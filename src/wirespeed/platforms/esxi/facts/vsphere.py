"""What an ESXi host said of itself by its vSphere API: the section `vsphere` of a capture."""

from wirespeed.facts.json_text import JsonObject, json_of
from wirespeed.model.capture import Capture
from wirespeed.model.observed import Known, Observed, Unreadable

SECTION = "vsphere"
API = "wirespeed capture vsphere://HOST #"
"""Then the property that it is read of: a line that a shell takes as it is."""


def by_vsphere(capture: Capture) -> Observed[JsonObject] | None:
    """Give what was said; None: the capture was not made by the vSphere API."""
    if capture.section(SECTION) is None:
        return None
    decoded = json_of(capture.text(SECTION, "wirespeed capture vsphere://HOST"))
    if isinstance(decoded, Known) and not isinstance(decoded.value, dict):
        return Unreadable("it is not an object", decoded.source)
    return decoded


def is_esxi(capture: Capture) -> bool:
    """Whether it is of an ESXi host, whatever of that could be read."""
    names = (SECTION, "esxi-version", "esxi-ports", "esxi-guests")
    return any(capture.section(name) is not None for name in names)
