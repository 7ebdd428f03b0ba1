"""The spec of each host of a fleet: one template for all, or a file for each.

A template is filled in by Jinja2, as Ansible's own are, with the host's plain variables and:

    inventory_hostname    its name in the inventory
    reach                 how it is reached
"""

import json
import sys
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from wirespeed.apply.spec_file import parse_spec
from wirespeed.apply.spec_yaml import MAX_BYTES
from wirespeed.fleet.records import InventoryHost
from wirespeed.host.files import is_file, is_folder, read_limited_text
from wirespeed.host.local import LocalRunner
from wirespeed.model.error import InputError, MeasurementError
from wirespeed.model.json_value import read_json
from wirespeed.model.shown import shown

FILL_S, A_SECOND, FILL_BYTES = 5.0, 100, 1 << 30
"""Time to start and fill in one; hosts a second beside it; address space, most of it Python's."""
ENDINGS = (".yaml", ".yml")


def specs_of(source: Path, hosts: Sequence[InventoryHost]) -> dict[str, str]:
    """Give each host's spec as text, filled in and checked.

    `source`: a file for all, or a folder with NAME.yaml for each. Raises InputError `spec.*`.
    """
    paths = [_file_of(source, host.name) for host in hosts]
    found = {}
    for host, path, filled in zip(hosts, paths, _filled_in(hosts, paths), strict=True):
        where = f"{path}, for {shown(host.name, 60)}"
        if "text" not in filled:
            raise InputError(
                "spec.template",
                where=where,
                found=shown(filled["error"], 200),
                next="set the variable for the host or its group in the inventory",
            )
        spec = parse_spec(filled["text"], where)
        if len(spec.hosts) != 1:
            raise InputError(
                "spec.several_hosts",
                where=where,
                found=f"it has {len(spec.hosts)} hosts; a fleet spec describes one host",
                next="one host in the spec: {{ inventory_hostname }}: {reach: '{{ reach }}', …}",
            )
        found[host.name] = filled["text"]
    return found


def _filled_in(hosts: Sequence[InventoryHost], paths: Sequence[Path]) -> list[dict[str, str]]:
    """Fill in all templates in one process of their own. Raises InputError `spec.template`."""
    texts = {path: read_limited_text(path, MAX_BYTES) for path in dict.fromkeys(paths)}
    jobs = [
        {
            "template": texts[path],
            "unfilled": host.templates,
            "variables": {
                **host.variables,
                "inventory_hostname": host.name,
                "reach": host.reach,
            },
        }
        for host, path in zip(hosts, paths, strict=True)
    ]
    asked = json.dumps({"path": sys.path, "bytes": FILL_BYTES, "jobs": jobs}, default=str)
    program = files("wirespeed.host").joinpath("guest_fill_templates.py").read_text()
    argv = (sys.executable, "-I", "-S", "-c", program)
    try:
        done = LocalRunner().run(argv, stdin=asked, timeout_s=FILL_S + len(jobs) / A_SECOND)
        if done.returncode == 0 and not done.cut:
            return list(read_json(done.output))
        found = shown(done.errors.strip().rpartition("\n")[2], 200) or "it prints too much"
    except MeasurementError as error:
        found = error.found
    raise InputError(
        "spec.template",
        where=", ".join(map(str, texts)),
        found=f"the template did not come to an end: {found}",
        so="no host has a spec",
        next="give a template without a loop within a loop",
    )


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
