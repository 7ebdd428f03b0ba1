"""Hosts of an inventory, read by ansible-core's own Python: INI, YAML, scripts and plugins.

Nothing of the format is known here. Variables are those that a play would see: of groups and hosts,
of `group_vars` and `host_vars` beside the inventory, with templates filled in.

    ansible_connection: local       this machine
    ansible_host, _port, _user      ssh://USER@HOST:PORT; what else SSH needs is in ~/.ssh/config
    ansible_connection: winrm       winrm://USER@HOST:PORT; `psrp` too
    wirespeed_reach                 any address that `wirespeed doctor` takes, instead of these
"""

import contextlib
import io
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from wirespeed.host.extras import how_to_add
from wirespeed.model.error import InputError
from wirespeed.model.shown import shown

R = TypeVar("R")
REACH = "wirespeed_reach"
LABELS = ("role", "rack", "switch", "row", "pod", "room", "site")
"""Variables that say where a host is and what it is for."""
OF_A_HOST = (
    "ansible_facts", "group_names", "inventory_dir", "inventory_file", "inventory_hostname",
    "inventory_hostname_short",
)  # fmt: skip
"""Variables that Ansible gives each host itself."""
WITHIN = ("all", "ungrouped")
"""Groups that every inventory has."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A host of an inventory."""

    name: str
    reach: str
    groups: tuple[str, ...]
    variables: Mapping[str, str | int | float | bool]
    """Those that are plain: text, numbers, yes or no. No password is among them."""


@dataclass(frozen=True, slots=True)
class Detailed:
    """A host of an inventory, with some of its variables whole."""

    name: str
    variables: Mapping[str, Any]
    others: tuple[str, ...]
    """Names of all its other variables but those of its connection."""


def read_inventory(sources: Sequence[str], limit: str | None = None) -> list[Listed]:
    """Give the hosts in the inventory's order; `limit` is a pattern, as Ansible's own --limit.

    Raises InputError `inventory.*`; `fleet.library` without ansible-core.
    """
    return _read(sources, limit, lambda host, found, _, template: _listed(host, found, template))


def read_variables(sources: Sequence[str], names: Sequence[str]) -> list[Detailed]:
    """Give the hosts in the inventory's order, each with those of the named variables it has.

    Raises what `read_inventory` does.
    """

    def detailed(
        host: Any, found: Mapping[str, Any], given: Mapping[str, Any],
        template: Callable[[Any], Any],
    ) -> Detailed:  # fmt: skip
        has = {name: _whole(template(found[name])) for name in names if name in found}
        known = {*names, *given, *_CONNECTION, *OF_A_HOST, REACH}
        return Detailed(str(host.name), has, tuple(sorted(map(str, set(found) - known))))

    return _read(sources, None, detailed)


def _read(
    sources: Sequence[str],
    limit: str | None,
    read: Callable[[Any, Mapping[str, Any], Mapping[str, Any], Callable[[Any], Any]], R],
) -> list[R]:
    """Read each host: `read` gets it, its variables, those of any play, and what fills them in."""
    for source in sources:
        if not source.endswith(",") and not Path(source).exists():
            raise _invalid("inventory.unreadable", source, "there is no such file or folder")
    # A source that cannot be read ends it; else Ansible goes on with what is left.
    os.environ.setdefault("ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED", "True")
    where = ", ".join(sources)
    try:
        from ansible.errors import AnsibleError
        from ansible.inventory.manager import InventoryManager
        from ansible.parsing.dataloader import DataLoader
        from ansible.template import Templar
        from ansible.vars.manager import VariableManager
    except ImportError as error:
        raise missing_library("ansible-core", str(error)) from None
    # What it warns of goes to standard error by itself: what counts is in its exceptions.
    with contextlib.redirect_stderr(io.StringIO()), _quiet():
        try:
            loader = DataLoader()
            inventory = InventoryManager(loader=loader, sources=list(sources))
            if limit is not None:
                inventory.subset(limit)
            hosts = inventory.get_hosts()
            variables = VariableManager(loader=loader, inventory=inventory)

            given = variables.get_vars(include_hostvars=False)

            def one(host: Any) -> R:
                found = variables.get_vars(host=host, include_hostvars=False)
                template = Templar(loader=loader, variables=found).template
                return read(host, found, given, template)

            found = [one(host) for host in hosts]
        except AnsibleError as error:
            raise _invalid("inventory.unreadable", where, str(error)) from None
    if not found:
        said = "it has no host" if limit is None else f"no host matches --limit {limit}"
        raise _invalid("inventory.empty", where, said)
    return found


def missing_library(name: str, found: str) -> InputError:
    """Say which extra brings a library."""
    return InputError(
        "fleet.library",
        where=name,
        found=shown(found, 200),
        so="the fleet commands need Ansible's inventory and a database",
        next=how_to_add("fleet"),
    )


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    from ansible.utils.display import Display

    display = Display()
    display.__dict__["display"] = lambda *_args, **_more: None
    try:
        yield
    finally:
        del display.__dict__["display"]


def _listed(host: Any, found: Mapping[str, Any], template: Callable[[Any], Any]) -> Listed:
    plain: dict[str, str | int | float | bool] = {}
    for name, value in found.items():
        if name.startswith("ansible_") and name not in _CONNECTION:
            continue
        if any(word in name.lower() for word in ("pass", "secret", "token", "vault")):
            continue
        if isinstance(value, str | int | float | bool):
            plain[str(name)] = _plain(template(value))
    name = str(host.name)
    groups = tuple(sorted(str(g.name) for g in host.get_groups() if g.name not in WITHIN))
    return Listed(name, _reach(name, plain), groups, plain)


_CONNECTION = ("ansible_connection", "ansible_host", "ansible_port", "ansible_user")


def _whole(value: Any) -> Any:
    """Give Ansible's tagged values as Python's own, with all that is in them."""
    if isinstance(value, Mapping):
        return {str(name): _whole(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_whole(one) for one in value]
    return None if value is None else _plain(value)


def _plain(value: Any) -> str | int | float | bool:
    """Give Ansible's tagged values as Python's own."""
    for kind in (bool, int, float):
        if isinstance(value, kind):
            return kind(value)
    return str(value)


def _reach(name: str, variables: Mapping[str, object]) -> str:
    if REACH in variables:
        return str(variables[REACH])
    connection = str(variables.get("ansible_connection", "ssh"))
    if connection == "local":
        return "here"
    scheme = "winrm" if connection in ("winrm", "psrp") else "ssh"
    user, port = variables.get("ansible_user", ""), variables.get("ansible_port", "")
    host = str(variables.get("ansible_host", name))
    host = f"[{host}]" if ":" in host else host
    return f"{scheme}://{f'{user}@' if user else ''}{host}{f':{port}' if port else ''}"


def _invalid(what: str, where: str, found: str) -> InputError:
    return InputError(
        what,
        where=where,
        found=shown(found, 300),
        next="run `ansible-inventory --list -i FILE` to see how Ansible reads it",
    )
