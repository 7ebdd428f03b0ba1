"""`wirespeed import-spec`: a spec from the files of another tool."""

from pathlib import Path

import click

from wirespeed.commands.described import Described
from wirespeed.commands.shared_options import allow_inventory_code
from wirespeed.formats.ansible import NAME as ANSIBLE
from wirespeed.formats.every import READERS
from wirespeed.runs.import_spec import Imported, import_files, import_inventory
from wirespeed.terminal import echo

FORMS = [*READERS, ANSIBLE]


@click.command(
    cls=Described,
    reads="FILES, and the hosts or their captures",
    changes="nothing; the spec is printed",
    codes={
        0: "printed; what a spec cannot express is listed",
        2: "bad input, or a host was not read",
    },
)
@click.argument("files", type=click.Path(path_type=Path), nargs=-1, required=True)
@click.option(
    "--as",
    "form",
    type=click.Choice(FORMS),
    required=True,
    help="Tool whose files they are.",
)
@click.option(
    "--host",
    "hosts",
    metavar="NAME=REACH",
    multiple=True,
    help="Name of a host, and how to read it: here, ssh://USER@HOST or a capture. Not needed for "
    "an inventory.",
)
@click.option(
    "--subnet",
    "subnets",
    metavar="NAME=SUBNET",
    multiple=True,
    help="Subnet of a network, such as underlay=192.168.9.0/24 or vlan42=192.168.10.0/24; needed "
    "if VFs have VLANs or bridges.",
)
@click.option(
    "--segment",
    "segments",
    metavar="NAME=VNI",
    multiple=True,
    help="VXLAN network identifier of a network; needed if VFs have bridges.",
)
@allow_inventory_code
def import_spec(
    files: tuple[Path, ...],
    form: str,
    hosts: tuple[str, ...],
    subnets: tuple[str, ...],
    segments: tuple[str, ...],
    allow_inventory_code: bool,
) -> None:
    """Make a spec from FILES of netplan, networkd, nmstate or sriov-operator, or an inventory.

    The top of the spec, and standard error, list what FILES contain but a spec cannot express, and
    what the spec adds. For several hosts, put each host's files into a folder with the host's name.
    An Ansible inventory must have the spec as variables, as `export-spec --as ansible` writes it.
    """
    made = imported(form, files, hosts, subnets, segments, allow_inventory_code)
    echo(made.text, nl=False)


def imported(
    form: str, files: tuple[Path, ...], hosts: tuple[str, ...], subnets: tuple[str, ...],
    segments: tuple[str, ...], allow_inventory_code: bool,
) -> Imported:  # fmt: skip
    """Read the files, and list on standard error what a spec cannot say and what it adds.

    Raises what `import_files` does, and BadParameter for what is not NAME=VALUE.
    """
    reached = _pairs("--host", hosts)
    if form == ANSIBLE:
        if subnets or segments:
            option = "--subnet" if subnets else "--segment"
            raise click.BadParameter("an inventory has all of its spec", param_hint=option)
        made = import_inventory(files, reached, allow_code=allow_inventory_code)
    else:
        if allow_inventory_code:
            raise click.BadParameter("only for ansible", param_hint="--allow-inventory-code")
        if not reached:
            raise click.BadParameter(f"{form} needs it: NAME=REACH", param_hint="--host")
        numbers = {name: _vni(name, one) for name, one in _pairs("--segment", segments).items()}
        made = import_files(form, files, reached, _pairs("--subnet", subnets), numbers)
    for note in made.notes:
        echo(note, err=True)
    for title, lines in (
        ("a spec cannot say:", made.unsaid),
        ("the spec says beyond them:", made.beyond),
    ):
        if lines:
            echo(title, err=True)
        for line in lines:
            echo(f"  {line}", err=True)
    return made


def _vni(name: str, text: str) -> int:
    if not (text.isascii() and text.isdecimal()):
        raise click.BadParameter(f"found {name}={text}; expected a number", param_hint="--segment")
    return int(text)


def _pairs(option: str, given: tuple[str, ...]) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for one in given:
        name, equals, value = one.partition("=")
        if not (name and equals and value):
            raise click.BadParameter(f"found {one!r}; expected NAME=VALUE", param_hint=option)
        if name in pairs:
            raise click.BadParameter(f"{name} is given twice", param_hint=option)
        pairs[name] = value
    return pairs
