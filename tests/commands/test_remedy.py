"""`wirespeed remedy` on this machine, which it only reads here; and what it refuses."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from wirespeed.apply.remedies import Skipped
from wirespeed.commands import remedy as command
from wirespeed.model.capture import parse_capture
from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.runs.remedy_run import skipped_lines, spec_for_host

CAPTURE = """\
wirespeed-capture 1 case
case begin ports -
eth0 driver=igb physfn= port= device=/sys/devices/pci0000:00/0000:00:04.0
case end 0
case done
"""
EMPTY = "wirespeed-capture 1 case\ncase done\n"
PORTS = "case begin ports -\n\ncase end 0\n"


def facts(text: str = CAPTURE) -> HostFacts:
    return HostFacts("x", parse_capture(text, "x"))


def call(*arguments: str):
    return CliRunner().invoke(command.remedy, arguments, standalone_mode=False)


def test_a_capture_in_a_file_cannot_be_mended(tmp_path: Path):
    path = tmp_path / "capture.txt"
    path.write_text(CAPTURE)
    error = call(str(path)).exception
    assert isinstance(error, InputError) and error.what == "spec.not_a_host"


@pytest.mark.parametrize(
    ("host", "name"),
    [
        ("here", "here"),
        ("ssh://root@alpha.lab", "alpha-lab"),
        ("root@10.0.0.7", "10-0-0-7"),
        ("ssh://[fd00::1]", "fd00-1"),
        ("_", "here"),
        ("a" * 60, "a" * 32),
    ],
)
def test_the_way_to_a_host_is_kept_with_a_name_for_it(host: str, name: str):
    spec = spec_for_host(host, facts())
    assert list(spec.hosts) == [name]
    assert spec.hosts[name].reach == host
    assert not spec.guests and not spec.networks


@pytest.mark.parametrize("text", [EMPTY, EMPTY.replace("case done", PORTS + "case done")])
def test_a_host_without_a_card_is_refused(text: str):
    with pytest.raises(InputError) as caught:
        spec_for_host("here", facts(text))
    assert caught.value.what == "remedy.no_port"


def test_what_is_left_is_said_once_and_harmlessly():
    lines = list(skipped_lines([Skipped("a.b", "by hand: \x1b[31m x")] * 2))
    assert lines == ["", "not planned:", "  a.b: by hand: \\x1b[31m x"]
    assert list(skipped_lines([])) == []


def test_what_is_dangerous_is_asked_for_by_name():
    options = {name for p in command.remedy.params for name in p.opts}
    assert {"--apply", "--allow-firmware", "--allow-cutoff", "--allow-no-undo"} <= options
