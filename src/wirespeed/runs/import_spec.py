"""Files of another tool as a spec: read, laid on the ports of hosts, and held against the spec."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from wirespeed.apply.spec_file import parse_spec
from wirespeed.apply.spec_yaml import MAX_BYTES, load_every_yaml
from wirespeed.facts.ports import Ports
from wirespeed.formats import ansible
from wirespeed.formats.every import READERS, Reader
from wirespeed.formats.form import comment, yaml_text
from wirespeed.formats.found import Found, Source
from wirespeed.formats.spec_of import compared, spec_data
from wirespeed.host.files import read_limited_text
from wirespeed.host.inventory import read_variables
from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.port import PortKind
from wirespeed.model.shown import shown
from wirespeed.runs.export_spec import wanted_of, wanted_port
from wirespeed.runs.hosts_of_spec import NO_PORT, readers_of

HEAD = "Made by `wirespeed import-spec` from files of {form}."
UNSAID = "In the files, but not in the spec, which cannot express it:"
BEYOND = "In the spec, but not in the files:"


@dataclass(frozen=True, slots=True)
class Imported:
    """A spec, and what its files and it do not both say."""

    text: str
    unsaid: tuple[str, ...]
    beyond: tuple[str, ...]
    notes: tuple[str, ...]


def import_files(
    form: str, files: Sequence[Path], reached: Mapping[str, str], subnets: Mapping[str, str],
    segments: Mapping[str, int],
) -> Imported:  # fmt: skip
    """Read the hosts, or their captures, and the files. Nothing is changed.

    Raises InputError `formats.*`, `spec.*`, and what a host cannot be reached for.
    """
    reader = READERS[form]
    sources = {name: _sources(reader, files, name, list(reached)) for name in reached}
    asked = {name: {"reach": reach, "ports": [NO_PORT]} for name, reach in reached.items()}
    with readers_of(_spec({"hosts": asked, "approach": "none"})) as (facts, _):
        founds = []
        for name in reached:
            found = Found(name, _ports(name, facts[name]), list(reached))
            reader.read(found, sources[name])
            founds.append(found)
        data = spec_data(founds, reached, facts, subnets, segments)
        spec = _spec(data)
        unsaid, beyond, notes = [], [], []
        for found in founds:
            missing, added = compared(found, wanted_of(spec, found.name, facts[found.name]))
            unsaid += [f"{found.name}: {line}" for line in missing]
            beyond += [f"{found.name}: {line}" for line in added]
            notes += [line for line in found.notes if line not in notes]
    text = _text([HEAD.format(form=form), *notes], data, unsaid, beyond)
    return Imported(text, tuple(unsaid), tuple(beyond), tuple(notes))


def import_inventory(
    files: Sequence[Path], reached: Mapping[str, str], *, allow_code: bool
) -> Imported:
    """Read the spec that an inventory of Ansible has; no host is read.

    Raises InputError `formats.*`, `spec.*`, `inventory.*`; `fleet.library` without ansible-core.
    """
    sources = [str(path) for path in files]
    found = read_variables(sources, (ansible.SPEC, ansible.HOST), allow_code=allow_code)
    hosts = [ansible.AnsibleHost(one.name, one.variables, one.others) for one in found]
    data, unsaid = ansible.ansible_spec(hosts, reached)
    _spec(data)
    head = [HEAD.format(form=ansible.NAME)]
    return Imported(_text(head, data, unsaid, []), tuple(unsaid), (), ())


def _text(head: list[str], data: dict[str, Any], unsaid: list[str], beyond: list[str]) -> str:
    for title, lines in ((UNSAID, unsaid), (BEYOND, beyond)):
        head += [title, *(f"- {line}" for line in lines)] if lines else []
    text = "".join(f"{line}\n" for one in head for line in comment(one))
    return f"{text}\n{yaml_text(data, is_plain=False)}"


def _spec(data: dict[str, Any]) -> Any:
    return parse_spec(yaml_text(data), "the spec of these files")


def _sources(
    reader: Reader, files: Sequence[Path], name: str, hosts: Sequence[str]
) -> list[Source]:
    """Give the documents that are of a host: where there are more, its files are in its folder."""
    found: list[Source] = []
    for path in files:
        if not reader.names_hosts and len(hosts) > 1:
            if path.parent.name not in hosts:
                raise InputError(
                    "formats.file_of_no_host",
                    where=shown(str(path)),
                    found=f"its folder is called {shown(path.parent.name) or 'nothing'}; the "
                    "hosts are " + ", ".join(hosts),
                    so="which host it is for is not known",
                    next="with several hosts, put the files of each host into a folder with the "
                    "host's name",
                )
            if path.parent.name != name:
                continue
        found += _documents(reader, path)
    return found


def _documents(reader: Reader, path: Path) -> list[Source]:
    text = read_limited_text(path, MAX_BYTES)
    if not reader.is_yaml:
        return [Source(str(path), text)]
    try:
        return [Source(str(path), one) for one in load_every_yaml(text) if one is not None]
    except yaml.MarkedYAMLError as error:
        line = f"line {error.problem_mark.line + 1}: " if error.problem_mark else ""
        raise _unreadable(path, f"{line}{error.problem}") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise _unreadable(path, str(error)) from None


def _unreadable(path: Path, found: str) -> InputError:
    return InputError(
        "formats.not_yaml",
        where=shown(str(path)),
        found=shown(found),
        so="no spec was made",
        next="give YAML 1.2 without tags and aliases",
    )


def _ports(name: str, host: HostFacts) -> list[Any]:
    return [
        wanted_port(name, host, port.pci_address)
        for port in host[Ports].ports
        if port.pci_address and port.netdev and port.kind is not PortKind.VIRTUAL_FUNCTION
    ]
