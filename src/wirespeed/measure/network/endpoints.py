"""From a spec to its guests as measuring sees them: where commands run, and what is in each."""

from collections.abc import Mapping

from wirespeed.approaches.guest_network import GuestNetwork, guest_networks
from wirespeed.host.runner import NamespaceRunner, Runner
from wirespeed.measure.network.endpoint import Attachment, Endpoint
from wirespeed.model.spec.guest_networks import GuestNetworks
from wirespeed.model.spec.guests import VIRTUAL_MACHINES, GuestKind


def endpoints_of(spec: GuestNetworks, runners: Mapping[str, Runner]) -> dict[str, Endpoint]:
    """Give every guest that wirespeed starts, by name; those of kind `none` are not.

    `runners`: one for every host, and one for every virtual machine, by their names in the spec.
    """
    return {
        name: Endpoint(
            name=name,
            host=guest.host,
            runner=_runner(spec, name, runners),
            attachments={of.network: _attachment(of) for of in guest_networks(spec, name)},
        )
        for name, guest in spec.guests.items()
        if guest.kind is not GuestKind.NONE
    }


def _runner(spec: GuestNetworks, guest: str, runners: Mapping[str, Runner]) -> Runner:
    of = spec.guests[guest]
    if of.kind in VIRTUAL_MACHINES:
        return runners[guest]
    return NamespaceRunner(runners[of.host], guest)


def _attachment(of: GuestNetwork) -> Attachment:
    return Attachment(
        network=of.network,
        segment=of.segment,
        netdev=of.netdev,
        members=of.members,
        address=of.address.ip,
        prefix_length=of.address.network.prefixlen,
        mac=of.mac,
        mtu=of.mtu,
    )
