"""Hosts that are up, read and planned: facts and states in one round trip where states are known.

A run that was applied tells which states its spec is about. They are read together with the facts;
where the facts then ask for the same steps, nothing more is to be read.
"""

from collections.abc import Collection, Mapping

from wirespeed.apply.control_posix import PosixControl
from wirespeed.apply.each_host import on_each
from wirespeed.apply.make import When, key_of, plan_spec
from wirespeed.catalog import read_step
from wirespeed.doctor.collector import collector_script
from wirespeed.host.reach_destination import parse_destination
from wirespeed.model.capture import Capture
from wirespeed.model.error import HostError
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import Observed
from wirespeed.model.plan import Plan
from wirespeed.model.spec.spec import Spec
from wirespeed.model.step import State
from wirespeed.runs.captures import Gathered, gather


def plan_hosts(
    spec: Spec,
    controls: Mapping[str, PosixControl],
    last: Plan | None = None,
    *,
    stage: int = 1,
    pending: Collection[str] = frozenset(),
) -> tuple[Plan, dict[str, HostFacts]]:
    """Read every host, many at once, and plan it. `last`: a plan of the same spec, if there is one.

    Raises the error of the first that cannot be reached, and as `plan_spec` does.
    """
    seen: dict[tuple[str, str], Observed[State]] = {}

    def look(host: str) -> HostFacts:
        planned = last.steps if last else ()
        steps = [read_step(one.step) for one in planned if one.host == host]
        capture, states = controls[host].capture(collector_script(), steps)
        require_whole(host, capture)
        for step, state in zip(steps, states, strict=True):
            seen[host, key_of(step)] = state
        return HostFacts(spec.hosts[host].reach, capture)

    facts = on_each(spec.hosts, look)
    when = When(stage=stage, pending=pending, at_once=tuple(spec.hosts), seen=seen)
    return plan_spec(spec, facts, controls, when), facts


def facts_now(spec: Spec, controls: Mapping[str, PosixControl]) -> dict[str, HostFacts]:
    """Read the facts of every host, many at once. Raises the error of the first without any."""

    def look(host: str) -> HostFacts:
        capture, _ = controls[host].capture(collector_script(), [])
        require_whole(host, capture)
        return HostFacts(spec.hosts[host].reach, capture)

    return on_each(spec.hosts, look)


def require_whole(host: str, capture: Capture) -> None:
    """Raise HostError `host.half_read` where a capture was cut off."""
    if not capture.complete:
        raise HostError(
            "host.half_read",
            where=host,
            found="INCOMPLETE: the reading was cut off, its end is missing",
            so="wirespeed does not plan on an incomplete reading",
            next="run the command again when the host is less busy; if this is a file, make the "
            "capture again",
        )


def facts_at(host: str) -> HostFacts:
    """Read one host, by what leads there. Raises what it cannot be reached for."""
    (found,) = gather([parse_destination(host)])
    if not isinstance(found, Gathered):
        raise found.error
    require_whole(host, found.facts.capture)
    return found.facts
