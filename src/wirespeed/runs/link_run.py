"""Both ends of a link: read, planned, changed, put back, and the switch's part saved."""

import shlex
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from wirespeed.apply.control import HostControl
from wirespeed.apply.executor import Executor
from wirespeed.apply.gate import Change, admit
from wirespeed.apply.planner import make_plan
from wirespeed.apply.run import Run, open_run
from wirespeed.host.capture_request import Captured
from wirespeed.host.clock import utc_now
from wirespeed.host.reach_destination import SwitchHost, parse_destination
from wirespeed.host.switch import SwitchSession
from wirespeed.model.capture import parse_capture
from wirespeed.model.error import ApplyError, InputError, LeftChangedError
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import CannotTellError
from wirespeed.model.plan import Plan
from wirespeed.model.shown import shown
from wirespeed.model.step import Step
from wirespeed.platforms.access import CardEnd, route_to
from wirespeed.platforms.switch.cable_proof import Match, PortMatch, port_match, refuse_port
from wirespeed.platforms.switch.card_end import card_end_of
from wirespeed.platforms.switch.control import SwitchControl
from wirespeed.platforms.switch.facts.switchport import Switches
from wirespeed.platforms.switch.save import save, unsaved
from wirespeed.report.plan_text import plan_lines
from wirespeed.runs.access import REACHED, control_at
from wirespeed.runs.captures import collect
from wirespeed.runs.change_hosts import change_hosts, refuse_applied
from wirespeed.runs.link_settings import (
    LinkSettings,
    both_ends,
    has_link,
    pauses,
    proves_link,
    steps,
)
from wirespeed.runs.plan_hosts import facts_at, require_whole
from wirespeed.runs.run_hosts import HowUndone, log_progress, undo_plan
from wirespeed.terminal import confirm, echo


@dataclass(frozen=True, slots=True)
class LinkRequest:
    """A link, and what the user allows to be done with it."""

    wanted: LinkSettings
    text: str
    """The switch's port as it was typed."""
    folder: Path
    of: str
    """What the journal says that its run is of."""
    is_applied: bool = False
    is_saved: bool = False
    yes: bool = False
    port_is_right: bool = False
    breaks_lock: bool = False


def set_link(asked: LinkRequest) -> int:
    """Show what both ends take, and do it where that is asked for; give the exit code.

    Raises InputError `link.*`, `run.applied_before`; ApplyError `link.down` when both ends were put
    back; LeftChangedError.
    """
    wanted, place = asked.wanted, asked.wanted.switch
    host, netdev = wanted.host, wanted.netdev
    with ends(host, place) as controls:
        own = card_end_at(host)
        facts = facts_at(host) if own is not None or wanted.tool != "ethtool" else None
        card = steps(wanted, facts, own)
        plan = _planned(wanted, card, controls)
        echo("\n".join(plan_lines(plan)))
        is_there = all(step.no_op for step in plan.steps)
        if is_there and asked.is_saved:
            return _save(controls, place, yes=asked.yes)
        if is_there or not asked.is_applied:
            return 0 if is_there else 1
        facts = facts or facts_at(host)
        admitted = admit(Change(plan, {host: facts}))
        is_told = _tell_port(
            plan, facts, netdev, place, is_right=asked.port_is_right, asks=not asked.yes
        )
        question = "The link will go down for seconds. "
        question += "Do this?" if is_told else f"Is {netdev} in {place.switchport}, and do this?"
        if not asked.yes and not confirm(question):
            return 1
        with open_run(asked.folder, breaks=asked.breaks_lock, of=asked.of) as run:
            refuse_applied(
                run,
                "undo it with --undo, or give another --run",
                "the original settings of both ends",
            )
            run.begin_anew()
            is_up = True

            def comes_up() -> None:
                nonlocal is_up
                is_up = proves_link(card) or _comes_up(run, plan, controls, wanted, facts)

            with _both_ends_named():
                change_hosts(run, admitted, controls, then=comes_up)
        code = 0 if is_up else 1
        if asked.is_saved:
            code = _save(controls, place, yes=asked.yes) or code
    again = f"wirespeed link {shlex.quote(host)} {shlex.quote(netdev)} {shlex.quote(asked.text)}"
    echo(f"`{again} --undo` undoes it")
    if not asked.is_saved:
        echo("a restart of the switch undoes its end, unless it is saved: --save")
    return code


def undo_link(asked: LinkRequest, how: HowUndone) -> int:
    """Put both ends back; give the exit code. Raises InputError `run.*`, LeftChangedError."""
    with ends(asked.wanted.host, asked.wanted.switch) as controls:
        code = _undo(asked.folder, controls, how, breaks=asked.breaks_lock)
        return code or (
            _save(controls, asked.wanted.switch, yes=asked.yes) if asked.is_saved else 0
        )


def save_link(asked: LinkRequest) -> int:
    """Save the switch's configuration alone; give the exit code. Raises HostError `switch.*`."""
    with ends(asked.wanted.host, asked.wanted.switch) as controls:
        return _save(controls, asked.wanted.switch, yes=asked.yes)


def _tell_port(
    plan: Plan,
    facts: HostFacts,
    netdev: str,
    place: SwitchHost,
    *,
    is_right: bool,
    asks: bool,
) -> bool:
    """Say what proves the port of the switch, where it is changed; tell whether anything does.

    Raises InputError `link.wrong_port`, `link.port_not_proven`.
    """
    if all(step.no_op for step in plan.steps if step.host == place.text):
        return True
    found = port_proof(facts, netdev, place)
    echo(f"cable: {found.match}: {found.found}")
    where = f"{place.switchport} of {place.host}"
    refuse_port(found, where, is_right=is_right, asks=asks)
    return is_right or found.match is Match.PROVEN


def card_end_at(host: str) -> CardEnd | None:
    """Give what sets a card's speed on such a host; None: what does on Linux."""
    found = route_to(parse_destination(host))
    return None if found is None else found[1].card_end


def _planned(wanted: LinkSettings, card: list[Step], controls: Mapping[str, HostControl]) -> Plan:
    """Read both ends and plan. Raises InputError `link.*`."""
    every = [*both_ends(wanted, card)]
    try:
        return make_plan([(at, step, controls[at].read([step])[0]) for at, step in every])
    except CannotTellError as error:
        raise InputError(
            "link.cannot_tell",
            where=f"{wanted.netdev} of {wanted.host}, "
            f"{wanted.switch.switchport} of {wanted.switch.host}",
            found=error.reason,
            so="wirespeed does not plan on a guess: undo would not know what to restore",
            next=error.would_tell,
        ) from None


@contextmanager
def ends(host: str, switch: SwitchHost) -> Iterator[dict[str, HostControl]]:
    """Give control of both ends, by what they were called. Raises InputError `link.host`."""
    place = parse_destination(host)
    with ExitStack() as stack:
        card = control_at(host, place, stack)
        if card is None:
            raise InputError(
                "link.host",
                where=shown(host, 80),
                found="not a Linux or Windows host",
                so="wirespeed cannot set its card",
                next=REACHED,
            )
        session = stack.enter_context(SwitchSession(switch))
        yield {host: card, switch.text: SwitchControl(session)}


def _save(controls: Mapping[str, HostControl], place: SwitchHost, *, yes: bool) -> int:
    """Save what the switch runs with, and see that it is. Raises HostError `switch.*`."""
    at_switch = controls[place.text]
    if not isinstance(at_switch, SwitchControl):
        raise AssertionError("a switch is changed over its own session")
    where = f"{place.switchport} of {place.host}"
    missing = unsaved(at_switch.session, place.switchport, where)
    if not missing:
        echo(f"{where}: the running configuration is saved already")
        return 0
    echo(f"{where}: not saved: {', '.join(missing)}")
    question = f"Save the whole running configuration of {place.host}, with changes by others?"
    if not yes and not confirm(question):
        return 1
    save(at_switch.session, place.switchport, where)
    echo(f"{where}: saved")
    return 0


def _comes_up(
    run: Run,
    plan: Plan,
    controls: Mapping[str, HostControl],
    wanted: LinkSettings,
    before: HostFacts,
) -> bool:
    """Say whether there is a link, where no reading of a step has told.

    Where one that was up stays down both ends are put back: raises ApplyError `link.down`.
    """
    for _ in pauses():
        if has_link(facts_at(wanted.host), wanted.netdev):
            echo(f"{wanted.netdev}: link is up")
            return True
    if not has_link(before, wanted.netdev):
        echo(f"{wanted.netdev}: no link, as before")
        return False
    Executor(plan, controls, log_progress(run, plan), utc_now, run.entries).undo()
    raise ApplyError(
        "link.down",
        where=f"{wanted.netdev} of {wanted.host}",
        found="the link was up before the change and is down now",
        so="both ends were undone",
        next="check what the cable and its modules support: wirespeed doctor HOST --far-end …",
    )


def _undo(where: Path, controls: Mapping[str, HostControl], how: HowUndone, *, breaks: bool) -> int:
    with open_run(where, must_exist=True, breaks=breaks) as run:
        if run.plan is None or run.outcome == "undone":
            echo(f"{where}: no step is in force, so there is nothing to undo")
            return 0
        if {step.host for step in run.plan.steps} - controls.keys():
            raise InputError(
                "run.of_another_link",
                where=str(where),
                found="the run changed other ends: " + ", ".join(s.host for s in run.plan.steps),
                so="nothing was undone",
                next="give host and switch exactly as in that run",
            )
        with _both_ends_named():
            undo_plan(run, run.plan, controls, str(run.folder), how)
    return 0


@contextmanager
def _both_ends_named() -> Iterator[None]:
    """Say what undoes both ends, where a run was interrupted."""
    try:
        yield
    except LeftChangedError as error:
        if error.what != "run.interrupted":
            raise
        raise LeftChangedError(
            error.what,
            where=error.where,
            found=error.found,
            so=error.so,
            next="to undo both ends, repeat the command with --undo instead of --speed and --apply",
        ) from None


def port_proof(facts: HostFacts, name: str, place: SwitchHost) -> PortMatch:
    """Read the switch, and compare its port with the card, before anything is changed there.

    Raises InputError `link.netdev` where the host has no such port, and what the switch is not
    reached for.
    """
    (captured,) = collect([place])
    if not isinstance(captured, Captured):
        raise captured.error
    capture = parse_capture(captured.text, place.host)
    require_whole(place.text, capture)
    card = card_end_of(facts, name)
    if card is None:
        raise InputError(
            "link.netdev",
            where=f"{shown(name, 40)} of {facts.name}",
            found="the host has no port of that name",
            next="give a name that `ls /sys/class/net` (Linux) or Get-NetAdapter (Windows) lists",
        )
    switches = Switches.parse(capture).by_name
    return port_match(card, next(iter(switches.values())), place.switchport)
