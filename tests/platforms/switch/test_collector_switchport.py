"""The form that the outputs of a switch are pasted into, where no way leads to it."""

import pytest
from click.testing import CliRunner
from test_switchport import EXPECTED, FILES, row, text_of

from wirespeed.commands.capture import capture
from wirespeed.model.capture import parse_capture
from wirespeed.model.error import InputError
from wirespeed.model.observed import Known, Unreadable
from wirespeed.model.switch_kind import SwitchKind
from wirespeed.platforms.switch.facts.switchport import COMMANDS, Switches


def form(kind: str) -> str:
    result = CliRunner().invoke(capture, ["--script", kind], standalone_mode=False)
    assert result.exception is None, result.exception
    return result.output


@pytest.mark.parametrize("kind", SwitchKind)
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_the_form_with_pasted_outputs_is_a_capture_of_the_switchports(
    kind: SwitchKind, line_end: str
):
    text = form(kind)
    for key, line in COMMANDS[kind].items():
        assert text.count(f"[{line}]\n") == 1
        text = text.replace(f"[{line}]\n", text_of(FILES[kind][key]))
    found = parse_capture(text.replace("\n", line_end), "x")
    assert found.complete
    ports = Switches.parse(found).by_name["switch"].ports
    assert isinstance(ports, Known)
    assert {port.name: row(port) for port in ports.value} == EXPECTED[kind]


@pytest.mark.parametrize("kind", SwitchKind)
def test_a_form_that_nobody_filled_in_tells_of_no_switchport(kind: SwitchKind):
    ports = Switches.parse(parse_capture(form(kind), "x")).by_name["switch"].ports
    assert isinstance(ports, Unreadable)


def test_two_forms_of_switchports_have_marks_of_their_own():
    assert form("eos") != form("eos")


def test_no_form_for_a_switchport_of_an_unknown_kind():
    result = CliRunner().invoke(capture, ["--script", "abacus"], standalone_mode=False)
    assert isinstance(result.exception, InputError)
    assert "dell_os6" in result.exception.found
