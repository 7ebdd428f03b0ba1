"""Of which kind a host is, by its capture. Pure."""

from wirespeed.catalog import platforms
from wirespeed.model.capture import Capture
from wirespeed.model.platform import Platform


def platform_of(capture: Capture) -> Platform:
    """Give the kind that claims the capture alone; else Linux.

    A capture of few sections is of Linux too: it is not asked what it has of it.
    """
    usual = next(one for one in platforms() if one.is_usual)
    return next((one for one in platforms() if one.is_alone(capture)), usual)
