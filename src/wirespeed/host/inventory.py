"""Hosts of an inventory: how each is reached, and what the inventory says of it.

Nothing of the format is known here: `inventory_program` has Ansible read it. Variables are those of
groups and hosts, and of `group_vars` and `host_vars` beside the inventory. A template in them is
filled in where it needs no code (`inventory_templates`).

    ansible_connection: local       this machine
    ansible_host, _port, _user      ssh://USER@HOST:PORT; what else SSH needs is in ~/.ssh/config
    ansible_connection: winrm       winrm://USER@HOST:PORT; `psrp` too
    wirespeed_reach                 any address that `wirespeed doctor` takes, instead of these
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wirespeed.host.inventory_program import Entry, listed_hosts
from wirespeed.host.inventory_templates import Plain, Templates, UnfilledError
from wirespeed.model.error import InputError
from wirespeed.model.shown import shown

REACH = "wirespeed_reach"
LABELS = ("role", "rack", "switch", "row", "pod", "room", "site")
"""Variables that say where a host is and what it is for."""
_CONNECTION = ("ansible_connection", "ansible_host", "ansible_port", "ansible_user")


@dataclass(frozen=True, slots=True)
class Listed:
    """A host of an inventory."""

    name: str
    reach: str
    groups: tuple[str, ...]
    variables: Mapping[str, Plain]
    """Those that are plain: text, numbers, yes or no. No password is among them."""
    templates: Mapping[str, str]
    """Of those, the ones that Ansible alone could fill in: the template, and why."""


@dataclass(frozen=True, slots=True)
class Detailed:
    """A host of an inventory, with some of its variables whole."""

    name: str
    variables: Mapping[str, Any]
    others: tuple[str, ...]
    """Names of all its other variables but those of its connection."""


def read_inventory(
    sources: Sequence[str], limit: str | None = None, *, allow_code: bool = False
) -> list[Listed]:
    """Give the hosts in the inventory's order; `limit` is a pattern, as Ansible's own --limit.

    `allow_code`: run a program or a plugin that the inventory is. Raises InputError `inventory.*`;
    `fleet.library` without ansible-core.
    """
    return [_listed(one) for one in listed_hosts(sources, limit, allow_code=allow_code)]


def read_variables(
    sources: Sequence[str], names: Sequence[str], *, allow_code: bool = False
) -> list[Detailed]:
    """Give the hosts in the inventory's order, each with those of the named variables it has.

    Raises what `read_inventory` does.
    """
    found = []
    for one in listed_hosts(sources, None, allow_code=allow_code):
        templates = Templates(_all_of(one))
        has = {
            name: _whole(templates, one.name, name, one.variables[name])
            for name in names
            if name in one.variables
        }
        others = set(one.variables) - {*names, *_CONNECTION, REACH}
        found.append(Detailed(one.name, has, tuple(sorted(others))))
    return found


def template_error(host: str, name: str, found: str) -> InputError:
    """Give the error of a variable that is needed, and that Ansible alone could fill in."""
    return InputError(
        "inventory.template",
        where=shown(f"{host}: {name}"),
        found=found,
        so="wirespeed runs nothing of an inventory, so the value is not known",
        next=f"write the value of {shown(name, 60)} for this host into the inventory",
    )


def _listed(host: Entry) -> Listed:
    templates = Templates(_all_of(host))
    plain: dict[str, Plain] = {}
    unfilled: dict[str, str] = {}
    for name, value in _all_of(host).items():
        if name.startswith("ansible_") and name not in _CONNECTION:
            continue
        if any(word in name.lower() for word in ("pass", "secret", "token", "vault")):
            continue
        if isinstance(value, str | int | float | bool):
            try:
                plain[name] = templates.variable(name)
            except UnfilledError as error:
                unfilled[name] = _found(value, error)
    return Listed(host.name, _reach(host.name, plain, unfilled), host.groups, plain, unfilled)


def _all_of(host: Entry) -> dict[str, Any]:
    """Give its variables, with those that Ansible gives each host itself."""
    short = host.name.split(".", maxsplit=1)[0]
    own = {"inventory_hostname": host.name, "inventory_hostname_short": short}
    return {**host.variables, **own}


def _found(value: object, error: UnfilledError) -> str:
    return f"{shown(str(value), 120)}: {shown(str(error), 160)}"


def _whole(templates: Templates, host: str, name: str, value: Any) -> Any:
    """Give a variable with all that is in it. Raises InputError `inventory.template`."""
    if isinstance(value, dict):
        return {key: _whole(templates, host, f"{name}.{key}", of) for key, of in value.items()}
    if isinstance(value, list):
        return [_whole(templates, host, name, one) for one in value]
    if not isinstance(value, str):
        return value
    try:
        return templates.fill(value)
    except UnfilledError as error:
        raise template_error(host, name, _found(value, error)) from None


def _reach(name: str, variables: Mapping[str, Plain], unfilled: Mapping[str, str]) -> str:
    def of(variable: str, usual: str) -> str:
        if variable in unfilled:
            raise template_error(name, variable, unfilled[variable])
        return str(variables.get(variable, usual))

    if reach := of(REACH, ""):
        return reach
    connection = of("ansible_connection", "ssh")
    if connection == "local":
        return "here"
    scheme = "winrm" if connection in ("winrm", "psrp") else "ssh"
    user, port, host = of("ansible_user", ""), of("ansible_port", ""), of("ansible_host", name)
    host = f"[{host}]" if ":" in host else host
    return f"{scheme}://{f'{user}@' if user else ''}{host}{f':{port}' if port else ''}"
