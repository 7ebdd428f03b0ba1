"""`wirespeed export-spec`: a spec as the files of another tool."""

from pathlib import Path

import click

from wirespeed.commands.described import Described
from wirespeed.formats.every import FORMATS
from wirespeed.formats.form import Exported
from wirespeed.host.files import make_folder, write_result, write_whole
from wirespeed.runs.export_spec import export_hosts
from wirespeed.runs.hosts_of_spec import read_spec
from wirespeed.terminal import echo


@click.command(
    cls=Described,
    reads="the hosts of SPEC, or their captures",
    changes="nothing on hosts; the files below --out",
    codes={
        0: "written; what the format cannot express is listed",
        2: "bad input, or a host was not read",
    },
)
@click.argument("spec", type=click.Path(path_type=Path))
@click.option(
    "--as",
    "form",
    type=click.Choice(list(FORMATS)),
    required=True,
    help="Tool whose files to write.",
)
@click.option("--host", metavar="NAME", help="Host of the spec.  [default: all]")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Folder for the files, with a folder per host.  [default: print them]",
)
def export_spec(spec: Path, form: str, host: str | None, out: Path | None) -> None:
    """Write a spec as files of netplan, networkd, nmstate or sriov-operator.

    What the format cannot express is listed at the top of each file and on standard error. It
    supports approach none and legacy-vlan, and reads the hosts for the names of their ports.
    """
    wanted = read_spec(spec)
    if host is not None and host not in wanted.hosts:
        raise click.BadParameter(f"no host {host!r} in the spec", param_hint="--host")
    # systemd-networkd reads its files as a user of its own.
    write = write_whole if FORMATS[form].is_private else write_result
    names = [host] if host else list(wanted.hosts)
    # All of them, before the first is written.
    for name, result in list(export_hosts(wanted, FORMATS[form], names)):
        for path, text in result.files.items():
            if out is None:
                echo(f"# ==> {name}/{path} <==\n{text}", nl=False)
            else:
                make_folder(out / name)
                write(out / name / path, text)
                echo(f"written: {out / name / path}")
        _list(name, result, form)


def _list(name: str, result: Exported, form: str) -> None:
    """Say on standard error what is in none of the files, and what they count on."""
    for note in result.notes:
        echo(f"{name}: {note}", err=True)
    if result.unsaid:
        echo(f"{name}: {form} cannot say:", err=True)
    for line in result.unsaid:
        echo(f"  {line}", err=True)
