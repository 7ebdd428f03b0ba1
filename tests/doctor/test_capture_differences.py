"""In what two captures differ: ports of other names are the same ports, and no line is too much."""

import re
from pathlib import Path

import pytest
from program import wirespeed

from wirespeed.doctor.capture_differences import capture_differences

SAMPLES = Path(__file__).parents[1] / "facts/samples/captures"
FIRST = (SAMPLES / "mlx5-lab.txt").read_text()
OF_ANOTHER_HOST = {
    # Each port has the name that the other has on the first host.
    "enp1s0f0": "enp1s0f1", "enp1s0f1": "enp1s0f0",
    "0000:01:00.0": "0000:81:00.0", "0000:01:00.1": "0000:81:00.1",
}  # fmt: skip


def elsewhere(text: str) -> str:
    """The same host with its card in another slot, and the netdevs' names swapped."""
    words = "|".join(map(re.escape, OF_ANOTHER_HOST))
    return re.sub(rf"\b(?:{words})\b", lambda match: OF_ANOTHER_HOST[match[0]], text)


def test_the_same_card_in_another_slot_has_no_difference():
    other = elsewhere(FIRST)
    assert other != FIRST
    assert list(capture_differences(FIRST, other)) == []


def test_a_setting_is_named_with_both_values_and_the_first_captures_port():
    changed = FIRST.replace("tcp-segmentation-offload: on", "tcp-segmentation-offload: off", 1)
    assert list(capture_differences(FIRST, elsewhere(changed))) == [
        "enp1s0f0 tcp-segmentation-offload is on: yes | no",
        "enp1s0f0 tcp-segmentation-offload is requested: yes | no",
    ]


def test_counters_that_one_driver_has_are_named():
    assert re.search(r"^ +rx_out_of_buffer: 0$", FIRST, re.M)
    without = re.sub(r"^ +rx_out_of_buffer: 0\n", "", FIRST, count=1, flags=re.M)
    assert list(capture_differences(FIRST, without)) == [
        "ethtool-S enp1s0f0: only the first has rx_out_of_buffer"
    ]
    assert list(capture_differences(without, FIRST)) == [
        "ethtool-S enp1s0f0: only the second has rx_out_of_buffer"
    ]


def test_a_section_that_one_capture_lacks_is_named():
    lacks = FIRST.replace("begin ethtool-m enp1s0f1", "begin ethtool-x enp1s0f1")
    found = list(capture_differences(FIRST, lacks))
    assert "ethtool-m enp1s0f1: only the first has this section" in found
    assert "ethtool-x enp1s0f1: only the second has this section" in found


def test_the_command_compares_two_files_and_refuses_all_else(tmp_path: Path):
    one, other = tmp_path / "one.txt", tmp_path / "other.txt"
    one.write_text(FIRST)
    other.write_text(re.sub(r"^ +rx_out_of_buffer: 0\n", "", FIRST, count=1, flags=re.M))
    done = wirespeed("capture", "--differences", str(one), str(other))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "ethtool-S enp1s0f0: only the first has rx_out_of_buffer\n"
    for words in ((str(one),), (str(one), str(other), "--anonymous")):
        refused = wirespeed("capture", "--differences", *words)
        assert refused.returncode == 2 and "options.invalid" in refused.stderr


def test_a_capture_that_was_cut_off_is_named():
    cut = FIRST[: FIRST.rindex(" done")]
    said = list(capture_differences(FIRST, cut))
    assert any(line.startswith("the second capture was cut off") for line in said), said


def test_a_port_without_a_partner_is_not_taken_for_another():
    # The second host has one ConnectX port, which is paired with enp1s0f0, and another driver's.
    one = re.sub(r"\benp1s0f0\b", "other0", FIRST)
    other = re.sub(r"(begin ethtool-i other0\b.*?driver: )mlx5_core", r"\1ice", one, flags=re.S)
    assert other != one
    found = "\n".join(capture_differences(FIRST, re.sub(r"\benp1s0f1\b", "x9", other)))
    assert "other0" in found and "-second" not in found
    swapped = re.sub(r"\bother0\b", "enp1s0f0", re.sub(r"\benp1s0f1\b", "x9", other))
    assert "enp1s0f0-second" in "\n".join(capture_differences(FIRST, swapped))


@pytest.mark.parametrize("name", ["igb-lab.txt", "mlx5-lab.txt"])
def test_a_capture_does_not_differ_from_itself(name: str):
    text = (SAMPLES / name).read_text()
    assert list(capture_differences(text, text)) == []
