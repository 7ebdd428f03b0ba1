"""An image is burnt that is made for this very card, and the former one comes back."""

from copy import deepcopy

import pytest
from described_card import CARD, NEW, OLD, OTHER_PSID, PSID, DescribedCard
from proof import plan_on, prove
from pydantic import ValidationError
from samples import is_never_guessed, reason_of, section_of, state_of

from wirespeed.model.finding import Danger
from wirespeed.steps.firmware_image import BURN, FirmwareImage

IMAGE = {"pci_address": CARD, "psid": PSID, "image": NEW, "version": "20.36.1010"}
FORMER = {"former_image": OLD, "former_version": "20.35.1012"}
STEP = FirmwareImage.model_validate({**IMAGE, **FORMER})
LOADED = STEP.model_copy(update={"is_loaded": True})
ONE_WAY = FirmwareImage.model_validate(IMAGE)


class Card(DescribedCard):
    """How often it was reset is no difference between two cards."""

    def __eq__(self, other: object) -> bool:
        one, two = deepcopy(vars(self)), deepcopy(vars(other))
        return {**one, "resets": 0} == {**two, "resets": 0}

    __hash__ = None


def reading(step: FirmwareImage, card: DescribedCard):
    answer = card.run(step.read())
    return section_of(answer.output, answer.errors, answer.returncode)


def test_burnt_for_the_next_reset_and_back():
    prove(STEP, Card(), Card(stored="20.36.1010"))


def test_burnt_and_loaded_and_back():
    prove(LOADED, Card(), Card(stored="20.36.1010", running="20.36.1010"))


def test_one_that_was_burnt_and_waits_is_loaded():
    start = Card(stored="20.36.1010")
    commands = plan_on(LOADED, start).steps[0].commands
    assert [c.line() for c in commands] == [f"mstfwreset -d {CARD} -y reset"]


def test_the_commands_never_allow_another_psid():
    planned = plan_on(LOADED, Card()).steps[0]
    for commands, image, version in (
        (planned.commands, NEW, r"0*20\.0*36\.0*1010"),
        (planned.undo, OLD, r"0*20\.0*35\.0*1012"),
    ):
        burn, reset = commands
        assert burn.argv[:3] == ("sh", "-c", BURN) and "allow_psid_change" not in BURN
        assert burn.argv[4:9] == ("mstflint", CARD, image, PSID, version)
        assert reset.line() == f"mstfwreset -d {CARD} -y reset"
    assert planned.danger is Danger.FIRMWARE


def test_without_the_former_image_there_is_no_way_back_and_it_says_so():
    planned = plan_on(ONE_WAY, Card()).steps[0]
    assert planned.commands and planned.undo == ()
    assert "NO WAY BACK" in planned.why
    assert "NO WAY BACK" not in STEP.why and "20.35.1012 can be burnt again" in STEP.why


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"psid": OTHER_PSID}, "the card has PSID DEL0000000027"),
        ({"images": {NEW: (OTHER_PSID, "20.36.1010"), OLD: (PSID, "20.35.1012")}}, NEW),
        ({"images": {NEW: (PSID, "20.36.1010"), OLD: (OTHER_PSID, "20.35.1012")}}, OLD),
        ({"images": {NEW: (PSID, "20.37.1"), OLD: (PSID, "20.35.1012")}}, "holds 20.37.1"),
        ({"images": {NEW: (PSID, "20.36.1010"), OLD: (PSID, "20.34.1")}}, "holds 20.34.1"),
        ({"images": {OLD: (PSID, "20.35.1012")}}, "No such file"),
        ({"stored": "20.40.1000"}, "newer than 20.36.1010"),
    ],
)
def test_what_does_not_fit_is_not_known_and_so_not_burnt(change: dict[str, object], reason: str):
    card = DescribedCard()
    for name, value in change.items():
        setattr(card, name, value)
    assert reason in reason_of(STEP, reading(STEP, card))


def test_an_older_one_is_burnt_only_where_it_is_said_to_be_meant():
    down = FirmwareImage(
        pci_address=CARD, psid=PSID, image=OLD, version="20.35.1012",
        former_image=NEW, former_version="20.36.1010",
    )  # fmt: skip
    newer = Card(stored="20.36.1010", running="20.36.1010")
    assert "may_be_older" in reason_of(down, reading(down, newer))
    meant = down.model_copy(update={"may_be_older": True})
    prove(meant, newer, Card(stored="20.35.1012", running="20.36.1010"))


def test_versions_are_compared_as_numbers():
    """9 before 10; and `20.9.0010` is `20.9.10`, as versions of the tool print it either way."""
    step = STEP.model_copy(
        update={"version": "20.10.10", "former_image": None, "former_version": None}
    )
    card = DescribedCard(stored="20.9.0010", images={NEW: (PSID, "20.10.0010")})
    assert state_of(step, reading(step, card)) == {"stored": "20.9.10"}


def test_it_is_never_guessed():
    for step in (STEP, LOADED):
        is_never_guessed(step)
        reason_of(step, section_of("Image type: FS4\nFW Version: $(id)\nPSID: MT_0000000228\n" * 3))


@pytest.mark.parametrize(
    "fields",
    [
        {"former_image": OLD},
        {"former_version": "20.35.1012"},
        {"image": "fw.bin"},
        {"image": "/srv/../etc/fw.bin"},
        {"image": "/srv/a b.bin"},
        {"image": "/srv/fw.bin;reboot"},
        {"image": "/etc/shadow"},
        {"version": "20.36"},
        {"psid": "mt 1"},
        {"former_image": NEW, "former_version": "20.36.1010"},
    ],
)
def test_no_such_step(fields: dict[str, object]):
    with pytest.raises(ValidationError):
        FirmwareImage.model_validate({**IMAGE, **fields})
