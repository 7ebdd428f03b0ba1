"""The read request is three bits of a register whose other bits stay."""

import re
from dataclasses import dataclass

import pytest
from proof import Answer, UnknownCommandError, prove

from wirespeed.model.capture import Section
from wirespeed.model.command import Command
from wirespeed.model.observed import Known, Unreadable
from wirespeed.steps.read_request import ReadRequest

PORT = "0000:af:00.0"


@dataclass
class DescribedFunction:
    """`setpci -s ADDRESS CAP_EXP+8.w[=BITS:MASK]`, as setpci(8) of pciutils defines it."""

    device_control: int

    def run(self, command: Command) -> Answer:
        assert command.stdin is None
        match command.argv:
            case ("setpci", "-s", address, "CAP_EXP+8.w") if address == PORT:
                return Answer(f"{self.device_control:04x}\n")
            case ("setpci", "-s", address, write) if address == PORT and (
                match := re.fullmatch(r"CAP_EXP\+8\.w=([0-9a-f]{1,4}):([0-9a-f]{1,4})", write)
            ):
                bits, mask = int(match[1], 16), int(match[2], 16)
                self.device_control = self.device_control & ~mask | bits & mask
                return Answer()
            case _:
                raise UnknownCommandError(command.line())


def step(size: int) -> ReadRequest:
    return ReadRequest.model_validate({"pci_address": PORT, "max_read_request_bytes": size})


# The seed's example is 1024 bytes: 3BCD of ABCD. 2936 is what a ConnectX-5 shows: 512 bytes.
@pytest.mark.parametrize(
    ("size", "before", "after"),
    [(1024, 0x2936, 0x3936), (4096, 0x2936, 0x5936), (128, 0x5810, 0x0810), (512, 0x0FFF, 0x2FFF)],
)
def test_only_its_three_bits_change_and_come_back(size: int, before: int, after: int):
    prove(step(size), DescribedFunction(before), DescribedFunction(after))


def test_the_register_is_found_through_the_capability():
    (command,) = step(1024).change(
        {"max_read_request_bytes": 512}, {"max_read_request_bytes": 1024}
    )
    assert command.line() == "setpci -s 0000:af:00.0 CAP_EXP+8.w=3000:7000"


def test_every_size_that_the_specification_has_is_read():
    """PCI Express Base Specification 5.0, table 7-17: 000b is 128 bytes, 101b is 4096."""
    for encoding, size in enumerate((128, 256, 512, 1024, 2048, 4096)):
        state = step(512).parse(Section("step", PORT, f"{encoding}910\n", "", 0))
        assert isinstance(state, Known) and state.value == {"max_read_request_bytes": size}


def test_a_function_that_is_gone_is_called_gone():
    state = step(512).parse(Section("step", PORT, "ffff\n", "", 0))
    assert isinstance(state, Unreadable) and "gone" in state.reason


@pytest.mark.parametrize(
    ("output", "errors", "code"),
    [
        ("", "setpci: Warning: No devices selected for `CAP_EXP+8.w'.\n", 0),
        ("", "setpci: 0000:af:00.0: Instance #0 of Capability 0010 not found - there are no "
         "capabilities with that id.\n", 1),
        ("ffff\n", "", 0),
        ("6936\n", "", 0),
        ("7936\n", "", 0),
        ("2936\n2936\n", "", 0),
        ("293\n", "", 0),
        ("", "sh: setpci: not found", 127),
        ("2936\n", "", None),
    ],
)  # fmt: skip
def test_what_is_no_register_is_unreadable(output: str, errors: str, code: int | None):
    assert isinstance(step(512).parse(Section("step", PORT, output, errors, code)), Unreadable)
