"""Which netdevs are ports: representors of old and new kernels are none."""

from pathlib import Path

import pytest

from wirespeed.doctor.collector import collector_script
from wirespeed.facts.ports import Ports
from wirespeed.host.local import LocalRunner
from wirespeed.model.capture import Capture, Section, parse_capture
from wirespeed.model.observed import CannotTellError

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
        # A subfunction and its representor (Linux, Documentation/networking/device_drivers/
        # ethernet/mellanox/mlx5/switchdev.rst); on a DPU, those of the host's PFs.
        ((f"p0 driver=mlx5_core physfn= port=p0 device={PF}",
          f"enp3s0f0s88 driver=mlx5_core.sf physfn= port= device={PF}/mlx5_core.sf.4",
          f"eth0 driver=mlx5_core physfn= port=pf0sf88 device={PF}"), ["p0"], ["eth0"]),
        ((f"p0 driver=mlx5_core physfn= port=p0 device={PF}",
          f"pf0hpf driver=mlx5_core physfn= port=pf0hpf device={PF}",
          f"eth1 driver=mlx5_core physfn= port=c1pf0 device={PF}"), ["p0"], ["pf0hpf", "eth1"]),
    ],
)  # fmt: skip
def test_a_representor_is_not_a_port(
    lines: tuple[str, ...], names: list[str], representors: list[str]
):
    found = ports(*lines)
    assert [port.netdev for port in found.ports] == names
    assert list(found.representors) == representors


def test_the_tools_of_a_port_are_not_run_for_what_is_a_part_of_one(tmp_path: Path):
    """Of hundreds of subfunctions each would cost a second."""
    for name, phys_port, also in (
        ("p0", "p0", ""),
        ("vf", "", "physfn"),
        ("sf", "", "sfnum"),
        ("rep", "pf0vf1", ""),
        ("host", "pf0hpf", ""),
        ("other", "c1pf0", ""),
    ):
        device = tmp_path / "sys/class/net" / name / "device"
        device.mkdir(parents=True)
        (device.parent / "phys_port_name").write_text(f"{phys_port}\n")
        if also:
            (device / also).write_text("0\n")
    script = collector_script()
    begin = script.index("netdevs='' port_netdevs=''")
    loop = script[begin : script.index("\nset -f\n", begin)].replace("/sys/", f"{tmp_path}/sys/")
    asked = f'{loop}\nprintf \'%s\\n\' "$port_netdevs" "$netdevs"'
    done = LocalRunner().run(["sh", "-c", asked])
    ports, netdevs = done.output.splitlines()
    assert ports.split() == ["p0"], done
    assert set(netdevs.split()) == {"p0", "vf", "sf", "rep", "host", "other"}


def many_ports(count: int) -> str:
    lines = "\n".join(
        f"e{n} driver=mlx5_core physfn= port=p0 device=/sys/devices/pci0000:00/{n >> 8:04x}:"
        f"{n >> 3 & 31:02x}:00.{n & 7}"
        for n in range(count)
    )
    return f"wirespeed-capture 1 case\ncase begin ports -\n{lines}\n\ncase end 0\ncase done\n"


def test_a_hostile_file_lists_more_ports_than_any_host_has():
    assert len(Ports.parse(parse_capture(many_ports(1024), "x")).ports) == 1024
    with pytest.raises(CannotTellError) as caught:
        Ports.parse(parse_capture(many_ports(1025), "x"))
    assert caught.value.reason == "the list of ports has more than 1024 ports: no host has so many"


def test_a_hostile_file_has_a_list_of_ports_of_megabytes():
    text = many_ports(1).replace("\n\ncase end", "\n" + "-\n" * (1 << 20) + "\ncase end")
    with pytest.raises(CannotTellError) as caught:
        Ports.parse(parse_capture(text, "x"))
    assert caught.value.reason == "the list of ports is longer than 2 MiB: no host has so many"
