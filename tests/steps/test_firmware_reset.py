"""A reset brings what waits into force. It has no way back, so that its proof is one of its own.

What `prove` shows of other steps is shown here as far as it can be: the goal is reached and read
afresh, a second apply is a no-op, a card that ignores it is not believed, and an undo says that
the host is left changed.
"""

import pytest
from described_card import CARD, DescribedCard
from proof import NAME, DescribedControl, plan_on, prove_second_apply_is_no_op
from samples import is_never_guessed, reason_of, section_of

from wirespeed.apply.executor import Executor
from wirespeed.model.error import LeftChangedError
from wirespeed.model.finding import Danger
from wirespeed.model.journal import Entry
from wirespeed.steps.firmware_reset import FirmwareReset

STEP = FirmwareReset(pci_address=CARD, functions=("0000:03:00.1",))


def waiting() -> DescribedCard:
    return DescribedCard(stored="20.36.1010", next_boot={"NUM_OF_VFS": 16})


def executor(card: DescribedCard, journal: list[Entry]) -> tuple[Executor, DescribedControl]:
    control = DescribedControl(card)
    plan = plan_on(STEP, card)
    return Executor(plan, {NAME: control}, journal.append, lambda: "now"), control


def test_firmware_and_settings_come_into_force():
    card = waiting()
    executor(card, [])[0].apply()
    assert (card.running, card.in_force, card.resets) == ("20.36.1010", {"NUM_OF_VFS": 16}, 1)


def test_where_nothing_waits_nothing_is_done():
    prove_second_apply_is_no_op(STEP, DescribedCard())


def test_a_card_that_ignores_it_is_not_believed():
    run, control = executor(waiting(), [])
    control.ignores = lambda _: True
    with pytest.raises(Exception, match=r"contradicted"):
        run.apply()


def test_settings_that_need_a_boot_are_found_to_wait_still():
    card = waiting()
    card.needs_a_boot = True
    with pytest.raises(LeftChangedError) as caught:
        executor(card, [])[0].apply()
    assert CARD in caught.value.where


def test_an_undo_says_that_the_host_is_left_changed():
    journal: list[Entry] = []
    run, _ = executor(waiting(), journal)
    run.apply()
    with pytest.raises(LeftChangedError):
        run.undo()


def test_it_says_what_it_takes():
    planned = plan_on(STEP, waiting()).steps[0]
    assert planned.undo == () and planned.danger is Danger.CARD_RESET
    assert "NO WAY BACK" in planned.why and "VFs go away" in planned.why
    assert [c.line() for c in planned.commands] == [f"mstfwreset -d {CARD} -y reset"]


@pytest.mark.parametrize("levels", [(), (4,)])
def test_a_card_that_takes_only_a_reboot_of_the_host_is_not_known(levels: tuple[int, ...]):
    card = waiting()
    card.levels = levels
    answer = card.run(STEP.read())
    assert "reboot of the host" in reason_of(STEP, section_of(answer.output))


def test_it_is_never_guessed():
    is_never_guessed(STEP)
