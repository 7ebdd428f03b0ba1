"""Real output of iperf3 3.12 and 3.9, as found and with one thing changed."""

from pathlib import Path

import pytest

from wirespeed.measure.network.iperf3_output import NoFiguresError, parse_iperf3

DATA = Path(__file__).parent.parent / "data"


def real(name: str, version: str = "3.12") -> str:
    return (DATA / f"iperf3-{version}-{name}.json").read_text()


def test_both_directions_are_as_their_receivers_counted_them():
    figures = parse_iperf3(real("bidir-2"), streams=2, bidirectional=True)
    # 97,386,496 and 15,402,388 bytes in 1.020545 s, by the file.
    assert figures.sent_bps == pytest.approx(97_386_496 * 8 / 1.020545)
    assert figures.returned_bps == pytest.approx(15_402_388 * 8 / 1.020545)
    assert (figures.retransmits, figures.returned_retransmits) == (1, 11)
    assert figures.client_cpu_percent == pytest.approx(92.466, abs=0.001)
    assert figures.server_cpu_percent == pytest.approx(65.377, abs=0.001)
    assert figures.version == "iperf 3.12"


def test_one_direction_has_no_other():
    figures = parse_iperf3(real("one-way"), streams=1, bidirectional=False)
    assert figures.returned_bps is None
    assert figures.returned_retransmits is None
    assert figures.sent_bps > 0


def test_an_error_is_told_even_where_the_exit_code_was_0():
    with pytest.raises(NoFiguresError, match="Connection refused"):
        parse_iperf3(real("refused"), streams=2, bidirectional=True)


def test_an_error_outranks_figures():
    text = real("one-way").rstrip().removesuffix("}") + ', "error": "interrupt"}'
    with pytest.raises(NoFiguresError, match="interrupt"):
        parse_iperf3(text, streams=1, bidirectional=False)


def test_sums_that_stand_twice_say_who_sent():
    # So iperf3 3.7 to 3.10 print `--bidir`. By the file: 201,850,880 and 760,610,816 bytes.
    figures = parse_iperf3(real("bidir-2", "3.9"), streams=2, bidirectional=True)
    assert figures.sent_bps == pytest.approx(201_850_880 * 8 / 1.03877)
    assert figures.returned_bps == pytest.approx(760_610_816 * 8 / 1.03877)
    assert (figures.retransmits, figures.returned_retransmits) == (21, 5)
    assert figures.version == "iperf 3.9"


@pytest.mark.parametrize("says", ["true", "1", "null", '"x"', "[]"])
def test_sums_that_stand_twice_and_do_not_say_who_sent_are_refused(says: str):
    text = real("bidir-2", "3.9").replace('"sender":\tfalse', f'"sender":\t{says}')
    with pytest.raises(NoFiguresError, match="'sum' appears 2 times"):
        parse_iperf3(text, streams=2, bidirectional=True)


def test_what_is_no_sum_and_stands_twice_is_refused():
    text = real("one-way").replace('"num_streams"', '"protocol":\t"TCP", "num_streams"', 1)
    with pytest.raises(NoFiguresError, match="'protocol' appears 2 times"):
        parse_iperf3(text, streams=1, bidirectional=False)


@pytest.mark.parametrize(
    ("was", "becomes", "reason"),
    [
        ('"sum_received_bidir_reverse"', '"sum_other"', "no sum_received_bidir_reverse"),
        ('"cpu_utilization_percent"', '"cpu"', "no cpu_utilization_percent"),
        ('"num_streams":\t2', '"num_streams":\t1', "TCP with 1 streams"),
        ('"protocol":\t"TCP"', '"protocol":\t"UDP"', "UDP with 2 streams"),
        ('"reverse":\t0', '"bidir":\t0', "bidir was 0"),
        ('"bytes":\t15402388', '"bytes":\t0', "nothing was received"),
        ('"bits_per_second":\t763407755.659966', '"bits_per_second":\tNaN', "nan for bits_per"),
        ('"bits_per_second":\t763407755.659966', '"bits_per_second":\t-1', "-1 for bits_per"),
        ('"bits_per_second":\t763407755.659966', '"bits_per_second":\t"x"', "x for bits_per"),
        ('{\n\t"start"', 'warning: x\n{\n\t"start"', "no JSON"),
    ],
)
def test_what_is_not_as_it_must_be_gives_no_figures(was: str, becomes: str, reason: str):
    text = real("bidir-2")
    assert was in text
    with pytest.raises(NoFiguresError, match=reason):
        parse_iperf3(text.replace(was, becomes), streams=2, bidirectional=True)


def test_a_run_in_one_direction_is_none_in_both():
    with pytest.raises(NoFiguresError, match="no sum_sent_bidir_reverse"):
        parse_iperf3(real("one-way"), streams=1, bidirectional=True)
