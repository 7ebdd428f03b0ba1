"""Whether a service runs, now and after the next boot."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from wirespeed.steps.systemd_unit import SystemdUnit

NEEDED = ("dbus", "ssh", "sshd", "systemd-logind", "systemd-journald", "systemd-udevd")
"""Without these nobody comes back to undo anything."""


def _unit(name: str) -> str:
    if name.removesuffix(".service").partition("@")[0] in NEEDED:
        raise ValueError(f"{name}: without it no host can be reached to undo anything")
    return name


class Service(SystemdUnit):
    """The service runs, or does not: a firewall in a lab, a tuning daemon, an updater.

    What a service does when it starts or stops (rules of a firewall, say) is its own affair: undo
    starts it again, and its configuration is what it was.
    """

    step: Literal["service"] = "service"
    unit: Annotated[
        str,
        Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.:@-]{0,80}\.(service|timer)$"),
        AfterValidator(_unit),
    ]
    """`firewalld.service`."""
    reason: str

    @property
    def subject(self) -> str:
        return self.unit

    @property
    def why(self) -> str:
        """As the maker of the step gives it."""
        return self.reason
