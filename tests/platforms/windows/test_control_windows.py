"""Control of the Windows side: what is asked in one trip, and what becomes of a change."""

import re

import pytest
import tree_sitter_powershell
from claims import claim
from described_powershell import DescribedPowerShell
from described_windows import Adapter, DescribedWindows
from hypothesis import given
from hypothesis import strategies as st
from tree_sitter import Language, Node, Parser

from wirespeed.model.command import Command
from wirespeed.model.error import HostError, InputError
from wirespeed.model.observed import Known
from wirespeed.platforms.windows.control import WindowsControl
from wirespeed.platforms.windows.control_script import (
    boot_id_script,
    change_script,
    lock_script,
    read_script,
    settled_read_script,
    take_over_script,
    unlock_script,
)
from wirespeed.platforms.windows.steps.windows_filter import WindowsFilter
from wirespeed.platforms.windows.steps.windows_property import WindowsProperty
from wirespeed.platforms.windows.steps.windows_switch import WindowsSwitch
from wirespeed.platforms.wsl.steps.wsl_config import WslConfig
from wirespeed.steps.mtu import Mtu

CARD, OTHER = "Mellanox ConnectX-5 Ex Adapter #3", "이더넷 it's"
PARSER = Parser(Language(tree_sitter_powershell.language()))
FILTER = WindowsFilter(component_id="nt_rtf64", adapters=(CARD, OTHER))
PATH = "C:\\Users\\ann\\.wslconfig"
CONFIG = WslConfig(path=PATH, values={"networkingMode": "mirrored"})


def described() -> tuple[DescribedPowerShell, WindowsControl]:
    adapters = {name: Adapter("x", {"nt_rtf64": True}) for name in (CARD, OTHER)}
    runner = DescribedPowerShell(DescribedWindows(adapters, files={PATH: b"[wsl2]\r\n"}))
    return runner, WindowsControl("desk.windows", runner, back_s=5.0)


def commands() -> tuple[Command, ...]:
    return FILTER.change({CARD: True, OTHER: True}, {CARD: False, OTHER: False})


def test_many_states_are_read_in_one_trip():
    runner, control = described()
    one, other = control.read([FILTER, CONFIG])
    assert isinstance(one, Known) and one.value == {CARD: True, OTHER: True}
    assert isinstance(other, Known) and other.value == {"text": "[wsl2]\r\n"}
    assert len(runner.scripts) == 1


def test_a_change_is_read_back_in_the_same_trip():
    runner, control = described()
    changed = control.change(FILTER, commands())
    assert changed.failed == ""
    assert isinstance(changed.now, Known) and changed.now.value == {CARD: False, OTHER: False}
    assert len(runner.scripts) == 1


def test_it_stops_at_the_first_command_that_fails():
    runner, control = described()
    runner.trouble = {0: "fail"}
    changed = control.change(FILTER, commands())
    assert "return code 1: refused" in changed.failed
    assert isinstance(changed.now, Known) and changed.now.value == {CARD: True, OTHER: True}
    assert len(runner.ran) == 1


@pytest.mark.parametrize("number", [0, 1])
def test_a_connection_that_is_lost_is_no_failure_when_the_change_was_done(number: int):
    runner, control = described()
    control.lock(claim())
    runner.trouble = {number: "lose"}
    changed = control.change(FILTER, commands())
    assert changed.failed == ""
    assert isinstance(changed.now, Known)
    assert changed.now.value == {CARD: False, OTHER: number == 0}


def test_a_crash_is_told_by_the_boot_that_follows_it():
    runner, control = described()
    control.lock(claim())
    runner.trouble = {0: "crash"}
    changed = control.change(FILTER, commands())
    assert "restarted while it ran" in changed.failed
    assert isinstance(changed.now, Known) and changed.now.value == {CARD: True, OTHER: True}


def test_a_command_that_hangs_is_a_failure_and_the_state_is_read_all_the_same():
    runner, control = described()
    runner.trouble = {1: "hang"}
    changed = control.change(FILTER, commands())
    assert "still running" in changed.failed
    assert isinstance(changed.now, Known) and changed.now.value == {CARD: False, OTHER: True}


def test_a_host_that_does_not_come_back_is_not_waited_for_without_end():
    runner, _ = described()
    control = WindowsControl("desk.windows", runner, back_s=0.0)
    runner.trouble = {0: "lose"}
    runner.away = 0
    with pytest.raises(HostError):
        runner.trouble = {0: "crash"}
        control.change(FILTER, commands())


def test_two_controllers_exclude_each_other_until_one_gives_back_or_windows_boots():
    runner, control = described()
    boot = control.lock(claim("a"))
    assert boot and control.lock(claim("a")) == boot == control.boot_id()
    with pytest.raises(InputError) as caught:
        control.lock(claim("b"))
    assert caught.value.what == "host.in_use" and f"run {'a' * 32} of ann" in caught.value.found
    control.unlock(claim("b"))
    with pytest.raises(InputError):
        control.lock(claim("b"))
    control.unlock(claim("a"))
    control.lock(claim("b"))
    runner.host.boots += 1
    assert control.lock(claim("a")) != boot


def test_two_controllers_with_copies_of_one_run_folder_exclude_each_other():
    _, control = described()
    control.lock(claim("a", machine="m1"))
    with pytest.raises(InputError, match="another copy of this run folder"):
        control.lock(claim("a", machine="m2"))


def test_a_lock_is_broken_where_the_user_says_so_and_the_first_does_not_remove_it():
    runner, control = described()
    control.lock(claim("a"))
    control.lock(claim("b", breaks=True))
    control.unlock(claim("a"))
    assert runner.owner == claim("b").line()


@pytest.mark.parametrize("whose", ["owned by S-1-5-21-7-1001", "a link"])
@pytest.mark.parametrize("breaks", [False, True])
def test_a_lock_that_an_ordinary_user_planted_is_refused_with_whose_it_is(whose: str, breaks: bool):
    """Who made it could name a process to be ended, and have our words written where it leads."""
    runner, control = described()
    runner.stranger = whose
    with pytest.raises(InputError) as caught:
        control.lock(claim("a", breaks=breaks))
    assert caught.value.what == "host.lock_untrusted"
    assert whose in caught.value.found and runner.owner == ""
    runner.stranger = ""
    control.lock(claim("a"))
    assert runner.owner == claim("a").line()


def test_nothing_of_a_planted_lock_is_read_or_written_before_it_is_seen_whose_it_is():
    """Each use of a path below the lock is behind the question, by the text of the scripts."""
    scripts = [
        lock_script("x"),
        take_over_script("x", "y"),
        take_over_script("x", None),
        unlock_script("x"),
        change_script(CONFIG, CONFIG.change({"text": None}, {"text": "x"})),
        settled_read_script(CONFIG),
    ]
    used = re.compile(r"(?:Content|Remove-Item|Move-Item|New-Item)[^\n]*\$(?:lock|owner|file)\b")
    for script in scripts:
        asks = False
        for line in script.splitlines():
            if line.startswith("function "):
                asks = False
            asks = asks or "StrangerInLock" in line or "-not $stranger" in line
            if used.search(line):
                assert asks, line
    assert sum(len(used.findall(script)) for script in scripts) > 10


def test_windows_is_never_rebooted_from_here():
    with pytest.raises(InputError, match=r"reboot\.windows"):
        described()[1].reboot("")


def test_what_is_no_windows_says_what_it_said_instead():
    class Posix:
        def run(self, argv, **_):  # noqa: ANN001, ANN003, ANN202
            from wirespeed.host.runner import Completed

            return Completed(argv=tuple(argv), output="", errors="sh: powershell.exe: not found",
                             returncode=127, duration_s=0)  # fmt: skip

    with pytest.raises(HostError) as caught:
        WindowsControl("desk.windows", Posix()).boot_id()
    assert "not found" in caught.value.found


def test_no_command_of_another_shell_comes_into_a_script():
    with pytest.raises(AssertionError):
        read_script([Mtu(netdev="eth0", mtu=9000)])


names = st.text(
    st.characters(blacklist_categories=["Cc", "Cs", "Cn", "Zl", "Zp", "Co", "Cf", "Zs"],
                  blacklist_characters="\u2018\u2019\u201a\u201b"),
    min_size=1, max_size=40,
)  # fmt: skip


@given(names, st.text(alphabet="a'\"$`;|&(){}\r\n#ü[]=", max_size=30))
def test_whatever_adapters_are_called_each_script_is_whole_and_has_the_commands_it_should(
    name: str, text: str
):
    step = WindowsFilter(component_id="nt_rtf64", adapters=(name,))
    switch = WindowsSwitch(name="x", adapter=name)
    keyword = WindowsProperty(adapter=name, keyword="*JumboPacket", value="9014")
    change = change_script(step, step.change({name: True}, {name: False}))
    config = change_script(CONFIG, CONFIG.change({"text": None}, {"text": text}))
    plain = WindowsFilter(component_id="nt_rtf64", adapters=("x",))
    assert count(change) == count(change_script(plain, plain.change({"x": True}, {"x": False})))
    for script in (change, config, read_script([step, switch, keyword]), lock_script(name),
                   take_over_script(name, text), take_over_script(name, None),
                   unlock_script(name), settled_read_script(step), boot_id_script()):  # fmt: skip
        assert not PARSER.parse(script.encode()).root_node.has_error


def count(script: str) -> int:
    def commands_in(node: Node) -> int:
        return (node.type == "command") + sum(map(commands_in, node.children))

    return commands_in(PARSER.parse(script.encode()).root_node)
