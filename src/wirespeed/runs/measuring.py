"""What a proof measures, by what a spec sets up: guests in networks, or the hosts' own ports."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Protocol

from wirespeed.host.runner import Runner
from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.network_trial import NetworkTrial
from wirespeed.model.spec.guest_networks import GuestNetworks
from wirespeed.model.spec.members import HostsOnly
from wirespeed.model.spec.spec import Spec
from wirespeed.runs.measure_guests import GuestMeasuring
from wirespeed.runs.measure_hosts import HostMeasuring


class Measuring(Protocol):
    """Measures a spec that is applied."""

    def measure(
        self,
        facts: Mapping[str, HostFacts],
        record: Callable[[NetworkTrial], None],
        doing: Callable[[str], None],
    ) -> str:
        """Measure all that the spec asks for; say between what. Raises MeasurementError."""
        ...


def measuring_of(spec: Spec) -> Callable[[Mapping[str, Runner]], Measuring]:
    """Give what makes it of runners that reach the hosts, and their virtual machines.

    Raises InputError `spec.not_measured`.
    """
    if isinstance(spec, GuestNetworks):
        return partial(GuestMeasuring, spec)
    if isinstance(spec, HostsOnly):
        return partial(HostMeasuring, spec)
    raise InputError(
        "spec.not_measured",
        where=spec.approach,
        found="wirespeed has no way to measure through this approach",
        so="nothing can be proven; nothing was changed",
        next="wirespeed apply SPEC, then measure with a tool on the machine itself",
    )
