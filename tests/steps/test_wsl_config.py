"""The user's .wslconfig: its keys changed, all else byte for byte as it was."""

import base64

import pytest
from described_windows import DescribedWindows
from hypothesis import given
from hypothesis import strategies as st
from proof import DescribedControl, plan_on, prove
from pydantic import ValidationError
from samples import is_never_guessed, reason_of, section_of

from wirespeed.model.finding import Danger
from wirespeed.model.observed import Known
from wirespeed.platforms.wsl.steps.ini_text import value_of, with_values
from wirespeed.platforms.wsl.steps.wsl_config import WslConfig

PATH = "C:\\Users\\김 ann\\.wslconfig"
STEP = WslConfig(path=PATH, values={"networkingMode": "mirrored"})
FOUND = (
    "# 내 설정\r\n[WSL2]\r\nmemory=64GB # half\r\n\r\nNetworkingMode = nat  # for now\r\n\r\n"
    "[experimental]\r\nsparseVhd=true"
)
MIRRORED = FOUND.replace("= nat", "= mirrored")


def host(text: str | None) -> DescribedWindows:
    return DescribedWindows({}, files={} if text is None else {PATH: text.encode()})


def test_one_value_is_changed_and_every_other_byte_stays():
    prove(STEP, host(FOUND), host(MIRRORED))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[experimental]\nnetworkingMode=mirrored # old\n",
         "[experimental]\nnetworkingMode=bridged # old\n"),
        ("[wsl2]\nnetworkingMode=nat\nnetworkingMode=bridged\n",
         "[wsl2]\nnetworkingMode=bridged\nnetworkingMode=bridged\n"),
        ("[ wsl2 ]\nmemory=8GB\n", "[ wsl2 ]\nmemory=8GB\n[wsl2]\nnetworkingMode=bridged\n"),
        ('[wsl2]\nnetworkingMode="nat"# x', "[wsl2]\nnetworkingMode=bridged# x"),
        ('[wsl2]\nnetworkingMode="bridged"', '[wsl2]\nnetworkingMode="bridged"'),
    ],
)  # fmt: skip
def test_the_value_is_the_one_that_wsl_reads(before: str, after: str):
    """Of two WSL reads the first, and `[experimental]` was the section before `[wsl2]`."""
    assert with_values(before, "wsl2", {"networkingMode": "bridged"}) == after
    assert value_of(after, "wsl2", "networkingMode") == "bridged"


@pytest.mark.parametrize("before", [None, "", "\ufeff[wsl2]\r\nmemory=8GB", "junk\n=\n[", "[wsl2]"])
def test_whatever_stood_there_comes_back(before: str | None):
    goal = with_values(before or "", "wsl2", STEP.values)
    prove(STEP, host(before), host(goal))
    if before and before.startswith("\ufeff"):
        assert goal == "\ufeff[wsl2]\r\nmemory=8GB\r\nnetworkingMode=mirrored"


def test_a_copy_of_what_stood_there_stays_beside_it():
    controls = DescribedControl(host(FOUND))
    planned = plan_on(STEP, host(FOUND)).steps[0]
    controls.change(STEP, planned.commands)
    controls.change(STEP, planned.undo)
    assert FOUND.encode() in controls.host.copies.values()  # type: ignore[attr-defined]


def test_it_ends_a_stage_for_all_that_runs_in_wsl_ends():
    assert STEP.danger is Danger.WSL_SHUTDOWN and STEP.ends_stage and STEP.waits_for_reboot
    assert "wsl --shutdown" in STEP.why


def test_what_is_no_utf_8_is_not_touched():
    where = DescribedWindows({}, files={PATH: FOUND.encode("utf-16")})
    (found,) = DescribedControl(where).read([STEP])
    assert not isinstance(found, Known) and "UTF-8" in found.reason
    assert "UTF-8" in reason_of(STEP, section_of('[{"Exists":true,"Base64":"?"}]'))
    nul = base64.b64encode(b"a\0").decode()
    assert "NUL" in reason_of(STEP, section_of(f'[{{"Exists":true,"Base64":"{nul}"}}]'))


def test_nothing_is_guessed():
    is_never_guessed(STEP)


@pytest.mark.parametrize(
    "wrong",
    [
        {"path": "/etc/wsl.conf"},
        {"path": "C:\\Windows\\System32\\drivers\\etc\\hosts"},
        {"path": "C:\\a*\\.wslconfig"},
        {"values": {}},
        {"values": {"a": "b\nkernel=c"}},
        {"values": {"a b": "c"}},
        {"values": {"kernel": "C:\\x"}},
        {"values": {"a": " b"}},
        {"values": {"a": "b # c"}},
    ],
)
def test_what_is_no_setting_is_refused(wrong: dict[str, object]):
    with pytest.raises(ValidationError):
        WslConfig.model_validate({**STEP.model_dump(), **wrong})


lines = st.lists(
    st.sampled_from(
        ["[wsl2]", "[WSL2] # x", "[other]", "networkingMode=nat", " vmSwitch = a b  # c", "#x=1",
         "", "  ", "=", "memory=8GB", "networkingmode=mirrored", "ü", "[", "key"]
    ),
    max_size=8,
)  # fmt: skip


@given(lines, st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_a_value_is_there_after_it_was_set_and_all_else_is_as_it_was(
    body: list[str], end: str, is_ended: bool
):
    text = end.join(body) + (end if is_ended and body else "")
    after = with_values(text, "wsl2", {"networkingMode": "bridged", "vmSwitch": "X"})
    assert value_of(after, "wsl2", "networkingmode") == "bridged"
    assert value_of(after, "wsl2", "VMSWITCH") == "X"
    for section, key in (("wsl2", "memory"), ("other", "networkingMode"), ("other", "vmSwitch")):
        assert value_of(after, section, key) == value_of(text, section, key)
    assert with_values(after, "wsl2", {"networkingMode": "bridged", "vmSwitch": "X"}) == after
    rest = [line for line in after.splitlines() if "networkingmode" not in line.lower()]
    kept = [line for line in rest if "vmswitch" not in line.lower()]
    old = [one for one in text.splitlines() if not {"networkingmode", "vmswitch"} & {
        one.lower().split("=")[0].strip()}]  # fmt: skip
    assert kept in (old, [*old, "[wsl2]"])
    assert ("\r" in after) == ("\r" in text)
