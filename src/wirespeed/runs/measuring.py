"""What a proof measures, by what a spec sets up: guests in networks, or the hosts' own ports."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Protocol

from wirespeed.host.runner import Runner
from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.network_trial import NetworkTrial
from wirespeed.model.spec.guest_networks import GuestNetworks
from wirespeed.model.spec.members import Dpdk, HostsOnly
from wirespeed.model.spec.spec import Spec
from wirespeed.runs.measure_dpdk import DpdkMeasuring, Kept
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


MakesMeasuring = Callable[[Mapping[str, Runner], Kept], Measuring]
"""Of runners that reach the hosts and their virtual machines."""


def measuring_of(spec: Spec) -> MakesMeasuring:
    """Give what makes it.

    Raises InputError `spec.not_measured`.
    """
    if isinstance(spec, GuestNetworks):
        return lambda runners, _: GuestMeasuring(spec, runners)
    if isinstance(spec, HostsOnly):
        return lambda runners, _: HostMeasuring(spec, runners)
    if isinstance(spec, Dpdk):
        return partial(DpdkMeasuring, spec)
    raise InputError(
        "spec.not_measured",
        where=spec.approach,
        found="wirespeed cannot measure this approach",
        so="nothing can be proven; nothing was changed",
        next="run `wirespeed apply SPEC`, then measure with a tool on the host itself",
    )
