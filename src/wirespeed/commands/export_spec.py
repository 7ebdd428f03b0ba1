"""`wirespeed export-spec`: a spec as the files of another tool."""

from collections.abc import Callable, Mapping
from pathlib import Path

import click

from wirespeed.commands.described import Described
from wirespeed.formats.ansible import NAME as ANSIBLE
from wirespeed.formats.ansible import ansible_files
from wirespeed.formats.every import FORMATS
from wirespeed.formats.form import Exported
from wirespeed.host.files import make_folder, write_result, write_whole
from wirespeed.runs.export_spec import export_hosts, spec_data_of
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
    type=click.Choice([*FORMATS, ANSIBLE]),
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
    """Write a spec as files of netplan, networkd, nmstate, sriov-operator or Ansible.

    The top of each file, and standard error, list what the format cannot express. The formats can
    express the approaches none and legacy-vlan, and sriov-operator also ovs-tc; wirespeed reads the
    hosts for the names of their ports. Ansible's inventory and playbook contain the whole spec, of
    any approach, and no host is read for them.
    """
    if form == ANSIBLE:
        if host is not None:
            raise click.BadParameter("ansible's files are of all hosts", param_hint="--host")
        _write(out, ansible_files(spec_data_of(spec)), write_result)
        return
    wanted = read_spec(spec)
    if host is not None and host not in wanted.hosts:
        raise click.BadParameter(f"no host {host!r} in the spec", param_hint="--host")
    # systemd-networkd reads its files as a user of its own.
    write = write_whole if FORMATS[form].is_private else write_result
    names = [host] if host else list(wanted.hosts)
    # All of them, before the first is written.
    for name, result in list(export_hosts(wanted, FORMATS[form], names)):
        files = {f"{name}/{path}": text for path, text in result.files.items()}
        _write(out, files, write)
        _list(name, result, form)


def _write(
    out: Path | None, files: Mapping[str, str], write: Callable[[Path, str], object]
) -> None:
    """Write files below `out`, or print them."""
    for path, text in files.items():
        if out is None:
            echo(f"# ==> {path} <==\n{text}", nl=False)
        else:
            make_folder((out / path).parent)
            write(out / path, text)
            echo(f"written: {out / path}")


def _list(name: str, result: Exported, form: str) -> None:
    """Say on standard error what is in none of the files, and what they count on."""
    for note in result.notes:
        echo(f"{name}: {note}", err=True)
    if result.unsaid:
        echo(f"{name}: {form} cannot say:", err=True)
    for line in result.unsaid:
        echo(f"  {line}", err=True)
