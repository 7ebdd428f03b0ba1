"""Every spec that the documentation shows is one."""

import re
import textwrap
from pathlib import Path

import pytest
from jinja2 import StrictUndefined
from jinja2.sandbox import SandboxedEnvironment

from wirespeed.apply.spec_file import parse_spec

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"(?:^    .*\n|^\n)+", re.M)
WHOLE = re.compile(r"^approach:.*$", re.M)
PCI = "0000:03:00.0"


def shown_specs() -> list[tuple[str, str]]:
    found = []
    for page in (*(ROOT / "docs").glob("*.md"), ROOT / "README.md"):
        for match in BLOCK.finditer(page.read_text()):
            text = textwrap.dedent(match[0])
            if re.search(r"^hosts:", text, re.M) and WHOLE.search(text):
                found.append((f"{page.name}:{len(found)}", text))
    return found


@pytest.mark.parametrize(("where", "text"), shown_specs())
def test_a_spec_of_the_documentation_is_taken(where: str, text: str):
    # A fleet's is a template.
    filled = SandboxedEnvironment(undefined=StrictUndefined).from_string(text)
    data = {"data_pci": PCI, "data_subnet": "192.168.50.0/24"}
    parse_spec(filled.render(inventory_hostname="a", reach="ssh://a", **data), where)


def test_the_pages_about_each_way_show_a_spec():
    pages = {where.partition(":")[0] for where, _ in shown_specs()}
    assert {"apply.md", "esxi.md", "tutorial.md", "wsl2.md"} <= pages
