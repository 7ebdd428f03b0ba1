"""The command line: the one place that formats errors. Each subcommand is a file of `commands/`."""

import gc
import importlib
import io
import signal
import sys
import textwrap
import traceback
from collections.abc import Sequence
from typing import NoReturn

import click

from wirespeed import __version__
from wirespeed.host.secret import take_passwords
from wirespeed.host.spawn import leave_relative_folders_out_of_path
from wirespeed.model.error import InputError, WirespeedError
from wirespeed.model.shown import shown
from wirespeed.terminal import echo, open_closed_streams, outlive_streams

ERROR_COLUMNS = 80
INTERNAL_ERROR = 70
"""EX_SOFTWARE of sysexits.h; none that a script takes for an answer."""

NOT_PROVEN = """\
not proven on hardware (only vdevs, virtual and described hosts were at hand):
  measure: ports given with --port, PCI ports and mlx5 among them
  measure: hardware receive time stamps
  measure: several NUMA nodes
  doctor: ConnectX cards, their eswitch, VF-LAG and firmware settings
  doctor: Open vSwitch with hardware offload or DPDK
  doctor, plan, apply, undo: ESXi, its driver nmlx5_core and its guests, by SSH
    and by the vSphere API
  doctor: WSL2, its Linux side and its Windows side; Windows and Hyper-V
  steps: firmware images, settings and resets of ConnectX cards; grubby
  plan, apply, undo: ConnectX cards; firmware, its settings and its reset
  plan, apply, undo: both sides of WSL2; WinRM, and PowerShell over SSH
  remedy, link: Windows, its cards set by mlx5cmd, its task that undoes a step
  ovs-tc: cards with an embedded switch: switchdev, VF-LAG, representors, offload
  ovs-dpdk: any card; on virtual hosts it ran by AF_PACKET, and by DPDK with igb
  prove: throughput between guests, as every host was emulated; fail-over by
    ConnectX ports; a card that enforces its spoof check
  compare: a choice by figures, as every host was emulated
  doctor, link: switches and their ports, of all seven kinds; mlxlink"""


def format_error(error: WirespeedError) -> str:
    """What, where, found, so, next; empty parts are left out."""
    lines = [f"ERROR {error.what} {error.where}".rstrip()]
    for label in ("found", "so", "next"):
        for number, line in enumerate(getattr(error, label).splitlines()):
            # Paths and commands stay whole, so that they can be copied.
            lines += textwrap.wrap(
                line,
                ERROR_COLUMNS,
                initial_indent=f"  {'' if number else label:<7} ",
                subsequent_indent=" " * 10,
                break_long_words=False,
                break_on_hyphens=False,
            )
    return "\n".join(lines)


def internal_error(error: Exception) -> str:
    """Say what a fault of our own was, for whoever mends it, and what it means to the user."""
    said = WirespeedError(
        "internal.error",
        where=next(iter(sys.argv[1:2]), ""),
        found=f"{type(error).__name__}: {error}"[:1000],
        so="this is a bug in wirespeed; if hosts were being changed, the journal says how far",
        next="if it was changing hosts, run `wirespeed status SPEC`; report this bug with all "
        "the text below",
    )
    return f"{format_error(said)}\n\n{''.join(traceback.format_exception(error)).rstrip()}"


def main() -> NoReturn:
    """Run the command line; exit codes 0 proven, 1 not proven or failed, 2 bad input.

    3 a host was left changed, 4 a reboot is due; 70 a fault of wirespeed itself.
    """
    open_closed_streams()
    outlive_streams(changes_hosts=next(iter(sys.argv[1:2]), "") in CHANGES_HOSTS)
    take_passwords()
    leave_relative_folders_out_of_path()
    signal.signal(signal.SIGTERM, _raise_interrupt)
    try:
        refuse_lost_letters(sys.argv[1:], sys.getfilesystemencoding())
        code = cli.main(prog_name="wirespeed", standalone_mode=False)
    except WirespeedError as error:
        echo(format_error(error), err=True)
        sys.exit(error.exit_code)
    except (click.exceptions.Abort, KeyboardInterrupt):
        # click makes the one of the other, and ends the line that ^C stands in.
        _end_as_stopped()
    except click.ClickException as error:
        said = io.StringIO()
        error.show(said)
        echo(said.getvalue(), err=True, nl=False)
        sys.exit(2)
    except Exception as error:
        if _is_of_interrupt(error):
            _end_as_stopped()
        echo(internal_error(error), err=True)
        raise SystemExit(INTERNAL_ERROR) from error
    # The interpreter would search all that is loaded for cycles before it ends: a tenth of a run.
    gc.freeze()
    sys.exit(code if isinstance(code, int) else 0)


def refuse_lost_letters(words: Sequence[str], encoding: str) -> None:
    """Raise InputError `locale.encoding` for a word that the locale's encoding cannot hold."""
    if encoding.lower().startswith("utf"):
        return
    for word in words:
        if any("\ud800" <= letter <= "\udfff" for letter in word):
            raise InputError(
                "locale.encoding",
                where=shown(word, 60),
                found=f"the locale's encoding is {encoding}, which does not have these letters",
                next="set LC_ALL=C.UTF-8, or unset PYTHONUTF8",
            )


def _end_as_stopped() -> NoReturn:
    echo("stopped" + KEPT.get(next(iter(sys.argv[1:2]), ""), ""), err=True)
    sys.exit(130)


def _is_of_interrupt(error: Exception) -> bool:
    """Tell whether it is what became of a ^C while types were being made, as modules are loaded.

    Python before 3.12 makes a RuntimeError of any exception in `__set_name__`, and names its cause.
    pydantic makes an error of any exception there, and keeps its name at the end of the text alone.
    """
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, KeyboardInterrupt):
            return True
        cause = cause.__cause__
    return type(error).__name__ == "SchemaError" and str(error).rstrip().endswith(
        "KeyboardInterrupt:"
    )


def _raise_interrupt(*_: object) -> NoReturn:
    raise KeyboardInterrupt


COMMANDS = {
    "advise": "Answer design questions with figures: transport, slot, cable, WSL2.",
    "capture": "Read a host and write the result to a file.",
    "ceiling": "Show the most that a path can carry, and what limits it.",
    "doctor": "Find what holds a card below line rate, and what each fault costs.",
    "fleet": "Diagnose, record and change many hosts of an inventory together.",
    "watch": "Watch each port: rate, share of its ceiling, limit, last change.",
    "export": "Export a host's ceilings and findings for Prometheus.",
    "export-spec": "Write a spec as files of netplan, networkd, nmstate, sriov-operator.",
    "import-spec": "Make a spec from files of netplan, networkd, nmstate, sriov-operator.",
    "remedy": "Plan the steps that fix what the doctor found, and apply them.",
    "firmware": "Store a card's settings, burn an image, or reset the card.",
    "link": "Set the speed of a link at card and switch port, as one change.",
    "lab": "Run virtual hosts with SR-IOV cards, to try all without hardware.",
    "plan": "Show every command that a spec needs, and its undo.",
    "apply": "Apply a spec to its hosts and verify every step.",
    "confirm": "Keep what `apply --try` changed.",
    "undo": "Undo everything that apply, link, remedy or firmware changed.",
    "status": "Show the progress of a run, all runs, or the runs applied to a host.",
    "persist": "Restore an applied spec at every boot, or stop that.",
    "drift": "Show what changed on the hosts since the last apply.",
    "prove": "Prove a spec: doctor, plan, apply, measure, undo, and a report.",
    "compare": "Prove a spec by several approaches, and compare them on one page.",
    "measure": "Measure zero-loss throughput with the tester, or run your command.",
    "report": "Make the report of a run again, or compare two runs.",
}
"""Name, the file's in `commands/` (with `_` for `-`), and what `--help` says of it."""


CHANGES_HOSTS = {
    "apply", "compare", "confirm", "firmware", "fleet", "link", "persist", "prove", "remedy",
    "undo",
}  # fmt: skip
"""They come to their end though nobody reads what they print any more."""


KEPT = {
    "measure": "; the trials are kept, and --resume continues",
    "apply": "; its journal is kept: `wirespeed apply` finishes it, `wirespeed undo` undoes it",
    "prove": "; its journal is kept: `wirespeed undo` undoes what is still applied",
    "compare": "; its journals are kept: `wirespeed undo SPEC` undoes what is still applied",
    "link": "; its journal is kept: the same command with --undo restores both ends",
    "remedy": (
        "; its journal is kept: `wirespeed status` lists it, `wirespeed undo FOLDER` undoes it"
    ),
    "fleet": "; the change is kept: `wirespeed fleet status FOLDER` shows it",
    "firmware": (
        "; its journal is kept: `wirespeed status` lists it, `wirespeed undo FOLDER` undoes it"
    ),
    "undo": "; its journal is kept: `wirespeed undo` continues",
}
"""What is left of a command that was interrupted."""


class LazyGroup(click.Group):
    """Loads a subcommand when it is called: the doctor shall not wait for what measuring needs."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Give the names in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Load one."""
        if cmd_name not in COMMANDS:
            return None
        name = cmd_name.replace("-", "_")
        module = importlib.import_module(f"wirespeed.commands.{name}")
        command = getattr(module, name)
        if not isinstance(command, click.Command):
            raise AssertionError(f"{module.__name__}.{cmd_name} is not a command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List them without loading them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(
    cls=LazyGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
)
@click.option("--version", is_flag=True, help="Print the version.")
@click.option("--verbose", is_flag=True, help="With --version: what is not proven on hardware.")
@click.pass_context
def cli(context: click.Context, version: bool, verbose: bool) -> None:
    """Find what holds a fast network card back, fix it, prove the result, and undo it."""
    if version:
        echo(f"wirespeed {__version__}" + (f"\n{NOT_PROVEN}" if verbose else ""))
        context.exit(0)
    if context.invoked_subcommand is None:
        echo(context.get_help())
