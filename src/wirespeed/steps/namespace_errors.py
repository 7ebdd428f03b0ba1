"""What `ip` says of a network namespace that is not there."""

from wirespeed.model.capture import Section


def is_missing(section: Section, namespace: str) -> bool:
    """Tell whether a command failed for want of the namespace: netns_switch() of iproute2."""
    said = f'Cannot open network namespace "{namespace}": No such file or directory'
    return section.returncode not in (0, None) and said in section.errors.split("\n")
