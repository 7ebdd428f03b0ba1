"""What a proof measures, by what a spec sets up: guests in networks, or the hosts' own ports."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Protocol

from wirespeed.approaches.traits import Between
from wirespeed.catalog import approaches
from wirespeed.host.runner import Runner
from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.network_trial import NetworkTrial
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

_MAKERS: Mapping[Between, Callable[[Any, Mapping[str, Runner], Kept], Measuring]] = {
    Between.GUESTS: lambda spec, runners, _: GuestMeasuring(spec, runners),
    Between.HOSTS: lambda spec, runners, _: HostMeasuring(spec, runners),
    Between.FORWARDER: DpdkMeasuring,
}
"""Each takes the specs of the approaches that name it."""


def measuring_of(spec: Spec) -> MakesMeasuring:
    """Give what makes it.

    Raises InputError `spec.not_measured`.
    """
    between = approaches()[spec.approach].proof.between
    if between is None:
        raise InputError(
            "spec.not_measured",
            where=spec.approach,
            found="wirespeed cannot measure this approach",
            so="nothing can be proven; nothing was changed",
            next="run `wirespeed apply SPEC`, then measure with a tool on the host itself",
        )
    return partial(_MAKERS[between], spec)
