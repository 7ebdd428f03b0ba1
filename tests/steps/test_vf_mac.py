"""The driver of a VF takes it anew, with the address that the PF gives it."""

import pytest
from described_namespaces import HOST, DescribedNamespaces, Function, Netdev, lo
from proof import NAME, DescribedControl, plan_on, prove
from pydantic import ValidationError

from wirespeed.apply.executor import Executor
from wirespeed.model.journal import Entry
from wirespeed.steps.vf_mac import VfMac

ADDRESS = "0000:01:10.0"
MAC = "02:d7:f3:7c:df:fe"
STEP = VfMac(pci_address=ADDRESS, mac=MAC, namespace="ceph-1")


def host(netdev: Netdev | None, *, is_bound: bool = True, place: str = HOST) -> DescribedNamespaces:
    places = {HOST: {"lo": lo()}, "ceph-1": {"lo": lo()}}
    if netdev is not None:
        places[place]["eth0"] = netdev
    return DescribedNamespaces(places, {ADDRESS: Function(MAC, is_bound=is_bound)})


def test_a_vf_that_no_driver_has_is_taken_and_let_go_again():
    start = host(None, is_bound=False)
    prove(STEP, start, host(Netdev(parentdev=ADDRESS, mac=MAC)))


def test_a_vf_whose_address_was_drawn_is_taken_anew():
    control = DescribedControl(host(Netdev(parentdev=ADDRESS)))
    journal: list[Entry] = []
    plan = plan_on(STEP, control.host)
    executor = Executor(plan, {NAME: control}, journal.append, lambda: "now")
    executor.apply()
    assert control.host == host(Netdev(parentdev=ADDRESS, mac=MAC))
    executor.undo()
    assert control.host == host(None, is_bound=False)


def test_it_is_so_where_the_netdev_is_in_the_namespace_already():
    of = host(Netdev(parentdev=ADDRESS, mac=MAC, is_up=True), place="ceph-1")
    assert plan_on(STEP, of).steps[0].commands == ()


def test_the_address_of_another_function_says_nothing():
    assert plan_on(STEP, host(Netdev(parentdev="0000:01:10.2", mac=MAC))).steps[0].commands


@pytest.mark.parametrize("mac", ["", "02:D7:F3:7C:DF:FE", "02:d7:f3:7c:df", "x; reboot"])
def test_it_takes_an_address_as_the_kernel_prints_it(mac: str):
    with pytest.raises(ValidationError):
        VfMac(pci_address=ADDRESS, mac=mac, namespace="ceph-1")
