"""What is read and written of the kernel's path, apart from any kernel."""

import pytest

from wirespeed.measure.bench.kernel_path import backlog_dropped, cpu_mask
from wirespeed.model.error import MeasurementError

# Linux 6.18, its first line changed: CPU 0, then CPU 1 with 0x1f dropped.
SOFTNET = """\
000d5d38 00000007 00000001 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 \
00000000 00000000 00000000 00000000
0011b3b8 0000001f 00000005 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 \
00000000 00000001 00000000 00000000
"""


@pytest.mark.parametrize(("cpu", "dropped"), [(0, 7), (1, 31)])
def test_what_a_cpu_dropped_is_of_its_own_line(cpu: int, dropped: int):
    assert backlog_dropped(SOFTNET, cpu) == dropped


@pytest.mark.parametrize("text", [SOFTNET, "", "x y z\n", "000d5d38 00000007\n"])
def test_a_cpu_without_a_line_has_dropped_nobody_knows_what(text: str):
    with pytest.raises(MeasurementError, match="no line of CPU 7"):
        backlog_dropped(text, 7)


@pytest.mark.parametrize(
    ("cpu", "mask"),
    [(0, "1"), (1, "2"), (31, "80000000"), (32, "1,00000000"), (70, "40,00000000,00000000")],
)
def test_a_mask_has_32_cpus_in_a_group(cpu: int, mask: str):
    assert cpu_mask(cpu) == mask
