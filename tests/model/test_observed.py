import pytest

from wirespeed.model.observed import (
    Absent,
    CannotTellError,
    Known,
    Unreadable,
    known,
    value_or_none,
)


def test_zero_and_the_empty_text_are_values():
    assert known(Known(0, "cat x"), "x") == 0
    assert value_or_none(Known("", "cat x")) == ""


@pytest.mark.parametrize("observed", [Absent("cat x"), Unreadable("Permission denied", "cat x")])
def test_what_is_not_known_cannot_be_told_and_says_what_would_tell(
    observed: Absent | Unreadable,
):
    with pytest.raises(CannotTellError) as error:
        known(observed, "the width of the slot")
    assert error.value.reason == f"the width of the slot: {observed.reason}"
    assert error.value.would_tell == "cat x"


def test_absence_is_known_and_ignorance_is_not():
    assert value_or_none(Absent("cat x")) is None
    with pytest.raises(CannotTellError):
        value_or_none(Unreadable("Permission denied", "cat x"))
