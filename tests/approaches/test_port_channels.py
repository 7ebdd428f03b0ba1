"""A port whose driver sets its channels anew with its VFs: what was there comes back by a step."""

import pytest

from wirespeed.approaches.vf_ports import port_channels
from wirespeed.model.capture import parse_capture
from wirespeed.model.fact import HostFacts
from wirespeed.steps.channels import Channels

ADDRESS = "0000:01:00.0"


def host(now: int, most: int = 8, cpus: str = "0-3", driver: str = "igb") -> HostFacts:
    device = f"/sys/devices/pci0000:00/{ADDRESS}"
    channels = (
        f"Channel parameters for eth0:\nPre-set maximums:\nRX:\t\tn/a\nTX:\t\tn/a\nOther:\t\t1\n"
        f"Combined:\t{most}\nCurrent hardware settings:\nRX:\t\tn/a\nTX:\t\tn/a\nOther:\t\t1\n"
        f"Combined:\t{now}\n"
    )
    sections = (
        ("ports -", f"eth0 driver={driver} physfn= port= device={device}"),
        ("ethtool-channels eth0", channels),
        ("cpu -", f"/sys/devices/system/cpu/online:{cpus}"),
    )
    lines = ["wirespeed-capture 1 m-1234"]
    for name, output in sections:
        lines += [f"m-1234 begin {name}", output, "m-1234 end 0"]
    return HostFacts("alpha", parse_capture("\n".join([*lines, "m-1234 done", ""]), "alpha"))


@pytest.mark.parametrize(
    ("now", "most", "cpus", "wanted"),
    [
        (1, 8, "0-3", 4),
        (1, 8, "0-15", 8),
        (4, 8, "0-3", None),
        (2, 2, "0-3", None),  # as it is while VFs are on
        (1, 8, "0", None),
    ],
)
def test_igb_gets_a_channel_for_every_cpu_up_to_what_it_can(
    now: int, most: int, cpus: str, wanted: int | None
):
    steps = [one.step for one in port_channels("alpha", host(now, most, cpus), ADDRESS)]
    assert steps == ([] if wanted is None else [Channels(netdev="eth0", combined=wanted)])


def test_channels_of_drivers_that_leave_them_alone_are_left_alone():
    assert list(port_channels("alpha", host(1, driver="mlx5_core"), ADDRESS)) == []


def test_nothing_is_planned_where_the_cpus_are_not_known():
    assert list(port_channels("alpha", host(1, cpus="?"), ADDRESS)) == []
