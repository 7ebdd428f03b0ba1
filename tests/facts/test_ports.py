"""Which netdevs are ports: representors of old and new kernels are none."""

import pytest

from wirespeed.facts.ports import Ports
from wirespeed.model.capture import Capture, Section

PF = "/sys/devices/pci0000:00/0000:03:00.0"
OTHER = "/sys/devices/pci0000:00/0000:04:00.0"


def ports(*lines: str) -> Ports:
    text = "".join(f"{line}\n" for line in lines)
    return Ports.parse(Capture([Section("ports", "", text, "", 0)], complete=True))


@pytest.mark.parametrize(
    ("lines", "names", "representors"),
    [
        # Linux 4.19, en_rep.c: the VF's bare number; the uplink has none.
        ((f"p0 driver=mlx5_core physfn= port= device={PF}",
          f"eth0 driver=mlx5_core physfn= port=0 device={PF}",
          f"eth1 driver=mlx5_core physfn= port=1 device={PF}"), ["p0"], ["eth0", "eth1"]),
        ((f"p0 driver=mlx5_core physfn= port=p0 device={PF}",
          f"eth0 driver=mlx5_core physfn= port=pf0vf0 device={PF}"), ["p0"], ["eth0"]),
        # A number alone does not make a representor: there is no other netdev of that function.
        ((f"p0 driver=mlx5_core physfn= port=0 device={PF}",), ["p0"], []),
        ((f"p0 driver=mlx5_core physfn= port= device={PF}",
          f"p1 driver=mlx5_core physfn= port=1 device={OTHER}"), ["p0", "p1"], []),
        ((f"p0 driver=nfp physfn= port= device={PF}",
          f"p1 driver=nfp physfn= port=1 device={PF}"), ["p0", "p1"], []),
    ],
)  # fmt: skip
def test_a_representor_is_not_a_port(
    lines: tuple[str, ...], names: list[str], representors: list[str]
):
    found = ports(*lines)
    assert [port.netdev for port in found.ports] == names
    assert list(found.representors) == representors
