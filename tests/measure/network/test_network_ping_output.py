"""Outputs of several pings, by their sources and as recorded."""

import pytest

from wirespeed.measure.network.ping_output import PingFigures, parse_ping

HEAD = (
    "PING 192.168.10.2 (192.168.10.2) 56(84) bytes of data.\n\n--- 192.168.10.2 ping statistics\n"
)


def test_a_flood_ping_of_iputils_20221126_as_recorded():
    text = HEAD + (
        "300 packets transmitted, 300 received, 0% packet loss, time 146ms\n"
        "rtt min/avg/max/mdev = 0.137/0.411/1.297/0.177 ms, ipg/ewma 0.488/0.381 ms\n"
    )
    assert parse_ping(text) == PingFigures(300, 300, 0, 0, 137, 411, 1297, 177)


def test_pipes_duplicates_corruption_and_errors_are_told_apart():
    text = HEAD + (
        "1000 packets transmitted, 990 received, +3 duplicates, +2 corrupted, +5 errors, "
        "1% packet loss, time 9999ms\n"
        "rtt min/avg/max/mdev = 0.030/0.050/11.005/0.002 ms, pipe 4, ipg/ewma 0.048/0.042 ms\n"
    )
    assert parse_ping(text) == PingFigures(1000, 990, 3, 5, 30, 50, 11005, 2)


def test_nothing_that_came_back_is_a_loss_and_not_a_failure():
    text = HEAD + "3 packets transmitted, 0 received, 100% packet loss, time 32ms\n\n"
    assert parse_ping(text) == PingFigures(3, 0, 0, 0, None, None, None, None)


def test_older_iputils_say_loss_with_digits_after_the_point():
    text = HEAD + (
        "3000 packets transmitted, 2999 received, 0.0333333% packet loss, time 500ms\n"
        "rtt min/avg/max/mdev = 0.010/0.020/0.030/0.004 ms, ipg/ewma 0.166/0.020 ms\n"
    )
    assert parse_ping(text).received == 2999


def test_a_loss_that_is_small_has_an_exponent():
    """One of two million: `%g` of 5e-05."""
    text = HEAD + (
        "2000000 packets transmitted, 1999999 received, 5e-05% packet loss, time 60000ms\n"
        "rtt min/avg/max/mdev = 0.010/0.020/0.030/0.004 ms, ipg/ewma 0.030/0.020 ms\n"
    )
    assert parse_ping(text) == PingFigures(2000000, 1999999, 0, 0, 10, 20, 30, 4)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no summary"),
        ("ping: invalid option -- 'f'\nBusyBox v1.35.0 multi-call binary.\n", "no summary"),
        (
            HEAD + "3 packets transmitted, 3 packets received, 0% packet loss\n"
            "round-trip min/avg/max = 0.058/0.070/0.081 ms\n",
            "iputils",
        ),
        (HEAD + "3 packets transmitted, 3 received, 0% packet loss, time 2ms\n", "iputils"),
        (
            HEAD + "3 packets transmitted, 4 received, 0% packet loss, time 2ms\n"
            "rtt min/avg/max/mdev = 0.010/0.020/0.030/0.004 ms\n",
            "4 answers to 3",
        ),
        (
            HEAD + "3 packets transmitted, 3 received, 0% packet loss, time 2ms\n"
            "rtt min/avg/max/mdev = 0.010/0.040/0.030/0.004 ms\n",
            "mean of 40",
        ),
    ],
)
def test_what_iputils_would_not_print_is_refused(text: str, reason: str):
    with pytest.raises(ValueError, match=reason):
        parse_ping(text)
