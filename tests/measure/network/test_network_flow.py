"""A paced flow from this machine to itself."""

from ipaddress import IPv4Address
from pathlib import Path

import pytest

from wirespeed.host.clock import sleep_s
from wirespeed.host.local import LocalRunner
from wirespeed.measure.network.flow import Flow


def listening(flow: Flow) -> int:
    """How many of its two programs still are."""
    sockets = Path("/proc/net/unix").read_text()
    return sum(f"@{name}" in sockets for name in flow._names)


def test_a_flow_to_oneself_loses_nothing_and_both_ends_are_gone_after():
    runner = LocalRunner()
    with Flow(runner, runner, IPv4Address("127.0.0.1"), 200, 30) as flow:
        for phase in ("before", "away", "back"):
            flow.mark(phase)
            sleep_s(0.3)
        flow.mark("tail")
        sent, heard = flow.stop()
    assert heard.received == sent.packets > 0
    assert heard.duplicates == heard.reordered == heard.overflowed == 0
    assert heard.phases["away"].received > 0


def test_a_flow_that_is_given_up_leaves_nobody_behind():
    runner = LocalRunner()
    with (
        pytest.raises(ZeroDivisionError),
        Flow(runner, runner, IPv4Address("127.0.0.1"), 10, 60) as flow,
    ):
        assert listening(flow) == 2
        raise ZeroDivisionError
    assert listening(flow) == 0
