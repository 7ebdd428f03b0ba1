"""What is made of hostile words, read by the grammar of PowerShell: one string each, no more."""

import pytest
import tree_sitter_powershell
from hypothesis import given
from hypothesis import strategies as st
from tree_sitter import Language, Node, Parser

from wirespeed.model.powershell import QUOTES, exactly, powershell_line, quoted

PARSER = Parser(Language(tree_sitter_powershell.language()))
TYPOGRAPHIC = QUOTES[1:]
NASTY = "'" + '$`";|&(){}@#<>%,\n\r\t -*?[]ü이더넷 10\U0001f600'
# The grammar knows no typographic quotes: of these, the tokenizer's rules are tested beside.
names = st.one_of(
    st.text(st.characters(blacklist_characters="\0" + TYPOGRAPHIC, blacklist_categories=["Cs"])),
    st.text(alphabet=NASTY, max_size=20),
)


def root_of(script: str) -> Node:
    return PARSER.parse(script.encode()).root_node


def nodes(node: Node, kind: str) -> list[Node]:
    found = [node] if node.type == kind else []
    return found + [one for child in node.children for one in nodes(child, kind)]


def texts(node: Node, kind: str) -> list[str]:
    return [one.text.decode() for one in nodes(node, kind) if one.text is not None]


@given(names)
def test_the_whole_script_parses_and_a_name_is_one_string(name: str):
    line = powershell_line(("Disable-NetAdapterBinding", "-InterfaceDescription", name))
    root = root_of(f"if ($true) {{\n{line}\n}}\n")
    assert not root.has_error
    assert len(nodes(root, "command")) == 1
    if quoted(name) != name:
        assert texts(root, "verbatim_string_characters") == [quoted(name)]
        assert quoted(name)[1:-1].replace("''", "'") == name


@given(names, names)
def test_a_pipeline_has_as_many_commands_as_it_has_cmdlets(one: str, other: str):
    line = powershell_line(
        ("Get-NetAdapter", "-Name", one, "|", "Select-Object", "-Property", other)
    )
    root = root_of(line)
    assert not root.has_error
    assert len(nodes(root, "command")) == 2
    assert len(nodes(root, "pipeline")) == 1


@given(names.filter(lambda name: name.strip('"\\-') == name and name and '"' not in name))
def test_a_program_gets_a_hostile_name_as_one_word(name: str):
    root = root_of(powershell_line(("mlx5cmd.exe", "-LinkSpeed", "-Name", name, "-Set", "10")))
    assert not root.has_error
    assert len(nodes(root, "command")) == 1


@given(names.filter(lambda name: name.strip('"\\-') == name and name and '"' not in name))
def test_a_program_is_the_last_statement_after_a_cmdlet(name: str):
    line = powershell_line(
        ("Get-NetAdapter", "-Name", name, ";", "mlx5cmd.exe", "-LinkSpeed", "-Name", name, "-Query")
    )
    root = root_of(line)
    assert not root.has_error
    assert len(nodes(root, "command")) == len(nodes(root, "pipeline")) == 2


@pytest.mark.parametrize("name", ['a"b', "a\\", "", "-x:y", "--", '"', "a\0b"])
def test_what_a_program_would_not_get_as_it_is_is_refused(name: str):
    with pytest.raises(ValueError, match=r"cannot be handed|NUL"):
        powershell_line(("mlx5cmd.exe", "-Name", name))


@pytest.mark.parametrize(
    "argv",
    [
        ("cmd.exe", "/c", "x"),
        ("MLX5CMD.EXE", "-X"),
        ("./mlx5cmd.exe", "-X"),
        ("Get-NetAdapter", "|"),
        ("Get-NetAdapter", ";", "iex"),
        ("Get-NetAdapter", "|", "wsl.exe", "--shutdown"),
        ("Get-NetAdapter", ";", "cmd.exe", "/c", "x"),
    ],
)
def test_programs_are_a_list_and_pipes_join_cmdlets(argv: tuple[str, ...]):
    with pytest.raises(ValueError, match="no cmdlet"):
        powershell_line(argv)


def test_a_pipe_is_one_only_where_a_parameter_could_stand():
    line = powershell_line(("Get-NetAdapter", "-Name", "|", ";", "Get-VMSwitch", "-Name", ";"))
    assert line == "Get-NetAdapter -Name '|'; Get-VMSwitch -Name ';'"


def test_a_parameter_that_is_there_twice_has_a_list():
    words = ("Select-Object", "-Property", "Name", "-Property", "Enabled", "-Unique:$true")
    assert powershell_line(words) == "Select-Object -Property 'Name','Enabled' -Unique:$true"


@pytest.mark.parametrize("name", ["007", "-0", "+1", "1e3", "0x10", "1_0", "1.0", "1KB"])
def test_a_name_that_only_looks_like_a_number_stays_a_name(name: str):
    assert quoted(name) == f"'{name}'"


def test_a_name_with_wildcards_stands_for_itself_alone():
    assert exactly("eth*") == "eth`*"
    assert exactly("a[1]?`") == "a`[1`]`?``"
    assert exactly("Mellanox ConnectX-5 Ex Adapter #3") == "Mellanox ConnectX-5 Ex Adapter #3"
