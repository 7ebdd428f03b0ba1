"""A port that the kernel has as well: refused where it is the way to the host."""

import pytest

from wirespeed.model.capture import parse_capture
from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.runs import live_ports
from wirespeed.runs.live_ports import may_be_live, netdevs_of, refuse_carriers
from wirespeed.runs.tester_of_ports import eal_device

AT = "/sys/devices/pci0000:00/0000:3b:00.0"
LINKS = ["ports -", f"ens1f0 driver=mlx5_core physfn= port= device={AT}"]
CARD = "0000:3b:00.0,mprq_en=1"


def host() -> HostFacts:
    text = "\n".join(
        ["wirespeed-capture 1 case", f"case begin {LINKS[0]}", LINKS[1], "", "case end 0"]
    )
    return HostFacts("here", parse_capture(f"{text}\ncase done\n", "here"))


def test_a_card_with_devargs_and_a_socket_have_netdevs_and_a_ring_has_none():
    ports = (CARD, "net_af_packet0,iface=eth0,framesz=2048", "net_ring0")
    assert netdevs_of(ports, host()) == ("ens1f0", "eth0")
    assert may_be_live(ports)
    assert not may_be_live(("net_ring0", "net_memif0,id=0"))


@pytest.mark.parametrize(
    "port", ["3b:00.0", "0000:3B:00.0", "pci:0000:3b:00.0", "3B:00.0,mprq_en=1", CARD]
)
def test_every_way_to_write_an_address_names_the_port_that_the_kernel_has(port: str):
    """rte_pci_addr_parse() takes an address without its domain, and capital letters."""
    named = eal_device(port)
    assert named.partition(",")[0] == "0000:3b:00.0"
    assert named.partition(",")[2] == port.partition(",")[2]
    assert may_be_live((named,))
    assert netdevs_of((named,), host()) == ("ens1f0",)


@pytest.mark.parametrize("port", ["net_memif0,id=0,socket=/tmp/0000:3B:00.0", "net_ring0"])
def test_what_is_no_port_on_pci_keeps_its_name(port: str):
    assert eal_device(port) == port


def test_what_carries_the_session_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(live_ports, "carriers", lambda _: {"ens1f0": "your session"})
    with pytest.raises(InputError) as caught:
        refuse_carriers(("ens1f0",), host())
    assert (caught.value.what, caught.value.where) == ("port.cuts_off", "ens1f0")
    assert caught.value.found == "it carries your session"
    refuse_carriers(("ens1f1",), host())


def test_where_nobody_can_tell_it_is_refused_as_well():
    with pytest.raises(InputError) as caught:
        refuse_carriers(("ens1f0",), host())
    assert caught.value.what == "port.cutoff_unknown"
    refuse_carriers((), host())
