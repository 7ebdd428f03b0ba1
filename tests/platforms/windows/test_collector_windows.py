"""The collector for Windows: what it is made of; the grammar of PowerShell holds for all of it."""

import re

import pytest
import tree_sitter_powershell
from tree_sitter import Language, Node, Parser

from wirespeed.catalog import facts
from wirespeed.model.capture import MAGIC
from wirespeed.model.fact import WindowsFact
from wirespeed.platforms.windows.collector import FROM_INPUT, windows_collector_script

PARSER = Parser(Language(tree_sitter_powershell.language()))
LOOKS = re.compile(r"(Get|Where|ForEach|New|Join|Test|Out|ConvertTo)-[A-Za-z]+")
OF_OURS = {"Section", "Text", "Guid", "$mlx5cmd", "$Read"}


def nodes(root: Node) -> list[Node]:
    found = [root]
    for child in root.children:
        found += nodes(child)
    return found


def mistakes(script: str) -> list[str]:
    """What the grammar cannot read, each with its line."""
    return [
        f"line {node.start_point[0] + 1}: {(node.text or b'').decode()[:40]}"
        for node in nodes(PARSER.parse(script.encode()).root_node)
        if node.is_error or node.is_missing
    ]


def test_it_prints_the_lines_that_a_capture_has():
    script = windows_collector_script()
    assert f'Write("{MAGIC}1 $mark`n")' in script
    for line in ("$mark begin $Name -`n", "`n$mark errors`n", "`n$mark end $code`n", "$mark done"):
        assert line in script


def test_every_windows_fact_is_in_it_once_and_in_no_posix_script():
    script = windows_collector_script()
    for fact in facts():
        if issubclass(fact, WindowsFact):
            assert script.count(fact.powershell) == 1
            assert not fact.script


def test_the_grammar_reads_all_of_it():
    assert mistakes(windows_collector_script()) == []
    assert mistakes(FROM_INPUT) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [("catch {", "catch "), ("@{\n", "{[\n"), ("| ForEach-Object {", "| ForEach-Object | {}}")],
)
def test_the_grammar_finds_one_mistake(old: str, new: str):
    script = windows_collector_script()
    assert old in script
    assert mistakes(script.replace(old, new, 1))


def test_it_only_looks():
    """Every command that it calls reads or shapes; nothing is set, started or written."""
    root = PARSER.parse(windows_collector_script().encode()).root_node
    names = {
        (node.text or b"").decode()
        for node in nodes(root)
        if node.type in ("command_name", "command_name_expr")
    }
    assert {"Get-NetAdapter", "Get-VMSwitch", "New-Object"} <= names
    assert {n for n in names if not LOOKS.fullmatch(n) and n not in OF_OURS} == set()
    assert {n for n in names if n.startswith("New-")} == {"New-Object"}


def test_it_is_what_windows_powershell_5_1_can_read_through_any_code_page():
    script = windows_collector_script()
    assert script.isascii()
    for newer in (" ?? ", "?.", " && ", " || ", "-AsHashtable", " ? "):
        assert newer not in script


def test_sections_are_named_once_each():
    names = re.findall(r"^(?:Section|Text) (\S+)", windows_collector_script(), re.M)
    assert len(names) == len(set(names))
    assert all(name.startswith("windows-") for name in names)
