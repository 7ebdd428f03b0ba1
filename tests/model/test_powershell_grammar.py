"""What is made of hostile words, read by the grammar of PowerShell: one string each, no more."""

import pytest
import tree_sitter_powershell
from hypothesis import given
from hypothesis import strategies as st
from tree_sitter import Language, Node, Parser

from described.powershell_grammar import mistakes
from wirespeed.host.powershell import READ_AND_RUN
from wirespeed.model.capture import Section
from wirespeed.model.command import Command, Shell
from wirespeed.model.powershell import QUOTES, exactly, powershell_line, quoted
from wirespeed.platforms.windows import control_script as control
from wirespeed.platforms.windows import rollback_timer as timer
from wirespeed.platforms.windows.collector import windows_collector_script
from wirespeed.platforms.windows.steps.windows_filter import WindowsFilter

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
    with pytest.raises(ValueError, match="not a cmdlet"):
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


GOOD = (
    "Get-NetAdapter -Name 'eth `*' | Select-Object -Property 'Name','Status'; wsl.exe --shutdown",
    "if ($global:code) { break }",
    "try { throw 'x' }\n\tcatch { $mine = $false }",
    "function Result {\n\tforeach ($second in 1..60) { return Get-Content -LiteralPath $a }\n}",
    'New-Object PSObject -Property @{\n\tGuid = "$($_.InterfaceGuid)"\n\tSpeed = 1\n}',
    "do {\nStep change-0 none {\nRemove-VMSwitch -Name 'x' -Force:$true\n}\n} while ($false)",
    '[Console]::Out.Write("$mark begin $Name -`n")',
    "try { [IO.File]::Open((Join-Path $undo 'taken'), 'CreateNew').Close() } catch { exit 0 }",
    "Register-ScheduledTask -TaskName 'x' -Action $action `\n\t-RunLevel Highest | Out-Null",
    "& ([scriptblock]::Create([Text.Encoding]::UTF8.GetString([Convert]::FromBase64String('e'))))",
)
"""Every construct that our scripts have, in its smallest form."""
BROKEN = (
    "Get-NetAdapter -Name 'eth",
    "Get-NetAdapter -Name 'eth'' | Out-Null",
    "if ($global:code) { break",
    "if $global:code { break }",
    "try { throw 'x' }",
    "function { 1 }",
    "foreach ($second 1..60) { 1 }",
    "New-Object PSObject -Property @{ Guid = }",
    "do { 1 } while",
    '[Console]::Out.Write("$mark)',
    "Get-NetAdapter |",
    "Get-NetAdapter | | Out-Null",
    "1..60 | ForEach-Object { $_ }}",
    "$a = (1",
)


@pytest.mark.parametrize("script", GOOD)
def test_the_grammar_takes_what_powershell_takes(script: str):
    assert mistakes(script) == []


@pytest.mark.parametrize("script", BROKEN)
def test_the_grammar_refuses_what_powershell_refuses(script: str):
    assert mistakes(script)


UNDO = (Command(argv=("Set-VMSwitch", "-Name", "x"), shell=Shell.POWERSHELL),)
STEP = WindowsFilter(component_id="nt_rtf64", adapters=("x",))
READ = Section("step-0", "", '[{"Name":"it\'s \u2019 $x"}]', "", 0)
SCRIPTS = {
    "what runs a script": READ_AND_RUN,
    "collector": windows_collector_script(),
    "read": control.read_script([STEP]),
    "change": control.change_script(STEP, UNDO),
    "change of what is so still": control.change_script(STEP, UNDO, expected=READ),
    "settled read": control.settled_read_script(STEP),
    "boot id": control.boot_id_script(),
    "lock": control.lock_script("x", timer.settle_part("x"), timer.others_part("x")),
    "take over": control.take_over_script("x", "y", timer.settle_part("x"), timer.others_part("x")),
    "break": control.take_over_script("x", None),
    "unlock": control.unlock_script("x", timer.sweep_part("x")),
    "arm": timer.arm_script("0123456789ab", UNDO, 120, STEP),
    "undo": timer.undo_script("0123456789ab", UNDO, STEP),
    "timed change": timer.timed_change_script("0123456789ab", STEP, UNDO, READ),
    "confirm": timer.confirm_script("0123456789ab", STEP),
}


@pytest.mark.parametrize("what", SCRIPTS)
def test_every_kind_of_script_that_is_sent_is_one(what: str):
    assert mistakes(SCRIPTS[what]) == []


@pytest.mark.parametrize("what", [name for name in SCRIPTS if name != "what runs a script"])
def test_a_brace_or_a_quote_that_is_lost_anywhere_is_found(what: str):
    """The last of each, of the script as it is sent."""
    for lost in ("}", "'"):
        before, found, after = SCRIPTS[what].rpartition(lost)
        assert found and mistakes(before + after), lost
