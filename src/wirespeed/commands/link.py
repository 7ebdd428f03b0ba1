"""`wirespeed link`: the speed of a link, at the card and at the switch's port, as one change."""

import re
import shlex
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

import click

from wirespeed.apply.executor import Executor
from wirespeed.apply.guard import refuse_cutoff
from wirespeed.apply.guard_switchport import Match, refuse_port
from wirespeed.apply.hands import Hands
from wirespeed.apply.hands_powershell import PowerShellHands
from wirespeed.apply.hands_shell import ShellHands
from wirespeed.apply.hands_switch import SwitchHands
from wirespeed.apply.interrupted import interrupted
from wirespeed.apply.planner import make_plan
from wirespeed.apply.run import Run, open_run
from wirespeed.apply.run_place import other_run_folder
from wirespeed.apply.switchport_save import save, unsaved
from wirespeed.commands.break_lock import break_lock
from wirespeed.commands.undo_options import undo_options
from wirespeed.host.clock import utc_now
from wirespeed.host.local import LocalRunner
from wirespeed.host.reach_destination import (
    Here,
    Remote,
    SwitchHost,
    WindowsHost,
    parse_destination,
)
from wirespeed.host.switch import SwitchSession
from wirespeed.model.error import (
    ApplyError,
    InputError,
    LeftChangedError,
    WirespeedError,
)
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import CannotTellError
from wirespeed.model.plan import Plan
from wirespeed.model.shown import shown
from wirespeed.model.step import Step
from wirespeed.report.plan_text import plan_lines
from wirespeed.runs.captures import Gathered, gather
from wirespeed.runs.how_undone import HowUndone
from wirespeed.runs.link_port import port_proof
from wirespeed.runs.link_steps import Encoding
from wirespeed.runs.link_wanted import (
    Tool,
    Wanted,
    both_ends,
    has_link,
    pauses,
    proves_link,
    steps,
)
from wirespeed.runs.plan_hosts import require_whole
from wirespeed.runs.run_hosts import catch_up, forget_steps, taken, telling, undo_taken
from wirespeed.terminal import confirm, echo

AUTO = "auto"


class LinkBps(click.ParamType[int | str]):
    """`10G`, `25G`, `2.5G`; `auto`."""

    name = "speed"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | str:
        """Give bits per second."""
        match = re.fullmatch(r"([0-9]{1,3}(?:\.[0-9])?)G", str(value))
        if match is None and value != AUTO:
            self.fail(f"{value!r} is no speed of a link: write 10G, 25G or auto", param, ctx)
        return int(float(match[1]) * 10**9) if match else AUTO


@click.command()
@click.argument("host")
@click.argument("netdev")
@click.argument("switch", metavar="SWITCH/PORT")
@click.option("--speed", "link_bps", type=LinkBps(), help="Of both ends: 10G; auto: negotiated.")
@click.option("--fec", type=click.Choice(["auto", "off", "rs", "baser"]), help="FEC, of both ends.")
@click.option(
    "--switch-mtu", type=click.IntRange(1280, 9999), help="MTU of the switch's port alone."
)
@click.option(
    "--by",
    "tool",
    type=click.Choice(["ethtool", "mlxlink", "mstlink"]),
    default="ethtool",
    help="What sets the speed of a card of Linux.",
)
@click.option(
    "--card-is", type=LinkBps(), help="What a Windows card is set to now, as mlx5cmd says."
)
@click.option("--apply", "is_applied", is_flag=True, help="Do it; else it is only shown.")
@click.option("--undo", "is_undone", is_flag=True, help="Put both ends back as they were.")
@click.option("--save", "is_saved", is_flag=True, help="Save the switch's configuration then.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--port-is-right", is_flag=True, help="The cable is in that port: you looked.")
@click.option("--run", "folder", type=click.Path(path_type=Path), help="Folder of the journal.")
@undo_options
@break_lock
def link(
    host: str,
    netdev: str,
    switch: str,
    link_bps: int | str | None,
    fec: Encoding | None,
    switch_mtu: int | None,
    tool: Tool,
    card_is: int | str | None,
    is_applied: bool,
    is_undone: bool,
    is_saved: bool,
    yes: bool,
    port_is_right: bool,
    folder: Path | None,
    force: bool,
    forget: tuple[str, ...],
    breaks_lock: bool,
) -> int:
    """Set speed and FEC of a link at both of its ends, as one change that is undone as one.

    SWITCH/PORT is as in switch+dell_os6://admin@sw1/Te1/0/1. The switch's port is set first; then
    the card, whose reading proves both. Where the link does not come up, both are put back. What is
    set at the switch is its running configuration, which its next start undoes; --save, alone or
    with --apply or --undo, saves it: all of it, with what others did not save.

    HOST is here, ssh://, winssh:// or winrm://. On Windows NETDEV is the adapter's name, and the
    card one of Mellanox.

    A port of the switch is changed where it hears the card by LLDP. Where it hears another, or
    only one end has a link, it is left alone; where it hears nobody you are asked. --port-is-right
    says that you followed the cable.

    Exit codes: 0 done, or nothing to do; 1 there is something to do; 2 bad input; 3 an end was left
    changed.
    """
    is_set = link_bps is not None or fec is not None or switch_mtu is not None
    if not (is_undone or is_set or is_saved) or (is_saved and is_set and not is_applied):
        raise click.UsageError("--speed, --fec, --switch-mtu, --undo; --save alone or with --apply")
    place = _switchport(switch)
    of = f"link {host} {netdev} {switch}"
    where = folder or other_run_folder(netdev.replace("/", "-"), of)
    with ends(host, place) as hands:
        if is_undone or not is_set:
            how = HowUndone(force, forget)
            code = _undo(where, hands, how, breaks=breaks_lock) if is_undone else 0
            return code or (_save(hands, place, yes=yes) if is_saved else 0)
        wanted = Wanted(
            host=host,
            netdev=netdev,
            switch=place,
            sets_speed=link_bps is not None,
            link_bps=link_bps if isinstance(link_bps, int) else None,
            fec=fec,
            switch_mtu=switch_mtu,
            tool=tool,
            card_is=card_is,
        )
        facts = facts_of(host) if is_windows(host) or tool != "ethtool" else None
        card = steps(wanted, *((facts, None) if is_windows(host) else (None, facts)))
        plan = planned(wanted, card, hands)
        echo("\n".join(plan_lines(plan)))
        is_there = all(step.no_op for step in plan.steps)
        if is_there and is_saved:
            return _save(hands, place, yes=yes)
        if is_there or not is_applied:
            return 0 if is_there else 1
        facts = facts or facts_of(host)
        refuse_cutoff(plan, {host: facts})
        is_told = _tell_port(plan, facts, netdev, place, is_right=port_is_right, asks=not yes)
        question = "The link will go down for seconds. "
        question += "Do this?" if is_told else f"Is {netdev} in {place.switchport}, and do this?"
        if not yes and not confirm(question):
            return 1
        with open_run(where, breaks=breaks_lock, of=of) as run:
            _refuse_applied(run, where)
            run.begin_anew()
            with taken(run, hands) as held:
                held.refuse_other_copies()
                _carry_out(run, plan, hands)
                is_up = proves_link(card) or _comes_up(run, plan, hands, wanted, facts)
        code = 0 if is_up else 1
        if is_saved:
            code = _save(hands, place, yes=yes) or code
    again = f"wirespeed link {shlex.quote(host)} {shlex.quote(netdev)} {shlex.quote(switch)}"
    echo(f"`{again} --undo` takes it back")
    if not is_saved:
        echo("the switch's next start undoes its end, unless that is saved: --save")
    return code


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


def is_windows(host: str) -> bool:
    """Tell whether a host's card is set by PowerShell."""
    return isinstance(parse_destination(host), WindowsHost)


def planned(wanted: Wanted, card: list[Step], hands: Mapping[str, Hands]) -> Plan:
    """Read both ends and plan. Raises InputError `link.*`."""
    every = [*both_ends(wanted, card)]
    try:
        return make_plan([(at, step, hands[at].read([step])[0]) for at, step in every])
    except CannotTellError as error:
        raise InputError(
            "link.cannot_tell",
            where=f"{wanted.netdev} of {wanted.host}, "
            f"{wanted.switch.switchport} of {wanted.switch.host}",
            found=error.reason,
            so="nothing is planned on a guess: undo would have nothing to come back to",
            next=error.would_tell,
        ) from None


@contextmanager
def ends(host: str, switch: SwitchHost) -> Iterator[dict[str, Hands]]:
    """Give the hands of both ends, by what they were called. Raises InputError `link.host`."""
    place = parse_destination(host)
    with ExitStack() as stack:
        if isinstance(place, Here):
            card: Hands = ShellHands(host, LocalRunner())
        elif isinstance(place, Remote):
            from wirespeed.host.ssh_session import SshSession

            card = ShellHands(host, stack.enter_context(SshSession(place)))
        elif isinstance(place, WindowsHost):
            from wirespeed.host.reach_windows import windows_session

            there = windows_session(place)
            stack.callback(there.close)
            card = PowerShellHands(host, there)
        else:
            raise InputError(
                "link.host",
                where=shown(host, 80),
                found="no host that Linux or Windows runs on",
                so="its card is not set from here",
                next="here, ssh://USER@HOST, winssh://USER@HOST or winrm://USER@HOST",
            )
        session = stack.enter_context(SwitchSession(switch))
        yield {host: card, switch.text: SwitchHands(session)}


def facts_of(host: str) -> HostFacts:
    """Read the host: what carries the session to it. Raises what it cannot be reached for."""
    (found,) = gather([parse_destination(host)])
    if not isinstance(found, Gathered):
        raise found.error
    require_whole(host, found.facts.capture)
    return found.facts


def _switchport(text: str) -> SwitchHost:
    place = parse_destination(text)
    if not isinstance(place, SwitchHost) or not place.switchport:
        raise InputError(
            "link.switch",
            where=shown(text, 80),
            found="no port of a switch",
            next="as in switch+dell_os6://admin@sw1/Te1/0/1",
        )
    return place


def _refuse_applied(run: Run, where: Path) -> None:
    if run.outcome not in ("new", "undone"):
        raise InputError(
            "run.applied_before",
            where=str(where),
            found=f"its run is {run.outcome}",
            so="what both ends had before is in its journal, and would be lost",
            next="--undo takes it back; or another --run",
        )


def _carry_out(run: Run, plan: Plan, hands: Mapping[str, Hands]) -> None:
    executor = Executor(plan, hands, telling(run, plan), utc_now, run.entries)
    try:
        executor.apply()
    except (ApplyError, LeftChangedError):
        raise
    except WirespeedError as error:
        raise _left(error, run) from None


def _save(hands: Mapping[str, Hands], place: SwitchHost, *, yes: bool) -> int:
    """Save what the switch runs with, and see that it is. Raises HostError `switch.*`."""
    at_switch = hands[place.text]
    if not isinstance(at_switch, SwitchHands):
        raise AssertionError("the hands of a switch")
    where = f"{place.switchport} of {place.host}"
    missing = unsaved(at_switch.session, place.switchport, where)
    if not missing:
        echo(f"{where}: it is saved as it runs")
        return 0
    echo(f"{where}: not saved: {', '.join(missing)}")
    question = f"Save all that {place.host} runs with, of others too?"
    if not yes and not confirm(question):
        return 1
    save(at_switch.session, place.switchport, where)
    echo(f"{where}: saved")
    return 0


def _comes_up(
    run: Run, plan: Plan, hands: Mapping[str, Hands], wanted: Wanted, before: HostFacts
) -> bool:
    """Say whether there is a link, where no reading of a step has told.

    Where one that was up stays down both ends are put back: raises ApplyError `link.down`.
    """
    for _ in pauses():
        if has_link(facts_of(wanted.host), wanted.netdev):
            echo(f"{wanted.netdev}: there is a link")
            return True
    if not has_link(before, wanted.netdev):
        echo(f"{wanted.netdev}: no link, as before")
        return False
    Executor(plan, hands, telling(run, plan), utc_now, run.entries).undo()
    raise ApplyError(
        "link.down",
        where=f"{wanted.netdev} of {wanted.host}",
        found="it had a link, and has none since",
        so="both ends were put back as they were",
        next="see what the cable and its modules can do: wirespeed doctor HOST --far-end …",
    )


def _undo(where: Path, hands: Mapping[str, Hands], how: HowUndone, *, breaks: bool) -> int:
    with open_run(where, must_exist=True, breaks=breaks) as run:
        if run.plan is None or run.outcome == "undone":
            echo(f"{where}: nothing stands that could be undone")
            return 0
        if {step.host for step in run.plan.steps} - hands.keys():
            raise InputError(
                "run.of_another_link",
                where=str(where),
                found="it is of other ends: " + ", ".join(s.host for s in run.plan.steps),
                next="name host and switch as they were named then",
            )
        with taken(run, hands) as held:
            catch_up(run, run.plan, held)
            forget_steps(run, run.plan, how)
            try:
                undo_taken(run, run.plan, hands, held, force=how.force)
            except LeftChangedError:
                raise
            except WirespeedError as error:
                raise _left(error, run) from None
    return 0


def _left(error: WirespeedError, run: Run) -> WirespeedError:
    """Say how both ends stand after a run that was interrupted."""
    found = interrupted(error, run.entries, str(run.folder))
    if found is None:
        return error
    return LeftChangedError(
        found.what,
        where=found.where,
        found=found.found,
        so=found.so,
        next="the same again with --undo in place of --speed and --apply puts both ends back",
    )
