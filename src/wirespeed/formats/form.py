"""What every format gives: files, what they say, and a comment head that lists what they do not."""

import re
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from wirespeed.formats.wanted import Key, Setting, WantedHost

COLUMNS = 96
HEAD = "Made by `wirespeed export-spec`: {host}, as {name}."
UNSAID = "Not said here, as the format cannot:"


@dataclass(frozen=True, slots=True)
class Written:
    """The files of one host."""

    files: Mapping[str, str]
    """By the name below the folder of the host; without a head."""
    said: frozenset[Setting]
    """What stands in them."""
    notes: tuple[str, ...] = ()
    """What they count on."""


@dataclass(frozen=True, slots=True)
class Format:
    """The files of one other tool."""

    name: str
    write: Callable[[WantedHost], Written]
    why: Mapping[Key, str] = field(default_factory=dict)
    """Why it cannot say a setting, where that is worth a word."""
    switches: frozenset[str] = frozenset()
    """Approaches with a switch, of which it can say more than their ports and VFs."""
    is_private: bool = False
    """Whether its tool wants files that their owner alone can read."""


@dataclass(frozen=True, slots=True)
class Exported:
    """The files of one host, with their heads, and what they do not say."""

    files: Mapping[str, str]
    unsaid: tuple[str, ...]
    notes: tuple[str, ...]


def exported(of: Format, host: WantedHost) -> Exported:
    """Write a host in a format. All that is wanted is in the files, or in `unsaid`."""
    written = of.write(host)
    unsaid = [
        one.words() + (f" ({of.why[one.key]})" if one.key in of.why else "")
        for one in host.settings
        if one not in written.said
    ]
    unsaid += host.others
    head = [HEAD.format(host=host.name, name=of.name), *written.notes]
    head += [UNSAID, *(f"- {line}" for line in unsaid)] if unsaid else []
    text = "".join(f"{line}\n" for one in head for line in comment(one))
    files = {path: f"{text}\n{body}" for path, body in written.files.items()}
    return Exported(files, tuple(unsaid), written.notes)


def comment(text: str) -> list[str]:
    """Give the lines of a comment; those of a list are indented."""
    indent = "#   " if text.startswith("- ") else "# "
    return textwrap.wrap(
        text, COLUMNS, initial_indent="# ", subsequent_indent=indent,
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip


class _Dumper(yaml.SafeDumper):
    """Puts text in quotes that is a number or a truth by YAML 1.1, or for Go and Rust programs.

    A host may be called `089`, `1e5` or `0o7`: text for PyYAML, numbers by YAML 1.2's core schema
    (YAML 1.2.2, 10.3.2), which go-yaml v2's resolve.go takes too; and `y` and `n` are truths there.
    """


for _kind, _form in (
    ("int", r"[-+]?0o[0-7]+"),
    ("bool", r"[yYnN]"),
    ("float", r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"),
):
    _Dumper.add_implicit_resolver(
        f"tag:yaml.org,2002:{_kind}", re.compile(rf"(?:{_form})\Z"), list("-+.0123456789yYnN")
    )


def yaml_text(*documents: Any, is_plain: bool = True) -> str:
    """Give documents of YAML, their fields in their order; `is_plain`: in ASCII alone."""
    return yaml.dump_all(documents, Dumper=_Dumper, sort_keys=False, allow_unicode=not is_plain)
