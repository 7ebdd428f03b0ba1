"""The virtual machines of a spec, reached through their hosts."""

from collections.abc import Mapping
from contextlib import ExitStack

from wirespeed.apply.control_guest import GuestControl
from wirespeed.approaches.legacy_vlan_vm import guest_ssh_port
from wirespeed.host.reach_destination import Remote, parse_destination
from wirespeed.host.runner import Runner
from wirespeed.host.state import state_folder
from wirespeed.model.spec.guest_networks import GuestNetworks
from wirespeed.model.spec.guests import VIRTUAL_MACHINES
from wirespeed.model.spec.spec import Spec
from wirespeed.steps.guest_machine import HOST_KEY, guest_folder


def with_guest_keys(spec: Spec) -> Spec:
    """Add wirespeed's own key where a virtual machine's spec names no authorized key.

    Raises InputError `file.unwritable`, `file.unreadable`, `run.no_place`.
    """
    if all(spec.guests[name].authorized_keys for name in _machines(spec)):
        return spec
    from wirespeed.host.ssh_guest import own_key

    _, public = own_key(state_folder())
    guests = {
        name: guest.model_copy(update={"authorized_keys": guest.authorized_keys or (public,)})
        if guest.kind in VIRTUAL_MACHINES
        else guest
        for name, guest in spec.guests.items()
    }
    return spec.model_copy(update={"guests": guests})


def guest_runners(spec: Spec, hosts: Mapping[str, Runner], stack: ExitStack) -> dict[str, Runner]:
    """Give what runs commands in every virtual machine of hosts that can be reached.

    Nothing is connected before the first command. `hosts`: the runners of their hosts.
    """
    names = [name for name in _machines(spec) if spec.guests[name].host in hosts]
    if not names or not isinstance(spec, GuestNetworks):
        return {}
    from wirespeed.host.ssh_guest import GuestPlace, GuestSession, own_key

    private, public = own_key(state_folder())
    found: dict[str, Runner] = {}
    for name in names:
        guest = spec.guests[name]
        place = GuestPlace(
            name=name,
            ssh_port=guest_ssh_port(spec, name),
            console=f"{guest_folder(name)}/console",
            marker=HOST_KEY,
        )
        reach = parse_destination(spec.hosts[guest.host].reach)
        through = reach if isinstance(reach, Remote) else None
        is_ours = not guest.authorized_keys or public in guest.authorized_keys
        key = private if is_ours else None
        found[name] = stack.enter_context(GuestSession(place, hosts[guest.host], through, key))
    return found


def guest_controls(runners: Mapping[str, Runner]) -> dict[str, GuestControl]:
    """Give control of virtual machines."""
    return {name: GuestControl(name, runner) for name, runner in runners.items()}


def _machines(spec: Spec) -> list[str]:
    return [name for name, guest in spec.guests.items() if guest.kind in VIRTUAL_MACHINES]
