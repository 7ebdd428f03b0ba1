"""What `wirespeed ceiling` is told of a path that is not there: its options, as quantities."""

import math
import re
from dataclasses import dataclass

from wirespeed.commands.quantities import SECONDS
from wirespeed.model.error import InputError
from wirespeed.model.pcie_link import PcieLink
from wirespeed.model.units import MIN_FRAME_BYTES

GT_PER_S = {1: 2.5, 2: 5.0, 3: 8.0, 4: 16.0, 5: 32.0, 6: 64.0}
"""By generation of PCI Express."""
LANES = (1, 2, 4, 8, 12, 16, 32)
SIZES = (128, 256, 512, 1024, 2048, 4096)
USUAL_PAYLOAD_BYTES, USUAL_READ_REQUEST_BYTES = 256, 512
"""What most servers of today are set to; assumed where the user does not say."""
MAX_FRAME_BYTES = 16384
MAX_GIGABITS = 100_000
MAX_COUNT = 4096
MAX_GHZ = 20
MAX_CYCLES = 10**9
MAX_WINDOW_BYTES = 1 << 30
"""RFC 7323 section 2.3: a window of 65535 scaled by at most 14 bits."""
BYTES = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


@dataclass(frozen=True, slots=True)
class Refused:
    """An option whose value cannot be taken, and how a good one is written."""

    option: str
    expected: str
    example: str

    def error(self, value: str) -> InputError:
        """Make the error."""
        return InputError(
            f"ceiling.{self.option}",
            where=f"--{self.option} {value}",
            found=f"{value!r} is not {self.expected}",
            so="no ceiling can be computed",
            next=f"write --{self.option} {self.example}",
        )


def pcie_link(text: str, payload: str | None, read_request: str | None) -> PcieLink:
    """Read `4.0x4`, `gen4x4` or `4x4`. Raises InputError `ceiling.pcie` and of the sizes."""
    refused = Refused("pcie", "a generation from 1 to 6 and a number of lanes", "4.0x16")
    match = re.fullmatch(r"(?:gen|pcie)? ?([1-6])(?:\.[01])? ?x ?(\d{1,2})", text.strip().lower())
    if match is None or int(match[2]) not in LANES:
        raise refused.error(text)
    return PcieLink(
        gt_per_s=GT_PER_S[int(match[1])],
        lanes=int(match[2]),
        max_payload_bytes=_one_of("payload", payload, USUAL_PAYLOAD_BYTES),
        max_read_request_bytes=_one_of("read-request", read_request, USUAL_READ_REQUEST_BYTES),
    )


def _one_of(option: str, text: str | None, usual: int) -> int:
    if text is None:
        return usual
    if text not in map(str, SIZES):
        raise Refused(option, "one of 128, 256, … 4096 bytes", str(usual)).error(text)
    return int(text)


def gigabits_bps(option: str, text: str) -> int:
    """Read Gb/s as bits per second. Raises InputError `ceiling.<option>`."""
    gigabits = _number(text)
    if not 1e-3 <= gigabits <= MAX_GIGABITS:
        raise Refused(option, "a speed in Gb/s", "100").error(text)
    return round(gigabits * 1e9)


def count(option: str, text: str) -> int:
    """Read a number of things. Raises InputError `ceiling.<option>`."""
    if not re.fullmatch(r"\d{1,4}", text) or not 1 <= int(text) <= MAX_COUNT:
        raise Refused(option, f"a whole number from 1 to {MAX_COUNT}", "2").error(text)
    return int(text)


def clock_hz(text: str) -> float:
    """Read GHz. Raises InputError `ceiling.core-ghz`."""
    ghz = _number(text)
    if not 0.1 <= ghz <= MAX_GHZ:
        raise Refused("core-ghz", "a clock in GHz", "3.4").error(text)
    return ghz * 1e9


def cycles(text: str) -> float:
    """Read cycles for each frame. Raises InputError `ceiling.cycles`."""
    found = _number(text)
    if not 1 <= found <= MAX_CYCLES:
        raise Refused("cycles", "a number of cycles for each frame, 1 or more", "33").error(text)
    return found


def window_bytes(text: str) -> int:
    """Read `16M`, `512K` or bytes. Raises InputError `ceiling.window`."""
    match = re.fullmatch(r"(\d{1,13})([KMG]?)(?:i?B)?", text.strip())
    size = int(match[1]) * BYTES[match[2]] if match else 0
    if not 1 <= size <= MAX_WINDOW_BYTES:
        raise Refused("window", "a size of 1 byte to 1G", "16M").error(text)
    return size


def seconds(text: str) -> float:
    """Read a time with its unit. Raises InputError `ceiling.rtt`."""
    match = re.fullmatch(r"(\d{1,9}(?:\.\d{1,9})?) ?(s|ms|us)", text.strip())
    found = float(match[1]) * SECONDS[match[2]] if match else 0.0
    if not 0 < found <= 3600:
        raise Refused("rtt", "a time with its unit", "0.2ms").error(text)
    return found


def frame_length(text: str) -> int:
    """Read the bytes of a frame. Raises InputError `ceiling.frame`."""
    expected = f"from {MIN_FRAME_BYTES} to {MAX_FRAME_BYTES} bytes, FCS counted"
    if not re.fullmatch(r"\d{1,5}", text) or not MIN_FRAME_BYTES <= int(text) <= MAX_FRAME_BYTES:
        raise Refused("frame", expected, "1518").error(text)
    return int(text)


def _number(text: str) -> float:
    return float(text) if re.fullmatch(r"\d{1,9}(\.\d{1,9})?", text) else math.nan
