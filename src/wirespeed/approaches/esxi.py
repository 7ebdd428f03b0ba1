"""ESXi hosts made ready for guests with a card of their own, as in test 5 of the DPDK report.

A host that is reached by esxi:// gets the parameters of its driver, which are in force from its
next boot on; one that is reached by vsphere://, the settings of its guests, which are in force from
their next start on. One machine may be named twice, once for each.
"""

from collections.abc import Iterator

from wirespeed.approaches.wanted import Wanted
from wirespeed.facts.esxi_guests import EsxiGuests
from wirespeed.facts.vsphere import by_vsphere, is_esxi
from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.spec import Spec
from wirespeed.model.spec_esxi import EsxiSpec
from wirespeed.steps.esxi_guest import EsxiGuest
from wirespeed.steps.esxi_module_parameters import EsxiModuleParameters


def esxi(spec: Spec, name: str, host: HostFacts) -> Iterator[Wanted]:
    """Give the steps of the host `name`. Raises InputError `spec.*`."""
    wanted = spec.esxi
    if wanted is None:
        raise AssertionError("a spec of this approach has it")
    if not is_esxi(host.capture):
        raise InputError(
            "spec.no_esxi",
            where=name,
            found="it is no ESXi host",
            next="reach it by esxi://USER@HOST or vsphere://USER@HOST",
        )
    if by_vsphere(host.capture) is None:
        yield from _driver(wanted)
    else:
        yield from _guests(wanted, name, host)


def _driver(wanted: EsxiSpec) -> Iterator[Wanted]:
    if wanted.parameters:
        reason = "The driver makes VFs for the guests, and queues as it is told, when it starts."
        yield Wanted(EsxiModuleParameters(parameters=dict(wanted.parameters), reason=reason))


def _guests(wanted: EsxiSpec, name: str, host: HostFacts) -> Iterator[Wanted]:
    there = {guest.number for guest in host[EsxiGuests].guests}
    for number, guest in wanted.guests.items():
        if number not in there:
            raise InputError(
                "spec.guest_unknown",
                where=f"{name} guest {number}",
                found=f"the host has {', '.join(sorted(there)) or 'none'}",
                next="the numbers and names of guests: vim-cmd vmsvc/getallvms",
            )
        yield Wanted(EsxiGuest(number=number, **guest.model_dump()))
