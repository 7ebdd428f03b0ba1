"""Ansible: an inventory that has a whole spec as variables, and a playbook that applies it.

Unlike the other formats it is about all hosts of a spec together, and it says all of it: what the
playbook calls is the collection wirespeed.wirespeed, which runs `wirespeed apply`.

    wirespeed_spec      of the group: the spec, but for its hosts
    wirespeed_host      of each host: what the spec says of it
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Never

from wirespeed.formats.form import yaml_text
from wirespeed.model.error import InputError
from wirespeed.model.shown import shown

NAME = "ansible"
GROUP = "wirespeed"
SPEC, HOST, REACH = "wirespeed_spec", "wirespeed_host", "wirespeed_reach"
INVENTORY, PLAYBOOK = "hosts.yaml", "apply.yaml"
BY_SSH = re.compile(r"ssh://(?:([^@/]+)@)?(\[[^]]+\]|[^:/@\[]+)(?::(\d+))?")
TEMPLATE = re.compile(r"\{[{%#]")
HEAD = f"""\
# Made by `wirespeed export-spec`, as ansible. It says the whole spec, of all its hosts.
# Where ansible-playbook runs, it needs wirespeed and its collection (wirespeed.wirespeed):
# ansible-playbook -i {INVENTORY} {PLAYBOOK} --check --diff    the plan, and what differs
# ansible-playbook -i {INVENTORY} {PLAYBOOK}                   do it
"""
PLAYS = f"""\
---
- name: Ports and guests are as their spec says
  hosts: {GROUP}
  gather_facts: false
  any_errors_fatal: true
  vars:
    names: "{{{{ groups['{GROUP}'] }}}}"
    hosts_of_spec: "{{{{ dict(names | zip(names | map('extract', hostvars, '{HOST}'))) }}}}"
    spec_file: "{{{{ playbook_dir }}}}/spec.json"
  tasks:
    - name: Every host of the spec is in the play
      ansible.builtin.assert:
        that: ansible_play_hosts_all | sort == names | sort
        fail_msg: The addresses of a spec go by the places of its hosts. Run it without --limit.
      run_once: true

    - name: The spec, from the inventory
      ansible.builtin.copy:
        content: "{{{{ {SPEC} | combine({{'hosts': hosts_of_spec}}) | to_json }}}}"
        dest: "{{{{ spec_file }}}}"
        mode: "0600"
      delegate_to: localhost
      run_once: true
      check_mode: false
      diff: false
      changed_when: false

    - name: The hosts are as the spec says
      wirespeed.wirespeed.apply:
        spec: "{{{{ spec_file }}}}"
        program: "{{{{ program | default('wirespeed') }}}}"
      delegate_to: localhost
      run_once: true
"""
"""The order of hosts and guests counts: `to_json` keeps it."""


@dataclass(frozen=True, slots=True)
class AnsibleHost:
    """A host of an inventory, as Ansible reads it."""

    name: str
    variables: Mapping[str, Any]
    """Of those that are named here: the ones that it has, with templates filled in."""
    others: Sequence[str] = field(default=())
    """Names of all others."""


def ansible_files(data: Mapping[str, Any]) -> dict[str, str]:
    """Give inventory and playbook of a spec's data.

    Raises InputError `formats.template` for text that Ansible would fill in.
    """
    for place, text in _texts("", data):
        if TEMPLATE.search(text):
            raise InputError(
                "formats.template",
                where=shown(place),
                found=shown(text, 120),
                so="Ansible would take it for a template, and give the hosts another text",
                next="take {{, {% and {# out of it, or use wirespeed apply",
            )
    hosts = {
        name: {**_connection(str(of["reach"])), HOST: of} for name, of in data["hosts"].items()
    }
    rest = {name: value for name, value in data.items() if name != "hosts"}
    group = {"vars": {SPEC: rest}, "hosts": hosts}
    inventory = yaml_text({"all": {"children": {GROUP: group}}})
    return {INVENTORY: f"{HEAD}\n{inventory}", PLAYBOOK: f"{HEAD}\n{PLAYS}"}


def ansible_spec(
    hosts: Sequence[AnsibleHost], reached: Mapping[str, str]
) -> tuple[dict[str, Any], list[str]]:
    """Give the data of the spec that an inventory has, and what of the inventory is not in it.

    `reached`: where some of the hosts are, in place of what the inventory says. Raises InputError
    `formats.invalid`, `formats.says_nothing`.
    """
    unsaid: list[str] = []
    ours = [one for one in hosts if {SPEC, HOST} <= one.variables.keys()]
    for one in hosts:
        if one not in ours:
            lacks = ", ".join(sorted({SPEC, HOST} - one.variables.keys()))
            unsaid.append(f"{one.name}: all of it, as it has no variable {lacks}")
        unsaid += [f"{one.name}: variable {shown(name)}" for name in one.others if one in ours]
    if not ours:
        raise InputError(
            "formats.says_nothing",
            where=", ".join(one.name for one in hosts[:10]),
            found=f"no host has the variables {SPEC} and {HOST}",
            so="no spec was made",
            next="give an inventory as `wirespeed export-spec --as ansible` writes it",
        )
    rest = ours[0].variables[SPEC]
    found: dict[str, Any] = {}
    for one in ours:
        if one.variables[SPEC] != rest:
            _refuse(one.name, SPEC, f"another one than that of {ours[0].name}", "one for all hosts")
        of = one.variables[HOST]
        if not isinstance(of, dict):
            _refuse(one.name, HOST, of, "fields")
        found[one.name] = of | ({"reach": reached[one.name]} if one.name in reached else {})
    if unknown := sorted(set(reached) - set(found)):
        _refuse(", ".join(unknown), HOST, "no such host", f"one of {', '.join(found)}")
    if not isinstance(rest, dict) or "hosts" in rest:
        _refuse(ours[0].name, SPEC, rest, "fields of a spec, without `hosts`")
    return {"hosts": found, **rest}, unsaid


def _refuse(host: str, name: str, found: object, expected: str) -> Never:
    raise InputError(
        "formats.invalid",
        where=shown(host),
        found=f"{name}: found {shown(str(found), 120)}; expected {expected}",
        so="no spec was made",
        next="correct the inventory",
    )


def _connection(reach: str) -> dict[str, Any]:
    """Give what other modules of Ansible, and `wirespeed fleet`, reach the host by."""
    match = BY_SSH.fullmatch(reach)
    if reach == "here":
        return {"ansible_connection": "local"}
    if match is None:
        return {REACH: reach}
    user, host, port = match.groups()
    named = {"ansible_host": host.strip("[]"), "ansible_user": user, "ansible_port": port}
    return {name: int(v) if name == "ansible_port" else v for name, v in named.items() if v}


def _texts(place: str, data: object) -> Iterator[tuple[str, str]]:
    if isinstance(data, str):
        yield place, data
    elif isinstance(data, dict):
        for name, value in data.items():
            yield from _texts(f"{place}.{name}".lstrip("."), value)
    elif isinstance(data, list):
        for one in data:
            yield from _texts(place, one)
