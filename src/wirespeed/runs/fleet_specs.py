"""The spec of each host of a fleet: one template for all, or a file for each.

A template is filled in by Jinja2, as Ansible's own are, with the host's plain variables and:

    inventory_hostname    its name in the inventory
    reach                 how it is reached
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Never

from jinja2 import StrictUndefined, TemplateError, TemplateRuntimeError
from jinja2.sandbox import SandboxedEnvironment

from wirespeed.apply.spec_file import parse_spec
from wirespeed.fleet.records import InventoryHost
from wirespeed.host.files import is_file, is_folder, read_text
from wirespeed.model.error import InputError
from wirespeed.model.shown import shown

ENDINGS = (".yaml", ".yml")


def specs_of(source: Path, hosts: Sequence[InventoryHost]) -> dict[str, str]:
    """Give each host's spec as text, filled in and checked.

    `source`: a file for all, or a folder with NAME.yaml for each. Raises InputError `spec.*`.
    """
    environment = SandboxedEnvironment(undefined=StrictUndefined, keep_trailing_newline=True)
    found = {}
    for host in hosts:
        path = _file_of(source, host.name)
        try:
            text = environment.from_string(read_text(path)).render(
                {
                    **{name: _Unfilled(name, why) for name, why in host.templates.items()},
                    **host.variables,
                    "inventory_hostname": host.name,
                    "reach": host.reach,
                }
            )
        except TemplateError as error:
            raise InputError(
                "spec.template",
                where=f"{path}, for {shown(host.name, 60)}",
                found=shown(str(error), 200),
                next="set the variable for the host or its group in the inventory",
            ) from None
        spec = parse_spec(text, f"{path}, for {shown(host.name, 60)}")
        if len(spec.hosts) != 1:
            raise InputError(
                "spec.several_hosts",
                where=f"{path}, for {shown(host.name, 60)}",
                found=f"it has {len(spec.hosts)} hosts; a fleet spec describes one host",
                next="one host in the spec: {{ inventory_hostname }}: {reach: '{{ reach }}', …}",
            )
        found[host.name] = text
    return found


class _Unfilled:
    """A variable that only Ansible could fill in: an error where a spec uses it, and not before.

    Unlike an undefined one it has no default.
    """

    def __init__(self, name: str, found: str) -> None:
        self._error = f"{name} is a template that only Ansible could fill in: {found}"

    def _refuse(self, *_: object) -> Never:
        raise TemplateRuntimeError(self._error)

    __str__ = __bool__ = __int__ = __float__ = __len__ = __iter__ = __getitem__ = _refuse
    __eq__ = __hash__ = __add__ = __radd__ = _refuse


def _file_of(source: Path, name: str) -> Path:
    if not is_folder(source):
        return source
    for ending in ENDINGS:
        if "/" not in name and is_file(source / f"{name}{ending}"):
            return source / f"{name}{ending}"
    raise InputError(
        "spec.missing",
        where=str(source),
        found=f"no {shown(name, 60)}.yaml",
        next="write a spec for each host of the inventory, or select hosts with --limit",
    )
