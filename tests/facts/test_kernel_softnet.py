"""softnet_stat, as https://insights-core.readthedocs.io (softnet_stat) has it of two kernels."""

from pathlib import Path

from wirespeed.facts.kernel_softnet import Softnet, SoftnetDelta
from wirespeed.model.capture import Capture, Section
from wirespeed.model.observed import Known, Unreadable

PROC = Path(__file__).parent / "samples/proc"
ONLINE = "/sys/devices/system/cpu/online:0-1,4-5"


def softnet(before: str, after: str) -> Softnet:
    return Softnet.parse(
        Capture(
            [
                Section("cpu", "", ONLINE, "", 0),
                Section("softnet", "", before, "", 0),
                Section("softnet-again", "", after, "", 0),
            ],
            complete=True,
        )
    )


def test_a_line_that_names_its_cpu_is_that_cpus():
    before = (PROC / "softnet_stat_rps.txt").read_text()
    after = before.replace("01a35c9d 0002db94 00000001", "01a35cad 0002db96 00000004")
    found = softnet(before, after).by_cpu
    assert isinstance(found, Known)
    assert found.value[4] == SoftnetDelta(cpu=4, processed=16, dropped=2, squeezed=3)
    assert all(row.processed == 0 for row in found.value[:4])


def test_lines_without_a_cpu_are_the_online_ones_in_order():
    before = (PROC / "softnet_stat_el7.txt").read_text()
    after = before.replace("0000372f 00000001", "00003730 00000002")
    found = softnet(before, after).by_cpu
    assert isinstance(found, Known)
    assert [row.cpu for row in found.value] == [0, 1, 4, 5]
    assert found.value[3] == SoftnetDelta(cpu=5, processed=1, dropped=1, squeezed=0)


def test_a_counter_of_32_bits_goes_round():
    found = softnet("ffffffff 0 0", "00000001 0 0").by_cpu
    assert isinstance(found, Known)
    assert found.value[0].processed == 2


def test_one_reading_says_nothing():
    assert isinstance(softnet("1 0 0", "").by_cpu, Known)
    capture = Capture([Section("softnet", "", "1 0 0", "", 0)], complete=True)
    assert isinstance(Softnet.parse(capture).by_cpu, Unreadable)
    assert isinstance(softnet("one two", "one two").by_cpu, Unreadable)
