"""A spec, and the hosts as they are, to a plan: the approach's steps, each with its state now."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from wirespeed.apply.hands import Hands
from wirespeed.apply.planner import make_plan
from wirespeed.approaches.legacy_vlan import legacy_vlan
from wirespeed.approaches.wanted import Wanted
from wirespeed.model.error import HostError, InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import CannotTellError, Known, Observed, Unreadable
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
            states = _states(host, wanted, hands)
            for one, state in zip(wanted, states, strict=True):
                is_made = one.is_made and not isinstance(state, Known)
                rows.append((one.guest or host, one.step, None if is_made else state))
        return make_plan(rows)
    except CannotTellError as error:
        raise InputError(
            "plan.cannot_tell",
            where=host,
            found=error.reason,
            so="nothing is planned on a guess",
            next=error.would_tell,
        ) from None


def _states(
    host: str, wanted: Sequence[Wanted], hands: Mapping[str, Hands]
) -> list[Observed[State]]:
    """Read every step's state, in one round trip to the host and one to each of its guests."""
    found: dict[int, Observed[State]] = {}
    for place in dict.fromkeys(one.guest or host for one in wanted):
        mine = [number for number, one in enumerate(wanted) if (one.guest or host) == place]
        try:
            states = hands[place].read([wanted[number].step for number in mine])
        except HostError as error:
            # A guest that an earlier step starts is not there yet.
            if place == host or not all(wanted[number].is_made for number in mine):
                raise
            states = [Unreadable(error.found, place)] * len(mine)
        found |= dict(zip(mine, states, strict=True))
    return [found[number] for number in range(len(wanted))]
