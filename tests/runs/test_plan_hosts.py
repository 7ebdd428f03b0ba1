"""Hosts that are up, read to be planned."""

from collections.abc import Sequence

import pytest

from wirespeed.apply.control_posix import PosixControl
from wirespeed.apply.spec_file import parse_spec
from wirespeed.host.local import LocalRunner
from wirespeed.host.runner import MAX_OUTPUT_BYTES, Completed
from wirespeed.model.error import HostError
from wirespeed.runs.plan_hosts import plan_hosts

SPEC = """
hosts:
  alpha: {reach: here, ports: ["0000:03:00.0"]}
approach: legacy-vlan
failover: none
underlay: {subnet: 192.168.9.0/24, mtu: 9000}
networks: {}
guests: {}
"""


class TooSlow(LocalRunner):
    """This machine, whose answer does not come to its end."""

    def run(
        self,
        argv: Sequence[str],
        *,
        timeout_s: float = 60.0,
        stdin: str | None = None,
        max_bytes: int = MAX_OUTPUT_BYTES,
    ) -> Completed:
        done = super().run(argv, timeout_s=timeout_s, stdin=stdin, max_bytes=max_bytes)
        return done.model_copy(update={"output": done.output[: len(done.output) // 2]})


def test_nothing_is_planned_on_half_a_reading():
    with pytest.raises(HostError) as caught:
        plan_hosts(parse_spec(SPEC, "spec.yaml"), {"alpha": PosixControl("alpha", TooSlow())})
    assert caught.value.what == "host.half_read"
    assert caught.value.where == "alpha"
