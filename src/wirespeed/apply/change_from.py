"""A change that is made only while its step's state is still the one that the change leads from.

    the reading that gave the state goes with the change; the script that writes takes it once more
        the same text        it writes
        another text         it writes nothing, and gives the new reading
            the same state       the change is tried again, with the new reading
            another state        somebody changed it meanwhile: `Changed.is_stale`

A reading whose text is never twice the same (a counter that is not left out) ends in a change right
after a reading that gave the state: what can come between is then one round trip long.
"""

from collections.abc import Callable, Sequence

from wirespeed.apply.control import Changed
from wirespeed.model.capture import Section
from wirespeed.model.observed import Known, Observed
from wirespeed.model.step import State, Step

TRIES = 3


def change_from(
    now: State | None,
    step: Step,
    last: Callable[[Step], Section | None],
    read: Callable[[Sequence[Step]], list[Observed[State]]],
    attempt: Callable[[Section | None], Changed],
) -> Changed:
    """Change a step's thing from the state `now`; None: from any state.

    `last` gives the latest reading of a step, None where there was none. `attempt` does the change
    while the reading is still the one that it is given; None: in any case.
    """
    if now is None:
        return attempt(None)
    for _ in range(TRIES):
        section = last(step)
        if section is None or not is_state(step.parse(section), now):
            found = read([step])[0]
            if not is_state(found, now):
                return (
                    Changed("", found, is_stale=True)
                    if is_other(found, now, step)
                    else attempt(None)
                )
            section = last(step)
        changed = attempt(section)
        if not changed.is_stale or is_other(changed.now, now, step):
            return changed
        if not isinstance(changed.now, Known):
            break
    return attempt(None)


def is_state(found: Observed[State], state: State) -> bool:
    """Tell whether a reading gave this state."""
    return isinstance(found, Known) and found.value == state


def is_other(found: Observed[State], state: State, step: Step) -> bool:
    """Tell whether a reading forbids to change from this state: it gave another one, or none.

    Without a link some states cannot be read. That is not another state: the link is down because
    the port at its other end was set just before.
    """
    if isinstance(found, Known):
        return found.value != state
    return not step.needs_link
