"""A command is quoted for the shell of its host, and for no other."""

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from wirespeed.model.command import Command, Shell, write_file
from wirespeed.model.powershell import powershell_line, quoted

TYPOGRAPHIC = "\u2018\u2019\u201a\u201b"


def read_verbatim(text: str) -> str:
    """Read a verbatim string as PowerShell's tokenizer does (language specification, 2.3.5.2)."""
    quotes = "'" + TYPOGRAPHIC
    assert text[0] in quotes and text[-1] in quotes
    found, rest = [], text[1:-1]
    while rest:
        if rest[0] in quotes:
            assert len(rest) > 1 and rest[1] in quotes, "the string ends within it"
            found.append(rest[0])
            rest = rest[2:]
        else:
            found.append(rest[0])
            rest = rest[1:]
    return "".join(found)


def powershell(*argv: str) -> Command:
    return Command(argv=argv, shell=Shell.POWERSHELL)


def test_a_cmdlet_with_its_parameters():
    command = powershell(
        *("Disable-NetAdapterBinding", "-InterfaceDescription", "Mellanox ConnectX-5 Ex #3"),
        *("-ComponentID", "nt_rtf64", "-Confirm:$false"),
    )
    assert command.line() == (
        "Disable-NetAdapterBinding -InterfaceDescription 'Mellanox ConnectX-5 Ex #3' "
        "-ComponentID 'nt_rtf64' -Confirm:$false"
    )
    assert powershell("Set-Date", "-Value", "9014").line() == "Set-Date -Value 9014"


@given(st.text(st.characters(blacklist_characters="\0")))
def test_a_name_that_a_host_gave_is_one_word_whatever_is_in_it(name: str):
    line = powershell_line(("Get-NetAdapter", "-Name", name))
    rest = line.removeprefix("Get-NetAdapter -Name ")
    assert rest == name if rest[0] not in "'" else read_verbatim(rest) == name


@given(st.text(alphabet="'" + TYPOGRAPHIC + '$`";|&()\n a-', max_size=12))
def test_quotes_of_every_kind_are_doubled(name: str):
    assert read_verbatim(quoted(name)) == name


def test_a_value_that_looks_like_a_parameter_is_a_value():
    line = powershell_line(("Remove-VMSwitch", "-Name", "-Force:$true", "-Force:$true"))
    assert line == "Remove-VMSwitch -Name '-Force:$true' -Force:$true"


@pytest.mark.parametrize(
    "argv",
    [
        ("iex", "-X", "1"),
        ("Get-NetAdapter; rm", "-Name", "x"),
        ("Get-NetAdapter", "name"),
        ("Get-NetAdapter", "-Name"),
        ("Get-NetAdapter", "-Na me", "x"),
        ("Get-NetAdapter", "-Force:$(rm)"),
        ("Get-NetAdapter", "-Name", "a\0b"),
    ],
)
def test_what_is_no_cmdlet_with_its_parameters_is_refused(argv: tuple[str, ...]):
    with pytest.raises(ValidationError):
        powershell(*argv)


def test_lines_of_a_switch():
    lines = ("interface ethernet 1/1/1", "speed 10000")
    command = Command(argv=lines, shell=Shell.SWITCH)
    assert command.line() == "interface ethernet 1/1/1 ; speed 10000"
    with pytest.raises(ValidationError):
        Command(argv=("speed 10000\nreload",), shell=Shell.SWITCH)
    with pytest.raises(ValidationError):
        Command(argv=("speed 10000",), shell=Shell.SWITCH, stdin="y")


def test_a_posix_command_is_as_it_was():
    assert Command(argv=("echo", "a b")).line() == "echo 'a b'"
    assert write_file("/sys/x", "1").line() == "echo 1 | tee /sys/x"
    assert Command.model_validate_json('{"argv":["ls"]}').shell is Shell.POSIX


@pytest.mark.parametrize("shell", ["dash", "bash"])
@pytest.mark.parametrize(
    "text",
    ["2", "", "0000:03:00.3", "a\\nb", "\\0101", "-n", "-e x", "it's", "a\n  b", "%s $HOME `x`"],
)
def test_a_line_that_is_pasted_writes_the_very_input(shell: str, text: str):
    line = Command(argv=("cat",), stdin=text).line()
    pasted = subprocess.run([shell, "-c", line], capture_output=True, text=True, check=True)
    assert pasted.stdout == f"{text}\n"


def test_a_plain_input_is_said_by_echo():
    assert write_file("/sys/x", "2").line() == "echo 2 | tee /sys/x"
