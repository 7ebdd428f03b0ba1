"""Whatever a host calls its ports, no name of it ends a command in a traceback."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from described.planned import before, call, spec_of
from wirespeed.doctor.diagnose import diagnose
from wirespeed.model.capture import parse_capture
from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.question import Question

PORT = "enp3s0f0np0"
GUESTS = {"ceph-1": {"host": "alpha", "networks": ["storage"]}}
LEGAL_AND_ODD = (
    "eth=0", "a,b", "a%b", "이더넷", "-x", "--", "a'b", 'a"b', "$(x)", "a\\b", "a*", "a;b", "a|b",
    "é", "{x}", "[x]", "a!b", "~a", "a#b", "a&b", "(a)", "?", "`a`", "^", "..x", "<a>", "\x1b[31m",
    "a\u202eb", "\x7f", "0", "1", "+", "@", "a@b", "_", "%s", "{0}", "\\1", "\udcff",
)  # fmt: skip
"""dev_valid_name() of the kernel refuses white space, `/`, `:`, `.`, `..` and 16 bytes or more."""


def renamed(name: str) -> str:
    """The described host with a port of that name, in JSON as JSON has it."""
    text = before()
    in_json = json.dumps(name)[1:-1]

    def line(match: re.Match[str]) -> str:
        own = in_json if match[0].startswith(("[", "{")) else name
        return re.sub(rf"(?<![\w.-]){PORT}(?![\w.-])", lambda _: own, match[0])

    return re.sub(r"[^\n]+", line, text)


def assert_no_traceback(name: str, folder: Path) -> None:
    text = renamed(name).encode(errors="replace").decode()
    for option in ("--json", "--diff", "--shell=alpha"):
        spec = spec_of(folder, {"alpha": text, "beta": before()}, GUESTS)
        error = call(spec, option).exception
        assert error is None or isinstance(error, InputError), repr(error)
    answer = diagnose(HostFacts("alpha", parse_capture(text, "alpha")), Question())
    assert answer.faults == (), answer.faults


@pytest.mark.parametrize("name", LEGAL_AND_ODD, ids=ascii)
def test_a_legal_but_odd_netdev_name_is_planned_or_refused_by_its_name(name: str, tmp_path: Path):
    assert_no_traceback(name, tmp_path)


def test_the_refusal_names_the_netdev_and_says_what_to_do(tmp_path: Path):
    spec = spec_of(tmp_path, {"alpha": renamed("eth=0"), "beta": before()}, GUESTS)
    error = call(spec).exception
    assert isinstance(error, InputError)
    assert (error.what, error.where) == ("plan.name_refused", "alpha")
    assert "eth=0" in error.found
    assert "ip link set dev" in error.next


LEGAL = st.text(
    st.characters(exclude_characters="/:\n", exclude_categories=["Zs", "Zl", "Zp", "Cs"]),
    min_size=1,
    max_size=15,
)


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(LEGAL)
def test_any_legal_netdev_name_is_planned_or_refused(tmp_path: Path, name: str):
    assert_no_traceback(name, tmp_path)
