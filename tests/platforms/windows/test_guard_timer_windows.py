"""A step of Windows that cuts the user off is undone by Windows itself."""

import base64
from collections.abc import Iterator

import pytest
import tree_sitter_powershell
from claims import claim
from described_powershell_timer import TimedPowerShell
from described_windows import Adapter, DescribedWindows
from hypothesis import given
from hypothesis import strategies as st
from tree_sitter import Language, Node, Parser

from wirespeed.apply import guard_timer_change
from wirespeed.apply.guard_timer import Outcome
from wirespeed.apply.guard_timer_control import GuardedControl
from wirespeed.model.error import LeftChangedError
from wirespeed.model.observed import Known
from wirespeed.platforms.windows.control import WindowsControl
from wirespeed.platforms.windows.control_script import (
    lock_script,
    take_over_script,
    unlock_script,
)
from wirespeed.platforms.windows.rollback_timer import (
    LEAST_S,
    MAX_ARGUMENT,
    arm_script,
    confirm_script,
    others_part,
    settle_part,
    sweep_part,
    timed_change_script,
    undo_script,
)
from wirespeed.platforms.windows.steps.windows_filter import WindowsFilter
from wirespeed.platforms.windows.steps.windows_property import WindowsProperty

CARD, OTHER = "Mellanox ConnectX-5 Ex Adapter #3", "이더넷 it's"
RUN = claim().run
TOKEN = f"{RUN}-0123456789ab"
PARSER = Parser(Language(tree_sitter_powershell.language()))
JUMBO = WindowsProperty(adapter=CARD, keyword="*JumboPacket", value="9014")
FILTER = WindowsFilter(component_id="nt_rtf64", adapters=(CARD, OTHER))


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("PAUSE_S", "SETTLE_S"):
        monkeypatch.setattr(guard_timer_change, name, 0.0)
    monkeypatch.setattr(WindowsProperty, "settle_s", 0.0)
    monkeypatch.setattr(WindowsFilter, "settle_s", 0.0)
    return iter([None])


def windows() -> DescribedWindows:
    adapters = {name: Adapter("x", {"nt_rtf64": True}) for name in (CARD, OTHER)}
    adapters[CARD].properties["*JumboPacket"] = ["1514"]
    return DescribedWindows(adapters)


def jumbo_of(host: DescribedWindows) -> str:
    return host.adapters[CARD].properties["*JumboPacket"][0]


def cuts(host: DescribedWindows) -> bool:
    """The switch at the other end takes no jumbo frames, say."""
    return jumbo_of(host) == "9014"


def test_a_step_that_cuts_nobody_off_is_confirmed_and_its_task_goes():
    shell = TimedPowerShell(windows())
    control = WindowsControl("desk", shell, back_s=5.0)
    control.lock(claim())
    changed = GuardedControl(control, [JUMBO], 60).change(JUMBO, JUMBO.change(*states()))
    assert changed.failed == "" and not changed.is_cut_off
    assert isinstance(changed.now, Known) and changed.now.value == {"value": "9014"}
    assert shell.connections == 1, "the connection of the change proves nothing"
    (folder,) = shell.folders.values()
    assert folder.confirmed and folder.within_s == LEAST_S
    control.unlock(claim())
    assert shell.folders == {}


def states() -> tuple[dict[str, str | int | bool | None], dict[str, str | int | bool | None]]:
    return {"value": "1514"}, {"value": "9014"}


def test_a_step_that_cuts_the_user_off_is_undone_by_windows_itself():
    shell = TimedPowerShell(windows(), cuts)
    shell.fires_at = 3
    control = WindowsControl("desk", shell, back_s=5.0)
    changed = GuardedControl(control, [JUMBO], 60).change(JUMBO, JUMBO.change(*states()))
    assert changed.is_cut_off and "undid it itself" in changed.failed
    assert isinstance(changed.now, Known) and changed.now.value == {"value": "1514"}
    assert shell.host == windows()


def armed_and_changed(shell: TimedPowerShell) -> WindowsControl:
    control = WindowsControl("desk", shell, back_s=5.0)
    undo = JUMBO.change(*reversed(states()))
    control._ask(arm_script(TOKEN, undo, 120, JUMBO), 60)
    control._ask(timed_change_script(TOKEN, JUMBO, JUMBO.change(*states())), 60)
    return control


def test_what_others_set_after_the_change_is_left_alone_by_the_task_as_by_the_try_timer():
    """An administrator at the console set another size before the time came."""
    shell = TimedPowerShell(windows())
    control = armed_and_changed(shell)
    shell.host.adapters[CARD].properties["*JumboPacket"] = ["4088"]
    shell.fires_at = shell.connections + 1
    shell.renew()
    assert jumbo_of(shell.host) == "4088"
    outcome, _ = guard_timer_change.confirmed(
        control._ask(confirm_script(TOKEN, JUMBO), 60), JUMBO, ()
    )
    assert outcome is Outcome.THEIRS


@pytest.mark.parametrize("value", ["9014", "1514"])
def test_what_the_change_left_or_what_was_before_is_undone_by_the_task(value: str):
    shell = TimedPowerShell(windows())
    armed_and_changed(shell)
    shell.host.adapters[CARD].properties["*JumboPacket"] = [value]
    shell.fires_at = shell.connections + 1
    shell.renew()
    assert jumbo_of(shell.host) == "1514"


def test_where_the_connection_was_lost_before_the_state_was_kept_the_task_undoes_it():
    """The way to the host comes first: how the change left it is not known there."""
    shell = TimedPowerShell(windows())
    shell.keeps_left = False
    armed_and_changed(shell)
    shell.host.adapters[CARD].properties["*JumboPacket"] = ["4088"]
    shell.fires_at = shell.connections + 1
    shell.renew()
    assert jumbo_of(shell.host) == "1514"


def test_an_undo_of_the_timer_that_fails_is_told_by_its_command():
    shell = TimedPowerShell(windows(), lambda host: not host.adapters[CARD].bindings["nt_rtf64"])
    shell.fires_at, shell.undo_refuses = 2, {1}
    control = WindowsControl("desk", shell, back_s=5.0)
    before, goal = {CARD: True, OTHER: True}, {CARD: False, OTHER: False}
    changed = GuardedControl(control, [FILTER], 60).change(FILTER, FILTER.change(before, goal))
    assert changed.is_cut_off
    assert "of that, failed: Enable-NetAdapterBinding" in changed.failed
    assert isinstance(changed.now, Known) and changed.now.value == {CARD: True, OTHER: False}


def test_without_its_task_nothing_is_changed():
    shell = TimedPowerShell(windows(), cuts)
    shell.refuses_to_arm = "Access is denied."
    changed = WindowsControl("desk", shell).change_or_roll_back(
        JUMBO, JUMBO.change(*states()), JUMBO.change(*reversed(states())), 60
    )
    assert "Access is denied" in changed.failed
    assert shell.ran == [] and shell.host == windows()


def test_an_undo_that_no_task_can_hold_is_not_armed():
    many = WindowsFilter(
        component_id="nt_rtf64", adapters=tuple(f"{n:03}" + "x" * 250 for n in range(100))
    )
    on, off = (dict.fromkeys(many.adapters, is_on) for is_on in (True, False))
    script = arm_script(TOKEN, many.change(off, on), 60, many)
    assert "Register-ScheduledTask" not in script and "\tthrow " in script
    assert not PARSER.parse(script.encode()).root_node.has_error


def test_the_task_runs_as_the_system_in_whatever_language_windows_is():
    """`NT AUTHORITY\\SYSTEM` is `NT-AUTORITÄT\\SYSTEM` or `AUTORITE NT\\Système` elsewhere."""
    script = arm_script(TOKEN, JUMBO.change(*reversed(states())), 60, JUMBO)
    who = "New-ScheduledTaskPrincipal -UserId 'S-1-5-18' -LogonType ServiceAccount"
    assert who in script and "-Principal $who" in script and "AUTHORITY" not in script
    assert not PARSER.parse(script.encode()).root_node.has_error


def test_a_host_that_is_not_back_when_its_time_is_over_is_left_with_what_to_type(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(guard_timer_change, "LATEST_S", -1000.0)
    shell = TimedPowerShell(windows(), cuts)
    control = WindowsControl("desk", shell, back_s=5.0)
    with pytest.raises(LeftChangedError) as caught:
        GuardedControl(control, [JUMBO], 60).change(JUMBO, JUMBO.change(*states()))
    (token,) = shell.folders
    assert f"Start-ScheduledTask -TaskName 'wirespeed-undo-{token}'" in caught.value.next


def test_what_a_run_that_was_killed_left_armed_is_undone_by_the_next():
    shell = TimedPowerShell(windows())
    control = WindowsControl("desk", shell, back_s=5.0)
    undo = JUMBO.change(*reversed(states()))
    control._ask(arm_script(TOKEN, undo, 120, JUMBO), 60)
    control._ask(timed_change_script(TOKEN, JUMBO, JUMBO.change(*states())), 60)
    assert jumbo_of(shell.host) == "9014"
    control.lock(claim())
    assert shell.host == windows()
    control.unlock(claim())
    assert shell.folders == {}


def test_nothing_is_begun_once_the_task_has_the_folder():
    shell = TimedPowerShell(windows())
    control = WindowsControl("desk", shell, back_s=5.0)
    control._ask(arm_script(TOKEN, JUMBO.change(*reversed(states())), 120, JUMBO), 60)
    shell.fires_at = 1
    shell.renew()
    control._ask(timed_change_script(TOKEN, JUMBO, JUMBO.change(*states())), 60)
    assert shell.ran == [] and shell.host == windows()


def test_here_there_is_no_connection_to_lose():
    class Here:
        def __init__(self, inner: TimedPowerShell) -> None:
            self.run = inner.run

    shell = TimedPowerShell(windows())
    control = WindowsControl("desk", Here(shell))  # type: ignore[arg-type]
    changed = control.change_or_roll_back(JUMBO, JUMBO.change(*states()), (), 60)
    assert changed.failed == "" and jumbo_of(shell.host) == "9014"
    assert shell.folders == {}


names = st.text(
    st.characters(
        blacklist_categories=["Cc", "Cs", "Cn", "Zl", "Zp", "Co", "Cf", "Zs"],
        blacklist_characters="\u2018\u2019\u201a\u201b",
    ),
    min_size=1,
    max_size=40,
)


@given(names)
def test_whatever_an_adapter_is_called_its_timer_is_whole_and_has_one_command(name: str):
    name = f"\u262f{name}"
    step = WindowsFilter(component_id="nt_rtf64", adapters=(name,))
    undo = step.change({name: False}, {name: True})
    script = undo_script(TOKEN, undo, step)
    plain = WindowsFilter(component_id="nt_rtf64", adapters=("plain",))
    assert commands(script) == commands(
        undo_script(TOKEN, plain.change({"plain": False}, {"plain": True}), plain)
    )
    armed = arm_script(TOKEN, undo, 120, step)
    (encoded,) = [word.rstrip("'") for word in armed.split() if len(word) > 400]
    assert base64.b64decode(encoded).decode("utf-16-le") == script
    assert len(encoded) < MAX_ARGUMENT
    assert armed.isascii(), "no name stands in it as it is"
    for text in (script, armed, timed_change_script(TOKEN, step, undo), confirm_script(TOKEN, step),
                 lock_script(name, settle_part(RUN), others_part(RUN)),
                 take_over_script(name, name, settle_part(RUN), others_part(RUN)),
                 unlock_script(name, sweep_part(RUN))):  # fmt: skip
        assert not PARSER.parse(text.encode()).root_node.has_error


def commands(script: str) -> int:
    def count(node: Node) -> int:
        return (node.type == "command") + sum(map(count, node.children))

    root = PARSER.parse(script.encode()).root_node
    assert not root.has_error
    return count(root)
