"""`wirespeed remedy`: what the doctor named, planned; and done, with a journal."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from wirespeed.apply.firmware_guard import refuse_firmware, refuse_no_way_back
from wirespeed.apply.guard import refuse_cutoff, with_cutoffs
from wirespeed.apply.remedies import Left, chosen, plan_remedies
from wirespeed.apply.run import open_run
from wirespeed.apply.run_place import other_run_folder
from wirespeed.commands.break_lock import break_lock
from wirespeed.commands.doctor import check_wanted, examine
from wirespeed.doctor.switch_side import is_only_switch
from wirespeed.facts.ports import Ports
from wirespeed.facts.vsphere import is_esxi
from wirespeed.facts.windows_adapters import WindowsAdapters
from wirespeed.facts.windows_hardware import WindowsHardwares
from wirespeed.host.reach_destination import HERE, WindowsHost, parse_destination
from wirespeed.model.capture import parse_capture
from wirespeed.model.command import Shell
from wirespeed.model.error import HostError, InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.finding import Diagnosis, Finding, Unanswered
from wirespeed.model.observed import CannotTellError, Known
from wirespeed.model.question import Purpose, Question
from wirespeed.model.shown import shown
from wirespeed.model.spec import Spec
from wirespeed.report.plan_text import plan_lines
from wirespeed.report.text_lines import wrapped
from wirespeed.runs.hosts_of_spec import hands_of, here_of
from wirespeed.runs.lone_host import lone_host
from wirespeed.runs.plan_hosts import require_whole
from wirespeed.runs.run_hosts import carry_out
from wirespeed.runs.wsl_hosts import is_of_windows
from wirespeed.terminal import confirm, echo

WIDTH = 80


@click.command()
@click.argument("host", default=HERE)
@click.option(
    "--for",
    "purpose",
    type=click.Choice([p.value for p in Purpose]),
    help="What the ports are for.",
)
@click.option(
    "--wanted", multiple=True, metavar="KEYWORD=VALUE", help="An advanced property, as you set it."
)
@click.option("--of", "rules", multiple=True, metavar="RULE", help="Only of this finding.")
@click.option("--apply", "is_applied", is_flag=True, help="Do it; else it is only shown.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--run", "folder", type=click.Path(path_type=Path), help="Folder of the journal.")
@click.option("--allow-cutoff", is_flag=True, help="Also change the port that it is reached by.")
@click.option("--allow-firmware", is_flag=True, help="Also write firmware.")
@click.option("--allow-no-undo", is_flag=True, help="Also do what nothing takes back.")
@break_lock
def remedy(
    host: str,
    purpose: str | None,
    wanted: tuple[str, ...],
    rules: tuple[str, ...],
    is_applied: bool,
    yes: bool,
    folder: Path | None,
    allow_cutoff: bool,
    allow_firmware: bool,
    allow_no_undo: bool,
    breaks_lock: bool,
) -> int:
    """Plan the steps that mend what the doctor found, and do them with --apply.

    HOST is here, ssh://, winssh:// or winrm://. `wirespeed undo FOLDER` takes them back. A finding
    whose best remedy is by hand is left to you, unless you name its rule with --of.

    Exit codes: 0 nothing to do, or done; 1 there is something to do; 2 bad input; 3 a host was
    left changed.
    """  # fmt: skip
    check_wanted(wanted)
    question = Question(purpose=Purpose(purpose) if purpose else None, wanted=wanted)
    ((answer, text),) = examine([host], question)
    if isinstance(answer, Unanswered):
        raise HostError(answer.what, where=host, found=answer.found, next=answer.next)
    facts = HostFacts(host, parse_capture(text, host))
    require_whole(host, facts.capture)
    spec = way_to(host, facts)
    (name,) = spec.hosts
    with hands_of(spec) as hands:
        shell = Shell.POWERSHELL if is_of_windows(spec) else Shell.POSIX
        steps, by_hand = chosen(_findings(answer, rules), rules, shell)
        states = hands[name].read([one.step for one in steps]) if steps else []
        plan, left = plan_remedies(name, steps, states)
        echo("\n".join([*plan_lines(plan), *left_lines([*left, *by_hand])]))
        if not plan.steps or not is_applied:
            return 1 if plan.steps else 0
        if not allow_firmware:
            refuse_firmware(plan)
        if not allow_no_undo:
            refuse_no_way_back(plan)
        if allow_cutoff:
            plan = with_cutoffs(plan, {name: facts}, here_of(spec))
        else:
            refuse_cutoff(plan, {name: facts})
        if not yes and not confirm("Do this?"):
            return 1
        of = f"remedy {host}"
        where = folder or other_run_folder(name, of)
        with open_run(where, breaks=breaks_lock, of=of) as run:
            if run.outcome not in ("new", "undone"):
                raise InputError(
                    "run.applied_before",
                    where=str(where),
                    found=f"its run is {run.outcome}",
                    so="what stood there before is in its journal, and would be lost",
                    next=f"wirespeed undo {where}, or another --run",
                )
            run.begin_anew()
            carry_out(run, plan, hands, spec=spec)
        echo(f"`wirespeed undo {where}` takes it back")
    return 0


def way_to(host: str, facts: HostFacts) -> Spec:
    """Give a spec that wants nothing, and says how the host is reached: the journal keeps it.

    Raises InputError `remedy.no_port`, `remedy.esxi`, `remedy.switch`.
    """
    if is_only_switch(facts.capture):
        raise InputError(
            "remedy.switch",
            where=host,
            found="it is a switch, whose ports are set together with what is plugged in there",
            next="wirespeed link HOST NETDEV SWITCH/PORT --speed 10G; docs/link-speed.md",
        )
    if is_esxi(facts.capture):
        raise InputError(
            "remedy.esxi",
            where=host,
            found="it is an ESXi host, whose remedies a spec names",
            next="wirespeed plan with `approach: esxi`; docs/esxi.md shows one",
        )
    try:
        ports = _ports(host, facts)
    except CannotTellError as error:
        raise InputError("remedy.no_port", where=host, found=error.reason) from None
    if not ports:
        raise InputError("remedy.no_port", where=host, found="it has no network card on PCI")
    return lone_host(host, ports[:8])


def _ports(host: str, facts: HostFacts) -> list[str]:
    """Give the PCI addresses of its cards. Raises CannotTellError."""
    if not isinstance(parse_destination(host), WindowsHost):
        return [port.pci_address for port in facts[Ports].ports if port.pci_address]
    slots = [facts[WindowsHardwares].of(card.guid) for card in facts[WindowsAdapters].cards()]
    found = [slot.value.pci_address for slot in slots if isinstance(slot, Known)]
    return [address for address in dict.fromkeys(found) if address]


def _findings(answer: Diagnosis, rules: Iterable[str]) -> tuple[Finding, ...]:
    found = {finding.rule for finding in answer.findings}
    if missing := sorted(set(rules) - found):
        raise InputError(
            "remedy.not_found",
            where=answer.host,
            found=f"no finding of {', '.join(map(shown, missing))}",
            next=f"wirespeed doctor {answer.host} lists them",
        )
    return answer.findings


def left_lines(left: Iterable[Left]) -> Iterator[str]:
    """Say what is not done, and why; once each."""
    for number, one in enumerate(dict.fromkeys(left)):
        if not number:
            yield from ("", "left to you:")
        yield from wrapped(f"{one.rule}: {shown(one.why, 400)}", WIDTH, "  ", "    ")
