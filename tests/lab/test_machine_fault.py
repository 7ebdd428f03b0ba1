"""What `lab fault` takes: pure."""

import pytest

from wirespeed.lab.machine_fault import Fault, parse_fault
from wirespeed.model.error import InputError


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("cable-out", Fault(cable=(False,))),
        ("cable-in", Fault(cable=(True,))),
        ("flaps=2", Fault(cable=(False, True, False, True))),
        ("module-hot", Fault(of_model="module hot")),
        ("health=0x10", Fault(of_model="health 10")),
        ("fatal=1", Fault(of_model="fatal 1")),
        ("command=0x805:8:badc0de", Fault(of_model="command 805 8 badc0de")),
        ("silent=805", Fault(of_model="silent 805")),
        ("port-full=a", Fault(of_model="full a")),
        ("none", Fault(of_model="none")),
    ],
)
def test_a_fault_is_read(text: str, fault: Fault):
    assert parse_fault(text) == fault


@pytest.mark.parametrize(
    "text", ["", "flaps=0", "flaps=101", "health=", "health=g", "command=805", "none\n", "x none"]
)
def test_what_is_none_is_refused(text: str):
    with pytest.raises(InputError) as raised:
        parse_fault(text)
    assert raised.value.what == "lab.fault"
