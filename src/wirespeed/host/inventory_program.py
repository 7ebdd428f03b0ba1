"""Ansible's own `ansible-inventory`, run as a program: what it prints is data.

It gets its settings from us alone: no `ansible.cfg` and no variable `ANSIBLE_…`, `PYTHON…` or any
other of the environment, no file of the working directory, which is a private folder of ours. Only
formats that are data are read, unless the user allows code.
"""

import os
import re
import shlex
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wirespeed.host.extras import how_to_add
from wirespeed.host.files import write_exact
from wirespeed.host.folder import PrivateFolder
from wirespeed.host.local import LocalRunner
from wirespeed.host.runner import MAX_OUTPUT_BYTES, Completed
from wirespeed.model.error import InputError, MeasurementError
from wirespeed.model.json_value import read_json
from wirespeed.model.shown import shown

LONGEST_S = 300.0
"""10,000 hosts take 15 s."""
MAX_MEMORY_BYTES = 2 << 30
"""10,000 hosts take 0.4 GB."""
MAX_SOURCE_BYTES = 4 << 20
"""Of all files together; 10,000 hosts with a line each have 0.5 MB."""
OPTION = "--allow-inventory-code"
NO_CODE = ("host_list", "yaml", "ini", "toml")
WITH_CODE = ("host_list", "script", "auto", "yaml", "ini", "toml")
"""Ansible's own plugins, in its own order: `script` runs a file, `auto` the plugin that one names.
"""
SETTINGS = """\
[defaults]
{home}
local_tmp = {folder}
[inventory]
enable_plugins = {plugins}
any_unparsed_is_failed = True
"""
PROGRAM = """\
import json, runpy, sys
dumps = json.dumps
json.dumps = lambda *values, **how: dumps(*values, **{**how, "sort_keys": False})
sys.argv[0] = "ansible-inventory"
runpy.run_module("ansible.cli.inventory", run_name="__main__")
"""
"""The program itself, but that the names in its JSON stay in the order of the inventory: addresses
of hosts and guests go by their places in a spec."""
NOT_INSTALLED = "No module named 'ansible"
OF_A_PLUGIN = "Plugin configuration YAML file, not YAML inventory"
"""What Ansible's plugin `yaml` says of a file that names another plugin."""
NO_HOST = "leaves us with no hosts"
"""What it says of a limit that matches none (`ansible.cli`, `get_host_list`)."""
ERROR = re.compile(r"^(?:\[ERROR\]|ERROR!?):?\s*", re.MULTILINE)
RUN_BY_THE_KERNEL = (b"#!", b"\x7fELF")
NOT_READ = re.compile(
    r"^\.|^(?:host_vars|group_vars|vars_plugins)$"
    r"|(?:~|\.pyc|\.pyo|\.swp|\.bak|\.rpm|\.md|\.txt|\.rst|\.orig|\.cfg|\.retry)$"
)
"""What Ansible leaves out of a folder (INVENTORY_IGNORE_EXTS)."""
WITHIN = ("all", "ungrouped")
"""Groups that every inventory has."""


class Literal(str):
    """Text that is no template, whatever stands in it (`!unsafe`)."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Entry:
    """A host as the inventory has it, its variables with templates as they stand."""

    name: str
    groups: tuple[str, ...]
    """Sorted, with those that contain them."""
    variables: Mapping[str, Any]


def listed_hosts(sources: Sequence[str], limit: str | None, *, allow_code: bool) -> list[Entry]:
    """Give the hosts in the inventory's order.

    Raises InputError `inventory.*`; `fleet.library` without ansible-core.
    """
    for source in sources:
        if not source.endswith(",") and not _is_there(source):
            raise unreadable(sources, f"there is no such file or folder: {source}")
    if not allow_code:
        _refuse_programs(sources)
    _refuse_long(sources)
    done = _run(sources, limit, allow_code=allow_code)
    if done.cut:
        raise unreadable(sources, f"it is more than {MAX_OUTPUT_BYTES >> 20} MiB")
    if done.returncode != 0:
        raise _failure(sources, limit, done.errors)
    try:
        found = list(_entries(read_json(done.output, object_hook=_untagged)))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        said = f"{type(error).__name__}: {error}"
        raise unreadable(sources, f"ansible-inventory printed another JSON: {said}") from None
    if not found:
        raise _empty(sources, limit)
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


def unreadable(sources: Sequence[str], found: str) -> InputError:
    """Give the error of an inventory that Ansible does not read."""
    return InputError(
        "inventory.unreadable",
        where=shown(", ".join(sources)),
        found=shown(found, 300),
        next=f"run `{_by_hand(sources)}` to see how Ansible reads it",
    )


def _by_hand(sources: Sequence[str]) -> str:
    # In a folder whose `ansible.cfg`, if it has one, is root's.
    words = [word for source in _absolute(sources) for word in ("-i", source)]
    return f"cd / && {shlex.join(['ansible-inventory', '--list', *words])}"


def _refuse_programs(sources: Sequence[str]) -> None:
    """Raise InputError `inventory.program` for a file that Ansible would run."""
    for source in filter(_is_there, sources):
        for path in _files(Path(source)):
            if _is_program(path):
                raise InputError(
                    "inventory.program",
                    where=shown(str(path)),
                    found="it is a program: Ansible would run it, and read what it prints",
                    so="nothing of it was run, and no host was read",
                    next=_what_next([str(path)]),
                )


def _refuse_long(sources: Sequence[str]) -> None:
    """Raise InputError `file.too_large`: Ansible takes 13 s for a megabyte of YAML."""
    paths = [path for source in filter(_is_there, sources) for path in _files(Path(source))]
    size_bytes = sum(path.stat().st_size for path in paths if path.is_file())
    if size_bytes > MAX_SOURCE_BYTES:
        raise InputError(
            "file.too_large",
            where=shown(", ".join(sources)),
            found=f"more than {MAX_SOURCE_BYTES >> 20} MiB of inventory",
            so="wirespeed does not have it read",
            next="give the part of the inventory that is about these hosts",
        )


def _what_next(sources: Sequence[str]) -> str:
    keep = f"{_by_hand(sources)} --yaml --output ~/hosts.yaml"
    return (
        f"if you trust it, save what it gives with `{keep}`, and give that file; or add {OPTION}: "
        "wirespeed then runs it here, as your user"
    )


def _is_there(source: str) -> bool:
    """Tell whether it is a path; a list of many hosts is longer than a name may be."""
    try:
        return Path(source).exists()
    except OSError:
        return False


def _files(source: Path) -> Iterator[Path]:
    if not source.is_dir():
        yield source
    for folder, folders, names in os.walk(source):
        folders[:] = sorted(name for name in folders if not NOT_READ.search(name))
        yield from (Path(folder, name) for name in sorted(names) if not NOT_READ.search(name))


def _is_program(path: Path) -> bool:
    try:
        if not stat.S_ISREG(path.stat().st_mode) or not os.access(path, os.X_OK):
            return False
        with path.open("rb") as file:
            return file.read(4).startswith(RUN_BY_THE_KERNEL)
    except OSError:
        return False


def _run(sources: Sequence[str], limit: str | None, *, allow_code: bool) -> Completed:
    with PrivateFolder.create() as folder:
        home = "" if allow_code else f"home = {folder.path}"
        plugins = [f"ansible.builtin.{name}" for name in (WITH_CODE if allow_code else NO_CODE)]
        settings = folder.path / "ansible.cfg"
        write_exact(
            settings, SETTINGS.format(home=home, folder=folder.path, plugins=",".join(plugins))
        )
        argv = [
            "env", *_environment(settings, allow_code=allow_code),
            *([] if allow_code else ["prlimit", f"--as={MAX_MEMORY_BYTES}"]),
            sys.executable, "-E", "-P", "-c", PROGRAM,
            "--list", *(f"--inventory={one}" for one in _absolute(sources)),
            *([] if limit is None else [f"--limit={_absolute_files(limit)}"]),
        ]  # fmt: skip
        try:
            return LocalRunner(str(folder.path)).run(argv, timeout_s=LONGEST_S)
        except MeasurementError:
            raise unreadable(sources, f"it was not read within {LONGEST_S:g} s") from None


def _environment(settings: Path, *, allow_code: bool) -> list[str]:
    """Give the words for `env`: nothing of ours is handed on but what finds programs and libraries.

    A program or a plugin that the user allows gets all but Ansible's: it has credentials there.
    """
    ours = [f"ANSIBLE_CONFIG={settings}", "LC_ALL=C.UTF-8"]
    if allow_code:
        names = (name for name in os.environ if name.startswith("ANSIBLE_"))
        return [*(f"--unset={name}" for name in names), *ours]
    kept = (f"{name}={os.environ[name]}" for name in ("PATH", "HOME") if name in os.environ)
    return ["--ignore-environment", *kept, *ours]


def _absolute(sources: Sequence[str]) -> list[str]:
    return [str(Path(one).absolute()) if _is_there(one) else one for one in sources]


def _absolute_files(limit: str) -> str:
    """Let `@FILE` in a limit be the same file from another working directory."""

    def absolute(match: re.Match[str]) -> str:
        return f"{match[1]}@{Path(match[2]).absolute()}"

    return re.sub(r"(^|[,:])@([^,:]+)", absolute, limit)


def _failure(sources: Sequence[str], limit: str | None, errors: str) -> InputError:
    if NOT_INSTALLED in errors:
        return missing_library("ansible-core", errors.strip().splitlines()[-1])
    # Ansible before 2.19 breaks its lines where a terminal of 80 columns ends.
    flat = " ".join(errors.split())
    if limit is not None and NO_HOST in flat:
        return _empty(sources, limit)
    if OF_A_PLUGIN in flat:
        return InputError(
            "inventory.plugin",
            where=shown(", ".join(sources)),
            found="a file of it names a plugin: Ansible would run that, and read what it gives",
            so="nothing of it was run, and no host was read",
            next=_what_next(sources),
        )
    said = ERROR.split(errors)[-1].strip() or errors.strip() or "ansible-inventory said nothing"
    return unreadable(sources, " ".join(said.split()))


def _empty(sources: Sequence[str], limit: str | None) -> InputError:
    error = unreadable(
        sources, "it has no host" if limit is None else f"no host matches --limit {limit}"
    )
    error.what = "inventory.empty"
    return error


def _untagged(data: dict[str, Any]) -> Any:
    unsafe = data.get("__ansible_unsafe")
    return Literal(unsafe) if isinstance(unsafe, str) and len(data) == 1 else data


def _entries(data: dict[str, Any]) -> Iterator[Entry]:
    """Give the hosts by what `--list` prints: a group each, and `_meta` with variables."""
    variables = data["_meta"]["hostvars"]
    if "all" not in data:
        return
    if next(iter(data)) != "all":
        raise ValueError("its names are in another order than those of the inventory")
    within: dict[str, set[str]] = {}
    hosts: dict[str, set[str]] = {}
    order = ["all"]
    for group in order:
        children = data.get(group, {}).get("children", ())
        order += [child for child in children if child not in within]
        for child in children:
            within.setdefault(child, set()).add(group)
    for group in order:
        for host in data.get(group, {}).get("hosts", ()):
            hosts.setdefault(host, set()).update(_and_above(group, within))
    for name, groups in hosts.items():
        yield Entry(name, tuple(sorted(groups.difference(WITHIN))), variables.get(name, {}))


def _and_above(group: str, within: Mapping[str, set[str]]) -> set[str]:
    found, rest = set[str](), [group]
    while rest:
        one = rest.pop()
        if one not in found:
            found.add(one)
            rest += within.get(one, ())
    return found
