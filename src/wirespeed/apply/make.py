"""A spec, and the hosts as they are, to a plan: the approach's steps, each with its state now."""

from collections.abc import Callable, Iterator, Mapping

from wirespeed.apply.hands import Hands
from wirespeed.apply.planner import make_plan
from wirespeed.approaches.legacy_vlan import legacy_vlan
from wirespeed.approaches.wanted import Wanted
from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import CannotTellError, Observed
from wirespeed.model.plan import Plan
from wirespeed.model.spec import Approach, Spec
from wirespeed.model.step import State, Step

APPROACHES: dict[Approach, Callable[[Spec, str, HostFacts], Iterator[Wanted]]] = {
    Approach.LEGACY_VLAN: legacy_vlan,
}


def plan_spec(spec: Spec, facts: Mapping[str, HostFacts], hands: Mapping[str, Hands]) -> Plan:
    """Plan every host of a spec, by one more round trip to each.

    Raises InputError `spec.*`, and `plan.cannot_tell` where what stands on a host is not known.
    """
    approach = APPROACHES.get(spec.approach)
    if approach is None:
        raise InputError(
            "spec.approach_unknown",
            where=spec.approach,
            found="this wirespeed cannot plan it yet",
            next=f"one of {', '.join(APPROACHES)}",
        )
    rows: list[tuple[str, Step, Observed[State] | None]] = []
    host = ""
    try:
        for host in spec.hosts:
            wanted = list(approach(spec, host, facts[host]))
            states = iter(hands[host].read([w.step for w in wanted if not w.is_made]))
            rows += [(host, w.step, None if w.is_made else next(states)) for w in wanted]
        return make_plan(rows)
    except CannotTellError as error:
        raise InputError(
            "plan.cannot_tell",
            where=host,
            found=error.reason,
            so="nothing is planned on a guess",
            next=error.would_tell,
        ) from None
